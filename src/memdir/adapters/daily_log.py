"""Daily logs on disk: appended to with one write under a lock, never rewritten.

`<root>/logs/YYYY/MM/YYYY-MM-DD.md`. Nobody waits for a lock of the store here: each log has its
own, which the kernel lets go of when its holder dies.
"""

from __future__ import annotations

import datetime
import errno
import fcntl
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass

from memdir.adapters.disk import Disk, close_quietly, failure
from memdir.core import log_text
from memdir.core.errors import BadInput
from memdir.core.finding import Finding
from memdir.core.log_text import LOGS, Entry

LONGEST_BYTES = 8 * 1024  # of an entry
LARGEST_BYTES = 4 * 1024 * 1024  # of a day
MOST_DAYS = 20_000
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True)
class Stretch:
    """What was logged on a day since somebody last looked, and where it ends."""

    path: str
    day: datetime.date
    entries: tuple[Entry, ...]
    end: int


class DailyLog:
    """The logs below one directory."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._disk = Disk(root)

    @property
    def folder(self) -> str:
        """Where all of them lie."""
        return os.path.join(self.root, LOGS)

    def path(self, day: datetime.date) -> str:
        """Where the log of a day lies."""
        return os.path.join(self.folder, log_text.path_of(day))

    def append(self, day: datetime.date, entry: Entry) -> str:
        """Add an entry, whole and durable when this returns; gives the path of the log."""
        data = log_text.write(entry).encode("utf-8", "surrogateescape")
        if len(data) > LONGEST_BYTES:
            what = f"the entry has {len(data):,} bytes (limit: {LONGEST_BYTES:,})"
            raise BadInput(what, next="log the gist, or save it: memdir remember TEXT")
        path = self.path(day)
        try:
            self._disk.make_root()
            parent, name = self._disk.open_parent(f"{LOGS}/{log_text.path_of(day)}", make=True)
            try:
                _append(name, parent, log_text.heading(day).encode(), data)
                os.fsync(parent)
            finally:
                close_quietly(parent)
        except OSError as error:
            raise failure(error, path, "the log cannot be written") from None
        return path

    def since(self, seen: Mapping[str, int]) -> tuple[list[Stretch], list[Finding]]:
        """What each log has beyond the bytes that were seen; one that shrank is read anew."""
        found: list[Stretch] = []
        findings: list[Finding] = []
        disk = Disk(os.path.join(self.root, LOGS))
        if not os.path.isdir(disk.root) or os.path.islink(disk.root):
            return [], []
        paths = [path for _, path, _ in disk.walk(lambda _: True, findings)]
        for path in sorted(paths)[-MOST_DAYS:]:
            day = log_text.day_of(path)
            if day is None:
                continue
            try:
                data, _ = disk.read(path, LARGEST_BYTES)
            except OSError as error:
                what = f"{path}: {os.strerror(error.errno or errno.EIO)}; skipped"
                findings.append(Finding("unreadable", path, what, f"check: ls -l {path}"))
                continue
            start = seen.get(path, 0)
            start = start if start <= len(data) else 0
            end = data.rfind(b"\n") + 1  # half a line is somebody's who is writing
            text = data[start:end].decode("utf-8", "surrogateescape")
            entries = tuple(log_text.read(text))
            if entries:
                found.append(Stretch(path, day, entries, end))
        return found, findings


def _append(name: str, parent: int, heading: bytes, data: bytes) -> None:
    """One write at the end, nobody else's in between; what a killed writer left stays apart."""
    handle = os.open(name, _FLAGS, 0o600, dir_fd=parent)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.ENXIO, os.strerror(errno.ENXIO))
        fcntl.flock(handle, fcntl.LOCK_EX)
        size = os.fstat(handle).st_size
        whole = data if size else heading + data
        if size and os.pread(handle, 1, size - 1) != b"\n":
            whole = b"\n" + data
        if size + len(whole) > LARGEST_BYTES:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
        if os.write(handle, whole) != len(whole):
            os.ftruncate(handle, size)  # the disk is full: half an entry would be a wrong one
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(handle)
    finally:
        close_quietly(handle)
