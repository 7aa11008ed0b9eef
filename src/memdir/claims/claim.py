"""A claim: a statement about the code, exact enough to be looked up.

Finding and judging claims is pure. In between, a repository answers one `Wanted` with one `Seen`
for all claims of all memories.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

# Kinds of claims; `text` names nothing in a repository.
PATH, SYMBOL, URL, BRANCH = "path", "symbol", "url", "branch"
PACKAGE, COMMIT, COMMAND, TEXT = "package", "commit", "command", "text"
FLAG, VERSION = "flag", "version"

# Why a span is no claim about the present repository: by its form …
PLACEHOLDER, OUTSIDE, CODE = "placeholder", "outside the repository", "quoted code"
# … or by its sentence.
DENIED, OLD, PAST, PLANNED = "denied", "old name", "past", "planned"
OTHER, SERVER = "about another repository", "on a server"
KNOWN = "said to be gone elsewhere in this memory"
# These cannot be true or false here; the others cannot be decided.
NO_CLAIM = frozenset({DENIED, OLD, PAST, CODE})
# With these, finding the name does not support the sentence.
NEVER_TRUE = frozenset({DENIED, PLACEHOLDER, CODE, OUTSIDE, OTHER})

NOWHERE = "nothing to look it up in"  # reason of an unknown claim without a repository

# Verdicts; `stale` needs evidence that the claim was once true.
TRUE, STALE, UNKNOWN, NOT_A_CLAIM = "true", "stale", "unknown", "not_a_claim"


@dataclass(frozen=True)
class Claim:
    kind: str
    text: str
    line: int  # in the file, from 1
    column: int = 0
    names: tuple[str, ...] = ()  # all are looked up; without `:73`, braces expanded
    aside: str = ""  # why it is no claim (denied, planned, placeholder …); empty for a claim
    parts: tuple[str, ...] = ()  # alternatives: items of a list, files of a command
    bare: bool = False  # not in backticks
    loose: bool = False  # in a code block or beside another repository: only a full path counts
    near: tuple[str, ...] = ()  # paths named in the same sentence
    declared: bool = False  # said to be a dependency
    rooted: bool = False  # said to be at the root of the repository


@dataclass(frozen=True)
class Past:
    name: str  # path or identifier
    commit: str
    date: str  # YYYY-MM-DD
    now: str = ""  # new path; empty if removed
    defined: bool = False  # a removed line defined the identifier


@dataclass(frozen=True)
class Uses:
    """How many tracked files contain an identifier as a word, and a few of their paths."""

    code: int
    prose: int = 0
    places: tuple[str, ...] = ()
    only_comments: bool = False  # have it, of all the files of code


@dataclass(frozen=True)
class Wanted:
    paths: frozenset[str] = frozenset()  # full paths, ends of paths, bare names, directories
    symbols: frozenset[str] = frozenset()
    branches: frozenset[str] = frozenset()
    packages: frozenset[str] = frozenset()
    commits: frozenset[str] = frozenset()
    versions: frozenset[str] = frozenset()  # of what: `postgres`, `python`


@dataclass(frozen=True)
class Pin:
    """The version that a manifest asks for."""

    path: str
    asked: str  # `16-alpine`, `>=3.11`
    text: str  # as it stands there


@dataclass(frozen=True)
class Seen:
    """Answer of a repository; a name in no table was looked up and not found."""

    commit: str = ""  # empty if there is none
    paths: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # matching full paths
    ignored: frozenset[str] = frozenset()  # wanted paths that .gitignore excludes
    past: Mapping[str, tuple[Past, ...]] = field(default_factory=dict)  # newest first
    symbols: Mapping[str, Uses] = field(default_factory=dict)
    past_symbols: Mapping[str, Past] = field(default_factory=dict)
    branches: frozenset[str] = frozenset()  # wanted branches that exist; tags count
    past_branches: Mapping[str, str] = field(default_factory=dict)  # evidence that they existed
    packages: frozenset[str] = frozenset()  # wanted packages named in a manifest
    past_packages: Mapping[str, Past] = field(default_factory=dict)  # dropped from every manifest
    versions: Mapping[str, tuple[Pin, ...]] = field(default_factory=dict)
    commits: frozenset[str] = frozenset()  # wanted commits that exist
    commands: frozenset[str] = frozenset()  # every script, make target and recipe
    known: frozenset[str] = frozenset()  # fields that could be filled
    remarks: tuple[str, ...] = ()  # omissions


@dataclass(frozen=True)
class Judged:
    """A claim with its verdict; `place` is the tracked path that supports it."""

    claim: Claim
    verdict: str
    reason: str = ""
    place: str = ""
