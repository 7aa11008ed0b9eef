"""A store and a shelf that take every change and write none: for `--dry-run`."""

from __future__ import annotations

from memdir.errors import Missing
from memdir.hot.layout import Around
from memdir.store.ports import Shelf, Shelved, Store


class Overlay(Around):
    """A store with what one change wrote over it: `written` is path -> bytes, None for dropped."""

    def __init__(self, inside: Store) -> None:
        super().__init__(inside)
        self.written: dict[str, bytes | None] = {}
        self._files: set[str] | None = None
        self._index_path = inside.index_path

    @property
    def index_path(self) -> str:
        """The index as this change met it: a README.md stays one when its last memory goes."""
        return self._index_path

    def files(self) -> list[str]:
        """The memories, looked up once: while the lock is held, they change through us."""
        if self._files is None:
            self._files = set(self.inside.files())
        gone = {path for path, data in self.written.items() if data is None}
        made = {path for path in self.written if self.is_memory(path)}
        return sorted((self._files | made) - gone)

    def read(self, path: str) -> bytes:
        if path not in self.written:
            return self.inside.read(path)
        data = self.written[path]
        if data is None:
            raise Missing(f"{path}: no such memory", path=path, next="memdir list shows them")
        return data

    def exists(self, path: str = "") -> bool:
        if path in self.written:
            return self.written[path] is not None
        worked_in = any(written.startswith(f"{path}/") for written in self.written)
        return worked_in or self.inside.exists(path)

    def index(self) -> bytes | None:
        try:
            return self.view(self._index_path)
        except Missing:
            return None


class DryRun(Overlay):
    """Later reads see what would have been written."""

    def standalone(self) -> bytes | None:
        return None if self.written else self.inside.standalone()

    def make(self) -> None:
        """Leave the directory as it is."""

    def put(self, path: str, data: bytes) -> None:
        self.written[path] = data

    def drop(self, path: str) -> None:
        self.read(path)
        self.written[path] = None


class DryShelf:
    """A shelf on which nothing is laid and from which nothing is taken."""

    def __init__(self, inside: Shelf) -> None:
        self.list, self.read = inside.list, inside.read

    def lay(self, room: str, path: str, data: bytes, now: float) -> Shelved:
        return Shelved(room, 0, now, path)

    def clear(self, shelved: Shelved) -> None:
        """Leave it where it is."""
