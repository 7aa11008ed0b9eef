"""What stands where a pointer leads, although it is no memory: a link, a hidden file, a folder."""

from __future__ import annotations

from collections.abc import Iterator

from memdir.core.errors import MemdirError
from memdir.core.outline import Lookup, unquoted
from memdir.core.pointer import SUFFIX, Pointer
from memdir.core.ports import Store

SPECIAL = "special-file"


class Targets:
    """Asks the store itself; a line that leads to anything that exists is never taken out."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._special: Lookup | None = None

    def lost(self, pointer: Pointer) -> bool:
        """True where nothing stands at any path that the pointer may mean.

        A disk that stumbles is asked again: a line that stayed by mistake would outlive its memory.
        Where a folder keeps refusing, nobody can tell, and the line stays.
        """
        try:
            return self._is_lost(pointer)
        except MemdirError:
            try:
                return self._is_lost(pointer)
            except MemdirError:
                if "/" in pointer.target:
                    return False
                raise

    def _is_lost(self, pointer: Pointer) -> bool:
        return all(map(self._gone, _meanings(pointer.target))) and not self._is_special(pointer)

    def _gone(self, path: str) -> bool:
        folder = path.rpartition("/")[0]
        inside = not {"", ".", ".."}.intersection(path.split("/"))
        return inside and not self.store.exists(path) and (not folder or self.store.exists(folder))

    def _is_special(self, pointer: Pointer) -> bool:
        """Links and special files by the names that an index uses for them."""
        if self._special is None:
            found = [one.path for one in self.store.scan().findings if one.kind == SPECIAL]
            self._special = Lookup(found, {})
        return self._special.find(pointer.target, pointer.form) is not None


def _meanings(target: str) -> Iterator[str]:
    """The paths that a target may stand for."""
    for path in dict.fromkeys((target, unquoted(target))):
        yield path
        if path[-len(SUFFIX) :].lower() != SUFFIX:
            yield path + SUFFIX
