"""Codex: a JSONL file per session, `sessions/YYYY/MM/DD/rollout-*.jsonl` of its own directory."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from memdir.adapters.transcripts import _jsonl
from memdir.adapters.transcripts._injected import typed, unframed
from memdir.adapters.transcripts._sessions import Listed, belongs, listed
from memdir.adapters.transcripts._text import readable, seconds, words
from memdir.adapters.transcripts._writing import written
from memdir.core.scope import tidy
from memdir.core.transcript import AGENT, PERSON, TOOL, Cursor, Said, Session, Stretch

CLIENT = "codex"
SUFFIX = ".jsonl"
PREFIX = "rollout-"
HEAD = 1 << 20  # bytes of the first line: it may hold instructions
LOOKED_AT = 500  # files whose first line is read to know where they belong
ITEM = "response_item"
# Kinds of records that say nothing; events repeat what the items of a response say.
SILENT = ("session_meta", "event_msg", "turn_context", "compacted", "world_state", "state")
ITEMS = (
    *("message", "reasoning", "function_call", "function_call_output", "custom_tool_call"),
    *("custom_tool_call_output", "local_shell_call", "web_search_call", "ghost_snapshot"),
)
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
# What is put in front of a prompt stands in a tag of its own, whose name is of two words or more.
_FRONT = re.compile(r"\s{0,100}<([a-z]{1,40}(?:[_-][a-z]{1,40}){1,6})>")


def open_reader(home: str, environ: Mapping[str, str]) -> Reader:
    """The reader for whoever has this home."""
    named = environ.get("CODEX_HOME", "")
    folder = named if named.startswith("/") else os.path.join(home, ".codex")
    return Reader(os.path.join(tidy(folder), "sessions"), home)


class Reader:
    """Reads below one directory."""

    def __init__(self, root: str, home: str) -> None:
        self.root, self.home = root, home

    def read(self, path: str, since: Cursor, last: str = "") -> Stretch:
        """What was said since the cursor; `last` is the reply that a hook was given."""
        meta = _meta(_jsonl.first(path, self.root, HEAD, "timestamp"))
        talk = Talk(self.home, words(meta.get("cwd")), _by_agent(meta))
        session = words(meta.get("id")) or _session(os.path.basename(path))
        return _jsonl.read(path, self.root, since, last, talk, session)

    def sessions(self, project: str) -> list[Session]:
        """Those that were started in the project or below it, newest first."""
        found = []
        for file in self._newest():
            meta = _meta(_jsonl.first_if_any(file.path, self.root, HEAD, "timestamp"))
            if belongs(words(meta.get("cwd")), project) and meta and not _by_agent(meta):
                id = words(meta.get("id")) or _session(file.name)
                found.append(Session(CLIENT, id, file.path, *file.facts, words(meta.get("cwd"))))
        return found

    def started_in(self, path: str) -> str:
        """Where the session was started; empty where its file does not say."""
        meta = _meta(_jsonl.first_if_any(path, self.root, HEAD, "timestamp"))
        return words(meta.get("cwd"))

    def _newest(self) -> list[Listed]:
        """The files of the latest days, newest first."""
        days = [
            day
            for year in listed(self.root)
            for month in listed(year.path)
            for day in listed(month.path)
        ]
        days.sort(key=lambda day: day.path, reverse=True)
        found: list[Listed] = []
        for day in days:
            if len(found) >= LOOKED_AT:
                break
            found += [one for one in listed(day.path, SUFFIX) if one.name.startswith(PREFIX)]
        found.sort(key=lambda file: file.facts, reverse=True)
        return found[:LOOKED_AT]


def _meta(first: _jsonl.Record) -> _jsonl.Record:
    """What the first record says of the session."""
    payload = first.get("payload")
    return payload if isinstance(payload, dict) else first


class Talk:
    """What Codex' records mean."""

    def __init__(self, home: str, cwd: str, by_agent: bool) -> None:
        self.home, self.cwd, self.by_agent = home, cwd, by_agent
        self.names: dict[str, str] = {}  # of tools, by the id of the call
        self.calls: dict[str, tuple[str, tuple[str, ...]]] = {}
        self.failed: dict[str, set[str]] = {}

    def mark(self, record: _jsonl.Record) -> str | None:
        return "" if _item(record) is not None else None  # ids of items are not always there

    def take(self, record: _jsonl.Record, id: str) -> list[Said] | None:
        item = _item(record)
        if item is None:
            payload = record.get("payload")
            where = words(payload.get("cwd")) if isinstance(payload, dict) else ""
            self.cwd = where or self.cwd
            return [] if _silent(record) else None
        if self.by_agent:
            return []
        time = seconds(record.get("timestamp"))
        kind = words(item.get("type"))
        if kind == "message":
            return list(_message(item, id, time))
        if kind.endswith("_output"):
            return list(self._output(item, id, time))
        return list(self._call(item, id, time)) if kind.endswith("_call") else []

    def _call(self, item: _jsonl.Record, id: str, time: float) -> Iterator[Said]:
        call, name = words(item.get("call_id")), words(item.get("name"))
        given: Any = item.get("input", item.get("arguments"))
        if item.get("type") == "local_shell_call":
            name, given = "local_shell", item.get("action")
        elif item.get("type") == "function_call":
            given = _json(given)
        self.names[call] = name
        where = ""
        if isinstance(given, dict):
            where = words(given.get("workdir")) or words(given.get("working_directory"))
        paths = written(name, given, os.path.join(self.cwd, where), self.home)
        if paths:
            self.calls[call] = (id, paths)
            yield Said(id, AGENT, "", time, wrote=paths)

    def _output(self, item: _jsonl.Record, id: str, time: float) -> Iterator[Said]:
        call, output = words(item.get("call_id")), item.get("output")
        inner = _json(output) if isinstance(output, str) and output.startswith("{") else output
        if isinstance(inner, dict):
            output = inner.get("output", inner.get("content", output))
            if inner.get("success") is False:
                caller, paths = self.calls.get(call, ("", ()))
                self.failed.setdefault(caller, set()).update(paths)
        if text := readable(unframed(_flat(output), reminders=True)):
            yield Said(id, TOOL, text, time, self.names.get(call, ""))


def _message(item: _jsonl.Record, id: str, time: float) -> Iterator[Said]:
    content, role = item.get("content"), item.get("role")
    if role == "assistant":
        if text := readable(unframed(_flat(content))):
            yield Said(id, AGENT, text, time)
    elif role == "user":
        blocks = content if isinstance(content, list) else [{"text": content}]
        parts = [words(block.get("text")) for block in blocks if isinstance(block, dict)]
        if text := readable("\n".join(filter(None, map(_own, parts)))):
            yield Said(id, PERSON, text, time)


def _own(text: str) -> str:
    """What the person wrote; without what stands in tags in front of it."""
    at = 0
    while found := _FRONT.match(text, at):
        end = text.find(f"</{found[1]}>", found.end())
        if end < 0:
            return ""
        at = end + len(f"</{found[1]}>")
    return typed(text[at:])


def _item(record: _jsonl.Record) -> _jsonl.Record | None:
    """The item of a response; in early versions the record is the item itself."""
    payload = record.get("payload")
    if record.get("type") == ITEM:
        return payload if isinstance(payload, dict) else None
    return record if "payload" not in record and record.get("type") in ITEMS else None


def _silent(record: _jsonl.Record) -> bool:
    kind = record.get("type", record.get("record_type"))
    # The first record of an early version has no type.
    return kind in SILENT or (kind is None and "id" in record and "timestamp" in record)


def _by_agent(meta: _jsonl.Record) -> bool:
    """True for the session of an agent that another one started: no person speaks in it."""
    source = meta.get("source")
    return (isinstance(source, dict) and "subagent" in source) or source == "subagent"


def _session(name: str) -> str:
    stem = name.removesuffix(SUFFIX)
    found = _ID.search(stem)
    return found[0] if found else stem.removeprefix(PREFIX)


def _json(text: Any) -> Any:
    """What a text says in JSON, else the text itself."""
    try:
        return json.loads(words(text))
    except (ValueError, RecursionError):
        return text


def _flat(content: Any) -> str:
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "\n".join(words(block.get("text")) for block in blocks if isinstance(block, dict))
