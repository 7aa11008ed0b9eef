"""Verdicts that were left for recall: one small file per memory in the cache directory. Hot path.

Derived: a missing, damaged or outdated file means a memory without verdicts, never a delay.
"""

import os

from memdir.adapters.checkout import head_of
from memdir.core import verdicts
from memdir.core.store_key import store_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from memdir.core.injection import Recalled
    from memdir.core.memory import Memory
    from memdir.core.verdicts import Facts, Kept

FOLDER = "verdicts"
MOST_BYTES = 64 * 1024
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Verdicts:
    """The verdicts on one store's memories, against one checkout."""

    def __init__(self, cache_folder: str, root: str) -> None:
        self.root = os.path.realpath(root)
        self.folder = os.path.join(cache_folder, FOLDER, store_key(self.root))

    def load(self, path: str, facts: "tuple[int, int]") -> "Kept | None":
        """What was kept for a memory; None where it has changed since."""
        try:
            handle = os.open(self._path(path), _READ)
            try:
                kept = verdicts.read(os.read(handle, MOST_BYTES))
            finally:
                os.close(handle)
        except (OSError, ValueError):
            return None
        return kept if kept is not None and kept.facts == facts else None

    def keep(self, path: str, kept: "Kept") -> None:
        """Whole or not at all; nothing is lost where it cannot be written."""
        target = self._path(path)
        part = f"{target}.{os.urandom(4).hex()}"
        try:
            os.makedirs(self.folder, 0o700, exist_ok=True)
            handle = os.open(part, _WRITE, 0o600)
            try:
                os.write(handle, verdicts.write(kept))
            finally:
                os.close(handle)
            os.replace(part, target)
        except OSError:
            try:
                os.unlink(part)
            except OSError:
                return

    def tell(self, recalled: "Iterable[Recalled]") -> int:
        """Let each say which of its claims hold now; how many should be looked at again."""
        cold, head = 0, head_of(self.root)
        for one in recalled:
            kept = self.load(one.memory.path, facts_of(one.memory))
            if kept is None:
                cold += 1
                continue
            moved = bool(head) and kept.state.partition("+")[0] != head
            one.verdicts = verdicts.told(kept, self.glance, moved)
            cold += moved
        return cold

    def glance(self, place: str) -> "Facts":
        """Time and size of a file below the checkout; None where there is none."""
        if not _inside(place):
            return None
        try:
            found = os.lstat(f"{self.root}/{place}")
        except (OSError, ValueError):
            return None
        return found.st_mtime_ns, found.st_size

    def drop_all_but(self, paths: "Iterable[str]") -> None:
        """Let go of what was kept for memories that are no more."""
        names = {os.path.basename(self._path(path)) for path in paths}
        try:
            for name in os.listdir(self.folder):
                if name not in names:
                    os.unlink(os.path.join(self.folder, name))
        except OSError:
            return

    def _path(self, path: str) -> str:
        return os.path.join(self.folder, store_key(path)[-40:])


def facts_of(memory: "Memory") -> "tuple[int, int]":
    """What tells one version of a memory from the next."""
    return int(memory.mtime * 1000), memory.size


def _inside(place: str) -> bool:
    """Below the checkout by its text; a memory may name anything."""
    parts = place.rstrip("/").split("/")
    return bool(place) and "\0" not in place and not any(part in ("", ".", "..") for part in parts)
