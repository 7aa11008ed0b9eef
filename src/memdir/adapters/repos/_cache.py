"""What earlier looks found, in files that may vanish, rot or be of another version at any time.

Each file is replaced whole and carries the sums of its parts: a torn or foreign one counts as none.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import struct
import tempfile
import zlib
from array import array
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TypeVar

from memdir.core.store_key import store_key

FOLDER = "repos"
MAGIC = b"memdir repository cache 2\n"  # another number for every other content
PART = struct.Struct("<QI")  # bytes and sum of a part
REPOSITORIES = 50  # kept; the one that was used longest ago goes first
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # a pipe would wait for ever
RATIO = 4  # bytes that a byte of a file may stand for, over all of it
# Sums hold against rot; a version that wrote something else is caught by its shape.
DAMAGED = (
    *(OSError, ValueError, TypeError, KeyError, IndexError, OverflowError, AttributeError),
    *(RecursionError, MemoryError, zlib.error, struct.error),
)
Parts = list[bytes]
T = TypeVar("T")


class Cache:
    """The files of one repository."""

    def __init__(self, cache_dir: str, root: str, most: int) -> None:
        self.above = os.path.join(cache_dir, FOLDER)
        self.folder = os.path.join(self.above, store_key(os.path.realpath(root)))
        self.most = most

    def load(self, name: str, read: Callable[[Parts], T]) -> T | None:
        """What `read` makes of the parts that were stored; None without them."""
        try:
            with open(os.open(os.path.join(self.folder, name), READ), "rb") as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    return None
                data = file.read(self.most + 1)
            return read(_unpack(data, self.most * RATIO)) if len(data) <= self.most else None
        except DAMAGED:
            return None

    def store(self, name: str, parts: Sequence[bytes]) -> None:
        """Put the parts in the place of the old ones; if that fails, the next look is slower."""
        data = MAGIC + b"".join(map(_pack, parts))
        if len(data) > self.most or sum(map(len, parts)) > self.most * RATIO:
            return
        with suppress(OSError):
            os.makedirs(self.above, 0o700, exist_ok=True)
            if not os.path.isdir(self.folder):
                self._make_room()
                os.mkdir(self.folder, 0o700)
            handle, temporary = tempfile.mkstemp(prefix=f".{name}-", dir=self.folder)
            try:
                with open(handle, "wb") as file:
                    file.write(data)
                os.replace(temporary, os.path.join(self.folder, name))
            except OSError:
                os.unlink(temporary)
                raise

    def _make_room(self) -> None:
        folders = [entry for entry in os.scandir(self.above) if entry.is_dir(follow_symlinks=False)]
        folders.sort(key=lambda entry: entry.stat().st_mtime)
        for entry in folders[: max(0, len(folders) - REPOSITORIES + 1)]:
            shutil.rmtree(entry.path, ignore_errors=True)


def pack_json(value: object) -> bytes:
    """A part of anything that JSON can say."""
    return json.dumps(value, separators=(",", ":")).encode()


def unpack_numbers(part: bytes) -> array[int]:
    """Twin of `array("i", …).tobytes()`."""
    numbers = array("i")
    numbers.frombytes(part)
    return numbers


def _pack(part: bytes) -> bytes:
    small = zlib.compress(part, 1)
    return PART.pack(len(small), zlib.crc32(small)) + small


def _unpack(data: bytes, most: int) -> Parts:
    if not data.startswith(MAGIC):
        raise ValueError("not of this version")
    parts, at = [], len(MAGIC)
    while at < len(data):
        size, total = PART.unpack_from(data, at)
        at += PART.size
        small = data[at : at + size]
        if len(small) != size or zlib.crc32(small) != total:
            raise ValueError("not what was written")
        unpacker = zlib.decompressobj()
        parts.append(unpacker.decompress(small, most + 1))
        most -= len(parts[-1])
        if most < 0 or not unpacker.eof:
            raise ValueError("larger than anything that is written")
        at += size
    return parts
