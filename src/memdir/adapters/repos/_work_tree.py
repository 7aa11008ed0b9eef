"""Files of the working tree, reached part by part: no link leads out of the checkout."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
# Parts that lead out of the tree, or into what is git's own; a raw tree object may have them.
OWN = ".git"
REFUSED = frozenset(("", ".", "..", OWN))
LONGEST_PATH = 4096  # bytes that a system call takes


def is_below(path: str) -> bool:
    """True for a plain path of the tree: none that leads out, or that no disk can hold."""
    return len(path) <= LONGEST_PATH and REFUSED.isdisjoint(path.lower().split("/"))


class WorkTree:
    """Looks at plain paths below the root; a folder that is a link is not entered."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._real: dict[str, bool] = {"": True}  # folders that were looked at: no link, and there

    def has_file(self, path: str) -> bool:
        """True if a file stands there, tracked or not; a link counts if it leads to something."""
        if not is_below(path) or not self.enters(path.rpartition("/")[0]):
            return False
        mode = self._mode(path)
        if mode is not None and stat.S_ISLNK(mode):
            return os.path.exists(os.path.join(self.root, path))
        return mode is not None and not stat.S_ISDIR(mode)

    def has_folder(self, path: str) -> bool:
        """True if a folder stands there that is not empty."""
        return is_below(path) and self.enters(path) and self._is_filled(path)

    def is_there(self, path: str, *, folder: bool) -> bool:
        """True if a file stands there, or links lead to one or to a folder."""
        return (not folder and self.has_file(path)) or self.leads_to(path, folder=folder)

    def is_regular(self, path: str) -> bool:
        """True for a file that can be read: no link, pipe or device."""
        mode = self._mode(path) if self.enters(path.rpartition("/")[0]) else None
        return mode is not None and stat.S_ISREG(mode)

    def leads_to(self, path: str, *, folder: bool) -> bool:
        """True if links that stay in the checkout lead from there to a file or a filled folder."""
        if not is_below(path) or not self.through_link(path + "/"):  # cheap, and nearly always so
            return False
        whole = os.path.join(self.root, path)
        try:
            real = os.path.realpath(whole, strict=True)
        except (OSError, ValueError):
            return False
        start = self.root.rstrip("/") + "/"
        if real == whole or not real.startswith(start) or not is_below(real[len(start) :]):
            return False
        return self._is_filled(real) if os.path.isdir(real) else not folder

    def enters(self, folder: str) -> bool:
        """True if the folder is there and no part of its path is a link."""
        unknown: list[str] = []
        while (known := self._real.get(folder)) is None:
            unknown.append(folder)
            folder = folder.rpartition("/")[0]
        for below in reversed(unknown):
            mode = self._mode(below) if known else None
            known = self._real[below] = mode is not None and stat.S_ISDIR(mode)
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
        if not is_below(path):
            return None
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
        if is_below(path) and self.enters(path.rpartition("/")[0]):
            with suppress(OSError, ValueError):
                found = os.lstat(os.path.join(self.root, path))
                return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino
        return ()

    def _is_filled(self, path: str) -> bool:
        try:
            with os.scandir(os.path.join(self.root, path)) as entries:
                return next(entries, None) is not None
        except OSError:
            return False

    def _mode(self, path: str) -> int | None:
        if not is_below(path):
            return None
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
