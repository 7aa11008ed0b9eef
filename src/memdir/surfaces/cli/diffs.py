"""Two versions as a unified diff."""

from __future__ import annotations

import difflib

from memdir.core import frontmatter

ABSENT = "/dev/null"
MOST_LINES = 4000  # of both sides together; beyond, comparing costs more than it tells


def diff(path: str, old: bytes | None, new: bytes | None) -> str:
    """A unified diff of one file; a side that is None was or will be absent."""
    before, after = _lines(old), _lines(new)
    names = (f"a/{path}" if old is not None else ABSENT, f"b/{path}" if new is not None else ABSENT)
    if before and after and len(before) + len(after) > MOST_LINES:
        return f"--- {names[0]}\n+++ {names[1]}\n(too long to compare line by line)"
    return "\n".join(difflib.unified_diff(before, after, *names, lineterm=""))


def _lines(data: bytes | None) -> list[str]:
    """Lines between line feeds only: other separators are part of a line."""
    text = frontmatter.decode(data or b"")
    return text.removesuffix("\n").split("\n") if text else []


def kind(old: bytes | None, new: bytes | None) -> str:
    """What happened to a file, in one word."""
    if old is None:
        return "created"
    return "removed" if new is None else "updated"
