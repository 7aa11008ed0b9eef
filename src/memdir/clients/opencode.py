"""opencode: opencode.json, instructions, a plugin for the hooks; its transcripts.

The instructions are a separate file: an AGENTS.md would hide the CLAUDE.md that opencode reads.
"""

from __future__ import annotations

import json
import os
import sqlite3
import stat
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any
from urllib.parse import quote

from memdir.clients import conversation, setup, transcripts
from memdir.clients.conversation import (
    AGENT,
    PERSON,
    TOOL,
    as_object,
    as_text,
    make_client_messages,
    typed_client_text,
)
from memdir.clients.edit_settings import NAME, Merge, Path, Receipt, edit_client_file, is_our_server
from memdir.errors import BadInput, Missing
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


def folder(host: setup.Host) -> str:
    default = os.path.join(host.home, ".config")
    return os.path.join(
        transcripts.client_folder(host.environ, "XDG_CONFIG_HOME", default), "opencode"
    )


def plan(wish: setup.Wish, host: setup.Host, receipt: Receipt) -> setup.Plan:
    remarks, top = setup.refuse_plugin(TITLE, wish), folder(host)
    instruction = os.path.join(top, INSTRUCTION)
    lines = {event: setup.client_hook_line(host, CLIENT, event) for _, event in EVENTS}
    wanted = {
        SERVERS: {NAME: {"type": "local", "command": setup.client_server(host), "enabled": True}},
        INSTRUCTIONS: [instruction],
    }
    with open(SCRIPT, encoding="utf-8") as file:
        script = MARK + file.read()
    script = script.replace("$LINES", json.dumps(lines, indent=2))
    script = script.replace("$MILLISECONDS", str(MILLISECONDS))
    settings = os.path.join(top, "opencode.json")
    edits = [Merge(settings, wanted, _is_ours, (SERVERS, NAME), remarks).edit(receipt, wish.remove)]
    marks, files = (MARK.encode(), WORDS_MARK.encode()), {os.path.join(top, PLUGIN): script}
    for path, text in (files | {instruction: WORDS_MARK + setup.WORDS}).items():
        edits += edit_client_file(path, text.encode(), receipt, remarks, wish.remove, marks)
    hooks = {name: lines[event] for name, event in EVENTS}
    return setup.plan_setup(wish, host, edits, hooks, remarks)


def _is_ours(path: Path, value: Any) -> bool:
    if path[:1] == (INSTRUCTIONS,) and len(path) == 2:
        return isinstance(value, str) and value.endswith("/opencode/" + INSTRUCTION)
    return path == (SERVERS, NAME) and is_our_server(value)


# Transcripts: rows of `opencode.db`; the path of a session is `opencode.db/<session>`.

DATABASE = "opencode.db"
MAX_MESSAGES = 2000  # newest messages read at once; parts of one
BUSY_SECONDS = 1.0
NEWEST = """
SELECT id, CASE WHEN length(data) <= ? THEN data END FROM message
WHERE session_id = ? AND (time_created, id) >= (?, ?)
ORDER BY time_created DESC, id DESC LIMIT ?"""
PARTS = """
SELECT CASE WHEN length(data) <= ? THEN data END FROM part
WHERE message_id = ? ORDER BY id LIMIT ?"""
SESSIONS = """
SELECT id, directory, time_updated, (SELECT count(*) FROM message WHERE session_id = session.id)
FROM session WHERE parent_id IS NULL ORDER BY time_updated DESC LIMIT ?"""


def open_reader(home: str, environ: Mapping[str, str]) -> OpencodeReader:
    top = transcripts.client_folder(environ, "XDG_DATA_HOME", os.path.join(home, ".local/share"))
    return OpencodeReader(os.path.join(tidy_path(top), "opencode"), home)


class OpencodeReader(transcripts.Reader):
    def read(
        self, path: str, since: conversation.Cursor, last: str = ""
    ) -> conversation.NewMessages:
        database, id = os.path.split(transcripts.resolve_client_session_path(path, self.root))
        if not transcripts.is_client_mark(id):
            raise BadInput(f"{id[:80]!r} is no session", next="name one that opencode has")
        newest, broken, lines, mark, earlier = transcripts.Newest(), 0, 0, "", ""
        with _open_database(database) as table:
            question = "SELECT directory, parent_id FROM session WHERE id = ?"
            session = table.execute(question, (id,)).fetchone()
            if session is None:
                message = f"opencode has no session {id!r}"
                raise Missing(message, path=database, next="memdir doctor")
            cwd, parent = as_text(session[0]), session[1]
            if parent:  # started by another agent
                return conversation.NewMessages((), since, id, cwd)
            question = "SELECT time_created, id FROM message WHERE session_id = ? AND id = ?"
            first = table.execute(question, (id, since.id)).fetchone()
            limits = (transcripts.PARSED_BYTES, id, *(first or (-1, "")), MAX_MESSAGES + 1)
            rows = table.execute(NEWEST, limits).fetchall()
            for own, data in reversed(rows[:MAX_MESSAGES]):
                record = _record(data)
                ended = as_object(record.get("time")).get("completed") or record.get("error")
                if record.get("role") == "assistant" and not ended:
                    break  # still being written: read it next time
                parts = table.execute(PARTS, (transcripts.PARSED_BYTES, own, MAX_MESSAGES))
                records = [_record(part) for (part,) in parts]
                said = [*self._messages(str(own), record, records, cwd)]
                if own == since.id:
                    earlier = transcripts.last_client_reply(said)
                    continue
                newest.add(said)
                lines += 1
                broken += not record
                mark = str(own) if transcripts.is_client_mark(str(own)) else mark
        lost = bool(since.id) and first is None
        unmoved = conversation.Cursor() if lost else since
        return conversation.NewMessages(
            said=transcripts.add_last_client_reply(newest.messages, last, earlier),
            cursor=conversation.Cursor(mark) if mark else unmoved,
            session=id,
            cwd=cwd,
            broken=broken,
            lines=lines,
            lost=lost,
            cut=newest.cut or len(rows) > MAX_MESSAGES,
        )

    def sessions(self, project: str) -> list[conversation.Session]:
        path = os.path.join(self.root, DATABASE)
        if not os.path.lexists(path):
            return []
        sessions = []
        with _open_database(path) as table:
            for id, cwd, time, size in table.execute(SESSIONS, (MAX_MESSAGES,)):
                modified = time / 1000 if isinstance(time, int | float) else 0.0
                if transcripts.is_project_session(as_text(cwd), project):
                    place = os.path.join(path, str(id))
                    sessions.append(
                        conversation.Session(CLIENT, str(id), place, modified, size, as_text(cwd))
                    )
        return transcripts.sort_client_sessions(sessions)

    def _messages(
        self, id: str, data: transcripts.Record, parts: list[transcripts.Record], cwd: str
    ) -> Iterator[conversation.Message]:
        role, created = data.get("role"), as_object(data.get("time")).get("created")
        time = conversation.client_seconds(created)
        if role not in ("user", "assistant") or data.get("summary") is True:
            return
        texts = []
        for part in parts:
            state, tool = as_object(part.get("state")), as_text(part.get("tool"))
            if part.get("type") == "text" and not part.get("synthetic") and not part.get("ignored"):
                texts.append(as_text(part.get("text")))
            elif part.get("type") == "tool" and role == "assistant":
                if state.get("status") == "completed":
                    wrote = conversation.files_tool_wrote(tool, state.get("input"), cwd, self.home)
                    yield from make_client_messages(AGENT, id, "", time, wrote=wrote)
                output = as_text(state.get("output")) or as_text(state.get("error"))
                yield from make_client_messages(TOOL, id, output, time, tool)
        if role == "user":
            typed = "\n".join(filter(None, map(typed_client_text, texts)))
            yield from make_client_messages(PERSON, id, typed, time)
        else:
            yield from make_client_messages(AGENT, id, "\n".join(texts), time)


@contextmanager
def _open_database(path: str) -> Iterator[sqlite3.Connection]:
    """Opens the database read-only; every problem becomes a readable error."""
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


def _record(data: object) -> transcripts.Record:
    text = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    return transcripts.parse_client_line(text if isinstance(text, bytes) else None) or {}
