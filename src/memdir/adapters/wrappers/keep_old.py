"""A store that overwrites nothing the history does not have: it goes to the trash first."""

from __future__ import annotations

from memdir.adapters.wrappers._around import Around
from memdir.core.errors import HistoryBroken, Missing
from memdir.core.ports import ARCHIVE, TRASH, History, Shelf, Store


class KeepOld(Around):
    """Where the history is off or broken, the old version is laid on the shelf."""

    def __init__(self, inside: Store, history: History, shelf: Shelf, now: float) -> None:
        super().__init__(inside)
        self.history = history
        self.shelf = shelf
        self.now = now

    def put(self, path: str, data: bytes) -> None:
        """Keep the old version, then write."""
        self._keep(path)
        self.inside.put(path, data)

    def drop(self, path: str) -> None:
        """Keep the old version, then drop."""
        self._keep(path)
        self.inside.drop(path)

    def _keep(self, path: str) -> None:
        try:
            if not self._kept(path):
                self.shelf.lay(TRASH, path, self.inside.read(path), self.now)
        except Missing:
            return  # there is nothing to keep

    def _kept(self, path: str) -> bool:
        try:
            if self.history.keeps(self.inside, path):
                return True
        except HistoryBroken:
            pass  # the shelf keeps it then
        newest = [one for room in (TRASH, ARCHIVE) for one in self.shelf.list(room)[:1]]
        data = self.inside.read(path)
        return any(one.path == path and self.shelf.read(one) == data for one in newest)
