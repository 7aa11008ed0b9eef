"""Prove that memory works: in a throw-away store, by doing it."""

from __future__ import annotations

from collections.abc import Callable

from memdir.core.check import Check
from memdir.core.draft import Change
from memdir.core.errors import MemdirError
from memdir.core.ports import Store
from memdir.core.revision import hash_of

NAME = "proof"
BROKEN = "what memdir says it saved is not safe here; see the other checks"


def prove(
    save: Callable[[], Change],
    undo: Callable[[], object],
    store: Store,
    clock: Callable[[], float],
) -> Check:
    """Save, read back, undo; then lose a memory behind memdir's back and undo that."""
    start = clock()
    try:
        change = save()
        if hash_of(store.read(change.path)) != change.hash:
            return Check(NAME, False, "a saved memory was not read back as it was", BROKEN)
        undo()
        if store.files():
            return Check(NAME, False, "a saved memory is still there after undo", BROKEN)
        change = save()
        store.drop(change.path)
        undo()
        if hash_of(store.read(change.path)) != change.hash:
            return Check(NAME, False, "undo did not bring back what another dropped", BROKEN)
    except MemdirError as error:
        return Check(NAME, False, f"in a throw-away store: {error.message}", error.next)
    spent = (clock() - start) * 1000
    return Check(NAME, True, f"saved, read back, undone, lost and brought back in {spent:.0f} ms")
