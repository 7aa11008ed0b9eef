"""What memdir writes for a person into a shared store needs no second yes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from memdir.errors import MemdirError
from memdir.hot.acceptance import PUT_BACK, UPKEEP, open_acceptance, save
from memdir.store.accepted import AcceptanceView
from memdir.store.ports import Store

RESTORE = "restore"


class OwnWrites:
    """One change: begun before anything is written, for the holder of the lock."""

    def __init__(self, folder: str, origin: str, store: Store, verb: str) -> None:
        self.folder, self.origin, self.store = folder, origin, store
        self.counts = bool(origin) and (verb == RESTORE or verb not in PUT_BACK)
        self.unaccepted: set[str] = set()
        self.only: set[str] | None = None
        if self.counts and (verb in UPKEEP or verb == RESTORE):
            view = AcceptanceView(store, open_acceptance(folder, origin, store))
            there = [path for path in store.tree() if store.is_memory(path)]
            self.unaccepted = {path for path in there if not view.accepts(path)}
            if verb == RESTORE:  # a record changes in place; a file comes back as it was
                self.only = set(there) - self.unaccepted

    def accept(self, written: Mapping[str, bytes | None], tell: Callable[[str], None]) -> None:
        """Put it down, unless it was made from something that nobody has accepted."""
        made = {
            path: data
            for path, data in written.items()
            if data is not None
            and self.store.is_memory(path)
            and (self.only is None or path in self.only)
        }
        if not self.counts or not made or not self.unaccepted.isdisjoint(written):
            return
        acceptance = open_acceptance(self.folder, self.origin, self.store)
        for path, data in made.items():
            acceptance.add(path, data)
        try:
            save(self.folder, acceptance.decisions)
        except MemdirError as error:
            tell(f"the change stands, but {error.message}. Next: memdir review")
