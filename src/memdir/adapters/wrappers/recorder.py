"""A store that remembers what was written through it, and announces it to the history first."""

from __future__ import annotations

from memdir.adapters.wrappers._around import Around
from memdir.core.ports import History, Store


class Recorder(Around):
    """`written` holds path -> bytes, None for what was dropped."""

    def __init__(self, inside: Store, history: History) -> None:
        super().__init__(inside)
        self.history = history
        self.written: dict[str, bytes | None] = {}

    def put(self, path: str, data: bytes) -> None:
        """Announce, write, remember."""
        self.history.expect(path, data)
        self.inside.put(path, data)
        self.written[path] = data

    def drop(self, path: str) -> None:
        """Announce, drop, remember."""
        self.history.expect(path, None)
        self.inside.drop(path)
        self.written[path] = None
