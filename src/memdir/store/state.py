"""Files of our own state: append-only lines, and small files that are replaced as a whole.

Files are 0600 in folders of 0700; pipes are never waited for. `folder` may be a link, `name`
below it may not. Functions raise `OSError`; `explained` turns that into a message for the user.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from memdir.hot.disk import Disk, close_quietly, failure

# Errors that parsing a damaged file may raise.
DAMAGE = (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError)

_CREATE = os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
T = TypeVar("T")


@contextmanager
def explained(path: str, problem: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise failure(error, path, problem) from None


def append(
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
    disk = Disk(folder)
    disk.make_root()
    parent, base = disk.open_parent(name, make=True)
    try:
        handle = _open_regular(base, os.O_RDWR | os.O_APPEND, parent)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            size = os.fstat(handle).st_size
            if not size:
                data = heading + data
                if durable:
                    os.fsync(parent)  # a file with lines must have a durable name
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
                os.fsync(handle)
            return size + len(data)
        finally:
            with suppress(OSError):  # a forked child may have the same handle
                fcntl.flock(handle, fcntl.LOCK_UN)
            close_quietly(handle)
    finally:
        close_quietly(parent)


def append_json(folder: str, name: str, values: Iterable[object], **options: Any) -> int:
    data = b"".join(json.dumps(value).encode("ascii") + b"\n" for value in values)
    return append(folder, name, data, **options)


def read_lines(folder: str, name: str, max_bytes: int = 0) -> tuple[list[bytes], bytes]:
    """Complete lines, and the unfinished rest; OSError above `max_bytes`."""
    data = read_bytes(folder, name, max_bytes)
    if data is None:
        return [], b""
    *lines, torn = data.split(b"\n")
    return lines, torn


def parse_lines(lines: Iterable[bytes], parse: Callable[[Any], T]) -> tuple[list[T], list[int]]:
    """Parsed JSON lines, and the numbers of damaged ones."""
    values: list[T] = []
    damaged: list[int] = []
    for number, line in enumerate(lines, 1):
        try:
            values.append(parse(json.loads(line)))
        except DAMAGE:
            damaged.append(number)
    return values, damaged


def read_bytes(folder: str, name: str, max_bytes: int = 0) -> bytes | None:
    try:
        data = Disk(folder).read(name, max_bytes + 1 if max_bytes else -1)[0]
    except (FileNotFoundError, NotADirectoryError):
        return None
    if max_bytes and len(data) > max_bytes:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    return data


def read_json(folder: str, name: str, parse: Callable[[Any], T], max_bytes: int = 0) -> T | None:
    """The parsed document, or None if missing; damage raises one of `DAMAGE`."""
    data = read_bytes(folder, name, max_bytes)
    return None if data is None else parse(json.loads(data))


def replace(folder: str, name: str, data: bytes, *, durable: bool = True) -> None:
    disk = Disk(folder)
    disk.make_root()
    disk.put(name, data, durable=durable)


def replace_json(folder: str, name: str, value: object, *, durable: bool = True) -> None:
    replace(folder, name, json.dumps(value, default=str).encode("ascii"), durable=durable)


def overwrite(folder: str, name: str, data: bytes) -> None:
    """Write in place, not durably, for a cache with a checksum; a rename would force a flush."""
    parent, base = Disk(folder).open_parent(name)
    try:
        handle = _open_regular(base, os.O_WRONLY, parent)
        try:
            os.pwrite(handle, data, 0)
            os.ftruncate(handle, len(data))
        finally:
            close_quietly(handle)
    finally:
        close_quietly(parent)


def remove(folder: str, name: str) -> bool:
    try:
        Disk(folder).drop(name)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _open_regular(name: str, flags: int, parent: int) -> int:
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
