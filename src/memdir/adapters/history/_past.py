"""Reading a history: its changes, and the bytes that stood there. Nothing is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from memdir.adapters.history._objects import Objects
from memdir.adapters.history._trees import read_commit, read_tree
from memdir.core.errors import HistoryBroken, Missing
from memdir.core.history import Logged

SHORTEST_ID = 4
TREES_KEPT = 8  # an undo asks the same few trees for every path


class Past:
    """The changes from the newest back; one that is damaged hides only what lies behind it."""

    def __init__(self, objects: Objects) -> None:
        self.objects = objects
        self._trees: dict[str, dict[str, str]] = {}

    def _newest(self) -> str:
        raise NotImplementedError

    def log(self) -> Iterator[Logged]:
        """All changes, the newest first."""
        oid = self._newest() if self.objects.exists() else ""
        while oid:
            logged = read_commit(self.objects, oid)
            yield logged
            oid = logged.parent

    def find(self, text: str) -> Logged:
        """The change whose id starts like this; damage behind it does no harm."""
        wanted = text.strip().lower()
        found: list[Logged] = []
        if len(wanted) >= SHORTEST_ID and not wanted.strip("0123456789abcdef"):
            try:
                for logged in self.log():
                    found += [logged] if logged.id.startswith(wanted) else []
            except HistoryBroken:
                if not found:
                    raise
        if len(found) == 1:
            return found[0]
        problem = "is the start of several changes" if found else "is not a change of this store"
        where = self.objects.folder
        raise Missing(f"{text!r} {problem}", path=where, next="memdir log lists them")

    def content(self, oid: str, path: str) -> bytes | None:
        """The bytes a path had in that commit, None where it was not there."""
        blob = self.paths(oid).get(path)
        return None if blob is None else self.objects.read(blob, "blob")

    def paths(self, oid: str) -> dict[str, str]:
        """The paths that a commit holds, with their blob ids; no commit, no paths."""
        if oid and oid not in self._trees:
            if len(self._trees) >= TREES_KEPT:
                self._trees.clear()
            self._trees[oid] = read_tree(self.objects, read_commit(self.objects, oid).tree)
        return self._trees.get(oid, {})

    def check(self, enough: Callable[[], bool]) -> tuple[int, bool]:
        """Read changes back with all their bytes, until there are no more or it is enough.

        Gives how many were read and whether that is all; damage is raised, with its object.
        """
        seen: set[str] = set()
        count = 0
        for logged in self.log():
            if enough():
                return count, False
            for blob in self.paths(logged.id).values():
                if blob not in seen:
                    self.objects.read(blob, "blob")
                    seen.add(blob)
            count += 1
        return count, True
