"""Reads what is new in a file of one JSON record per line, whichever client wrote it."""

from __future__ import annotations

import json
import os
import re
from itertools import islice
from typing import Any, Protocol

from memdir.adapters.transcripts._lines import backward, forward
from memdir.adapters.transcripts._opening import opened
from memdir.adapters.transcripts._text import Kept, readable
from memdir.core.errors import MemdirError
from memdir.core.transcript import AGENT, Cursor, Said, Stretch

WINDOW = 64 << 20  # bytes that are read at once, counted from the end
LINES = 50_000  # that are read at once
SEARCHED = 1 << 30  # bytes in which a record is looked for
BEFORE = 1 << 20  # bytes before the cursor that are looked at for the names of tools
PLAIN = 8 << 20  # bytes of a line that are parsed; a longer one may hold images
LONGEST_ID = 200  # characters
HASHED = "@"  # how the id of a record starts that has none of its own

Record = dict[str, Any]
_JSON = json.JSONDecoder(strict=False)  # a control character in a text hides no record
# Anchored at the quote, which cannot be inside: so it is linear.
_IMAGE = rb'"[A-Za-z0-9+/=]{4096,}"'


class Talk(Protocol):
    """What a client's records mean. It is made anew for each reading, so it may hold a state."""

    cwd: str
    failed: dict[str, set[str]]  # by the id of what was said: files that were not written after all

    def mark(self, record: Record) -> str | None:
        """The record's own id, empty if it has none; None for one that is no landmark."""
        ...

    def take(self, record: Record, id: str) -> list[Said] | None:
        """What was said in it; None for a record of an unknown kind."""
        ...


def read(path: str, root: str, since: Cursor, last: str, talk: Talk, session: str) -> Stretch:
    """What was said since the cursor."""
    with opened(path, root) as handle:
        size = os.fstat(handle).st_size
        start = _start(handle, size, since, talk)
        lost = start is None
        begin, cut = _within(handle, start or 0, size)
        earlier = _look_back(handle, begin, talk)
        kept, (lines, broken), cursor = _take(handle, begin, size, talk)
    said = with_last(tuple(_written(one, talk) for one in kept.said), last, earlier)
    return Stretch(
        said=said,
        cursor=cursor or (Cursor() if lost else since._replace(offset=start or 0)),
        session=session,
        cwd=talk.cwd,
        broken=broken,
        lines=lines,
        lost=lost,
        cut=cut or kept.cut,
    )


def first(path: str, root: str, most: int, wanted: str) -> Record:
    """The first record at the top of a file that has this field; it says where the session was."""
    with opened(path, root) as handle:
        for line in forward(handle, 0, min(most, os.fstat(handle).st_size)):
            record = parsed(line.data)
            if record and record.get(wanted):
                return record
    return {}


def first_if_any(path: str, root: str, most: int, wanted: str) -> Record:
    """The same where the file may be unreadable: that one is passed over, the others are not."""
    try:
        return first(path, root, most, wanted)
    except MemdirError:
        return {}


def with_last(said: tuple[Said, ...], last: str, earlier: str) -> tuple[Said, ...]:
    """Together with the last reply, where the client has not written it down yet."""
    reply = readable(last)
    texts = [one.text for one in said if one.who == AGENT and one.text]
    written = texts[-1] if texts else earlier
    # A reply of several blocks is several records, and the hook has all of them, or the end alone.
    if not reply or (written and (reply.endswith(written) or written.endswith(reply))):
        return said
    return (*said, Said("", AGENT, reply))


def parsed(data: bytes | None) -> Record | None:
    """A line as a record; None where it is none."""
    if data is None:
        return None
    if len(data) > PLAIN:
        data = re.sub(_IMAGE, b'""', data)
    if len(data) > PLAIN:
        return None  # what it becomes may take twenty times as much
    try:
        value = _JSON.decode(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def marked(talk: Talk, record: Record, data: bytes) -> str:
    """The id by which a record is found again; empty for one that is no landmark."""
    mark = talk.mark(record)
    if mark is None:
        return ""
    # Cursors are written down: an id that no client gives must not make that fail.
    sound = len(mark) <= LONGEST_ID and mark.isascii() and mark.isprintable()
    return mark if mark and sound and mark[0] != HASHED else _hashed(data)


def _hashed(data: bytes) -> str:
    from hashlib import blake2b  # heavy, and seldom needed: nearly every record has an id

    return HASHED + blake2b(data.strip(), digest_size=16).hexdigest()


def _start(handle: int, size: int, since: Cursor, talk: Talk) -> int | None:
    """Where the news begins; None when the cursor's record is gone."""
    if not since.id:
        return 0

    def is_it(data: bytes) -> bool:
        if since.id.startswith(HASHED):
            return _hashed(data) == since.id
        record = parsed(data)
        return record is not None and marked(talk, record, data) == since.id

    if 0 < since.offset <= size:
        line = next(backward(handle, since.offset), None)
        if line is not None and line.data and is_it(line.data):
            return since.offset
    # As a client writes it: nearly all lines are passed over without being parsed.
    needle = b"" if since.id.startswith(HASHED) else json.dumps(since.id).encode()
    for line in backward(handle, size, max(0, size - SEARCHED)):
        if line.data and needle in line.data and is_it(line.data):
            return line.end
    return None


def _written(said: Said, talk: Talk) -> Said:
    """Without the files that a call was meant to write, but did not."""
    failed = talk.failed.get(said.id) if said.wrote else None
    if not failed:
        return said
    return said._replace(wrote=tuple(path for path in said.wrote if path not in failed))


def _within(handle: int, start: int, size: int) -> tuple[int, bool]:
    """The start of the first line that is read, and whether some are left out before it."""
    begin = start
    if size - start > WINDOW:
        half = next(forward(handle, size - WINDOW - 1, size), None)
        begin = half.end if half and half.whole else size - WINDOW
    if size - begin > BEFORE:  # many short lines take as long as few long ones of more bytes
        newest = islice(backward(handle, size, begin), LINES, LINES + 1)
        begin = max(begin, next((line.end for line in newest), begin))
    return begin, begin > start


def _look_back(handle: int, begin: int, talk: Talk) -> str:
    """What the agent said last before. The talk takes in the calls that later records refer to."""
    earlier, cwd = "", ""
    for line in backward(handle, begin, max(0, begin - BEFORE)):
        if record := parsed(line.data):
            texts = [said.text for said in talk.take(record, "") or () if said.who == AGENT]
            earlier = earlier or next(filter(None, reversed(texts)), "")
            cwd = cwd or talk.cwd  # the latest comes first
    talk.cwd = cwd
    return earlier


def _take(
    handle: int, begin: int, size: int, talk: Talk
) -> tuple[Kept, tuple[int, int], Cursor | None]:
    kept, lines, broken, cursor = Kept(), 0, 0, None
    for line in forward(handle, begin, size):
        if line.data is not None and not line.data.strip():
            continue
        record = parsed(line.data)
        if record is None and not line.whole:
            break  # it is being written: another time
        id = marked(talk, record, line.data or b"") if record else ""
        said = talk.take(record, id) if record else None
        lines += 1
        broken += said is None
        kept.add(said or ())
        if id:
            cursor = Cursor(id, line.end)
    return kept, (lines, broken), cursor
