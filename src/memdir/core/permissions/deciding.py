"""What the agent that captures may do: look at the project and the store, and draft.

Reads go anywhere in both but to files that hold secrets; a command is one of a few that only look,
without a shell; Write and Edit name a memory of the store and become drafts; the rest is denied.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from memdir.core.errors import BadInput
from memdir.core.naming import check_name
from memdir.core.permissions.commands import parse
from memdir.core.permissions.paths import (
    SECRET_FILES,
    SECRET_FOLDERS,
    Place,
    Places,
    Resolve,
    is_inside,
    place,
    shown,
)
from memdir.core.permissions.words import split

READ, GREP, GLOB, BASH, WRITE, EDIT = "Read", "Grep", "Glob", "Bash", "Write", "Edit"
TOOLS = (READ, GREP, GLOB, BASH, WRITE, EDIT)
MD = ".md"
LONGEST_PATTERN = 500  # characters


def _any_case(pattern: str) -> str:
    """A pattern that also fits names in capitals: `.env` as `.[eE][nN][vV]`."""
    return "".join(f"[{c}{c.upper()}]" if c.isalpha() else c for c in pattern)


# A recursive grep must not open what Read may not; the last option that fits a file wins.
UNSEEN = (
    "-D", "skip",  # a pipe would wait for somebody who writes
    *(f"--exclude={_any_case(pattern)}" for pattern in SECRET_FILES),
    *(f"--exclude-dir={_any_case(folder)}" for folder in SECRET_FOLDERS),
)  # fmt: skip
_SEARCH = ("-r", "-n", "-I", "-E")


@dataclass(frozen=True)
class Allowed:
    """A call as it is to be carried out; `path` is a real one, `words` are a command's.

    `name` is the memory that a Write or an Edit is about, `text` what it is to say.
    """

    tool: str
    path: str = ""
    words: tuple[str, ...] = ()
    pattern: str = ""
    start: int = 0
    lines: int = 0
    name: str = ""
    text: str = ""
    old: str = ""


@dataclass(frozen=True)
class Denied:
    """A call that is not carried out, and why."""

    reason: str


class Look(Protocol):
    """Carries out what is allowed, and never writes. `memory` is the file of that name, or None."""

    @property
    def places(self) -> Places: ...
    def resolve(self, path: str) -> str: ...
    def run(self, call: Allowed) -> str: ...
    def memory(self, name: str) -> bytes | None: ...
    def names(self) -> list[str]: ...


Decision = Allowed | Denied


def decide(tool: object, given: Mapping[str, object], places: Places, resolve: Resolve) -> Decision:
    """Whether a call may be made, and as what."""
    if tool == READ:
        return _read(given, places, resolve)
    if tool == GREP:
        return _grep(given, places, resolve)
    if tool == GLOB:
        return _glob(given, places, resolve)
    if tool == BASH:
        return _bash(given, places, resolve)
    if tool in (WRITE, EDIT):
        return _draft(str(tool), given, places, resolve)
    return Denied(f"there is no such tool for you; you have {', '.join(TOOLS)}")


def _read(given: Mapping[str, object], places: Places, resolve: Resolve) -> Decision:
    found = place(given.get("file_path", given.get("path")), places, resolve)
    if found.reason:
        return Denied(found.reason)
    start, lines = (_count(given.get(key)) for key in ("offset", "limit"))
    return Allowed(READ, found.path, start=start, lines=lines)


def _grep(given: Mapping[str, object], places: Places, resolve: Resolve) -> Decision:
    pattern, found = given.get("pattern"), _start(given, places, resolve)
    if reason := _misfit(pattern) or found.reason:
        return Denied(reason)
    words = ["grep", *_SEARCH, *(["-i"] if given.get("-i") is True else [])]
    if glob := given.get("glob"):
        if reason := _misfit(glob):
            return Denied(reason)
        words.append(f"--include={str(glob).rpartition('/')[2]}")
    # Models write patterns for other programs, which know \d.
    words += ["-e", str(pattern).replace(r"\d", "[0-9]"), *UNSEEN]
    return Allowed(BASH, words=(*words, "--", shown(found.path, places)))


def _glob(given: Mapping[str, object], places: Places, resolve: Resolve) -> Decision:
    pattern, found = given.get("pattern"), _start(given, places, resolve)
    if reason := _misfit(pattern) or found.reason:
        return Denied(reason)
    text = str(pattern)
    root = found.path.rstrip("/") + "/"
    text = text.removeprefix(root)
    if text.startswith(("/", "~")) or ".." in text.split("/"):
        return Denied("the pattern leads out of the project")
    return Allowed(GLOB, found.path, pattern=text.removeprefix("./"))


def _bash(given: Mapping[str, object], places: Places, resolve: Resolve) -> Decision:
    if given.get("run_in_background"):
        return Denied("nothing is run in the background")
    line = split(given.get("command"))
    if line.reason:
        return Denied(line.reason)
    parsed = parse(line.words)
    if parsed.reason:
        return Denied(parsed.reason)
    found = [place(path, places, resolve) for path in (*parsed.paths, *parsed.inside)]
    if reason := next((one.reason for one in found if one.reason), ""):
        return Denied(reason)
    name, paths = line.words[0], [shown(one.path, places) for one in found]
    paths = paths[: len(parsed.paths)]
    if name == "find":
        return Allowed(BASH, words=("find", *(paths or ["."]), *parsed.tests))
    more = UNSEEN if name == "grep" else ()
    return Allowed(BASH, words=(name, *parsed.options, *more, "--", *paths))


def _draft(tool: str, given: Mapping[str, object], places: Places, resolve: Resolve) -> Decision:
    found = place(given.get("file_path", given.get("path")), places, resolve)
    if found.reason:
        return Denied(found.reason)
    store = places.store.rstrip("/")
    if not store or not is_inside(found.path, store):
        return Denied("only memories are written: it lies outside of the store")
    name = found.path[len(store) + 1 :]
    try:
        check_name(name.removesuffix(MD))
    except BadInput as error:
        return Denied(f"{error.message}; a memory is a file NAME.md in the store itself")
    if not name.endswith(MD):
        return Denied("a memory is a file NAME.md in the store itself")
    keys = ("content",) if tool == WRITE else ("new_string", "old_string")
    texts = [given.get(key) for key in keys]
    if not all(isinstance(text, str) for text in texts):
        return Denied(f"{tool} needs {' and '.join(keys)}")
    text, *old = map(str, texts)
    return Allowed(tool, found.path, name=name.removesuffix(MD), text=text, old="".join(old))


def _start(given: Mapping[str, object], places: Places, resolve: Resolve) -> Place:
    """Where a search starts: the project, unless a path is given."""
    return place(given.get("path") or places.base, places, resolve)


def _misfit(pattern: object) -> str:
    if not isinstance(pattern, str) or not pattern:
        return "there is no pattern"
    if len(pattern) > LONGEST_PATTERN or not pattern.isprintable():
        return "the pattern is too long or holds hidden characters"
    return ""


def _count(value: object) -> int:
    return value if type(value) is int and value > 0 else 0
