"""A list of memories as people read it: each with its age and what that age suggests."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from memdir.core import dates, staleness, types
from memdir.core.memory import Memory


@dataclass(frozen=True)
class Listed:
    """A memory with its age in whole days, its staleness score, and keep, review or prune."""

    memory: Memory
    age_days: int
    score: int
    action: str


def list_by_age(memories: Iterable[Memory], now: float) -> list[Listed]:
    """The most recently confirmed first; ties by path, so that the order never flickers."""
    listed = [_aged(memory, now) for memory in memories]
    return sorted(listed, key=lambda one: (-one.memory.clock, one.memory.path))


def _aged(memory: Memory, now: float) -> Listed:
    days = dates.age_days(memory.clock, now)
    score = staleness.score(days, types.get(memory.type).half_life_days)
    return Listed(memory, days, score, staleness.action(score))
