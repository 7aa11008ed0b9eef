"""A claim: what a memory says of the code, so exactly that it can be looked up there.

Finding claims and judging them is pure; between the two somebody looks: a `Wanted` goes to a
repository, a `Seen` comes back, one look for all claims of all memories.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

# What a claim is about.
PATH, SYMBOL, URL, BRANCH, PACKAGE, COMMIT, COMMAND = (
    "path",
    "symbol",
    "url",
    "branch",
    "package",
    "commit",
    "command",
)
# Found in the text, seldom looked up.
FLAG, VERSION, EXTENSION, ROUTE, NUMBER, TEXT = (
    "flag",
    "version",
    "extension",
    "route",
    "number",
    "text",
)

# What a look says of it. Only `stale` raises an alarm: it needs evidence that it once was true.
TRUE, STALE, UNKNOWN, NOT_A_CLAIM = "true", "stale", "unknown", "not_a_claim"


@dataclass(frozen=True)
class Claim:
    """A span of a memory's text; `aside` says why it does not speak of this repository now."""

    kind: str
    text: str
    line: int  # in the file, from 1 on
    column: int = 0
    names: tuple[str, ...] = ()  # what is to be looked up: without `:73`, braces spread out
    aside: str = ""  # denied, planned, example, placeholder …; empty for a claim
    parts: tuple[str, ...] = ()  # what may bear it out instead: a list's items, a command's files
    bare: bool = False  # not in backticks
    loose: bool = False  # in a code block, or beside another repository: only a whole path tells
    near: tuple[str, ...] = ()  # code files that its sentence names beside it


@dataclass(frozen=True)
class Past:
    """What once was in the repository: the commit that ended it, and where it went."""

    name: str  # the path or the identifier
    commit: str
    date: str  # YYYY-MM-DD
    now: str = ""  # the path it was renamed to; empty if it was removed


@dataclass(frozen=True)
class Uses:
    """How many tracked files have an identifier as a word, and a few of their paths."""

    code: int
    prose: int = 0
    places: tuple[str, ...] = ()


@dataclass(frozen=True)
class Wanted:
    """What the claims at hand need to have looked up."""

    paths: frozenset[str] = frozenset()  # whole paths, ends of paths, bare names, directories
    symbols: frozenset[str] = frozenset()
    branches: frozenset[str] = frozenset()
    packages: frozenset[str] = frozenset()
    commits: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Seen:
    """What a repository answered; a name that is in no table was looked for and not found."""

    commit: str = ""  # the state that was looked at; empty without one
    paths: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict
    )  # tracked, equal or ending so
    ignored: frozenset[str] = frozenset()  # wanted paths that .gitignore excludes
    past: Mapping[str, tuple[Past, ...]] = field(default_factory=dict)  # newest first
    symbols: Mapping[str, Uses] = field(default_factory=dict)
    past_symbols: Mapping[str, Past] = field(default_factory=dict)
    branches: frozenset[str] = frozenset()  # of the wanted ones; tags count
    packages: frozenset[str] = frozenset()  # of the wanted ones, declared in a manifest file
    commits: frozenset[str] = frozenset()  # of the wanted ones
    commands: frozenset[str] = frozenset()  # every script, make target and recipe there is
    known: frozenset[str] = frozenset()  # which tables could be filled at all, by field name
    remarks: tuple[str, ...] = ()  # what could not be looked at, to be said aloud


@dataclass(frozen=True)
class Judged:
    """A claim with its verdict; `place` is the tracked path that bears it out."""

    claim: Claim
    verdict: str
    reason: str = ""
    place: str = ""
