"""Install + transcripts + memories."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from memdir.clients import transcripts
from memdir.clients.archive import OTHER, Brought
from memdir.clients.conversation import AGENT, PERSON, TOOL, Cursor, Said, Session, Stretch
from memdir.clients.edit_json import Merge
from memdir.clients.edit_text import Table, marked_edit
from memdir.clients.other_tools import (
    Around,
    Piece,
    about,
    brought_from,
    files_below,
    folder_of,
    inside,
    names_in,
    sections,
    skip,
    unusable,
)
from memdir.clients.receipt import Host, Plan, Receipt, Wish, only_settings
from memdir.clients.setup import NAME, VARIABLES, group_is_ours, hook_line, runs_us, server
from memdir.clients.transcripts import (
    Listed,
    belongs,
    listed,
    readable,
    seconds,
    typed,
    unframed,
    words,
    written,
)
from memdir.hot.memory import decode
from memdir.hot.place import below, tidy

# Codex: hooks in hooks.json, the MCP server in config.toml, words in AGENTS.md.

TITLE = "Codex"
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
    named = host.environ.get("CODEX_HOME", "")
    return named if named.startswith("/") else os.path.join(host.home, ".codex")


def plan(wish: Wish, host: Host, receipt: Receipt) -> Plan:
    """What installing or removing would do to its files."""
    remarks = only_settings(TITLE, wish)
    top = folder(host)
    lines = {name: hook_line(host, "codex", event) for name, event, _ in EVENTS}
    hooks = Merge(
        os.path.join(top, "hooks.json"),
        {"hooks": {name: [_group(lines[name], seconds)] for name, _, seconds in EVENTS}},
        _is_ours,
        remarks=remarks,
    )
    command, *args = server(host)
    # A tool may be slow the first time; by default Codex gives a server ten seconds to start.
    table = Table(
        "mcp_servers", NAME, {"command": command, "args": args, "env_vars": list(VARIABLES)}
    )
    edits = (
        hooks.edit(receipt, wish.remove),
        table.edit(os.path.join(top, "config.toml"), receipt, wish.remove, remarks),
        marked_edit(os.path.join(top, "AGENTS.md"), receipt, wish.remove),
    )
    if not wish.remove:
        remarks += [TRUST, f"hooks run with {host.python}: {host.why}"]
        if os.path.isfile(os.path.join(top, "AGENTS.override.md")):
            remarks.append(f"{top}/AGENTS.override.md is read instead of AGENTS.md")
    return Plan("", edits, {} if wish.remove else lines, tuple(remarks))


def _group(line: str, seconds: int) -> dict[str, Any]:
    return {"hooks": [{"type": "command", "command": line, "timeout": seconds}]}


def _is_ours(path: tuple[str | int, ...], value: Any) -> bool:
    if path[:1] != ("hooks",):
        return False
    return (len(path) == 3 and group_is_ours(value)) or (len(path) == 5 and runs_us(value))


# Codex: `memories/` of its own directory, a handbook of task groups and a summary.
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
    folders = [path] if path else _folders(around)
    files = (one for folder in folders for one in _files(folder, brought))
    pieces = (one for name, data in files for one in _pieces(name, decode(data), around, brought))
    brought_from("codex", pieces, brought)
    return brought


def _folders(around: Around) -> list[str]:
    top = folder_of(around, "CODEX_HOME", ".codex")
    found = [inside(top, name) for name in names_in(top, NEXT) if name.startswith("memories")]
    folders = [folder for folder in found if folder and os.path.isdir(folder)]
    if not folders:
        raise unusable(top, "Codex keeps no memories there", NEXT)
    return folders


def _files(folder: str, brought: Brought) -> Iterator[tuple[str, bytes]]:
    if not os.path.isdir(folder):
        raise unusable(folder, "it is no directory", NEXT)
    for name, data in files_below(folder, lambda _: True, brought):
        if name in (HANDBOOK, SUMMARY) or (name.startswith(NOTES) and name.endswith(".md")):
            yield name, data
        else:
            skip(brought, name, "Codex makes its memories from it", OTHER)


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
                skip(brought, f"{name}: {title}", f"it is about {elsewhere}", OTHER)
            else:
                scope = _SCOPE.search(part)
                yield Piece(title, part, "project", f"{name}: {title}", scope[1] if scope else "")
        elif part.strip():
            yield Piece(f"codex {title or about(part)}", part, "project", f"{name}: {title}")


def _elsewhere(part: str, around: Around) -> str:
    """The directory that a group is about, where that is another project."""
    found = _WHERE.search(part)
    if not found or not around.project:
        return ""
    where, here = os.path.normpath(found[1].strip()), around.project
    ours = where == here or below(where, here) or below(here, where)
    return "" if ours else where


# Codex: a JSONL file per session, `sessions/YYYY/MM/DD/rollout-*.jsonl` of its own directory.

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
        meta = _meta(transcripts.first(path, self.root, HEAD, "timestamp"))
        talk = Talk(self.home, words(meta.get("cwd")), _by_agent(meta))
        session = words(meta.get("id")) or _session(os.path.basename(path))
        return transcripts.read(path, self.root, since, last, talk, session)

    def sessions(self, project: str) -> list[Session]:
        """Those that were started in the project or below it, newest first."""
        found = []
        for file in self._newest():
            meta = _meta(transcripts.first_if_any(file.path, self.root, HEAD, "timestamp"))
            if belongs(words(meta.get("cwd")), project) and meta and not _by_agent(meta):
                id = words(meta.get("id")) or _session(file.name)
                found.append(Session(CLIENT, id, file.path, *file.facts, words(meta.get("cwd"))))
        return found

    def started_in(self, path: str) -> str:
        """Where the session was started; empty where its file does not say."""
        meta = _meta(transcripts.first_if_any(path, self.root, HEAD, "timestamp"))
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


def _meta(first: transcripts.Record) -> transcripts.Record:
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

    def mark(self, record: transcripts.Record) -> str | None:
        return "" if _item(record) is not None else None  # ids of items are not always there

    def take(self, record: transcripts.Record, id: str) -> list[Said] | None:
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

    def _call(self, item: transcripts.Record, id: str, time: float) -> Iterator[Said]:
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

    def _output(self, item: transcripts.Record, id: str, time: float) -> Iterator[Said]:
        call, output = words(item.get("call_id")), item.get("output")
        inner = _json(output) if isinstance(output, str) and output.startswith("{") else output
        if isinstance(inner, dict):
            output = inner.get("output", inner.get("content", output))
            if inner.get("success") is False:
                caller, paths = self.calls.get(call, ("", ()))
                self.failed.setdefault(caller, set()).update(paths)
        if text := readable(unframed(_flat(output), reminders=True)):
            yield Said(id, TOOL, text, time, self.names.get(call, ""))


def _message(item: transcripts.Record, id: str, time: float) -> Iterator[Said]:
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


def _item(record: transcripts.Record) -> transcripts.Record | None:
    """The item of a response; in early versions the record is the item itself."""
    payload = record.get("payload")
    if record.get("type") == ITEM:
        return payload if isinstance(payload, dict) else None
    return record if "payload" not in record and record.get("type") in ITEMS else None


def _silent(record: transcripts.Record) -> bool:
    kind = record.get("type", record.get("record_type"))
    # The first record of an early version has no type.
    return kind in SILENT or (kind is None and "id" in record and "timestamp" in record)


def _by_agent(meta: transcripts.Record) -> bool:
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
