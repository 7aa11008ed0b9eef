"""A claim: what a memory says about the code, exact enough to be looked up there.

Finding and judging claims is pure. In between a repository answers one `Wanted` with one `Seen`
for all claims of all memories.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

# What a claim is about; `text` is a span that names nothing in a repository.
PATH, SYMBOL, URL, BRANCH = "path", "symbol", "url", "branch"
PACKAGE, COMMIT, COMMAND, TEXT = "package", "commit", "command", "text"

# Verdicts. Only `stale` raises an alarm: it needs evidence that the claim once was true.
TRUE, STALE, UNKNOWN, NOT_A_CLAIM = "true", "stale", "unknown", "not_a_claim"


@dataclass(frozen=True)
class Claim:
    kind: str
    text: str
    line: int  # in the file, from 1 on
    column: int = 0
    names: tuple[str, ...] = ()  # all of them are looked up: without `:73`, braces spread out
    aside: str = ""  # denied, planned, placeholder …; empty for a claim
    parts: tuple[str, ...] = ()  # what may support it instead: items of a list, files of a command
    bare: bool = False  # not in backticks
    loose: bool = False  # in a code block, or beside another repository: only a whole path counts
    near: tuple[str, ...] = ()  # code files that its sentence names beside it


@dataclass(frozen=True)
class Past:
    name: str  # the path or the identifier
    commit: str
    date: str  # YYYY-MM-DD
    now: str = ""  # the path it was renamed to; empty if it was removed


@dataclass(frozen=True)
class Uses:
    """How many tracked files contain an identifier as a word, and a few of their paths."""

    code: int
    prose: int = 0
    places: tuple[str, ...] = ()


@dataclass(frozen=True)
class Wanted:
    paths: frozenset[str] = frozenset()  # whole paths, ends of paths, bare names, directories
    symbols: frozenset[str] = frozenset()
    branches: frozenset[str] = frozenset()
    packages: frozenset[str] = frozenset()
    commits: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Seen:
    """Answer of a repository; a name in no table was looked up and not found."""

    commit: str = ""  # the state that was looked at; empty without one
    paths: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # equal to it or ending so
    ignored: frozenset[str] = frozenset()  # wanted paths that .gitignore excludes
    past: Mapping[str, tuple[Past, ...]] = field(default_factory=dict)  # newest first
    symbols: Mapping[str, Uses] = field(default_factory=dict)
    past_symbols: Mapping[str, Past] = field(default_factory=dict)
    branches: frozenset[str] = frozenset()  # of the wanted ones; tags count
    packages: frozenset[str] = frozenset()  # of the wanted ones, named in a manifest file
    commits: frozenset[str] = frozenset()  # of the wanted ones
    commands: frozenset[str] = frozenset()  # every script, make target and recipe there is
    known: frozenset[str] = frozenset()  # which tables could be filled at all, by field name
    remarks: tuple[str, ...] = ()  # what could not be looked at


@dataclass(frozen=True)
class Judged:
    """A claim with its verdict; `place` is the tracked path that supports it."""

    claim: Claim
    verdict: str
    reason: str = ""
    place: str = ""
