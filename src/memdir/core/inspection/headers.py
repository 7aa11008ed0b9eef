"""The header of a memory: is there one, does its type exist, does its description fit."""

from __future__ import annotations

from collections.abc import Iterator

from memdir.core import agreement, types
from memdir.core.finding import Finding
from memdir.core.inspection.page import Page, command
from memdir.core.memory import INDEX, TYPE_KEYS, stem

SHOWN = 40  # characters of a type that nobody knows


def inspect_header(page: Page, pointer_line: str = "") -> Iterator[Finding]:
    """What is missing or wrong above the body."""
    if page.path == INDEX:
        return  # the only memory of its store needs none
    if page.document.lines is None:
        if not page.document.problems:  # else the scan has said that it is never closed
            message = "it has no header: no name, type or description"
            yield Finding("no-header", page.path, message, "memdir restructure --dry-run", 1)
        return
    yield from _inspect_type(page)
    for one in agreement.disagreements(page.text, pointer_line):
        yield Finding(one.kind, page.path, one.message, command("edit", page.path), one.line)


def _inspect_type(page: Page) -> Iterator[Finding]:
    said = page.document.get(*TYPE_KEYS).strip().lower()
    fix, known = command("edit", page.path), ", ".join(types.names())
    if not said:
        message = f"its header names no type; there are {known}"
        yield Finding("no-type", page.path, message, fix, 1)
    elif said not in types.names():
        line = 2 + min(page.document.starts.get(key, 0) for key in TYPE_KEYS)
        message = f"no type is called {said[:SHOWN]!r}; there are {known}"
        yield Finding("unknown-type", page.path, message, fix, line)
    else:
        named = _type_of_name(stem(page.path))
        if named and named != said:
            message = f"its file is called {named}_…, its header says {said}"
            fix = command("edit", page.path, "--type", named)
            yield Finding("type-differs", page.path, message, fix, 1)


def _type_of_name(name: str) -> str:
    """The type that a file's name starts with, as some clients write it."""
    start = name.partition("_")[0].lower()
    return start if start in types.names() and start != name.lower() else ""
