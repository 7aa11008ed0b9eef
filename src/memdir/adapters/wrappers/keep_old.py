"""For a store whose history is off or broken: what is overwritten goes to the trash first."""

from __future__ import annotations

from memdir.adapters.wrappers._around import Around
from memdir.core.errors import Missing
from memdir.core.ports import Shelf, Store


class KeepOld(Around):
    """Lays the old version on the shelf before it is replaced or dropped."""

    def __init__(self, inside: Store, shelf: Shelf, room: str, now: float) -> None:
        super().__init__(inside)
        self.shelf = shelf
        self.room = room
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
            old = self.inside.read(path)
        except Missing:
            return
        self.shelf.lay(self.room, path, old, self.now)
