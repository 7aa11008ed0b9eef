"""Verdicts left behind for recall: verify → keep; recall only glances at what they rest on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from memdir.flows.opening_repo import open_repo
from memdir.adapters.verdicts import Verdicts, facts_of
from memdir.app import App, cache_folder
from memdir.core.claim import STALE, TRUE, Judged
from memdir.core.memory import Memory
from memdir.core.verdicts import Kept
from memdir.flows.verifying import verify

if TYPE_CHECKING:
    from memdir.core.verdicts import Row


def _silent(text: str) -> None:
    """Nobody waits for it."""


def kept_verdicts(app: App) -> Verdicts:
    """What was left behind for this store, against this checkout."""
    return Verdicts(cache_folder(app.config), app.config.code)


def refresh_verdicts(
    app: App, paths: Sequence[str] | None = None, say: Callable[[str], None] = _silent
) -> int:
    """verify → keep, of these memories or of all; how many were looked at.

    Left out are those whose text and whose code are as they were.
    """
    if not app.config.code:
        return 0
    kept, state = kept_verdicts(app), open_repo(app).state()
    memories = app.store.scan().memories
    if paths is None:
        kept.drop_all_but(memory.path for memory in memories)
    old = {
        memory.path: memory
        for memory in memories
        if (paths is None or memory.path in paths) and not _current(kept, memory, state)
    }
    if not old:
        return 0
    checked = verify(app, () if len(old) == len(memories) else list(old), say)
    for path, judged in checked.memories.items():
        if path in old:
            kept.keep(path, Kept(facts_of(old[path]), state, rows_of(judged, kept)))
    return len(old)


def _current(kept: Verdicts, memory: Memory, state: str) -> bool:
    found = kept.load(memory.path, facts_of(memory))
    return found is not None and bool(state) and found.state == state


def rows_of(judged: Sequence[Judged], kept: Verdicts) -> list[Row]:
    """What is worth keeping of a memory's claims, stale ones first."""
    rows: list[Row] = []
    for one in sorted(judged, key=lambda one: one.verdict != STALE):
        if one.verdict in (TRUE, STALE):
            place = one.place or (one.claim.names[0] if one.claim.names else "")
            facts = kept.glance(place) if one.verdict == TRUE else None
            rows.append((one.verdict, one.claim.kind, one.claim.text, one.reason, place, facts))
    return rows
