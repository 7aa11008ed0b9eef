"""Files of our own state: append-only lines, small files that are replaced as a whole, the lock.

Files are 0600 in folders of 0700; pipes are never waited for. `folder` may be a link, `name`
below it may not. Functions raise `OSError`; `state_errors` turns that into a message for the user.

One writer at a time: a blocking flock. No lock file with an age: the kernel releases an flock when
its holder dies, so a killed writer blocks nobody. Processes that wait print the holder.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import stat
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from memdir.errors import Busy, Unwritable
from memdir.hot.disk import (
    Disk,
    close_quietly,
    disk_failure,
    force_directory_to_disk,
    force_to_disk,
    read_start,
)

# Errors that parsing a damaged file may raise.
DAMAGE = (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError)

_CREATE = os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
T = TypeVar("T")

HOLDER_BYTES = 200
HEARING_SECONDS = 0.5  # an interrupt just before a wait is handled only when that wait ends


@contextmanager
def state_errors(path: str, problem: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise disk_failure(error, path, problem) from None


def append_state(
    folder: str,
    name: str,
    data: bytes,
    *,
    heading: bytes = b"",
    max_bytes: int = 0,
    keep_torn: bool = False,
    durable: bool = True,
) -> int:
    """Append whole lines, all or none; returns the new size of the file.

    An unfinished last line is cut off, or ended if `keep_torn` (a person may have written it).
    A new file begins with `heading`.
    """
    Disk(folder).make_root()
    with _opened(folder, name, os.O_RDWR | os.O_APPEND, make=True) as (handle, parent):
        fcntl.flock(handle, fcntl.LOCK_EX)
        size = os.fstat(handle).st_size
        if not size:
            data = heading + data
            if durable:
                force_to_disk(parent)  # a file with lines must have a durable name
        elif os.pread(handle, 1, size - 1) != b"\n":
            if keep_torn:
                data = b"\n" + data
            else:
                size = _cut_torn_line(handle, size)
        if max_bytes and size + len(data) > max_bytes:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
        if os.write(handle, data) != len(data):
            os.ftruncate(handle, size)  # never leave half a line
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if durable:
            force_to_disk(handle)
        return size + len(data)


def append_state_json(folder: str, name: str, values: Iterable[object], **options: Any) -> int:
    data = b"".join(json.dumps(value).encode("ascii") + b"\n" for value in values)
    return append_state(folder, name, data, **options)


def read_state_lines(folder: str, name: str, max_bytes: int = 0) -> tuple[list[bytes], bytes]:
    """Complete lines, and the unfinished rest; OSError above `max_bytes`."""
    data = read_state_bytes(folder, name, max_bytes)
    if data is None:
        return [], b""
    *lines, torn = data.split(b"\n")
    return lines, torn


def parse_state_lines(
    lines: Iterable[bytes], parse: Callable[[Any], T]
) -> tuple[list[T], list[int]]:
    """Parsed JSON lines, and the numbers of damaged ones."""
    values: list[T] = []
    damaged: list[int] = []
    for number, line in enumerate(lines, 1):
        try:
            values.append(parse(json.loads(line)))
        except DAMAGE:
            damaged.append(number)
    return values, damaged


def read_state_bytes(folder: str, name: str, max_bytes: int = 0) -> bytes | None:
    try:
        data = Disk(folder).read(name, max_bytes + 1 if max_bytes else -1)[0]
    except (FileNotFoundError, NotADirectoryError):
        return None
    if max_bytes and len(data) > max_bytes:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    return data


def read_state_json(
    folder: str, name: str, parse: Callable[[Any], T], max_bytes: int = 0
) -> T | None:
    """The parsed document, or None if missing; damage raises one of `DAMAGE`."""
    data = read_state_bytes(folder, name, max_bytes)
    return None if data is None else parse(json.loads(data))


def replace_state(folder: str, name: str, data: bytes, *, durable: bool = True) -> None:
    disk = Disk(folder)
    disk.make_root()
    disk.put(name, data, durable=durable)


def replace_state_json(folder: str, name: str, value: object, *, durable: bool = True) -> None:
    replace_state(folder, name, json.dumps(value, default=str).encode("ascii"), durable=durable)


def overwrite_state(folder: str, name: str, data: bytes) -> None:
    """Write in place, not durably, for a cache with a checksum; a rename would force a flush."""
    with _opened(folder, name, os.O_WRONLY) as (handle, _):
        os.pwrite(handle, data, 0)
        os.ftruncate(handle, len(data))


def remove_state(folder: str, name: str) -> bool:
    try:
        Disk(folder).drop(name)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


@contextmanager
def _opened(folder: str, name: str, flags: int, *, make: bool = False) -> Iterator[tuple[int, int]]:
    """Handles of the file and of its directory; a lock on the file is released in the end."""
    parent, base = Disk(folder).open_parent(name, make=make)
    try:
        handle = _open_regular(base, flags, parent)
        try:
            yield handle, parent
        finally:
            _let_go(handle)
    finally:
        close_quietly(parent)


def _open_regular(name: str, flags: int, parent: int | None = None) -> int:
    handle = os.open(name, flags | _CREATE, 0o600, dir_fd=parent)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        close_quietly(handle)
        raise OSError(errno.ENXIO, os.strerror(errno.ENXIO))
    return handle


def _cut_torn_line(handle: int, size: int) -> int:
    end = size
    while end:
        start = max(0, end - 65_536)
        cut = os.pread(handle, end - start, start).rfind(b"\n")
        if cut >= 0:
            end = start + cut + 1
            break
        end = start
    os.ftruncate(handle, end)
    return end


def force_store_leftovers_to_disk(root: str) -> None:
    """After a crash: fsync the directory entries of a dead writer, and our directories above it."""
    for folder, _, _ in os.walk(root):
        force_directory_to_disk(folder)
    here = root
    while here != os.path.dirname(here):
        with suppress(FileNotFoundError):  # not made yet
            if os.stat(here).st_uid != os.getuid():
                return
        here = os.path.dirname(here)
        if os.access(here, os.R_OK):
            force_directory_to_disk(here)


class Lock:
    def __init__(self, path: str, notice_seconds: float, give_up_seconds: float) -> None:
        self.path = path
        self.notice_seconds, self.give_up_seconds = notice_seconds, give_up_seconds

    @contextmanager
    def held(self, who: str, tell: Callable[[str], None]) -> Iterator[int]:
        """Waits for the lock; names its holder after a while, and gives up in the end."""
        handle = self._open()
        try:
            if not _try(handle, self.path):
                self._wait(handle, tell)
            _sign(handle, who)
            yield handle
        finally:
            _let_go(handle)

    @contextmanager
    def held_if_free(self, who: str) -> Iterator[int | None]:
        """Yields None if the lock is taken; never waits."""
        handle = self._open()
        try:
            free = _try(handle, self.path)
            if free:
                _sign(handle, who)
            yield handle if free else None
        finally:
            _let_go(handle)

    def holder(self) -> str:
        try:
            data, _ = read_start(self.path, HOLDER_BYTES, follow=False)
        except OSError:
            data = b""
        return " ".join(data.decode("utf-8", "replace").split()) or "an unknown process"

    def _open(self) -> int:
        with state_errors(self.path, "the lock cannot be opened"):
            Disk(os.path.dirname(self.path)).make_root()
            return _open_regular(self.path, os.O_RDWR)

    def _wait(self, handle: int, tell: Callable[[str], None]) -> None:
        """Block in another thread, so that this one can print and give up.

        The thread has a duplicate handle, and unlocks if it gets the lock after we gave up.
        """
        with state_errors(self.path, "the lock cannot be taken"):
            waiter = _Waiter(os.dup(handle))
        start = time.monotonic()
        waiter.start()
        if not waiter.done.wait(min(self.notice_seconds, self.give_up_seconds)):
            tell(f"waiting for the store's lock, held by {self.holder()} ...")
            end = start + self.give_up_seconds
            while not waiter.done.is_set() and (left := end - time.monotonic()) > 0:
                waiter.done.wait(min(left, HEARING_SECONDS))
        if waiter.settle():
            return
        if waiter.error is not None:
            raise disk_failure(waiter.error, self.path, "the lock cannot be taken")
        raise Busy(
            f"{self.path}: the store is locked by {self.holder()}; nothing was written",
            path=self.path,
            next="wait for that process or stop it, then run the command again",
        )


class _Waiter(threading.Thread):
    def __init__(self, handle: int) -> None:
        super().__init__(daemon=True)
        self.handle = handle
        self.done = threading.Event()
        self.error: OSError | None = None
        self._decision = threading.Lock()
        self._got = False
        self._abandoned = False

    def run(self) -> None:
        try:
            fcntl.flock(self.handle, fcntl.LOCK_EX)
        except OSError as error:
            self.error = error
        with self._decision:
            self._got = self.error is None
            if self._abandoned and self._got:
                fcntl.flock(self.handle, fcntl.LOCK_UN)
            os.close(self.handle)
        self.done.set()

    def settle(self) -> bool:
        """True if the lock is ours; otherwise the thread releases it as soon as it gets it."""
        with self._decision:
            self._abandoned = not self._got
            return self._got


def _try(handle: int, path: str) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno in (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS):
            raise Unwritable(
                f"{path}: this file system has no locks ({os.strerror(error.errno)})",
                path=path,
                next="set MEMDIR_STATE_DIR to a directory on a local disk",
            ) from None
        raise disk_failure(error, path, "the lock cannot be taken") from None
    return True


def _let_go(handle: int) -> None:
    """Unlocks explicitly, because a forked child may have the same handle open."""
    with suppress(OSError):
        fcntl.flock(handle, fcntl.LOCK_UN)
    close_quietly(handle)


def _sign(handle: int, who: str) -> None:
    line = f"pid {os.getpid()} ({who}) since {time.strftime('%H:%M:%S')}\n".encode()
    with suppress(OSError):
        os.pwrite(handle, line[:HOLDER_BYTES].ljust(HOLDER_BYTES), 0)
