"""A list of memories as people read it: each with its age and what that age suggests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from memdir.core import dates, staleness, types
from memdir.core.memory import Memory

NOTHING_KNOWN: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True)
class Listed:
    """A memory with its age in whole days, its staleness score, and keep, review or prune."""

    memory: Memory
    age_days: int
    score: int
    action: str
    clock: float = 0.0  # the moment its age counts from


def list_by_age(
    memories: Iterable[Memory], now: float, clocks: Mapping[str, float] = NOTHING_KNOWN
) -> list[Listed]:
    """The most recently confirmed first; ties by path, so that the order never flickers.

    `clocks` say what the history knows beyond the headers.
    """
    listed = [_aged(memory, now, clocks.get(memory.path, memory.clock)) for memory in memories]
    return sorted(listed, key=lambda one: (-one.clock, one.memory.path))


def _aged(memory: Memory, now: float, clock: float) -> Listed:
    days = dates.age_days(clock, now)
    score = staleness.score(days, types.get(memory.type).half_life_days)
    return Listed(memory, days, score, staleness.action(score), clock)
