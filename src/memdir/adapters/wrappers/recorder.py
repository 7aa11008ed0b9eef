"""A store that remembers what was written through it, and announces it to the history first."""

from __future__ import annotations

from memdir.adapters.wrappers._around import Around
from memdir.core.errors import MemdirError, Missing
from memdir.core.ports import History, Store


class Recorder(Around):
    """`written` holds path -> bytes, None for what was dropped."""

    def __init__(self, inside: Store, history: History) -> None:
        super().__init__(inside)
        self.history = history
        self.written: dict[str, bytes | None] = {}
        self._files: set[str] | None = None
        self._index_path = inside.index_path

    @property
    def index_path(self) -> str:
        """The index as this change found it: a README.md stays one when its last memory goes."""
        return self._index_path

    def index(self) -> bytes | None:
        """The index as it stands, None where there is none."""
        try:
            return self.view(self._index_path)
        except Missing:
            return None

    def files(self) -> list[str]:
        """The memories, looked up once: while we hold the lock, they change through us."""
        if self._files is None:
            gone = {path for path, data in self.written.items() if data is None}
            made = {path for path in self.written if self.is_memory(path)} - gone
            self._files = (set(self.inside.files()) | made) - gone
        return sorted(self._files)

    def read(self, path: str) -> bytes:
        """The bytes of one file; what we have just written is not asked of the disk again."""
        data = self.written.get(path)
        return self.inside.read(path) if data is None else data

    def exists(self, path: str = "") -> bool:
        """True where something stands; where we have just been, the disk is not asked again."""
        if path in self.written:
            return self.written[path] is not None
        worked_in = any(done.startswith(f"{path}/") for done in self.written)
        return worked_in or self.inside.exists(path)

    def put(self, path: str, data: bytes) -> None:
        """Announce, write, remember."""
        self.history.expect(path, data)
        try:
            self.inside.put(path, data)
        except MemdirError:
            self._count_if_done(path, data)
            raise
        self.written[path] = data
        if self._files is not None and self.is_memory(path):
            self._files.add(path)

    def drop(self, path: str) -> None:
        """Announce, drop, remember."""
        self.history.expect(path, None)
        try:
            self.inside.drop(path)
        except MemdirError:
            self._count_if_done(path, None)
            raise
        self.written[path] = None
        if self._files is not None:
            self._files.discard(path)

    def _count_if_done(self, path: str, data: bytes | None) -> None:
        """A failure may come after the deed: what stands is ours, not somebody else's."""
        try:
            standing: bytes | None = self.inside.read(path)
        except Missing:
            standing = None
        except MemdirError:
            return  # nobody can tell; the next look at the store does
        if standing == data:
            self.written[path] = data
