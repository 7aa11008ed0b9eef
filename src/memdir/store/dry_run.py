"""A store that takes every change and writes none: for `--dry-run`."""

from __future__ import annotations

from memdir.errors import Missing
from memdir.hot.layout import Around
from memdir.store.ports import Shelf, Shelved, Store


class DryRun(Around):
    """What was written is seen by later reads and stays in `written`."""

    def __init__(self, inside: Store) -> None:
        super().__init__(inside)
        self.written: dict[str, bytes | None] = {}

    def files(self) -> list[str]:
        """The memories as they would be."""
        new = {
            path for path, data in self.written.items() if data is not None and self.is_memory(path)
        }
        gone = {path for path, data in self.written.items() if data is None}
        return sorted((set(self.inside.files()) | new) - gone)

    def read(self, path: str) -> bytes:
        """The bytes as they would be."""
        if path not in self.written:
            return self.inside.read(path)
        data = self.written[path]
        if data is None:
            raise Missing(f"{path}: no such memory", path=path, next="memdir list shows them")
        return data

    def exists(self, path: str = "") -> bool:
        """As it would be."""
        if path in self.written:
            return self.written[path] is not None
        return self.inside.exists(path)

    def index(self) -> bytes | None:
        """The index as it would be."""
        path = self.index_path
        if path not in self.written:
            return self.inside.index()
        data = self.written[path]
        return None if data is None else self.view(path, data)

    def standalone(self) -> bytes | None:
        """As inside, until something was written."""
        return None if self.written else self.inside.standalone()

    def make(self) -> None:
        """Leave it as it is."""

    def put(self, path: str, data: bytes) -> None:
        """Remember, do not write."""
        self.written[path] = data

    def drop(self, path: str) -> None:
        """Remember, do not drop."""
        self.read(path)
        self.written[path] = None


class DryShelf:
    """A shelf on which nothing is laid and from which nothing is taken."""

    def __init__(self, inside: Shelf) -> None:
        self.inside = inside

    def lay(self, room: str, path: str, data: bytes, now: float) -> Shelved:
        """Say where it would lie."""
        return Shelved(room, 0, now, path)

    def list(self, room: str) -> list[Shelved]:
        """See the shelf inside."""
        return self.inside.list(room)

    def read(self, shelved: Shelved) -> bytes:
        """See the shelf inside."""
        return self.inside.read(shelved)

    def clear(self, shelved: Shelved) -> None:
        """Leave it where it is."""
