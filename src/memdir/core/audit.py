"""What an audit says: each memory with its score and reasons, the findings, the token load."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from memdir.core import claim
from memdir.core.claim import Judged
from memdir.core.finding import Finding
from memdir.core.loading import MAX_CHARACTERS, load

CHARACTERS_PER_TOKEN = 4


def tokens(characters: int) -> int:
    """What a text costs a model, as far as its length can tell."""
    return math.ceil(characters / CHARACTERS_PER_TOKEN)


def index_tokens(text: str) -> int:
    """What a session pays for an index: no more of it than a client loads."""
    return tokens(min(load(text).characters, MAX_CHARACTERS))


@dataclass(frozen=True)
class Tally:
    """How many claims a look could answer, how many of these are stale, how many it could not."""

    checked: int = 0
    stale: int = 0
    unknown: int = 0


def distinct(judged: Iterable[Judged]) -> list[Judged]:
    """Each claim once, where it is first said: a description often repeats the body."""
    return list({(one.claim.kind, one.claim.text): one for one in [*judged][::-1]}.values())[::-1]


def tally(judged: Iterable[Judged]) -> Tally:
    """The count of verdicts."""
    verdicts = [one.verdict for one in judged]
    stale = verdicts.count(claim.STALE)
    return Tally(verdicts.count(claim.TRUE) + stale, stale, verdicts.count(claim.UNKNOWN))


@dataclass(frozen=True)
class Audited:
    """One memory: what its age and its claims say of it, and what it costs to read."""

    path: str
    type: str
    age_days: int
    score: int
    action: str
    tokens: int
    claims: Tally = Tally()
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class Load:
    """Tokens: of the index and of all else a session starts with; of the files, if all are read."""

    index: int = 0
    prompt: int = 0
    memories: int = 0

    @property
    def total(self) -> int:
        """What every session pays, whether a memory helps it or not."""
        return self.index + self.prompt


@dataclass(frozen=True)
class Audit:
    """A store as an audit sees it; `remarks` say what could not be looked at."""

    memories: tuple[Audited, ...] = ()
    findings: tuple[Finding, ...] = ()
    load: Load = Load()
    remarks: tuple[str, ...] = ()

    def count(self, action: str) -> int:
        """How many memories it proposes that for."""
        return sum(one.action == action for one in self.memories)
