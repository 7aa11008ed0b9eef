"""What readers of transcripts share: lines of a growing file, bounds, what is new in it."""

from __future__ import annotations

import errno
import json
import os
import re
import stat
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Any, NamedTuple

from memdir.clients.conversation import (
    AGENT,
    Cursor,
    Message,
    NewMessages,
    Session,
    readable,
    written_files,
)
from memdir.errors import BadInput, MemdirError
from memdir.hot.disk import READ, close_quietly, failure
from memdir.hot.place import PATH_CHARACTERS, is_below

ALL_TEXT_CHARACTERS = 4 * 1024 * 1024  # of all that is read at once
MAX_MESSAGES = 20_000  # that are read at once
CHUNK_BYTES = 1 << 20  # that are read at once
MAX_LINE_BYTES = 32 << 20  # a longer line is passed over
MAX_DOCUMENT_BYTES = 32 << 20  # a larger file of one JSON value is not read
WINDOW = 64 << 20  # bytes of a file that are read, counted from the end
MAX_LINES = 50_000  # that are read at once
SEARCHED_BYTES = 1 << 30  # in which a record is looked for
BEFORE_BYTES = 1 << 20  # before the cursor that are looked at for the names of tools
PARSED_BYTES = 8 << 20  # of a line; a longer one may hold images
MAX_ID_CHARACTERS = 200
MAX_FOLDER_NAMES = 10_000
SHOWN_CHARACTERS = 200  # of a path that nobody can mean
HASHED = "@"  # how the id of a record starts that has none of its own

Record = dict[str, Any]
_JSON = json.JSONDecoder(strict=False)  # a control character in a text hides no record
# Anchored at the quote, which cannot be inside: so it is linear.
_IMAGE = rb'"[A-Za-z0-9+/=]{4096,}"'


class Newest:
    """The newest messages, within the bounds."""

    def __init__(self) -> None:
        self.messages: deque[Message] = deque()
        self.characters = 0
        self.cut = False

    def add(self, more: Iterable[Message]) -> None:
        """At the end; what is too much goes at the other."""
        for message in more:
            self.messages.append(message)
            self.characters += _size(message)
            while self.characters > ALL_TEXT_CHARACTERS or len(self.messages) > MAX_MESSAGES:
                self.characters -= _size(self.messages.popleft())
                self.cut = True


def _size(message: Message) -> int:
    return len(message.text) + sum(map(len, message.wrote))


# Files that somebody else may be writing.


class Line(NamedTuple):
    """One line without its end; `data` is None where it is too long to be held."""

    start: int
    end: int  # behind its newline, where it has one
    data: bytes | None
    whole: bool = True  # False for a last line that has no newline yet


def forward(handle: int, start: int, stop: int) -> Iterator[Line]:
    """The lines from an offset on; what is written behind `stop` meanwhile does not count."""
    held, long, position, begun = bytearray(), False, start, start
    while position < stop and (
        chunk := os.pread(handle, min(CHUNK_BYTES, stop - position), position)
    ):
        pieces = chunk.split(b"\n")
        for number, piece in enumerate(pieces):
            long = long or len(held) + len(piece) > MAX_LINE_BYTES
            if long:
                held.clear()
            else:
                held += piece
            if number < len(pieces) - 1:
                position += len(piece) + 1
                yield Line(begun, position, None if long else bytes(held))
                held, long, begun = bytearray(), False, position
        position += len(pieces[-1])
    if position > begun:
        yield Line(begun, position, None if long else bytes(held), whole=False)


def backward(handle: int, stop: int, least: int = 0) -> Iterator[Line]:
    """The lines that end at or before `stop`, last first; one that begins before `least` is none.

    A newline right before `stop` belongs to the line that it ends.
    """
    held: list[bytes] = []  # the pieces of a line whose start is not found yet, last first
    position, end, size, long = stop, stop, 0, False
    while position > least:
        step = min(CHUNK_BYTES, position - least)
        chunk = _read_all(handle, step, position - step)
        if len(chunk) < step:
            return  # the file has shrunk meanwhile
        pieces = chunk.split(b"\n")
        for number in range(len(pieces) - 1, -1, -1):
            position -= len(pieces[number])  # where this piece starts
            size += len(pieces[number])
            long = long or size > MAX_LINE_BYTES
            held = [] if long else [*held, pieces[number]]
            if number == 0:
                break  # its line may have begun in front of the chunk
            if end > position:
                yield Line(position, end, None if long else b"".join(reversed(held)))
            held, size, long, end = [], 0, False, position
            position -= 1
    if least == 0 and end > 0:
        yield Line(0, end, None if long else b"".join(reversed(held)))


def _read_all(handle: int, size: int, offset: int = 0) -> bytes:
    """All of it: one call may give less."""
    parts = []
    while size and (part := os.pread(handle, size, offset)):
        parts.append(part)
        size, offset = size - len(part), offset + len(part)
    return b"".join(parts)


@contextmanager
def opened(path: str, root: str) -> Iterator[int]:
    """A handle to read a regular file; whatever goes wrong meanwhile is told as a sentence."""
    place = placed(path, root)
    try:
        handle = os.open(place, READ)
    except OSError as error:
        raise _explained(error, path) from None
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.ENXIO, path)
        yield handle
    except OSError as error:
        raise _explained(error, path) from None
    finally:
        close_quietly(handle)


def placed(path: str, root: str) -> str:
    """Where a path truly lies; refused outside of the client's own sessions.

    The path comes from a hook's input, and so maybe from a repository: it must not make us read
    any other file. Links may lead to the root, as in a home of links, but not out of it.
    """
    reason = "is not the whole path of a file"
    if path.startswith("/") and "\0" not in path and len(path) <= PATH_CHARACTERS:
        try:
            path.encode("utf-8", "surrogateescape")
            folder, top = os.path.realpath(os.path.dirname(path)), os.path.realpath(root)
        except UnicodeEncodeError:
            reason = "is not a name that a file can have"
        except OSError as error:
            raise _explained(error, path) from None
        else:
            name = os.path.basename(path)
            if name not in ("", ".", "..") and (folder == top or is_below(folder, top)):
                return os.path.join(folder, name)
            reason = "does not lie where the client keeps its sessions"
    shown = path[:SHOWN_CHARACTERS]
    raise BadInput(f"{shown!r} {reason}", path=shown, next=f"name a transcript below {root}")


def _explained(error: OSError, path: str) -> MemdirError:
    if error.errno in (errno.ENXIO, errno.EISDIR, errno.ELOOP, errno.ENOTDIR, errno.ENAMETOOLONG):
        reason = "is a link" if error.errno == errno.ELOOP else "is not a regular file"
        return BadInput(f"{path} {reason}, so it is not read", path=path, next=f"ls -l {path}")
    return failure(error, path, "the transcript cannot be read")


def parsed(data: bytes | None) -> Record | None:
    """A line as a record; None where it is none."""
    if data is not None and len(data) > PARSED_BYTES:
        data = re.sub(_IMAGE, b'""', data)
    if data is None or len(data) > PARSED_BYTES:
        return None  # what it becomes may take twenty times as much
    try:
        value = _JSON.decode(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def first_record(path: str, root: str, limit_bytes: int, key: str) -> Record:
    """The first record at the top of a file that has this field; empty where none can be read."""
    with suppress(MemdirError), opened(path, root) as handle:
        for line in forward(handle, 0, min(limit_bytes, os.fstat(handle).st_size)):
            record = parsed(line.data)
            if record and record.get(key):
                return record
    return {}


def read_document(path: str, root: str) -> Record | None:
    """A whole file as one JSON object; None where it is none, or too large."""
    with opened(path, root) as handle:
        size = os.fstat(handle).st_size
        return parsed(_read_all(handle, size) if size <= MAX_DOCUMENT_BYTES else None)


class File(NamedTuple):
    """A file or folder of a client."""

    name: str
    path: str
    facts: tuple[float, int]  # when it was modified, and how large it is


def list_folder(folder: str, suffix: str = "") -> list[File]:
    """The folders in a folder, or with a suffix its regular files; none where it is not there."""
    files: list[File] = []
    # A client that was never used, or a file that has just gone.
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if (
                len(files) < MAX_FOLDER_NAMES
                and entry.name.endswith(suffix)
                and entry.name[0] != "."
            ):
                facts = entry.stat(follow_symlinks=not suffix)
                if (stat.S_ISREG if suffix else stat.S_ISDIR)(facts.st_mode):
                    files.append(File(entry.name, entry.path, (facts.st_mtime, facts.st_size)))
    return files


def belongs(cwd: str, project: str) -> bool:
    """True for a session of the project or of a folder in it; and where nobody knows."""
    if not cwd or "\0" in cwd:
        return True
    tops = (project.rstrip("/"), os.path.realpath(project))
    return any(
        path == top or is_below(path, top) for path in (cwd, os.path.realpath(cwd)) for top in tops
    )


def newest_first(sessions: Iterable[Session]) -> list[Session]:
    """As every client lists them."""
    return sorted(sessions, key=lambda session: session.modified, reverse=True)


def named_folder(environ: Mapping[str, str], variable: str, default: str) -> str:
    """Where a client keeps its files: as its variable says, if that is a whole path."""
    named = environ.get(variable, "")
    return named if named.startswith("/") else default


# What is new since a cursor.


class Parser:
    """What a client's records mean. It is made anew for each reading, so it holds a state."""

    def __init__(self, home: str, cwd: str = "", by_agent: bool = False) -> None:
        self.home, self.cwd, self.by_agent = home, cwd, by_agent
        self.tools: dict[str, str] = {}  # names, by the id of the call
        self.failed: dict[str, set[str]] = {}  # by the id of a message: files it did not write
        self._calls: dict[str, tuple[str, tuple[str, ...]]] = {}

    def mark(self, record: Record) -> str | None:
        """The record's own id, empty if it has none; None for one that is no landmark."""
        raise NotImplementedError

    def take(self, record: Record, id: str) -> list[Message] | None:
        """The messages in it; None for a record of an unknown kind."""
        raise NotImplementedError

    def call(self, id: str, call: str, tool: str, given: Any, folder: str = "") -> tuple[str, ...]:
        """Remember a call of a tool; gives the files that it writes."""
        paths = written_files(tool, given, os.path.join(self.cwd, folder), self.home)
        self.tools[call] = tool
        self._calls[call] = (id, paths)
        return paths

    def fail(self, call: str) -> None:
        """A call that was meant to write, but did not."""
        id, paths = self._calls.get(call, ("", ()))
        self.failed.setdefault(id, set()).update(paths)


def read_lines(
    path: str, root: str, since: Cursor, last: str, parser: Parser, session: str
) -> NewMessages:
    """What was said since the cursor, in a file of one JSON record per line."""
    newest, lines, broken, cursor = Newest(), 0, 0, None
    with opened(path, root) as handle:
        size = os.fstat(handle).st_size
        start = _find_start(handle, size, since, parser)
        begin = _limit(handle, start or 0, size)
        earlier = _look_back(handle, begin, parser)
        for line in forward(handle, begin, size):
            if line.data is not None and not line.data.strip():
                continue
            record = parsed(line.data)
            if record is None and not line.whole:
                break  # it is being written: another time
            id = _mark(parser, record, line.data or b"") if record else ""
            messages = parser.take(record, id) if record else None
            lines += 1
            broken += messages is None
            newest.add(messages or ())
            if id:
                cursor = Cursor(id, line.end)
    return NewMessages(
        said=_with_last(
            [_as_written(message, parser) for message in newest.messages], last, earlier
        ),
        cursor=cursor or (Cursor() if start is None else since._replace(offset=start)),
        session=session,
        cwd=parser.cwd,
        broken=broken,
        lines=lines,
        lost=start is None,
        cut=begin > (start or 0) or newest.cut,
    )


def select_new(
    groups: Sequence[tuple[str, Sequence[Message]]],
    since: Cursor,
    last: str,
    session: str,
    cwd: str = "",
    broken: int = 0,
    cut: bool = False,
) -> NewMessages:
    """What was said after the cursor, of messages by ids: of a document, a folder, a table."""
    ids = [id for id, _ in groups]
    lost = bool(since.id) and since.id not in ids
    start = len(ids) - ids[::-1].index(since.id) if since.id and not lost else 0
    newest = Newest()
    for _, messages in groups[start:]:
        newest.add(messages)
    earlier = [
        message.text
        for _, messages in groups[:start]
        for message in messages
        if message.who == AGENT
    ]
    marks = [id for id in ids[start:] if is_mark(id)]
    return NewMessages(
        said=_with_last(newest.messages, last, next(filter(None, reversed(earlier)), "")),
        cursor=Cursor(marks[-1]) if marks else Cursor() if lost else since,
        session=session,
        cwd=cwd,
        broken=broken,
        lines=max(len(groups) - start, broken),
        lost=lost,
        cut=cut or newest.cut,
    )


def is_mark(id: str) -> bool:
    """True for an id that a cursor can name: cursors are written down."""
    return 0 < len(id) <= MAX_ID_CHARACTERS and id.isascii() and id.isprintable()


def _mark(parser: Parser, record: Record, data: bytes) -> str:
    """The id by which a record is found again; empty for one that is no landmark."""
    mark = parser.mark(record)
    if mark is None:
        return ""
    return mark if is_mark(mark) and mark[0] != HASHED else _hash(data)


def _hash(data: bytes) -> str:
    from hashlib import blake2b  # heavy, and seldom needed: nearly every record has an id

    return HASHED + blake2b(data.strip(), digest_size=16).hexdigest()


def _find_start(handle: int, size: int, since: Cursor, parser: Parser) -> int | None:
    """Where the news begins; None when the cursor's record is gone."""
    if not since.id:
        return 0

    def is_it(data: bytes | None) -> bool:
        if not data or since.id.startswith(HASHED):
            return bool(data) and _hash(data or b"") == since.id
        record = parsed(data)
        return record is not None and _mark(parser, record, data) == since.id

    if 0 < since.offset <= size:
        line = next(backward(handle, since.offset), None)
        if line is not None and is_it(line.data):
            return since.offset
    # As a client writes it: nearly all lines are passed over without being parsed.
    needle = b"" if since.id.startswith(HASHED) else json.dumps(since.id).encode()
    for line in backward(handle, size, max(0, size - SEARCHED_BYTES)):
        if needle in (line.data or b"") and is_it(line.data):
            return line.end
    return None


def _limit(handle: int, start: int, size: int) -> int:
    """The start of the first line that is read; those before it are too many."""
    begin = start
    if size - start > WINDOW:
        half = next(forward(handle, size - WINDOW - 1, size), None)
        begin = half.end if half and half.whole else size - WINDOW
    if size - begin > BEFORE_BYTES:  # many short lines take as long as few long ones of more bytes
        newest = islice(backward(handle, size, begin), MAX_LINES, MAX_LINES + 1)
        begin = max(begin, next((line.end for line in newest), begin))
    return begin


def _look_back(handle: int, begin: int, parser: Parser) -> str:
    """What the agent said last before. The parser takes in calls that later records refer to."""
    earlier, cwd = "", ""
    for line in backward(handle, begin, max(0, begin - BEFORE_BYTES)):
        if record := parsed(line.data):
            texts = [
                message.text for message in parser.take(record, "") or () if message.who == AGENT
            ]
            earlier = earlier or next(filter(None, reversed(texts)), "")
            cwd = cwd or parser.cwd  # the latest comes first
    parser.cwd = cwd
    return earlier


def _as_written(message: Message, parser: Parser) -> Message:
    """Without the files that a call was meant to write, but did not."""
    failed = parser.failed.get(message.id, ())
    return message._replace(wrote=tuple(path for path in message.wrote if path not in failed))


def _with_last(messages: Iterable[Message], last: str, earlier: str) -> tuple[Message, ...]:
    """Together with the last reply, where the client has not written it down yet."""
    said, reply = tuple(messages), readable(last)
    texts = [message.text for message in said if message.who == AGENT and message.text]
    written = texts[-1] if texts else earlier
    # A reply of several blocks is several records, and the hook has all of them, or the end alone.
    if not reply or (written and (reply.endswith(written) or written.endswith(reply))):
        return said
    return (*said, Message("", AGENT, reply))
