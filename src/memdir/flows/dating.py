"""How old memories are, where a header does not say: the history, then the repository around."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

from memdir.adapters.committed import commit_times
from memdir.app import App
from memdir.core import history
from memdir.core.errors import MemdirError
from memdir.core.history import Logged
from memdir.core.memory import CREATED_KEYS, MODIFIED_KEYS, VERIFIED_KEYS, Memory
from memdir.core.staleness import Moments, clock

LOOKED_BACK = 1_000  # changes; what nobody has touched since then is old whatever they say
# They put a text there that is older than they are.
_BROUGHT_BACK = (history.BEGIN, history.UNDO, "restore", "import")


def clocks(app: App, memories: Sequence[Memory]) -> tuple[dict[str, float], tuple[str, ...]]:
    """The moment each memory's staleness counts from, and what could not be found out."""
    edited, kept = _seen(app)
    unsure = [one.path for one in memories if one.path in edited or not _dated(one)]
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
            outside = logged.cause.verb == history.OUTSIDE
            for change, path in logged.paths:
                if change == history.GONE:
                    continue
                kept.setdefault(path, logged.time)
                if outside and change == history.MODIFIED:
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
