"""What hooks leave to the worker: a file of lines in the state directory. Hot path.

A line is added with one write, and goes only after its work was done: the worker takes the
file aside and lets go of it line by line, so that a crash repeats work but loses none. When
the file is full, new lines are not taken: the worker is not running, and the oldest ones wait
the longest.
"""

import fcntl
import os
from errno import ENXIO
from stat import S_ISREG
from time import sleep

NAME, TAKEN = "queue", "queue.taken"
MOST_BYTES = 1024 * 1024
TAKEN_BYTES = 8 * MOST_BYTES  # that are taken aside; more waits until some of it is done
READ_BYTES = 4 * TAKEN_BYTES  # lines that are written anew may have grown: none is cut off
LONGEST = 4096  # bytes of a line: so much is written at once or not at all
TRIES, PAUSE = 20, 0.005  # to hold the file; seconds between two of them
_ADD = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC


class Queue:
    """The queue of one user: hooks add, one worker takes."""

    def __init__(self, state_dir: str) -> None:
        self.path = os.path.join(state_dir, NAME)
        self.taken = os.path.join(state_dir, TAKEN)

    def add(self, line: bytes) -> bool:
        """True where it is in; False where the line is too long or the queue is full."""
        data = line + b"\n"
        if len(data) > LONGEST or b"\n" in line:
            return False
        for _ in range(TRIES):
            handle = self._open()
            try:
                if not _write(handle, data):
                    return False
                # On a busy machine the worker may have stopped waiting for us: once more then.
                if self._is_there(handle):
                    return True
            finally:
                os.close(handle)
        return False

    def take(self) -> list[bytes]:
        """Everything that waits, what an earlier worker left first; nothing is let go of yet."""
        lines = _lines(self.taken)
        if sum(map(len, lines)) > TAKEN_BYTES:
            return lines
        try:
            handle = os.open(self.path, _READ)
        except FileNotFoundError:
            return lines
        try:
            if not _hold(handle, fcntl.LOCK_EX):
                return lines  # somebody is about to write: it is for the next round
            new = _lines(self.path)
            if new:
                self.keep(lines + new)
            os.unlink(self.path)
        finally:
            os.close(handle)
        return lines + new

    def keep(self, lines: list[bytes]) -> None:
        """Let go of all that was taken but these."""
        if not lines:
            return _remove(self.taken)
        part = f"{self.taken}.part"  # one is enough: there is one worker at a time
        with open(os.open(part, _NEW, 0o600), "wb") as file:
            file.write(b"".join(line + b"\n" for line in lines))
            file.flush()
            os.fsync(file.fileno())  # an empty file in the place of the old one would lose all
        os.replace(part, self.taken)

    def _open(self) -> int:
        """The file to add to, held so that the worker cannot take it away before the write."""
        for _ in range(TRIES):
            try:
                handle = os.open(self.path, _ADD, 0o600)
            except FileNotFoundError:
                os.makedirs(os.path.dirname(self.path), 0o700, exist_ok=True)
                continue
            if not S_ISREG(os.fstat(handle).st_mode):  # a pipe would take it, and nobody read it
                os.close(handle)
                raise OSError(ENXIO, os.strerror(ENXIO), self.path)
            _hold(handle, fcntl.LOCK_SH)
            if self._is_there(handle):
                return handle
            os.close(handle)  # taken just now: a new one
        raise BlockingIOError("the queue cannot be held")

    def _is_there(self, handle: int) -> bool:
        """False where the worker has taken the file away meanwhile."""
        try:
            return os.path.samestat(os.fstat(handle), os.lstat(self.path))
        except FileNotFoundError:
            return False


def _write(handle: int, data: bytes) -> bool:
    size = os.fstat(handle).st_size
    if size + len(data) > MOST_BYTES:
        return False
    if size and os.pread(handle, 1, size - 1) != b"\n":
        data = b"\n" + data  # the disk was full: half a line must not spoil the next
    return os.write(handle, data) == len(data)


def _hold(handle: int, how: int) -> bool:
    """Others hold it for a moment only; False where that moment is too long."""
    for _ in range(TRIES):
        try:
            fcntl.flock(handle, how | fcntl.LOCK_NB)
        except BlockingIOError:
            sleep(PAUSE)
        except OSError:
            return True  # not every file system has locks
        else:
            return True
    return False


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return  # there was nothing to do


def _lines(path: str) -> list[bytes]:
    """Whole lines only: the last one may have been cut by a full disk."""
    try:
        with open(os.open(path, _READ), "rb") as file:
            data = file.read(READ_BYTES)
    except FileNotFoundError:
        return []
    return [line for line in data.split(b"\n")[:-1] if line]
