"""The kernel's FUSE protocol, as far as a disk and a small file system need it."""

import ctypes
import errno
import os
import stat
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.faults import kernel, mounts

DEVICE = "/dev/fuse"
HEAD, ANSWER = struct.Struct("<IIQQIIII"), struct.Struct("<IiQ")
MAX_WRITE = 1 << 20
BIG_WRITES, ASK_FOR_FLOCK, MAX_PAGES = 1 << 5, 1 << 10, 1 << 22
LOOKUP, FORGET, GETATTR, SETATTR, MKDIR, UNLINK, RMDIR, RENAME = 1, 2, 3, 4, 9, 10, 11, 12
LINK, OPEN, READ, WRITE, STATFS, RELEASE, FSYNC, FLUSH, INIT = 13, 14, 15, 16, 17, 18, 20, 25, 26
OPENDIR, READDIR, RELEASEDIR, FSYNCDIR, CREATE, INTERRUPT, DESTROY = 27, 28, 29, 30, 35, 36, 38
LOCK, LOCK_AND_WAIT = 32, 33
FORGETS, RENAME2 = 42, 45
UNANSWERED = frozenset((FORGET, FORGETS, INTERRUPT))
SILENT = frozenset((RELEASE, FLUSH, RELEASEDIR, FSYNCDIR, DESTROY))  # nothing to do, nothing to say
Answer = Callable[[int, int, bytes], bytes]  # to a call, on a node, with its arguments


def why_not() -> str:
    return "" if os.path.exists(DEVICE) else f"there is no {DEVICE} here"


@contextmanager
def mounted(where: str, mode: int, answer: Answer, flags: int = 0) -> Iterator[None]:
    """A file system whose root has this mode; `answer` runs in a process of its own."""
    handle = os.open(DEVICE, os.O_RDWR)
    options = f"fd={handle},rootmode={mode:o},user_id=0,group_id=0,allow_other".encode()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"memdir", where.encode(), b"fuse", 0, options):
        number = ctypes.get_errno()
        raise OSError(number, f"mount: {os.strerror(number)}")
    server = kernel.start(lambda: _serve(handle, answer, flags))
    os.close(handle)
    try:
        yield
    finally:
        mounts.command("umount", "--lazy", where)
        kernel.kill(server)


def _serve(device: int, answer: Answer, flags: int) -> None:
    while True:
        try:
            asked = os.read(device, MAX_WRITE + 8192)
        except OSError as error:
            if error.errno in (errno.EINTR, errno.ENOENT, errno.EAGAIN):
                continue
            return  # unmounted
        _, call, unique, node, *_ = HEAD.unpack_from(asked)
        if call in UNANSWERED:
            continue
        said, code = b"", 0
        try:
            if call == INIT:
                said = _greet(asked, flags)
            elif call not in SILENT:
                said = answer(call, node, asked[HEAD.size :])
        except OSError as error:
            code = -(error.errno or errno.EIO)
        os.write(device, ANSWER.pack(ANSWER.size + len(said), code, unique) + said)


def _greet(asked: bytes, flags: int) -> bytes:
    major, minor, ahead, _ = struct.unpack_from("<IIII", asked, HEAD.size)
    flags |= BIG_WRITES | MAX_PAGES
    said = struct.pack("<IIII", major, min(minor, 31), ahead, flags)
    return said + struct.pack("<HHIIHHI28x", 12, 9, MAX_WRITE, 1, MAX_WRITE >> 12, 0, 0)


def attributes(number: int, mode: int, size: int, times: tuple[int, int] = (0, 0)) -> bytes:
    """What `stat` shows: times of change in nanoseconds (content, inode)."""
    content, inode = (divmod(time, 10**9) for time in times)
    said = struct.pack("<6Q", number, size, -(-size >> 9), content[0], content[0], inode[0])
    numbers = (content[1], content[1], inode[1], mode, 2 if stat.S_ISDIR(mode) else 1)
    return said + struct.pack("<10I", *numbers, os.getuid(), os.getgid(), 0, 4096, 0)


def statfs(blocks: int) -> bytes:
    return struct.pack("<5Q4I24x", blocks, blocks, blocks, 10**6, 10**6, 4096, 255, 4096, 0)
