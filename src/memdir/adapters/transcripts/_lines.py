"""Lines of a file that somebody else may be writing, forwards and backwards, in little memory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

CHUNK = 1 << 20  # bytes that are read at once
LONGEST = 32 << 20  # bytes of a line; a longer one is passed over


class Line(NamedTuple):
    """One line without its end; `data` is None where it is too long to be held."""

    start: int
    end: int  # behind its newline, where it has one
    data: bytes | None
    whole: bool = True  # False for a last line that has no newline yet


def forward(handle: int, start: int, stop: int) -> Iterator[Line]:
    """The lines from an offset on; what is written behind `stop` meanwhile does not count."""
    held, long, at, begun = bytearray(), False, start, start
    while at < stop and (chunk := os.pread(handle, min(CHUNK, stop - at), at)):
        pieces = chunk.split(b"\n")
        for number, piece in enumerate(pieces):
            long = long or len(held) + len(piece) > LONGEST
            if long:
                held.clear()
            else:
                held += piece
            if number < len(pieces) - 1:
                at += len(piece) + 1
                yield Line(begun, at, None if long else bytes(held))
                held, long, begun = bytearray(), False, at
        at += len(pieces[-1])
    if at > begun:
        yield Line(begun, at, None if long else bytes(held), whole=False)


def backward(handle: int, stop: int, least: int = 0) -> Iterator[Line]:
    """The lines that end at or before `stop`, last first; one that begins before `least` is none.

    A newline right before `stop` belongs to the line that it ends.
    """
    held: list[bytes] = []  # the pieces of a line whose start is not found yet, last first
    at, end, size, long = stop, stop, 0, False
    while at > least:
        step = min(CHUNK, at - least)
        chunk = _read(handle, step, at - step)
        if len(chunk) < step:
            return  # the file has shrunk meanwhile
        pieces = chunk.split(b"\n")
        for number in range(len(pieces) - 1, -1, -1):
            at -= len(pieces[number])  # where this piece starts
            size += len(pieces[number])
            long = long or size > LONGEST
            held = [] if long else [*held, pieces[number]]
            if number == 0:
                break  # its line may have begun in front of the chunk
            if end > at:
                yield Line(at, end, None if long else b"".join(reversed(held)))
            held, size, long, end = [], 0, False, at
            at -= 1
    if least == 0 and end > 0:
        yield Line(0, end, None if long else b"".join(reversed(held)))


def _read(handle: int, size: int, at: int) -> bytes:
    """All of it: one call may give less."""
    parts = []
    while size and (part := os.pread(handle, size, at)):
        parts.append(part)
        size, at = size - len(part), at + len(part)
    return b"".join(parts)
