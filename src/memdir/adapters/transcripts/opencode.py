"""opencode: sessions as small JSON files below `storage/`, in newer versions in `opencode.db`.

The path of a session is `storage/session/<project>/<session>.json`, or that of the database with
the session behind it: `opencode.db/<session>`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from memdir.adapters.transcripts._injected import typed, unframed
from memdir.adapters.transcripts._jsonl import LONGEST_ID
from memdir.adapters.transcripts._messages import (
    Message,
    Where,
    document,
    document_or_none,
    is_mark,
    stretch,
)
from memdir.adapters.transcripts._opencode_table import Row, Table
from memdir.adapters.transcripts._opening import placed
from memdir.adapters.transcripts._sessions import belongs, listed
from memdir.adapters.transcripts._text import readable, seconds, words
from memdir.adapters.transcripts._writing import written
from memdir.core.errors import BadInput
from memdir.core.scope import tidy
from memdir.core.transcript import AGENT, PERSON, TOOL, Cursor, Said, Session, Stretch

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
