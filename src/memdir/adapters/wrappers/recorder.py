"""A store that remembers what was written through it, and announces it to the history first."""

from __future__ import annotations

from memdir.adapters.wrappers._around import Around
from memdir.core.memory import is_memory
from memdir.core.ports import History, Store


class Recorder(Around):
    """`written` holds path -> bytes, None for what was dropped."""

    def __init__(self, inside: Store, history: History) -> None:
        super().__init__(inside)
        self.history = history
        self.written: dict[str, bytes | None] = {}
        self._files: set[str] | None = None

    def files(self) -> list[str]:
        """The memories, looked up once: while we hold the lock, they change through us."""
        if self._files is None:
            self._files = set(self.inside.files())
        return sorted(self._files)

    def read(self, path: str) -> bytes:
        """The bytes of one file; what we have just written is not asked of the disk again."""
        data = self.written.get(path)
        return self.inside.read(path) if data is None else data

    def put(self, path: str, data: bytes) -> None:
        """Announce, write, remember."""
        self.history.expect(path, data)
        self.inside.put(path, data)
        self.written[path] = data
        if self._files is not None and is_memory(path):
            self._files.add(path)

    def drop(self, path: str) -> None:
        """Announce, drop, remember."""
        self.history.expect(path, None)
        self.inside.drop(path)
        self.written[path] = None
        if self._files is not None:
            self._files.discard(path)
