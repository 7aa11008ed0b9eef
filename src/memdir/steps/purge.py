"""Take memories off their shelf for good."""

from __future__ import annotations

from collections.abc import Iterable

from memdir.core.draft import PURGED, Change
from memdir.core.memory import stem
from memdir.core.ports import Shelf, Shelved


def purge(doomed: Iterable[Shelved], shelf: Shelf) -> list[Change]:
    """Remove these copies; what the history keeps is not touched."""
    changes = []
    for shelved in doomed:
        shelf.clear(shelved)
        changes.append(Change(PURGED, stem(shelved.path), shelved.path))
    return changes
