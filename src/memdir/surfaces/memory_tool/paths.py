"""What a model calls a file, as a path below the store; tricks are refused, not repaired.

This is the first fence. The second are the directory handles of the store: no part of a path is
ever followed through a link, whatever its name.
"""

from __future__ import annotations

import unicodedata
from urllib.parse import unquote

from memdir.core.errors import BadInput

ROOT = "/memories"
LONGEST = 1024  # characters of a path
SHOWN = 200
# Of a name that is compatible with one of these, another program may make the real thing.
_MEANING = frozenset("./\\%~:")
_LOOK_ALIKE = frozenset("\u2044\u2215\u29f8\u29f9\u2216\ufe68")  # slashes that NFKC leaves alone
_NEXT = f"give a path such as {ROOT}/progress.md"


def below_root(path: str) -> str:
    """The path below the store, empty for the store itself; BadInput for anything doubtful."""
    if not (path == ROOT or path.startswith(f"{ROOT}/")):
        raise BadInput(f"Path must start with {ROOT}, got: {shown(path)}", next=_NEXT)
    below = path[len(ROOT) :].removeprefix("/").removesuffix("/")
    if not below:
        return ""
    parts = below.split("/")
    if any(part in ("", ".", "..") for part in parts) or unquote(below) != below:
        raise BadInput(f"Path {shown(path)} would escape {ROOT} directory", next=_NEXT)
    if problem := _problem(below):
        raise BadInput(f"Path {shown(path)} {problem}", next=_NEXT)
    return below


def shown(path: str) -> str:
    """A path in an answer: one line, printable, not endless."""
    plain = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in path[:SHOWN])
    return plain + ("…" if len(path) > SHOWN else "")


def _problem(below: str) -> str:
    if len(below) > LONGEST:
        return f"is longer than {LONGEST:,} characters"
    if "\\" in below:
        return "holds a backslash; folders are parted by /"
    if any(part != part.strip() for part in below.split("/")):
        return "holds a name that begins or ends with a space"
    for char in below:
        if not char.isprintable():
            return "holds a character that nobody can see"
        if not char.isascii() and (char in _LOOK_ALIKE or _stands_for_more(char)):
            return f"holds {char!r}, which other programs may take for a dot or a slash"
    return ""


def _stands_for_more(char: str) -> bool:
    return not _MEANING.isdisjoint(unicodedata.normalize("NFKC", char))
