"""What an undo means for drafts: whoever takes an approval back decides on the draft anew."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memdir.adapters.inbox import open_inbox
from memdir.app import App
from memdir.core.errors import MemdirError
from memdir.core.held import APPROVED, approved_by
from memdir.core.history import Logged


def reopen_drafts(app: App, undone: Sequence[Logged]) -> list[str]:
    """The drafts whose approval was undone wait again, or are settled again by an undone undo."""
    remarks = []
    for logged in undone:
        if id := approved_by(logged.cause.reason):
            remarks += _again(app, id)
        for earlier in _earlier(app, logged):
            if not app.dry_run and (id := approved_by(earlier.cause.reason)):
                _settle(app, id, earlier.cause.name)
    return remarks


def _again(app: App, id: str) -> list[str]:
    would = "would wait" if app.dry_run else "waits"
    try:
        if not app.dry_run:
            open_inbox(app).reopen(id)
    except MemdirError:  # it waits already, or it was approved too long ago
        return []
    return [f"the draft {id} {would} for a review again: memdir review"]


def _settle(app: App, id: str, name: str) -> None:
    try:
        open_inbox(app).settle(id, APPROVED, name, app.now())
    except MemdirError:  # somebody decided on it meanwhile
        return


def _earlier(app: App, logged: Logged) -> Iterator[Logged]:
    """What an undo took back, and what stands again without it."""
    for id in logged.cause.undoes:
        try:
            yield app.history.find(id)
        except MemdirError:
            continue  # the history has lost it
