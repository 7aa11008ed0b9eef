"""Files of the working tree, reached part by part: no link leads out of the checkout."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
OWN = ".git"  # what is git's own is no part of the tree


class WorkTree:
    """Looks at plain paths below the root; a folder that is a link is not entered."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._real: dict[str, bool] = {"": True}  # folders that were looked at: no link, and there

    def has_file(self, path: str) -> bool:
        """True if a file or a link stands there, tracked or not."""
        if not self._is_ours(path) or not self.enters(path.rpartition("/")[0]):
            return False
        mode = self._mode(path)
        return mode is not None and not stat.S_ISDIR(mode)

    def has_folder(self, path: str) -> bool:
        """True if a folder stands there that is not empty."""
        if not self._is_ours(path) or not self.enters(path):
            return False
        try:
            with os.scandir(os.path.join(self.root, path)) as entries:
                return next(entries, None) is not None
        except OSError:
            return False

    def enters(self, folder: str) -> bool:
        """True if the folder is there and no part of its path is a link."""
        known = self._real.get(folder)
        if known is None:
            above = folder.rpartition("/")[0]
            mode = self._mode(folder) if self.enters(above) else None
            known = self._real[folder] = mode is not None and stat.S_ISDIR(mode)
        return known

    def through_link(self, path: str) -> bool:
        """True if a part of the path above its end is a link: git refuses to talk of it."""
        above = path.rpartition("/")[0]
        while above:
            mode = self._mode(above) if self.enters(above.rpartition("/")[0]) else None
            if mode is not None and stat.S_ISLNK(mode):
                return True
            above = above.rpartition("/")[0]
        return False

    def read(self, path: str, most: int) -> bytes | None:
        """The bytes of a regular file that is not too large; None for anything else."""
        *folders, last = path.split("/")
        try:
            handle = os.open(self.root, FOLDER)
            for folder in folders:
                handle = _enter(handle, folder)
            with open(_open_file(handle, last), "rb") as file:
                facts = os.fstat(file.fileno())
                if not stat.S_ISREG(facts.st_mode) or facts.st_size > most:
                    return None
                return file.read(most)
        except (OSError, ValueError):
            return None

    def facts(self, path: str) -> tuple[int, ...]:
        """What changes when the file does."""
        if self.enters(path.rpartition("/")[0]):
            with suppress(OSError, ValueError):
                found = os.lstat(os.path.join(self.root, path))
                return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino
        return ()

    def _is_ours(self, path: str) -> bool:
        return OWN not in path.lower().split("/")

    def _mode(self, path: str) -> int | None:
        try:
            return os.lstat(os.path.join(self.root, path)).st_mode
        except (OSError, ValueError):  # ValueError: a name that no file system can hold
            return None


def _enter(handle: int, folder: str) -> int:
    try:
        return os.open(folder, FOLDER, dir_fd=handle)
    finally:
        os.close(handle)


def _open_file(handle: int, name: str) -> int:
    try:
        return os.open(name, FILE, dir_fd=handle)
    finally:
        os.close(handle)
