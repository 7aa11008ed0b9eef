"""The same."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any, NamedTuple
from urllib.parse import quote

from memdir.clients.conversation import AGENT, PERSON, TOOL, Cursor, Said, Session, Stretch
from memdir.clients.edit_json import Merge
from memdir.clients.receipt import (
    Edit,
    Host,
    Plan,
    Receipt,
    Wish,
    hash_of,
    only_settings,
    read_file,
    target_of,
)
from memdir.clients.setup import NAME, WORDS, hook_line, is_server, server
from memdir.clients.transcripts import (
    LONGEST_ID,
    PLAIN,
    Message,
    Where,
    belongs,
    document,
    document_or_none,
    is_mark,
    listed,
    parsed,
    placed,
    readable,
    seconds,
    stretch,
    typed,
    unframed,
    words,
    written,
)
from memdir.errors import BadInput, Missing
from memdir.hot.place import tidy

# opencode: the MCP server and words for the agent in opencode.json, a plugin for the hooks.
#
# The words are a file of their own: an AGENTS.md of ours would hide the CLAUDE.md that it reads
# else.

TITLE = "opencode"
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
SECONDS = 10
SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "opencode.js")


def folder(host: Host) -> str:
    """Where opencode keeps what is the user's."""
    named = host.environ.get("XDG_CONFIG_HOME", "")
    top = named if named.startswith("/") else os.path.join(host.home, ".config")
    return os.path.join(top, "opencode")


def plan(wish: Wish, host: Host, receipt: Receipt) -> Plan:
    """What installing or removing would do to its files."""
    remarks = only_settings(TITLE, wish)
    top = folder(host)
    words = os.path.join(top, INSTRUCTION)
    lines = {event: hook_line(host, "opencode", event) for _, event in EVENTS}
    settings = Merge(
        os.path.join(top, "opencode.json"),
        {
            SERVERS: {NAME: {"type": "local", "command": server(host), "enabled": True}},
            INSTRUCTIONS: [words],
        },
        _is_ours,
        (SERVERS, NAME),
        remarks,
    )
    with open(SCRIPT, encoding="utf-8") as file:
        script = MARK + file.read()
    script = script.replace("$LINES", json.dumps(lines, indent=2))
    script = script.replace("$MILLISECONDS", str(SECONDS * 1000))
    edits = [settings.edit(receipt, wish.remove)]
    edits += _own(os.path.join(top, PLUGIN), script.encode(), wish, receipt, remarks)
    edits += _own(words, (WORDS_MARK + WORDS).encode(), wish, receipt, remarks)
    if not wish.remove:
        remarks.append(f"hooks run with {host.python}: {host.why}")
    named = {name: lines[event] for name, event in EVENTS}
    return Plan("", tuple(edits), {} if wish.remove else named, tuple(remarks))


def _own(path: str, wanted: bytes, wish: Wish, receipt: Receipt, remarks: list[str]) -> list[Edit]:
    """A file that is ours alone; one of that name that is not stays."""
    target = target_of(path)
    old, kept = read_file(target), receipt.kept(path)
    marked = old is not None and old.startswith((MARK.encode(), WORDS_MARK.encode()))
    if old is not None and not marked and not (kept and kept.after == hash_of(old)):
        remarks.append(f"{path} is not ours; it stays")
        return [Edit(path, target, old, old, clean=old)]
    if wish.remove:
        return [Edit(path, target, old, None, clean=old)] if old is not None else []
    return [Edit(path, target, old, wanted)]


def _is_ours(path: tuple[str | int, ...], value: Any) -> bool:
    if path[:1] == (INSTRUCTIONS,) and len(path) == 2:
        return isinstance(value, str) and value.endswith("/opencode/" + INSTRUCTION)
    return path == (SERVERS, NAME) and is_server(value)


# The database of opencode, only looked at.

BUSY_SECONDS = 1.0


class Row(NamedTuple):
    """A message and its parts, as they are stored."""

    id: str
    data: dict[str, Any]
    parts: list[dict[str, Any]]


class Table:
    """Sessions, messages and parts of one database."""

    def __init__(self, path: str) -> None:
        self.path = path

    def sessions(self, most: int) -> list[tuple[str, str, float, int]]:
        """Id, directory, time and number of messages of those that a person started."""
        if not os.path.lexists(self.path):
            return []
        counted = "(SELECT count(*) FROM message WHERE session_id = session.id)"
        with self._looked_at() as table:
            rows = table.execute(
                f"SELECT id, directory, time_updated, {counted} FROM session "
                "WHERE parent_id IS NULL ORDER BY time_updated DESC LIMIT ?",
                (most,),
            )
            return [
                (str(id), str(directory), _number(time) / 1000, int(_number(size)))
                for id, directory, time, size in rows
            ]

    def session(self, id: str) -> dict[str, Any]:
        """What is known of one session; an error where there is none."""
        with self._looked_at() as table:
            found = table.execute(
                "SELECT directory, parent_id FROM session WHERE id = ?", (id,)
            ).fetchone()
        if found is None:
            raise Missing(f"opencode has no session {id!r}", path=self.path, next="memdir doctor")
        return {"directory": found[0], "parentID": found[1]}

    def messages(self, session: str, since: str, most: int) -> tuple[list[Row], bool]:
        """The messages from one on, in their order; whether older ones are left out of them."""
        with self._looked_at() as table:
            known = table.execute(
                "SELECT time_created, id FROM message WHERE session_id = ? AND id = ?",
                (session, since),
            ).fetchone()
            found = table.execute(
                "SELECT id, CASE WHEN length(data) <= ? THEN data END FROM message "
                "WHERE session_id = ? AND (time_created, id) >= (?, ?) "
                "ORDER BY time_created DESC, id DESC LIMIT ?",
                (PLAIN, session, *(known or (-1, "")), most + 1),
            ).fetchall()
            rows = [
                Row(str(id), _record(data), self._parts(table, id, most))
                for id, data in reversed(found[:most])
            ]
        return rows, len(found) > most

    def _parts(self, table: sqlite3.Connection, id: Any, most: int) -> list[dict[str, Any]]:
        parts = table.execute(
            "SELECT CASE WHEN length(data) <= ? THEN data END FROM part "
            "WHERE message_id = ? ORDER BY id LIMIT ?",
            (PLAIN, id, most),
        )
        return [_record(data) for (data,) in parts]

    @contextmanager
    def _looked_at(self) -> Iterator[sqlite3.Connection]:
        """The database, read-only; whatever is wrong with it is told as a sentence."""
        try:
            if not stat.S_ISREG(os.lstat(self.path).st_mode):
                raise BadInput(f"{self.path} is not a regular file", path=self.path)
            address = f"file:{quote(self.path)}?mode=ro"
            with closing(sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS)) as table:
                table.execute("PRAGMA query_only = ON")
                table.execute("PRAGMA trusted_schema = OFF")
                yield table
        except FileNotFoundError:
            what = f"{self.path} is not there"
            raise Missing(what, path=self.path, next="start opencode once") from None
        except (sqlite3.Error, OSError) as error:
            what = f"{self.path} cannot be read: {error}"
            raise BadInput(what, path=self.path, next="close opencode and try again") from None


def _record(data: object) -> dict[str, Any]:
    text = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    return parsed(text if isinstance(text, bytes) else None) or {}


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


# opencode: sessions as small JSON files below `storage/`, in newer versions in `opencode.db`.
#
# The path of a session is `storage/session/<project>/<session>.json`, or that of the database with
# the session behind it: `opencode.db/<session>`.

CLIENT = "opencode"
DATABASE = "opencode.db"
SUFFIX = ".json"
MOST = 2000  # messages that are read at once, the newest; parts of one

Record = dict[str, Any]


def open_reader(home: str, environ: Mapping[str, str]) -> Reader:
    """The reader for whoever has this home."""
    named = environ.get("XDG_DATA_HOME", "")
    folder = named if named.startswith("/") else os.path.join(home, ".local/share")
    return Reader(os.path.join(tidy(folder), "opencode"), home)


class Reader:
    """Reads below one directory."""

    def __init__(self, root: str, home: str) -> None:
        self.root, self.home = root, home

    def read(self, path: str, since: Cursor, last: str = "") -> Stretch:
        """What was said since the cursor; `last` is the reply that a hook was given."""
        place = placed(path, self.root)
        id = os.path.basename(place).removesuffix(SUFFIX)
        if not is_mark(id) or id in (".", ".."):
            raise BadInput(f"{id[:LONGEST_ID]!r} is no session", next="name one that opencode has")
        folder = os.path.dirname(place)
        if os.path.basename(folder) == DATABASE:
            table = Table(folder)
            session = table.session(id)
            rows, cut = table.messages(id, since.id, MOST)
        else:
            session = document(path, self.root) or {}
            rows, cut = _rows(os.path.dirname(os.path.dirname(folder)), id, since.id)
        where = Where(id, words(session.get("directory")))
        if session.get("parentID"):  # of an agent that another one started
            return stretch((), since, last, where)
        messages = []
        for row in rows:
            if not _complete(row.data):
                break  # it is being written: another time
            messages.append(Message(row.id, tuple(self._said(row, where.cwd))))
        broken = sum(not row.data for row in rows)
        return stretch(messages, since, last, where._replace(broken=broken, cut=cut))

    def sessions(self, project: str) -> list[Session]:
        """Those that were started in the project or below it, newest first."""
        table = Table(os.path.join(self.root, DATABASE))
        found = [
            Session(CLIENT, id, os.path.join(table.path, id), modified, size, directory)
            for id, directory, modified, size in table.sessions(MOST)
            if belongs(directory, project)
        ]
        known = {session.id for session in found}
        for folder in listed(os.path.join(self.root, "storage", "session")):
            for file in listed(folder.path, SUFFIX):
                session = document_or_none(file.path, self.root) or {}
                id = file.name.removesuffix(SUFFIX)
                own = not session.get("parentID") and id not in known
                directory = words(session.get("directory"))
                if own and directory and belongs(directory, project):
                    found.append(Session(CLIENT, id, file.path, *file.facts, directory))
        return sorted(found, key=lambda session: session.modified, reverse=True)

    def _said(self, row: Row, cwd: str) -> Iterator[Said]:
        role, time = row.data.get("role"), _created(row.data)
        if role not in ("user", "assistant") or row.data.get("summary") is True:
            return
        texts = []
        for part in row.parts:
            if part.get("type") == "text" and not part.get("synthetic") and not part.get("ignored"):
                texts.append(words(part.get("text")))
            elif part.get("type") == "tool" and role == "assistant":
                yield from self._tool(part, row.id, time, cwd)
        if role == "user":
            text, who = readable("\n".join(filter(None, map(typed, texts)))), PERSON
        else:
            text, who = readable(unframed("\n".join(texts))), AGENT
        if text:
            yield Said(row.id, who, text, time)

    def _tool(self, part: Record, id: str, time: float, cwd: str) -> Iterator[Said]:
        state, name = part.get("state"), words(part.get("tool"))
        if not isinstance(state, dict):
            return
        if state.get("status") == "completed":
            paths = written(name, state.get("input"), cwd, self.home)
            if paths:
                yield Said(id, AGENT, "", time, wrote=paths)
        found = words(state.get("output")) or words(state.get("error"))
        if text := readable(unframed(found, reminders=True)):
            yield Said(id, TOOL, text, time, name)


def _rows(storage: str, session: str, since: str) -> tuple[list[Row], bool]:
    """The messages from one on with their parts, from files; all where that one is gone."""
    files = sorted(listed(os.path.join(storage, "message", session), SUFFIX))
    names = [file.name for file in files]  # their ids are in the order of time
    if since + SUFFIX in names:
        files = files[names.index(since + SUFFIX) :]
    rows = []
    for file in files[-MOST:]:
        id = file.name.removesuffix(SUFFIX)
        parts = sorted(listed(os.path.join(storage, "part", id), SUFFIX))[:MOST]
        inner = [document_or_none(part.path, storage) or {} for part in parts]
        rows.append(Row(id, document_or_none(file.path, storage) or {}, inner))
    return rows, len(files) > MOST


def _complete(data: Record) -> bool:
    """False for a reply that has no end yet; one that failed has an error instead."""
    time = data.get("time")
    ended = isinstance(time, dict) and time.get("completed")
    return data.get("role") != "assistant" or bool(ended) or bool(data.get("error"))


def _created(data: Record) -> float:
    time = data.get("time")
    return seconds(time.get("created")) if isinstance(time, dict) else 0.0
