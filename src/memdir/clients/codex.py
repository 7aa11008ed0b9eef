"""Codex: hooks.json, config.toml and AGENTS.md; its memories; its transcripts."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from memdir.clients.archive import OTHER, Brought, unusable
from memdir.clients.conversation import (
    AGENT,
    PERSON,
    TOOL,
    Cursor,
    Message,
    NewMessages,
    Session,
    flat,
    messages,
    seconds,
    typed,
    words,
)
from memdir.clients.edit_json import Merge
from memdir.clients.edit_text import Table, marked_edit
from memdir.clients.receipt import Host, Plan, Receipt, Wish, only_settings
from memdir.clients.setup import NAME, VARIABLES, hook_line, is_our_hook, python_remark, server
from memdir.clients.sources import (
    Around,
    Piece,
    about,
    add_pieces,
    files_below,
    inside,
    names_in,
    sections,
)
from memdir.clients.transcripts import (
    File,
    Parser,
    Record,
    belongs,
    first_record,
    list_folder,
    named_folder,
    read_lines,
)
from memdir.hot.memory import decode
from memdir.hot.place import is_below, tidy_path

TITLE, CLIENT = "Codex", "codex"
# The client's name of an event, ours, and the seconds it may take.
EVENTS = (
    ("SessionStart", "session-start", 10),
    ("UserPromptSubmit", "prompt", 5),
    ("Stop", "stop", 5),
    ("PreCompact", "pre-compact", 5),
)
TRUST = "Codex runs new hooks only once you have trusted them: type /hooks in it"


def folder(host: Host) -> str:
    """Where Codex keeps what is the user's."""
    return named_folder(host.environ, "CODEX_HOME", os.path.join(host.home, ".codex"))


def plan(wish: Wish, host: Host, receipt: Receipt) -> Plan:
    """What installing or removing would do to its files."""
    remarks = only_settings(TITLE, wish)
    top = folder(host)
    lines = {name: hook_line(host, CLIENT, event) for name, event, _ in EVENTS}
    groups = {
        name: [{"hooks": [{"type": "command", "command": lines[name], "timeout": limit_seconds}]}]
        for name, _, limit_seconds in EVENTS
    }
    hooks = Merge(os.path.join(top, "hooks.json"), {"hooks": groups}, is_our_hook, remarks=remarks)
    command, *args = server(host)
    table = Table(
        "mcp_servers", NAME, {"command": command, "args": args, "env_vars": list(VARIABLES)}
    )
    edits = (
        hooks.edit(receipt, wish.remove),
        table.edit(os.path.join(top, "config.toml"), receipt, wish.remove, remarks),
        marked_edit(os.path.join(top, "AGENTS.md"), receipt, wish.remove),
    )
    if not wish.remove:
        remarks += [TRUST, python_remark(host)]
        if os.path.isfile(os.path.join(top, "AGENTS.override.md")):
            remarks.append(f"{top}/AGENTS.override.md is read instead of AGENTS.md")
    return Plan("", edits, {} if wish.remove else lines, tuple(remarks))


# Import: `memories/` of its own directory, a handbook of task groups and a summary.
#
# What it makes those from (raw_memories.md, rollout_summaries/, its skills) is passed over.

NEXT = "name its memories: memdir import codex ~/.codex/memories"
HANDBOOK, SUMMARY, NOTES = "MEMORY.md", "memory_summary.md", "extensions/ad_hoc/notes/"
GROUP = "Task Group:"
# What the summary holds of its own; the rest of it is a list of what the handbook says.
TYPES = {"user profile": "user", "user preferences": "feedback", "general tips": "feedback"}
_WHERE = re.compile(r"^applies_to:.{0,200}?cwd=(/[^;\n]{1,4000})", re.MULTILINE)
_SCOPE = re.compile(r"^scope:[ \t]{0,20}(\S.{0,1000})$", re.MULTILINE)


def read(path: str, around: Around) -> Brought:
    """Everything that Codex keeps for this project and for all of them."""
    brought = Brought()
    add_pieces(CLIENT, _all_pieces([path] if path else _folders(around), around, brought), brought)
    return brought


def _folders(around: Around) -> list[str]:
    top = named_folder(around.environ, "CODEX_HOME", os.path.join(around.home, ".codex"))
    paths = [inside(top, name) for name in names_in(top, NEXT) if name.startswith("memories")]
    folders = [path for path in paths if path and os.path.isdir(path)]
    if not folders:
        raise unusable(top, "Codex keeps no memories there", NEXT)
    return folders


def _all_pieces(folders: list[str], around: Around, brought: Brought) -> Iterator[Piece]:
    for folder in folders:
        if not os.path.isdir(folder):
            raise unusable(folder, "it is no directory", NEXT)
        for name, data in files_below(folder, brought):
            if name in (HANDBOOK, SUMMARY) or (name.startswith(NOTES) and name.endswith(".md")):
                yield from _pieces(name, decode(data), around, brought)
            else:
                brought.skip(name, "Codex makes its memories from it", OTHER)


def _pieces(name: str, text: str, around: Around, brought: Brought) -> Iterator[Piece]:
    if name == SUMMARY:
        for title, part in sections(text, 2):
            type = TYPES.get(title.lower())
            said = part.partition("\n")[2]
            if type and said.strip():
                yield Piece(f"codex {title}", said, type, f"{name}: {title}")
        return
    if name != HANDBOOK:
        yield Piece(about(text), text, "project", name)
        return
    for title, part in sections(text, 1):
        if title.startswith(GROUP):
            title = title.removeprefix(GROUP).strip()
            elsewhere = _elsewhere(part, around)
            if elsewhere:
                brought.skip(f"{name}: {title}", f"it is about {elsewhere}", OTHER)
            else:
                scope = _SCOPE.search(part)
                yield Piece(title, part, "project", f"{name}: {title}", scope[1] if scope else "")
        elif part.strip():
            yield Piece(f"codex {title or about(part)}", part, "project", f"{name}: {title}")


def _elsewhere(part: str, around: Around) -> str:
    """The directory that a group is about, where that is another project."""
    match = _WHERE.search(part)
    if not match or not around.project:
        return ""
    where, here = os.path.normpath(match[1].strip()), around.project
    ours = where == here or is_below(where, here) or is_below(here, where)
    return "" if ours else where


# Transcripts: a JSONL file per session, `sessions/YYYY/MM/DD/rollout-*.jsonl` of its own directory.

SUFFIX = ".jsonl"
PREFIX = "rollout-"
HEAD_BYTES = 1 << 20  # of the first line: it may hold instructions
MAX_SESSIONS = 500  # files whose first line is read to know where they belong
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
    top = named_folder(environ, "CODEX_HOME", os.path.join(home, ".codex"))
    return Reader(os.path.join(tidy_path(top), "sessions"), home)


class Reader:
    """Reads below one directory."""

    def __init__(self, root: str, home: str) -> None:
        self.root, self.home = root, home

    def read(self, path: str, since: Cursor, last: str = "") -> NewMessages:
        """What was said since the cursor; `last` is the reply that a hook was given."""
        meta = self._meta(path)
        parser = CodexParser(self.home, words(meta.get("cwd")), _by_agent(meta))
        session = words(meta.get("id")) or _session(os.path.basename(path))
        return read_lines(path, self.root, since, last, parser, session)

    def sessions(self, project: str) -> list[Session]:
        """Those that were started in the project or below it, newest first."""
        sessions = []
        for file in self._newest():
            meta = self._meta(file.path)
            cwd = words(meta.get("cwd"))
            if belongs(cwd, project) and meta and not _by_agent(meta):
                id = words(meta.get("id")) or _session(file.name)
                sessions.append(Session(CLIENT, id, file.path, *file.facts, cwd))
        return sessions

    def started_in(self, path: str) -> str:
        """Where the session was started; empty where its file does not say."""
        return words(self._meta(path).get("cwd"))

    def _meta(self, path: str) -> Record:
        """What the first record says of the session."""
        first = first_record(path, self.root, HEAD_BYTES, "timestamp")
        payload = first.get("payload")
        return payload if isinstance(payload, dict) else first

    def _newest(self) -> list[File]:
        """The files of the latest days, newest first."""
        years = list_folder(self.root)
        months = [month for year in years for month in list_folder(year.path)]
        days = [day.path for month in months for day in list_folder(month.path)]
        files: list[File] = []
        for day in sorted(days, reverse=True):
            if len(files) >= MAX_SESSIONS:
                break
            files += [file for file in list_folder(day, SUFFIX) if file.name.startswith(PREFIX)]
        return sorted(files, key=lambda file: file.facts, reverse=True)[:MAX_SESSIONS]


class CodexParser(Parser):
    """What Codex' records mean."""

    def mark(self, record: Record) -> str | None:
        return "" if _item(record) is not None else None  # ids of items are not always there

    def take(self, record: Record, id: str) -> list[Message] | None:
        item = _item(record)
        if item is None:
            payload = record.get("payload")
            self.cwd = (isinstance(payload, dict) and words(payload.get("cwd"))) or self.cwd
            kind = record.get("type", record.get("record_type"))
            # The first record of an early version has no type.
            meta = kind is None and "id" in record and "timestamp" in record
            return [] if meta or kind in SILENT else None
        if self.by_agent:
            return []
        time, kind = seconds(record.get("timestamp")), words(item.get("type"))
        if kind == "message":
            return _message(item, id, time)
        if kind.endswith("_output"):
            return self._output(item, id, time)
        return self._call(item, id, time) if kind.endswith("_call") else []

    def _call(self, item: Record, id: str, time: float) -> list[Message]:
        name, given = words(item.get("name")), item.get("input", item.get("arguments"))
        if item.get("type") == "local_shell_call":
            name, given = "local_shell", item.get("action")
        elif item.get("type") == "function_call":
            given = _json(given)
        folder = ""
        if isinstance(given, dict):
            folder = words(given.get("workdir")) or words(given.get("working_directory"))
        wrote = self.call(id, words(item.get("call_id")), name, given, folder)
        return messages(AGENT, id, "", time, wrote=wrote)

    def _output(self, item: Record, id: str, time: float) -> list[Message]:
        call, output = words(item.get("call_id")), item.get("output")
        inner = _json(output) if isinstance(output, str) and output.startswith("{") else output
        if isinstance(inner, dict):
            output = inner.get("output", inner.get("content", output))
            if inner.get("success") is False:
                self.fail(call)
        return messages(TOOL, id, flat(output), time, self.tools.get(call, ""))


def _message(item: Record, id: str, time: float) -> list[Message]:
    content, role = item.get("content"), item.get("role")
    if role == "assistant":
        return messages(AGENT, id, flat(content), time)
    if role != "user":
        return []
    blocks = content if isinstance(content, list) else [{"text": content}]
    parts = [words(block.get("text")) for block in blocks if isinstance(block, dict)]
    return messages(PERSON, id, "\n".join(filter(None, map(_own, parts))), time)


def _own(text: str) -> str:
    """What the person wrote; without what stands in tags in front of it."""
    start = 0
    while match := _FRONT.match(text, start):
        end = text.find(f"</{match[1]}>", match.end())
        if end < 0:
            return ""
        start = end + len(f"</{match[1]}>")
    return typed(text[start:])


def _item(record: Record) -> Record | None:
    """The item of a response; in early versions the record is the item itself."""
    payload = record.get("payload")
    if record.get("type") == ITEM:
        return payload if isinstance(payload, dict) else None
    return record if "payload" not in record and record.get("type") in ITEMS else None


def _by_agent(meta: Record) -> bool:
    """True for the session of an agent that another one started: no person speaks in it."""
    source = meta.get("source")
    return (isinstance(source, dict) and "subagent" in source) or source == "subagent"


def _session(name: str) -> str:
    stem = name.removesuffix(SUFFIX)
    match = _ID.search(stem)
    return match[0] if match else stem.removeprefix(PREFIX)


def _json(text: Any) -> Any:
    """What a text says in JSON, else the text itself."""
    try:
        return json.loads(words(text))
    except (ValueError, RecursionError):
        return text
