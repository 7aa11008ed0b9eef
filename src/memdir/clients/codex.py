"""Codex: hooks.json, config.toml and AGENTS.md; its memories; its transcripts."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from memdir.clients import archive, conversation, other_tools, setup, transcripts
from memdir.clients.conversation import (
    AGENT,
    PERSON,
    TOOL,
    as_blocks,
    as_object,
    as_text,
    flat_client_text,
    typed_client_text,
)
from memdir.clients.edit_settings import (
    NAME,
    Merge,
    Receipt,
    edit_client_block,
    edit_client_table,
    is_our_hook,
)
from memdir.hot.memory import decode
from memdir.hot.place import is_below, tidy_path
from memdir.text.markdown import markdown_sections

TITLE, CLIENT = "Codex", "codex"
# The client's name of an event, our name, and its limit in seconds.
EVENTS = (
    ("SessionStart", "session-start", 10),
    ("UserPromptSubmit", "prompt", 5),
    ("Stop", "stop", 5),
    ("PreCompact", "pre-compact", 5),
)
TRUST = "Codex runs new hooks only once you have trusted them: type /hooks in it"


def folder(host: setup.Host) -> str:
    return _top(host.home, host.environ)


def _top(home: str, environ: Mapping[str, str]) -> str:
    return transcripts.client_folder(environ, "CODEX_HOME", os.path.join(home, ".codex"))


def plan(wish: setup.Wish, host: setup.Host, receipt: Receipt) -> setup.Plan:
    remarks, top = setup.refuse_plugin(TITLE, wish), folder(host)
    hooks, config, words = (
        os.path.join(top, name) for name in ("hooks.json", "config.toml", "AGENTS.md")
    )
    lines = {name: setup.client_hook_line(host, CLIENT, event) for name, event, _ in EVENTS}
    wanted = {"hooks": setup.client_hook_groups(EVENTS, lines)}
    table = {**setup.client_server_entry(host)[NAME], "env_vars": list(setup.VARIABLES)}
    edits = [
        Merge(hooks, wanted, is_our_hook, remarks=remarks).edit(receipt, wish.remove),
        edit_client_table(config, receipt, wish.remove, ("mcp_servers", NAME, table), remarks),
        edit_client_block(words, receipt, wish.remove, setup.WORDS),
    ]
    if not wish.remove:
        remarks.append(TRUST)
    return setup.plan_setup(wish, host, edits, lines, remarks)


# Import: `memories/` holds a handbook of task groups and a summary. Their sources
# (raw_memories.md, rollout_summaries/, skills) are skipped.

NEXT = "name its memories: memdir import codex ~/.codex/memories"
HANDBOOK, SUMMARY, NOTES = "MEMORY.md", "memory_summary.md", "extensions/ad_hoc/notes/"
GROUP = "Task Group:"
# Sections that only the summary has; the others repeat the handbook.
TYPES = {"user profile": "user", "user preferences": "feedback", "general tips": "feedback"}
_WHERE = re.compile(r"^applies_to:.{0,200}?cwd=(/[^;\n]{1,4000})", re.MULTILINE)
_SCOPE = re.compile(r"^scope:[ \t]{0,20}(\S.{0,1000})$", re.MULTILINE)


def read(path: str, around: other_tools.Around) -> archive.Brought:
    top, brought = _top(around.home, around.environ), archive.Brought()
    path = path or other_tools.find_client_files(top, "memories")
    if not os.path.isdir(path):
        raise archive.bad_import(path or top, "Codex keeps no memories there", NEXT)
    for name, data in archive.read_import_files(path, brought):
        if name in (HANDBOOK, SUMMARY) or (name.startswith(NOTES) and name.endswith(".md")):
            pieces = _pieces(name, decode(data), around, brought)
            other_tools.import_pieces(CLIENT, pieces, brought)
        else:
            brought.skip(name, "Codex makes its memories from it", archive.OTHER)
    return brought


def _pieces(
    name: str, text: str, around: other_tools.Around, brought: archive.Brought
) -> Iterator[other_tools.Piece]:
    if name not in (HANDBOOK, SUMMARY):
        yield other_tools.Piece(other_tools.import_description(text), text, "project", name)
        return
    for heading, lines in markdown_sections(text.split("\n"), 2 if name == SUMMARY else 1):
        title, part = heading.removeprefix(GROUP).strip(), "\n".join(lines)
        place, type = f"{name}: {title}", TYPES.get(title.lower())
        if name == SUMMARY:
            if type:
                yield other_tools.Piece(f"codex {title}", "\n".join(lines[1:]), type, place)
        elif title == heading:
            named = title or other_tools.import_description(part)
            yield other_tools.Piece(f"codex {named}", part, "project", place)
        elif elsewhere := _elsewhere(part, around):
            brought.skip(place, f"it is about {elsewhere}", archive.OTHER)
        else:
            scope = _SCOPE.search(part)
            yield other_tools.Piece(title, part, "project", place, scope[1] if scope else "")


def _elsewhere(part: str, around: other_tools.Around) -> str:
    match = _WHERE.search(part)
    if not match or not around.project:
        return ""
    where, here = os.path.normpath(match[1].strip()), around.project
    ours = where == here or is_below(where, here) or is_below(here, where)
    return "" if ours else where


# Transcripts: a JSONL file per session, `sessions/YYYY/MM/DD/rollout-*.jsonl`.

SUFFIX = ".jsonl"
PREFIX = "rollout-"
HEAD_BYTES = 1 << 20  # of the first line, which may hold instructions
MAX_SESSIONS = 500  # files whose first line is read to find their project
ITEM = "response_item"
# Record kinds without messages; events repeat the items of a response.
SILENT = ("session_meta", "event_msg", "turn_context", "compacted", "world_state")
# Text put in front of a prompt is in a tag whose name has two words or more.
_FRONT = re.compile(r"\s{0,100}<([a-z]{1,40}(?:[_-][a-z]{1,40}){1,6})>")


def open_reader(home: str, environ: Mapping[str, str]) -> CodexReader:
    return CodexReader(os.path.join(tidy_path(_top(home, environ)), "sessions"), home)


class CodexReader(transcripts.Reader):
    def read(
        self, path: str, since: conversation.Cursor, last: str = ""
    ) -> conversation.NewMessages:
        meta = self._meta(path)
        parser = CodexParser(self.home, as_text(meta.get("cwd")), _by_agent(meta))
        session = as_text(meta.get("id")) or os.path.basename(path).removesuffix(SUFFIX)
        return transcripts.read_client_session(path, self.root, since, last, parser, session)

    def sessions(self, project: str) -> list[conversation.Session]:
        sessions = []
        for file in self._newest():
            meta = self._meta(file.path)
            cwd = as_text(meta.get("cwd"))
            if transcripts.is_project_session(cwd, project) and meta and not _by_agent(meta):
                id = as_text(meta.get("id")) or file.name.removesuffix(SUFFIX)
                sessions.append(conversation.Session(CLIENT, id, file.path, *file.facts, cwd))
        return sessions

    def started_in(self, path: str) -> str:
        return as_text(self._meta(path).get("cwd"))

    def _meta(self, path: str) -> transcripts.Record:
        return as_object(
            transcripts.first_client_line(path, self.root, HEAD_BYTES, "timestamp").get("payload")
        )

    def _newest(self) -> list[transcripts.File]:
        days = [self.root]
        for _ in ("year", "month", "day"):
            days = [below.path for folder in days for below in transcripts.list_transcripts(folder)]
        files = [file for day in days for file in transcripts.list_transcripts(day, SUFFIX)]
        named = [file for file in files if file.name.startswith(PREFIX)]
        return sorted(named, key=lambda file: file.facts, reverse=True)[:MAX_SESSIONS]


class CodexParser(transcripts.Parser):
    def mark(self, record: transcripts.Record) -> str | None:
        return "" if record.get("type") == ITEM else None  # items do not always have ids

    def take(self, record: transcripts.Record) -> Iterable[conversation.Message] | None:
        item, kind = as_object(record.get("payload")), record.get("type")
        if not item or (kind != ITEM and kind not in SILENT):
            return None
        if kind != ITEM:
            self.cwd = as_text(item.get("cwd")) or self.cwd
            return []
        kind, call = as_text(item.get("type")), as_text(item.get("call_id"))
        if self.by_agent:
            return []
        if kind == "message" and item.get("role") == "assistant":
            return self.say(AGENT, flat_client_text(item.get("content")))
        if kind == "message":
            parts = [_own(as_text(it.get("text"))) for it in as_blocks(item.get("content"))]
            by_person = item.get("role") == "user"
            return self.say(PERSON, "\n".join(filter(None, parts))) if by_person else []
        if kind.endswith("_output"):
            output = item.get("output")
            inner = as_object(_json(output) if isinstance(output, str) else output)
            if inner.get("success") is False:
                self.fail(call)
            output = inner.get("output", inner.get("content", output))
            return self.say(TOOL, flat_client_text(output), self.tools.get(call, ""))
        if not kind.endswith("_call"):
            return []
        name, given = as_text(item.get("name")), item.get("input", item.get("arguments"))
        if kind == "local_shell_call":
            name, given = "local_shell", item.get("action")
        elif kind == "function_call":
            given = _json(given)
        folder = as_object(given).get("workdir") or as_object(given).get("working_directory")
        return self.say(AGENT, "", wrote=self.call(call, name, given, as_text(folder)))


def _own(text: str) -> str:
    """Text of the person, without the tagged blocks in front of it."""
    start = 0
    while match := _FRONT.match(text, start):
        end = text.find(f"</{match[1]}>", match.end())
        if end < 0:
            return ""
        start = end + len(f"</{match[1]}>")
    return typed_client_text(text[start:])


def _by_agent(meta: transcripts.Record) -> bool:
    """True for a session that another agent started: no person speaks in it."""
    source = meta.get("source")
    return source == "subagent" or "subagent" in as_object(source)


def _json(text: Any) -> Any:
    try:
        return json.loads(as_text(text))
    except (ValueError, RecursionError):
        return text
