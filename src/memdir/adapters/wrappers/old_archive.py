"""A shelf that also holds the `archive/` folder which another tool left inside the store."""

from __future__ import annotations

from memdir.core.memory import is_memory
from memdir.core.ports import ARCHIVE, Shelf, Shelved, Store

FOLDER = "archive/"
THEIRS = 0  # the number of everything in that folder; ours start at 1


class OldArchive:
    """What lies in the folder is restored from there and leaves it; nothing is laid into it."""

    def __init__(self, inside: Shelf, store: Store) -> None:
        self.inside = inside
        self.store = store

    def lay(self, room: str, path: str, data: bytes, now: float) -> Shelved:
        """See the shelf inside."""
        return self.inside.lay(room, path, data, now)

    def list(self, room: str) -> list[Shelved]:
        """Ours first, then theirs."""
        found = self.inside.list(room)
        if room != ARCHIVE:
            return found
        theirs = [
            Shelved(ARCHIVE, THEIRS, facts[0] / 1e9, path.removeprefix(FOLDER))
            for path, facts in sorted(self.store.tree().items())
            if path.startswith(FOLDER) and is_memory(path.removeprefix(FOLDER))
        ]
        return found + theirs

    def read(self, shelved: Shelved) -> bytes:
        """The bytes, from wherever they lie."""
        if shelved.number != THEIRS:
            return self.inside.read(shelved)
        return self.store.read(FOLDER + shelved.path)

    def clear(self, shelved: Shelved) -> None:
        """Take it from where it lies; the history has what leaves the store."""
        if shelved.number != THEIRS:
            self.inside.clear(shelved)
        else:
            self.store.drop(FOLDER + shelved.path)
