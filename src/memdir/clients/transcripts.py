"""Shared parts of transcript readers: lines of a growing file, limits, cursors."""

from __future__ import annotations

import json
import os
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
    client_seconds,
    files_tool_wrote,
    make_client_messages,
    readable_client_message,
)
from memdir.errors import BadInput, MemdirError, Missing
from memdir.hot.disk import READ, close_quietly, disk_failure
from memdir.hot.place import PATH_CHARACTERS, is_below

ALL_TEXT_CHARACTERS = 4 * 1024 * 1024  # of all messages read at once
MAX_MESSAGES = 20_000  # read at once
CHUNK_BYTES = 1 << 20  # read at once
MAX_LINE_BYTES = 32 << 20  # longer lines are skipped
WINDOW = 64 << 20  # bytes read from the end of a file
BEFORE_BYTES = 1 << 20  # read before the cursor to learn the names of tools
PARSED_BYTES = 8 << 20  # a longer line holds images and is not parsed
MAX_ID_CHARACTERS = 200
MAX_FOLDER_NAMES = 10_000
SHOWN_CHARACTERS = 200  # of an invalid path in a message
HASHED = "@"  # prefix of ids made from a hash, for records without one

Record = dict[str, Any]
_JSON = json.JSONDecoder(strict=False)  # accepts control characters in strings


class Newest:
    def __init__(self) -> None:
        self.messages: deque[Message] = deque()
        self.characters = 0
        self.cut = False

    def add(self, more: Iterable[Message]) -> None:
        """Drops the oldest messages beyond the limits."""
        for message in more:
            self.messages.append(message)
            self.characters += len(message.text)
            while self.characters > ALL_TEXT_CHARACTERS or len(self.messages) > MAX_MESSAGES:
                self.characters -= len(self.messages.popleft().text)
                self.cut = True


class Line(NamedTuple):
    """Line without its end; `data` is None if it is too long to keep."""

    end: int  # offset after the newline, if there is one
    data: bytes | None
    whole: bool = True  # False for a last line without a newline


def read_client_lines(handle: int, start: int, stop: int) -> Iterator[Line]:
    """Lines from an offset on; data appended behind `stop` meanwhile is ignored."""
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
                yield Line(position, None if long else bytes(held))
                held, long, begun = bytearray(), False, position
        position += len(pieces[-1])
    if position > begun:
        yield Line(position, None if long else bytes(held), whole=False)


def client_line_start(handle: int, offset: int, stop: int) -> int:
    if offset <= 0:
        return 0
    line = next(read_client_lines(handle, offset - 1, stop), None)
    return line.end if line and line.whole else stop


@contextmanager
def open_transcript(path: str, root: str) -> Iterator[int]:
    place, handle = resolve_client_session_path(path, root), -1
    try:
        handle = os.open(place, READ)
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise BadInput(f"{path} is not a regular file", path=path, next=f"ls -l {path}")
        yield handle
    except OSError as error:
        if isinstance(error, FileNotFoundError):
            missing = f"there is no transcript {path}"
            raise Missing(missing, path=path, next="check its spelling") from None
        raise disk_failure(error, path, "the transcript cannot be read") from None
    finally:
        close_quietly(handle)


def resolve_client_session_path(path: str, root: str) -> str:
    """Real path; refused outside of the client's own sessions.

    The path comes from a hook's input, so perhaps from a repository: it must not make us read any
    other file. Links may lead to the root, as in a home of links, but not out of it.
    """
    name = os.path.basename(path)
    whole = path.startswith("/") and "\0" not in path and len(path) <= PATH_CHARACTERS
    if whole and name not in ("", ".", ".."):
        with suppress(OSError, UnicodeEncodeError):  # not a valid file name
            os.fsencode(path)
            folder, top = os.path.realpath(os.path.dirname(path)), os.path.realpath(root)
            if folder == top or is_below(folder, top):
                return os.path.join(folder, name)
    shown = path[:SHOWN_CHARACTERS]
    message = f"{shown!r} is not in the folder of the client's sessions"
    raise BadInput(message, path=shown, next=f"name a transcript below {root}")


def parse_client_line(data: bytes | None) -> Record | None:
    if data is None or len(data) > PARSED_BYTES:
        return None  # parsed, it may take twenty times the memory
    try:
        value = _JSON.decode(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def first_client_line(path: str, root: str, limit_bytes: int, key: str) -> Record:
    with suppress(MemdirError), open_transcript(path, root) as handle:
        for line in read_client_lines(handle, 0, min(limit_bytes, os.fstat(handle).st_size)):
            record = parse_client_line(line.data)
            if record and record.get(key):
                return record
    return {}


class File(NamedTuple):
    name: str
    path: str
    facts: tuple[float, int]  # modification time and size


def list_transcripts(folder: str, suffix: str = "") -> list[File]:
    """Subfolders, or with a suffix its regular files; empty if the folder does not exist."""
    files: list[File] = []
    is_wanted = stat.S_ISREG if suffix else stat.S_ISDIR
    # The client was never used, or a file has just been deleted.
    with suppress(OSError), os.scandir(folder) as entries:
        named = (it for it in entries if it.name.endswith(suffix) and it.name[0] != ".")
        for entry in islice(named, MAX_FOLDER_NAMES):
            facts = entry.stat(follow_symlinks=not suffix)
            if is_wanted(facts.st_mode):
                files.append(File(entry.name, entry.path, (facts.st_mtime, facts.st_size)))
    return files


def is_project_session(cwd: str, project: str) -> bool:
    """True for a session in the project or below it, or with an unknown directory."""
    if not cwd or "\0" in cwd:
        return True
    tops = (project.rstrip("/"), os.path.realpath(project))
    return any(
        path == top or is_below(path, top) for path in (cwd, os.path.realpath(cwd)) for top in tops
    )


def sort_client_sessions(sessions: Iterable[Session]) -> list[Session]:
    return sorted(sessions, key=lambda session: session.modified, reverse=True)


def client_folder(environ: Mapping[str, str], variable: str, default: str) -> str:
    """Folder that the variable names, if it is an absolute path, else the default."""
    named = environ.get(variable, "")
    return named if named.startswith("/") else default


class Reader:
    def __init__(self, root: str, home: str) -> None:
        self.root, self.home = root, home


class Parser:
    """Turns a client's records into messages; stateful, so each reading needs a new one."""

    def __init__(self, home: str, cwd: str = "", by_agent: bool = False) -> None:
        self.home, self.cwd, self.by_agent = home, cwd, by_agent
        self.id, self.time = "", 0.0  # of the current record
        self.tools: dict[str, str] = {}  # tool name by call id
        self.failed: dict[str, set[str]] = {}  # files not written, by message id
        self._calls: dict[str, tuple[str, tuple[str, ...]]] = {}

    def mark(self, record: Record) -> str | None:
        """The record's own id, empty if it has none; None if a cursor must not point at it."""
        raise NotImplementedError

    def take(self, record: Record) -> Iterable[Message] | None:
        """Messages of a record; None if its kind is unknown."""
        raise NotImplementedError

    def parse(self, record: Record | None, id: str) -> list[Message] | None:
        self.id, self.time = id, client_seconds((record or {}).get("timestamp"))
        taken = self.take(record) if record else None
        return None if taken is None else list(taken)

    def say(self, who: str, text: str, tool: str = "", wrote: Sequence[str] = ()) -> list[Message]:
        return make_client_messages(who, self.id, text, self.time, tool, wrote)

    def call(self, call: str, tool: str, given: Any, folder: str = "") -> tuple[str, ...]:
        paths = files_tool_wrote(tool, given, os.path.join(self.cwd, folder), self.home)
        self.tools[call] = tool
        self._calls[call] = (self.id, paths)
        return paths

    def fail(self, call: str) -> None:
        id, paths = self._calls.get(call, ("", ()))
        self.failed.setdefault(id, set()).update(paths)


def read_client_session(
    path: str, root: str, since: Cursor, last: str, parser: Parser, session: str
) -> NewMessages:
    newest, lines, broken, cursor, earlier = Newest(), 0, 0, None, ""
    with open_transcript(path, root) as handle:
        size = os.fstat(handle).st_size
        start = _find_start(handle, size, since, parser)
        begin = max(start or 0, client_line_start(handle, size - WINDOW, size))
        # Feed earlier calls to the parser: later records refer to them.
        before = client_line_start(handle, begin - BEFORE_BYTES, begin)
        for line in read_client_lines(handle, before, begin):
            earlier = (
                last_client_reply(parser.parse(parse_client_line(line.data), "") or ()) or earlier
            )
        for line in read_client_lines(handle, begin, size):
            if line.data is not None and not line.data.strip():
                continue
            record = parse_client_line(line.data)
            if record is None and not line.whole:
                break  # still being written: read it next time
            id = _mark(parser, record, line.data or b"") if record else ""
            parsed = parser.parse(record, id)
            lines += 1
            broken += parsed is None
            newest.add(parsed or ())
            if id:
                cursor = Cursor(id, line.end)
    none, whole = set[str](), []
    for message in newest.messages:
        failed = parser.failed.get(message.id, none)
        whole.append(message._replace(wrote=tuple(p for p in message.wrote if p not in failed)))
    return NewMessages(
        said=add_last_client_reply(whole, last, earlier),
        cursor=cursor or (Cursor() if start is None else since._replace(offset=start)),
        session=session,
        cwd=parser.cwd,
        broken=broken,
        lines=lines,
        lost=start is None,
        cut=begin > (start or 0) or newest.cut,
    )


def is_client_mark(id: str) -> bool:
    return 0 < len(id) <= MAX_ID_CHARACTERS and id.isascii() and id.isprintable()


def _mark(parser: Parser, record: Record, data: bytes) -> str:
    """Id to find a record again; empty if a cursor must not point at it."""
    mark = parser.mark(record)
    if mark is None:
        return ""
    return mark if is_client_mark(mark) and mark[0] != HASHED else _hash(data)


def _hash(data: bytes) -> str:
    from hashlib import blake2b  # slow to import and rarely needed: nearly every record has an id

    return HASHED + blake2b(data.strip(), digest_size=16).hexdigest()


def _find_start(handle: int, size: int, since: Cursor, parser: Parser) -> int | None:
    """Offset of the first new record; None if the cursor's record is gone."""
    if not since.id:
        return 0
    hashed = since.id.startswith(HASHED)
    needle = b"" if hashed else json.dumps(since.id).encode()  # as a client writes it

    def is_it(data: bytes | None) -> bool:
        if not data or needle not in data:  # skips nearly all lines without parsing
            return False
        if hashed:
            return _hash(data) == since.id
        record = parse_client_line(data)
        return record is not None and _mark(parser, record, data) == since.id

    if 0 < since.offset <= size:
        before = client_line_start(handle, since.offset - BEFORE_BYTES, since.offset)
        for line in deque(read_client_lines(handle, before, since.offset), 1):
            if is_it(line.data):
                return since.offset
    start = None
    for line in read_client_lines(handle, client_line_start(handle, size - WINDOW, size), size):
        if is_it(line.data):
            start = line.end
    return start


def last_client_reply(items: Iterable[Message]) -> str:
    texts = [message.text for message in items if message.who == AGENT and message.text]
    return texts[-1] if texts else ""


def add_last_client_reply(new: Iterable[Message], last: str, earlier: str) -> tuple[Message, ...]:
    items, reply = tuple(new), readable_client_message(last)
    written = last_client_reply(items) or earlier
    # A reply may be several records; the hook gets all of it, or only the end.
    if not reply or (written and (reply.endswith(written) or written.endswith(reply))):
        return items
    return (*items, Message("", AGENT, reply))
