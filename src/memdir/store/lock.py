"""One writer at a time: a blocking flock on a file in the state directory.

No lock file with an age: the kernel releases an flock when its holder dies, so a killed writer
blocks nobody. Processes that wait print the holder.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from memdir.errors import Busy, Unwritable
from memdir.hot.disk import Disk, close_quietly, failure, read_start, sync_directory

HOLDER_BYTES = 200
HEARING_SECONDS = 0.5  # an interrupt just before a wait is handled only when that wait ends


def force_names(root: str) -> None:
    """After a crash: fsync the directory entries of a dead writer, and our directories above it."""
    for folder, _, _ in os.walk(root):
        sync_directory(folder)
    here = root
    while here != os.path.dirname(here):
        with suppress(FileNotFoundError):  # not made yet
            if os.stat(here).st_uid != os.getuid():
                return
        here = os.path.dirname(here)
        if os.access(here, os.R_OK):
            sync_directory(here)


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
        flags = os.O_RDWR | os.O_CREAT | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            Disk(os.path.dirname(self.path)).make_root()
            handle = os.open(self.path, flags, 0o600)
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                close_quietly(handle)
                raise OSError(errno.ENXIO, os.strerror(errno.ENXIO))
            return handle
        except OSError as error:
            raise failure(error, self.path, "the lock cannot be opened") from None

    def _wait(self, handle: int, tell: Callable[[str], None]) -> None:
        """Block in another thread, so that this one can print and give up.

        The thread has a duplicate handle, and unlocks if it gets the lock after we gave up.
        """
        try:
            waiter = _Waiter(os.dup(handle))
        except OSError as error:
            raise failure(error, self.path, "the lock cannot be taken") from None
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
            raise failure(waiter.error, self.path, "the lock cannot be taken")
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
        if error.errno in (errno.ENOLCK, errno.EOPNOTSUPP):
            raise Unwritable(
                f"{path}: this file system has no locks ({os.strerror(error.errno)})",
                path=path,
                next="set MEMDIR_STATE_DIR to a directory on a local disk",
            ) from None
        raise failure(error, path, "the lock cannot be taken") from None
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
