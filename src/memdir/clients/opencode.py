"""opencode: opencode.json, words for the agent and a plugin for the hooks; its transcripts.

The words are a file of their own: an AGENTS.md of ours would hide the CLAUDE.md that it reads
else.
"""

from __future__ import annotations

import json
import os
import sqlite3
import stat
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from typing import Any, NamedTuple
from urllib.parse import quote

from memdir.clients.conversation import (
    AGENT,
    PERSON,
    TOOL,
    Cursor,
    Message,
    NewMessages,
    Session,
    messages,
    seconds,
    typed,
    words,
    written_files,
)
from memdir.clients.edit_json import Merge, Path
from memdir.clients.receipt import Host, Plan, Receipt, Wish, only_settings, own_file
from memdir.clients.setup import NAME, WORDS, hook_line, is_server, python_remark, server
from memdir.clients.transcripts import (
    MAX_ID_CHARACTERS,
    PARSED_BYTES,
    Record,
    belongs,
    is_mark,
    list_folder,
    named_folder,
    newest_first,
    parsed,
    placed,
    read_document,
    select_new,
)
from memdir.errors import BadInput, MemdirError, Missing
from memdir.hot.place import tidy_path

TITLE = CLIENT = "opencode"
SERVERS, INSTRUCTIONS = "mcp", "instructions"
INSTRUCTION = "memdir.md"
PLUGIN = os.path.join("plugins", "memdir.js")
MARK = "// memdir: taken out with: memdir setup opencode --remove\n"
WORDS_MARK = "<!-- memdir: taken out with: memdir setup opencode --remove -->\n\n"
EVENTS = (
    ("chat.message", "prompt"),
    ("session.created", "session-start"),
    ("session.idle", "stop"),
)
MILLISECONDS = 10_000
SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "opencode.js")


def folder(host: Host) -> str:
    """Where opencode keeps what is the user's."""
    default = os.path.join(host.home, ".config")
    return os.path.join(named_folder(host.environ, "XDG_CONFIG_HOME", default), "opencode")


def plan(wish: Wish, host: Host, receipt: Receipt) -> Plan:
    """What installing or removing would do to its files."""
    remarks = only_settings(TITLE, wish)
    top = folder(host)
    instruction = os.path.join(top, INSTRUCTION)
    lines = {event: hook_line(host, CLIENT, event) for _, event in EVENTS}
    wanted = {
        SERVERS: {NAME: {"type": "local", "command": server(host), "enabled": True}},
        INSTRUCTIONS: [instruction],
    }
    with open(SCRIPT, encoding="utf-8") as file:
        script = MARK + file.read()
    script = script.replace("$LINES", json.dumps(lines, indent=2))
    script = script.replace("$MILLISECONDS", str(MILLISECONDS))
    settings = os.path.join(top, "opencode.json")
    edits = [Merge(settings, wanted, _is_ours, (SERVERS, NAME), remarks).edit(receipt, wish.remove)]
    for path, text in ((os.path.join(top, PLUGIN), script), (instruction, WORDS_MARK + WORDS)):
        marks = (MARK.encode(), WORDS_MARK.encode())
        edits += own_file(path, text.encode(), receipt, remarks, remove=wish.remove, marks=marks)
    remarks += [] if wish.remove else [python_remark(host)]
    named = {name: lines[event] for name, event in EVENTS}
    return Plan("", tuple(edits), {} if wish.remove else named, tuple(remarks))


def _is_ours(path: Path, value: Any) -> bool:
    if path[:1] == (INSTRUCTIONS,) and len(path) == 2:
        return isinstance(value, str) and value.endswith("/opencode/" + INSTRUCTION)
    return path == (SERVERS, NAME) and is_server(value)


# Transcripts: small JSON files below `storage/`, in newer versions rows of `opencode.db`.
#
# The path of a session is `storage/session/<project>/<session>.json`, or that of the database with
# the session behind it: `opencode.db/<session>`.

DATABASE = "opencode.db"
SUFFIX = ".json"
MAX_MESSAGES = 2000  # that are read at once, the newest; parts of one
BUSY_SECONDS = 1.0


class Row(NamedTuple):
    """A message and its parts, as they are stored."""

    id: str
    data: Record
    parts: list[Record]


def open_reader(home: str, environ: Mapping[str, str]) -> Reader:
    """The reader for whoever has this home."""
    top = named_folder(environ, "XDG_DATA_HOME", os.path.join(home, ".local/share"))
    return Reader(os.path.join(tidy_path(top), "opencode"), home)


class Reader:
    """Reads below one directory."""

    def __init__(self, root: str, home: str) -> None:
        self.root, self.home = root, home

    def read(self, path: str, since: Cursor, last: str = "") -> NewMessages:
        """What was said since the cursor; `last` is the reply that a hook was given."""
        place = placed(path, self.root)
        id = os.path.basename(place).removesuffix(SUFFIX)
        if not is_mark(id) or id in (".", ".."):
            shown = id[:MAX_ID_CHARACTERS]
            raise BadInput(f"{shown!r} is no session", next="name one that opencode has")
        folder = os.path.dirname(place)
        if os.path.basename(folder) == DATABASE:
            session, rows, cut = _table_rows(folder, id, since.id)
        else:
            session = read_document(path, self.root) or {}
            rows, cut = _file_rows(os.path.dirname(os.path.dirname(folder)), id, since.id)
        cwd = words(session.get("directory"))
        if session.get("parentID"):  # of an agent that another one started
            return select_new((), since, last, id, cwd)
        groups = []
        for row in rows:
            if not _is_complete(row.data):
                break  # it is being written: another time
            groups.append((row.id, tuple(self._messages(row, cwd))))
        broken = sum(not row.data for row in rows)
        return select_new(groups, since, last, id, cwd, broken, cut)

    def sessions(self, project: str) -> list[Session]:
        """Those that were started in the project or below it, newest first."""
        database = os.path.join(self.root, DATABASE)
        sessions = [
            session for session in _table_sessions(database) if belongs(session.cwd, project)
        ]
        known = {session.id for session in sessions}
        for folder in list_folder(os.path.join(self.root, "storage", "session")):
            for file in list_folder(folder.path, SUFFIX):
                session, id = _document(file.path, self.root), file.name.removesuffix(SUFFIX)
                cwd = words(session.get("directory"))
                own = not session.get("parentID") and id not in known
                if own and cwd and belongs(cwd, project):
                    sessions.append(Session(CLIENT, id, file.path, *file.facts, cwd))
        return newest_first(sessions)

    def _messages(self, row: Row, cwd: str) -> Iterator[Message]:
        role, times = row.data.get("role"), row.data.get("time")
        time = seconds(times.get("created")) if isinstance(times, dict) else 0.0
        if role not in ("user", "assistant") or row.data.get("summary") is True:
            return
        texts = []
        for part in row.parts:
            if part.get("type") == "text" and not part.get("synthetic") and not part.get("ignored"):
                texts.append(words(part.get("text")))
            elif part.get("type") == "tool" and role == "assistant":
                yield from self._tool(part, row.id, time, cwd)
        if role == "user":
            yield from messages(PERSON, row.id, "\n".join(filter(None, map(typed, texts))), time)
        else:
            yield from messages(AGENT, row.id, "\n".join(texts), time)

    def _tool(self, part: Record, id: str, time: float, cwd: str) -> Iterator[Message]:
        state, name = part.get("state"), words(part.get("tool"))
        if not isinstance(state, dict):
            return
        if state.get("status") == "completed":
            wrote = written_files(name, state.get("input"), cwd, self.home)
            yield from messages(AGENT, id, "", time, wrote=wrote)
        output = words(state.get("output")) or words(state.get("error"))
        yield from messages(TOOL, id, output, time, name)


def _is_complete(data: Record) -> bool:
    """False for a reply that has no end yet; one that failed has an error instead."""
    time = data.get("time")
    ended = isinstance(time, dict) and time.get("completed")
    return data.get("role") != "assistant" or bool(ended) or bool(data.get("error"))


def _document(path: str, root: str) -> Record:
    with suppress(MemdirError):
        return read_document(path, root) or {}
    return {}


def _file_rows(storage: str, session: str, since: str) -> tuple[list[Row], bool]:
    """The messages from one on with their parts, all where that one is gone; are some left out?"""
    files = sorted(list_folder(os.path.join(storage, "message", session), SUFFIX))
    names = [file.name for file in files]  # their ids are in the order of time
    if since + SUFFIX in names:
        files = files[names.index(since + SUFFIX) :]
    rows = []
    for file in files[-MAX_MESSAGES:]:
        id = file.name.removesuffix(SUFFIX)
        parts = sorted(list_folder(os.path.join(storage, "part", id), SUFFIX))[:MAX_MESSAGES]
        inner = [_document(part.path, storage) for part in parts]
        rows.append(Row(id, _document(file.path, storage), inner))
    return rows, len(files) > MAX_MESSAGES


def _table_rows(path: str, id: str, since: str) -> tuple[Record, list[Row], bool]:
    """A session of the database, its messages from one on; are older ones left out of them?"""
    with _open_table(path) as table:
        session = table.execute(
            "SELECT directory, parent_id FROM session WHERE id = ?", (id,)
        ).fetchone()
        if session is None:
            raise Missing(f"opencode has no session {id!r}", path=path, next="memdir doctor")
        first = table.execute(
            "SELECT time_created, id FROM message WHERE session_id = ? AND id = ?", (id, since)
        ).fetchone()
        newest = table.execute(
            "SELECT id, CASE WHEN length(data) <= ? THEN data END FROM message "
            "WHERE session_id = ? AND (time_created, id) >= (?, ?) "
            "ORDER BY time_created DESC, id DESC LIMIT ?",
            (PARSED_BYTES, id, *(first or (-1, "")), MAX_MESSAGES + 1),
        ).fetchall()
        parts = (
            "SELECT CASE WHEN length(data) <= ? THEN data END FROM part "
            "WHERE message_id = ? ORDER BY id LIMIT ?"
        )
        rows = [
            Row(
                str(message),
                _record(data),
                [
                    _record(part)
                    for (part,) in table.execute(parts, (PARSED_BYTES, message, MAX_MESSAGES))
                ],
            )
            for message, data in reversed(newest[:MAX_MESSAGES])
        ]
    return {"directory": session[0], "parentID": session[1]}, rows, len(newest) > MAX_MESSAGES


def _table_sessions(path: str) -> list[Session]:
    """Those that a person started."""
    if not os.path.lexists(path):
        return []
    count = "(SELECT count(*) FROM message WHERE session_id = session.id)"
    with _open_table(path) as table:
        rows = table.execute(
            f"SELECT id, directory, time_updated, {count} FROM session "
            "WHERE parent_id IS NULL ORDER BY time_updated DESC LIMIT ?",
            (MAX_MESSAGES,),
        )
        return [
            Session(
                CLIENT, str(id), os.path.join(path, str(id)), _number(time) / 1000, size, str(cwd)
            )
            for id, cwd, time, size in rows
        ]


@contextmanager
def _open_table(path: str) -> Iterator[sqlite3.Connection]:
    """The database, read-only; whatever is wrong with it is told as a sentence."""
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            raise BadInput(f"{path} is not a regular file", path=path)
        address = f"file:{quote(path)}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS)) as table:
            table.execute("PRAGMA query_only = ON")
            table.execute("PRAGMA trusted_schema = OFF")
            yield table
    except FileNotFoundError:
        raise Missing(f"{path} is not there", path=path, next="start opencode once") from None
    except (sqlite3.Error, OSError) as error:
        message = f"{path} cannot be read: {error}"
        raise BadInput(message, path=path, next="close opencode and try again") from None


def _record(data: object) -> Record:
    text = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    return parsed(text if isinstance(text, bytes) else None) or {}


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
