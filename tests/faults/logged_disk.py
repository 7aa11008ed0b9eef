"""A disk that writes down, in order, what it is told to write and when it is told to flush.

One file in user space, over the kernel's own FUSE protocol, so that nothing need be installed. A
file system on a loop device above it shows what a real disk may hold when the power fails.
"""

import errno
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.faults import fuse

ENTRY = struct.Struct("<cQI")  # of the log: write or flush, where, how much
WRITE, FLUSH = b"W", b"F"
FOR_EVER = 1 << 30


@dataclass(frozen=True)
class Entry:
    """A write of some bytes; a flush where there are none."""

    at: int = -1
    data: bytes = b""


def read_log(path: str) -> list[Entry]:
    entries = []
    with open(path, "rb") as file:
        while head := file.read(ENTRY.size):
            kind, at, size = ENTRY.unpack(head)
            entries.append(Entry(at, file.read(size)) if kind == WRITE else Entry())
    return entries


@contextmanager
def serve(image: str, log: str) -> Iterator[str]:
    """The path of a disk that begins as this image, which is changed, and logs what happens."""
    where = f"{image}.disk"
    for path in (where, log):
        open(path, "wb").close()
    disk, written = os.open(image, os.O_RDWR), os.open(log, os.O_WRONLY | os.O_APPEND)
    size = os.fstat(disk).st_size

    def answer(call: int, node: int, given: bytes) -> bytes:
        if call in (fuse.GETATTR, fuse.SETATTR):
            return struct.pack("<QII", FOR_EVER, 0, 0) + fuse.attributes(1, 0o100600, size)
        if call == fuse.OPEN:
            return struct.pack("<QII", 1, 0, 0)
        if call == fuse.READ:
            _, at, much = struct.unpack_from("<QQI", given)
            return os.pread(disk, much, at)
        if call == fuse.WRITE:
            _, at, much = struct.unpack_from("<QQI", given)
            os.write(written, ENTRY.pack(WRITE, at, much) + given[40 : 40 + much])
            os.pwrite(disk, given[40 : 40 + much], at)
            return struct.pack("<II", much, 0)
        if call == fuse.FSYNC:
            os.write(written, ENTRY.pack(FLUSH, 0, 0))
            return b""
        if call == fuse.STATFS:
            return fuse.statfs(size >> 12)
        raise OSError(errno.ENOSYS, "not by this disk")

    try:
        with fuse.mounted(where, 0o100600, answer):
            yield where
    finally:
        os.close(disk)
        os.close(written)
        os.unlink(where)
