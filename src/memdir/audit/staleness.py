"""How far a memory has aged: 0 is fresh, 100 worn out. A score labels, it never hides."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from memdir.hot import safe
from memdir.hot.memory import CREATED_KEYS, MODIFIED_KEYS, VERIFIED_KEYS, Memory

if TYPE_CHECKING:
    from memdir.claims.claim import Judged

REVIEW = 50  # points; reached after one half-life
PRUNE = 75  # points; reached after two half-lives
WORN_OUT = 100  # points; there are no more
# Points that a stale claim of a kind adds (seed 000).
MODIFIERS = {"path": 20, "symbol": 30, "url": 10, "branch": 15}


class Moments(NamedTuple):
    """What others than the header know of a memory's age; None where they know nothing."""

    edited: float | None = None  # the history saw an outside edit
    kept: float | None = None  # the history got the version that stands there
    committed: float | None = None  # the repository around the store got that version


def score(age_days: float, half_life_days: float) -> int:
    """Points of exponential decay (seed 000); a memory from the future is fresh."""
    if age_days <= 0:
        return 0
    # 2^-x is e^(-x ln 2), but exact for whole half-lives, where the bands begin.
    return int(100 * (1 - 2.0 ** (-age_days / half_life_days)))


def action(score: int) -> str:
    """`keep`, `review` or `prune`: what an audit proposes, never what it does by itself."""
    if score < REVIEW:
        return "keep"
    return "review" if score < PRUNE else "prune"


def stale_kinds(judged: Iterable[Judged]) -> dict[str, Judged]:
    """The first stale claim of each kind that adds points, the heaviest kind first.

    A kind counts once, however many of its claims are stale: seed 000 says "if a referenced file
    is missing", and one renamed folder makes every path below it stale at the same moment.
    """
    found: dict[str, Judged] = {}
    for item in judged:
        if item.verdict == "stale" and item.claim.kind in MODIFIERS:
            found.setdefault(item.claim.kind, item)
    return dict(sorted(found.items(), key=lambda pair: -MODIFIERS[pair[0]]))


def raised(score: int, judged: Iterable[Judged]) -> int:
    """The score with what its claims add, at most 100."""
    return min(score + sum(MODIFIERS[kind] for kind in stale_kinds(judged)), WORN_OUT)


def clock(memory: Memory, moments: Moments = Moments()) -> float:  # noqa: B008
    """The moment staleness counts from.

    Verified or modified, else created, or an outside edit that is newer; else what the repository
    or the history knows; else the file's time, which a fresh clone sets to its own day.
    """
    edited = [moment for moment in (moments.edited, moments.committed) if moment is not None]
    stated = [safe.parse_time(memory.get(keys)) for keys in (VERIFIED_KEYS, MODIFIED_KEYS)]
    known = [moment for moment in stated if moment is not None]
    created = None if known else safe.parse_time(memory.get(CREATED_KEYS))
    known += [] if created is None else [created]
    if known:
        # A pull brings an edit that was made when it was committed, not when it was seen here.
        return max([*known, *([min(edited)] if moments.edited is not None else [])])
    for moment in (moments.committed, moments.kept):
        if moment is not None:
            return moment
    return memory.mtime
