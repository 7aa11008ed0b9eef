"""Gemini CLI: a file per session, `tmp/<project>/chats/session-*` of its own directory.

Newer versions append records to a `.jsonl` and write a message again when it grows; older ones
write one `.json` anew each time.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

from memdir.adapters.transcripts import _jsonl
from memdir.adapters.transcripts._injected import typed, unframed
from memdir.adapters.transcripts._messages import Message, Where, document, stretch
from memdir.adapters.transcripts._opening import opened
from memdir.adapters.transcripts._sessions import listed
from memdir.adapters.transcripts._text import readable, seconds, words
from memdir.adapters.transcripts._writing import written
from memdir.core.errors import MemdirError
from memdir.core.scope import PATH_CHARACTERS, tidy
from memdir.core.transcript import AGENT, PERSON, TOOL, Cursor, Said, Session, Stretch

CLIENT = "gemini-cli"
LINES, WHOLE = ".jsonl", ".json"
PREFIX = "session-"
ROOT_FILE = ".project_root"  # beside `chats`: the directory that the folder is for
HEAD = 64 * 1024
USER, AGENTS = "user", "gemini"
SILENT = ("info", "error", "warning")
# What follows was read from files that the prompt names.
REFERENCED = "\n--- Content from referenced files ---"


def open_reader(home: str, environ: Mapping[str, str]) -> Reader:
    """The reader for whoever has this home."""
    named = environ.get("GEMINI_CLI_HOME", "")
    top = named if named.startswith("/") else home
    return Reader(os.path.join(tidy(top), ".gemini", "tmp"), home)


class Reader:
    """Reads below one directory."""

    def __init__(self, root: str, home: str) -> None:
        self.root, self.home = root, home

    def read(self, path: str, since: Cursor, last: str = "") -> Stretch:
        """What was said since the cursor; `last` is the reply that a hook was given."""
        cwd = self._project(os.path.dirname(os.path.dirname(path)))
        name = os.path.basename(path)
        if name.endswith(LINES):
            meta = _jsonl.first(path, self.root, HEAD, "sessionId")
            talk = Talk(self.home, cwd, meta.get("kind") == "subagent")
            session = words(meta.get("sessionId")) or name.removesuffix(LINES)
            return _jsonl.read(path, self.root, since, last, talk, session)
        whole = document(path, self.root)
        where = Where(name.removesuffix(WHOLE), cwd)
        if whole is None:
            return stretch((), since, last, where._replace(broken=1))
        talk = Talk(self.home, cwd, whole.get("kind") == "subagent")
        messages = list(_messages(whole.get("messages"), talk))
        where = where._replace(session=words(whole.get("sessionId")) or where.session)
        return stretch(messages, since, last, where)

    def sessions(self, project: str) -> list[Session]:
        """Those of the project, newest first."""
        real = os.path.realpath(project)
        keys = {
            sha256(one.encode("utf-8", "surrogateescape")).hexdigest() for one in (project, real)
        }
        found = []
        for folder in listed(self.root):
            if folder.name in keys or self._project(folder.path) in (project, real):
                chats = os.path.join(folder.path, "chats")
                for suffix in (LINES, WHOLE):
                    found += [
                        Session(CLIENT, file.name.removesuffix(suffix), file.path, *file.facts)
                        for file in listed(chats, suffix)
                        if file.name.startswith(PREFIX)
                    ]
        return sorted(found, key=lambda session: session.modified, reverse=True)

    def _project(self, folder: str) -> str:
        """The directory that a folder of sessions is for; empty where nobody knows."""
        try:
            with opened(os.path.join(folder, ROOT_FILE), self.root) as handle:
                text = os.pread(handle, PATH_CHARACTERS, 0).decode("utf-8", "replace").strip()
        except MemdirError:
            return ""
        return tidy(text) if text.startswith("/") and text.isprintable() else ""


class Talk:
    """What Gemini CLI's records mean."""

    def __init__(self, home: str, cwd: str, by_agent: bool) -> None:
        self.home, self.cwd, self.by_agent = home, cwd, by_agent
        self.told: set[tuple[str, str]] = set()  # a message is written again when it grows
        self.failed: dict[str, set[str]] = {}

    def mark(self, record: _jsonl.Record) -> str | None:
        return words(record.get("id")) if "type" in record else None

    def take(self, record: _jsonl.Record, id: str) -> list[Said] | None:
        kind = record.get("type")
        if kind is None and ("$set" in record or "$rewindTo" in record or "sessionId" in record):
            return []
        if kind in SILENT:
            return []
        if kind not in (USER, AGENTS):
            return None
        own, time = words(record.get("id")), seconds(record.get("timestamp"))
        if self.by_agent:
            return []
        said = _typed(record, id, time) if kind == USER else self._agent(record, id, time)
        return [one for one in said if self._is_new(own, one)]

    def _is_new(self, own: str, said: Said) -> bool:
        key = (own, f"{said.who} {said.tool} {hash((said.text, said.wrote))}")
        is_new = not own or key not in self.told
        self.told.add(key)
        return is_new

    def _agent(self, record: _jsonl.Record, id: str, time: float) -> Iterator[Said]:
        if text := readable(unframed(_flat(record.get("content")))):
            yield Said(id, AGENT, text, time)
        calls = record.get("toolCalls")
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict) and call.get("status") in ("success", "error", "cancelled"):
                yield from self._call(call, id, seconds(call.get("timestamp")) or time)

    def _call(self, call: _jsonl.Record, id: str, time: float) -> Iterator[Said]:
        name = words(call.get("name"))
        if call.get("status") == "success":
            paths = written(name, call.get("args"), self.cwd, self.home)
            if paths:
                yield Said(id, AGENT, "", time, wrote=paths)
        result = _flat(call.get("result")) or words(call.get("resultDisplay"))
        if text := readable(unframed(result, reminders=True)):
            yield Said(id, TOOL, text, time, name)


def _typed(record: _jsonl.Record, id: str, time: float) -> Iterator[Said]:
    shown = record.get("displayContent") or record.get("content")
    text = _flat(shown, results=False).partition(REFERENCED)[0]
    if text := readable(typed(text)):
        yield Said(id, PERSON, text, time)


def _messages(records: Any, talk: Talk) -> Iterator[Message]:
    for record in records if isinstance(records, list) else ():
        if isinstance(record, dict):
            id = words(record.get("id"))
            yield Message(id, tuple(talk.take(record, id) or ()))


def _flat(content: Any, results: bool = True) -> str:
    """The text of a message or of a result, whatever its form."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    found = []
    for part in parts:
        if isinstance(part, str):
            found.append(part)
        elif isinstance(part, dict) and not part.get("thought"):
            found.append(words(part.get("text")))
            if results:
                found += _response(part.get("functionResponse"))
    return "\n".join(filter(None, found))


def _response(given: Any) -> list[str]:
    response = given.get("response") if isinstance(given, dict) else None
    if not isinstance(response, dict):
        return []
    return [words(response.get("output")) or words(response.get("error"))]
