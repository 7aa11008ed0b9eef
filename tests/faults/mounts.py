"""Small file systems of our own, mounted where nobody else sees them: tmpfs, images, FUSE.

Of the kernel's FUSE protocol as much as a disk and a small file system need.
"""

import ctypes
import errno
import os
import shutil
import stat
import struct
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from tests.faults import kernel

NEW_NAMESPACE = 0x00020000  # CLONE_NEWNS
FUSE, LOOP = "/dev/fuse", "/dev/loop-control"
# Small images of xfs are for tests only, and mkfs.xfs wants to hear that.
SMALL_XFS = {"TEST_DIR": "1", "TEST_DEV": "1", "QA_CHECK_FS": "1"}


def why_not(*tools: str, devices: Sequence[str] = ()) -> str:
    """Why this machine cannot mount with these; empty where it can."""
    if os.geteuid():
        return "mounting needs root"
    if missing := [tool for tool in ("mount", "umount", *tools) if shutil.which(tool) is None]:
        return f"{', '.join(missing)} not installed"
    if missing := [path for path in devices if not os.path.exists(path)]:
        return f"there is no {missing[0]} here"
    return "this machine does not let us mount" if kernel.wait(kernel.start(_try_tmpfs)) else ""


def _try_tmpfs() -> None:
    enter()
    tmpfs("/tmp", 64)
    unmount("/tmp")


def enter() -> None:
    """Leave the mounts of everybody else; what is mounted from now on goes with this process."""
    if ctypes.CDLL(None, use_errno=True).unshare(NEW_NAMESPACE):
        raise OSError(ctypes.get_errno(), "unshare")
    command("mount", "--make-rprivate", "/")


def command(*words: str) -> None:
    environment = {**os.environ, **SMALL_XFS}
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise OSError(f"{' '.join(words)}: {done.stderr.strip()}")


def tmpfs(where: str, kilobytes: int, *, again: bool = False) -> None:
    remount = "remount," if again else ""
    options = f"{remount}size={kilobytes}k,mode=0700"
    command("mount", "-t", "tmpfs", "-o", options, "none", where)


def make_image(path: str, megabytes: int, *make: str) -> None:
    """An empty file system in a file."""
    with open(path, "wb") as file:
        file.truncate(megabytes << 20)
    command(*make, path)


def copy_image(path: str, to: str) -> None:
    command("cp", "--sparse=always", path, to)


def sync_file_system(handle: int) -> None:
    ctypes.CDLL(None).syncfs(handle)


def mount_image(path: str, where: str, *options: str) -> None:
    command("mount", "-o", ",".join(("loop", *options)), path, where)


def unmount(where: str) -> None:
    command("umount", where)


# -- FUSE --------------------------------------------------------------------------------------

HEAD, ANSWER = struct.Struct("<IIQQIIII"), struct.Struct("<IiQ")
MAX_WRITE = 1 << 20
BIG_WRITES, MAX_PAGES = 1 << 5, 1 << 22
LOOKUP, FORGET, GETATTR, SETATTR, MKDIR, UNLINK, RMDIR, RENAME = 1, 2, 3, 4, 9, 10, 11, 12
LINK, OPEN, READ, WRITE, STATFS, RELEASE, FSYNC, FLUSH, INIT = 13, 14, 15, 16, 17, 18, 20, 25, 26
OPENDIR, READDIR, RELEASEDIR, FSYNCDIR, CREATE, INTERRUPT, DESTROY = 27, 28, 29, 30, 35, 36, 38
FORGETS, RENAME2 = 42, 45
UNANSWERED = frozenset((FORGET, FORGETS, INTERRUPT))
SILENT = frozenset((RELEASE, FLUSH, RELEASEDIR, FSYNCDIR, DESTROY))  # nothing to do, nothing to say
Answer = Callable[[int, int, bytes], bytes]  # to a call, on a node, with its arguments


@contextmanager
def fuse(where: str, mode: int, answer: Answer) -> Iterator[None]:
    """A file system whose root has this mode; `answer` runs in a process of its own."""
    handle = os.open(FUSE, os.O_RDWR)
    options = f"fd={handle},rootmode={mode:o},user_id=0,group_id=0,allow_other".encode()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"memdir", where.encode(), b"fuse", 0, options):
        raise OSError(ctypes.get_errno(), "mount")
    server = kernel.start(lambda: _serve(handle, answer))
    os.close(handle)
    try:
        yield
    finally:
        command("umount", "--lazy", where)
        kernel.kill(server)


def _serve(device: int, answer: Answer) -> None:
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
                said = _greet(asked)
            elif call not in SILENT:
                said = answer(call, node, asked[HEAD.size :])
        except OSError as error:
            code = -(error.errno or errno.EIO)
        os.write(device, ANSWER.pack(ANSWER.size + len(said), code, unique) + said)


def _greet(asked: bytes) -> bytes:
    major, minor, ahead, _ = struct.unpack_from("<IIII", asked, HEAD.size)
    said = struct.pack("<IIII", major, min(minor, 31), ahead, BIG_WRITES | MAX_PAGES)
    return said + struct.pack("<HHIIHHI28x", 12, 9, MAX_WRITE, 1, MAX_WRITE >> 12, 0, 0)


def attributes(number: int, mode: int, size: int, changed: int = 0, touched: int = 0) -> bytes:
    """What `stat` shows; times in nanoseconds, of the content and of the inode."""
    content, inode = divmod(changed, 10**9), divmod(touched, 10**9)
    said = struct.pack("<6Q", number, size, -(-size >> 9), content[0], content[0], inode[0])
    numbers = (content[1], content[1], inode[1], mode, 2 if stat.S_ISDIR(mode) else 1)
    return said + struct.pack("<10I", *numbers, os.getuid(), os.getgid(), 0, 4096, 0)


def statfs(blocks: int) -> bytes:
    return struct.pack("<5Q4I24x", blocks, blocks, blocks, 10**6, 10**6, 4096, 255, 4096, 0)
