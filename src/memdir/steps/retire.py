"""Retire or archive a memory: out of the store, onto a shelf, whole."""

from __future__ import annotations

from memdir.core.draft import ARCHIVED, RETIRED, Change
from memdir.core.errors import BadInput
from memdir.core.memory import INDEX, stem
from memdir.core.ports import ARCHIVE, TRASH, Shelf, Store
from memdir.core.revision import hash_of


def retire(path: str, store: Store, shelf: Shelf, now: float, room: str = TRASH) -> Change:
    """Copy to the shelf first, then take the file away: at no moment is it in neither place."""
    if path == INDEX and room == ARCHIVE:
        raise BadInput(
            f"{INDEX} is this store's only memory and its index; it cannot be archived",
            path=path,
            next="keep it, or retire it: memdir retire MEMORY.md",
        )
    data = store.read(path)
    shelf.lay(room, path, data, now)
    store.drop(path)
    return Change(ARCHIVED if room == ARCHIVE else RETIRED, stem(path), path, hash_of(data))
