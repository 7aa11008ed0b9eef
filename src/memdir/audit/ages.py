"""How old, when the header does not say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType

from memdir.audit import staleness
from memdir.audit.staleness import Moments, clock
from memdir.errors import Finding, MemdirError
from memdir.hot import safe, types
from memdir.hot.memory import CREATED_KEYS, MODIFIED_KEYS, VERIFIED_KEYS, Memory
from memdir.store import ports
from memdir.store.git import commit_times
from memdir.store.ports import Logged
from memdir.store.writer import App

# A list of memories as people read it: each with its age and what that age suggests.

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
    return sorted(listed, key=lambda item: (-item.clock, item.memory.path))


def _aged(memory: Memory, now: float, clock: float) -> Listed:
    days = safe.age_days(clock, now)
    score = staleness.score(days, types.get(memory.type).half_life_days)
    return Listed(memory, days, score, staleness.action(score), clock)


# How old memories are, where a header does not say: the history, then the repository around.

LOOKED_BACK = 1_000  # changes; what nobody has touched since then is old whatever they say
# They put a text there that is older than they are.
_BROUGHT_BACK = (ports.BEGIN, ports.UNDO, "restore", "import")


def clocks(app: App, memories: Sequence[Memory]) -> tuple[dict[str, float], tuple[str, ...]]:
    """The moment each memory's staleness counts from, and what could not be found out."""
    edited, kept = _seen(app)
    unsure = [item.path for item in memories if item.path in edited or not _dated(item)]
    committed = commit_times(app.store.root, unsure)
    found = {
        memory.path: clock(
            memory,
            Moments(
                edited.get(memory.path), kept.get(memory.path), committed.times.get(memory.path)
            ),
        )
        for memory in memories
    }
    return found, committed.remarks


def _dated(memory: Memory) -> bool:
    return bool(memory.get((*VERIFIED_KEYS, *MODIFIED_KEYS, *CREATED_KEYS)))


def _seen(app: App) -> tuple[dict[str, float], dict[str, float]]:
    """The newest outside edit of each path, and its newest version by whomever."""
    edited: dict[str, float] = {}
    kept: dict[str, float] = {}
    if not app.history.begun:
        return edited, kept
    try:
        for logged in _standing(islice(app.history.log(), LOOKED_BACK)):
            outside = logged.cause.verb == ports.OUTSIDE
            for change, path in logged.paths:
                if change == ports.GONE:
                    continue
                kept.setdefault(path, logged.time)
                if outside and change == ports.MODIFIED:
                    edited.setdefault(path, logged.time)
    except MemdirError:
        pass  # a damaged history is for doctor to tell; the files have times of their own
    return edited, kept


def _standing(log: Iterable[Logged]) -> Iterable[Logged]:
    """The changes that are not taken back, and that wrote something new."""
    undone: set[str] = set()
    for logged in log:
        if logged.id in undone:
            continue
        undone.update(logged.cause.undoes)
        if logged.cause.verb not in _BROUGHT_BACK:
            yield logged


# Everything that only looks: no lock, no waiting.


def list_memories(app: App) -> tuple[list[Listed], list[Finding]]:
    """scan → clocks, the most recently confirmed first"""
    scan = app.store.scan()
    return list_by_age(scan.memories, app.now(), clocks(app, scan.memories)[0]), scan.findings
