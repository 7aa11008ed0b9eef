"""Bring a shelved memory back to where it was."""

from __future__ import annotations

from memdir.core.draft import RESTORED, SKIPPED, Change
from memdir.core.errors import BadInput, Missing
from memdir.core.memory import stem
from memdir.core.ports import Shelf, Shelved, Store
from memdir.core.revision import hash_of


def restore(shelved: Shelved, store: Store, shelf: Shelf) -> Change:
    """Write the memory back; a memory that has taken its place meanwhile is not overwritten."""
    data = shelf.read(shelved)
    path = shelved.path
    try:
        standing = store.read(path)
    except Missing:
        store.put(path, data)
        return Change(RESTORED, stem(path), path, hash_of(data))
    if standing == data:
        return Change(SKIPPED, stem(path), path, hash_of(data), "it is there already, the same")
    raise BadInput(
        f"{path}: another memory stands there now; it is not overwritten",
        path=path,
        next=f"retire that one first: memdir retire {stem(path)}",
    )
