"""A disk that writes down, in order, what it is told to write and when it is told to flush.

One file in user space, over the kernel's own FUSE protocol, so that nothing need be installed. A
file system on a loop device above it shows what a real disk may hold when the power fails.
"""

import ctypes
import errno
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.faults import kernel, mounts

DEVICE = "/dev/fuse"
HEAD, ANSWER = struct.Struct("<IIQQIIII"), struct.Struct("<IiQ")
ENTRY = struct.Struct("<cQI")  # of the log: write or flush, where, how much
WRITE, FLUSH = b"W", b"F"
MAX_WRITE = 1 << 20
BIG_WRITES, MAX_PAGES = 1 << 5, 1 << 22
FOR_EVER = 1 << 30
GETATTR, SETATTR, OPEN, READ, WRITES, STATFS, RELEASE = 3, 4, 14, 15, 16, 17, 18
FSYNC, FLUSHES, INIT, FORGET, INTERRUPT, DESTROY, FORGETS = 20, 25, 26, 2, 36, 38, 42


@dataclass(frozen=True)
class Entry:
    """A write of some bytes; a flush where there are none."""

    at: int = -1
    data: bytes = b""


def why_not() -> str:
    if not os.path.exists(DEVICE):
        return f"there is no {DEVICE} here"
    return ""


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
    open(where, "wb").close()
    open(log, "wb").close()
    handle = os.open(DEVICE, os.O_RDWR)
    options = f"fd={handle},rootmode=100600,user_id=0,group_id=0,allow_other".encode()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"memdir-disk", where.encode(), b"fuse", 0, options):
        number = ctypes.get_errno()
        raise OSError(number, f"mount of a FUSE disk: {os.strerror(number)}")
    server = kernel.start(lambda: _serve(handle, image, log))
    os.close(handle)
    try:
        yield where
    finally:
        mounts.command("umount", "--lazy", where)
        kernel.kill(server)
        os.unlink(where)


def _serve(device: int, image: str, log: str) -> None:
    disk, written = os.open(image, os.O_RDWR), os.open(log, os.O_WRONLY | os.O_APPEND)
    size = os.fstat(disk).st_size
    while True:
        try:
            asked = os.read(device, MAX_WRITE + 8192)
        except OSError as error:
            if error.errno in (errno.EINTR, errno.ENOENT, errno.EAGAIN):
                continue
            return
        _, call, unique, *_ = HEAD.unpack_from(asked)
        if call in (FORGET, FORGETS, INTERRUPT):
            continue
        said, code = b"", 0
        if call == INIT:
            major, minor, ahead, _ = struct.unpack_from("<IIII", asked, HEAD.size)
            said = struct.pack("<IIII", major, min(minor, 31), ahead, BIG_WRITES | MAX_PAGES)
            said += struct.pack("<HHIIHHI28x", 12, 9, MAX_WRITE, 1, MAX_WRITE >> 12, 0, 0)
        elif call in (GETATTR, SETATTR):
            said = struct.pack("<QII", FOR_EVER, 0, 0) + _attributes(size)
        elif call == OPEN:
            said = struct.pack("<QII", 1, 0, 0)
        elif call == READ:
            _, at, much = struct.unpack_from("<QQI", asked, HEAD.size)
            said = os.pread(disk, much, at)
        elif call == WRITES:
            _, at, much = struct.unpack_from("<QQI", asked, HEAD.size)
            data = asked[HEAD.size + 40 : HEAD.size + 40 + much]
            os.write(written, ENTRY.pack(WRITE, at, much) + data)
            os.pwrite(disk, data, at)
            said = struct.pack("<II", much, 0)
        elif call == FSYNC:
            os.write(written, ENTRY.pack(FLUSH, 0, 0))
        elif call == STATFS:
            said = struct.pack("<QQQQQIIII24x", size >> 12, 0, 0, 1, 0, 4096, 255, 4096, 0)
        elif call not in (FLUSHES, RELEASE, DESTROY):
            code = -errno.ENOSYS
        os.write(device, ANSWER.pack(ANSWER.size + len(said), code, unique) + said)


def _attributes(size: int) -> bytes:
    times = (0, 0, 0)
    numbers = (0, 0, 0, 0o100600, 1, 0, 0, 0, 4096, 0)
    return struct.pack("<QQQ", 1, size, size >> 9) + struct.pack("<QQQ10I", *times, *numbers)
