"""Gemini CLI: settings.json and GEMINI.md; its memories; its transcripts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from memdir.clients import archive, conversation, other_tools, setup, transcripts
from memdir.clients.conversation import (
    AGENT,
    PERSON,
    TOOL,
    as_blocks,
    as_object,
    as_text,
    typed_client_text,
)
from memdir.clients.edit_settings import NAME, Merge, Receipt, edit_client_block, our_client_entry
from memdir.errors import MemdirError
from memdir.hot.memory import INDEX, decode
from memdir.hot.place import PATH_CHARACTERS, tidy_path
from memdir.text.markdown import markdown_sections

TITLE, CLIENT = "Gemini CLI", "gemini-cli"
SERVERS = "mcpServers"
# The client's name of an event, our name, and its limit in milliseconds.
EVENTS = (
    ("SessionStart", "session-start", 10_000),
    ("BeforeAgent", "prompt", 5_000),
    ("AfterAgent", "stop", 5_000),
    ("PreCompress", "pre-compact", 5_000),
    ("SessionEnd", "session-end", 1_000),
)


def folder(host: setup.Host) -> str:
    return _top(host.home, host.environ)


def _top(home: str, environ: Mapping[str, str]) -> str:
    return os.path.join(transcripts.client_folder(environ, "GEMINI_CLI_HOME", home), ".gemini")


def plan(wish: setup.Wish, host: setup.Host, receipt: Receipt) -> setup.Plan:
    remarks, top = setup.refuse_plugin(TITLE, wish), folder(host)
    lines = {name: setup.client_hook_line(host, CLIENT, event) for name, event, _ in EVENTS}
    hooks = setup.client_hook_groups(EVENTS, lines, name=NAME)
    wanted = {"hooks": hooks, SERVERS: setup.client_server_entry(host)}
    file, words = os.path.join(top, "settings.json"), os.path.join(top, "GEMINI.md")
    merge = Merge(file, wanted, our_client_entry(SERVERS), (SERVERS, NAME), remarks)
    marked = edit_client_block(words, receipt, wish.remove, setup.WORDS)
    edits = [merge.edit(receipt, wish.remove), marked]
    return setup.plan_setup(wish, host, edits, lines, remarks)


# Import: the section of GEMINI.md that the client adds to, and its notes on a project.

CONTEXT, SECTION = "GEMINI.md", "gemini added memories"
ROOT_FILE = ".project_root"  # names the project of a folder
NEXT = "name a GEMINI.md or a folder of notes: memdir import gemini-cli ~/.gemini/GEMINI.md"


def read(path: str, around: other_tools.Around) -> archive.Brought:
    brought, places, project = archive.Brought(), [path], around.project
    if not path:
        top = _top(around.home, around.environ)
        places = [other_tools.find_client_files(top, CONTEXT)]
        if project:
            notes = open_reader(around.home, around.environ).folders(project)
            places += [other_tools.find_client_files(folder.path, "memory") for folder in notes]
            places.append(other_tools.find_client_files(project, CONTEXT))
        places = [place for place in places if place]
        if not places:
            raise archive.bad_import(top, "Gemini CLI keeps no memories there", NEXT)
    for place in places:
        if os.path.isdir(place) and os.path.basename(place) != CONTEXT:
            _read_notes(place, brought)
            continue
        text = decode(archive.read_import_file(place, NEXT)[: archive.MAX_FILE_BYTES])
        for title, lines in markdown_sections(text.split("\n"), 2):
            if title.lower() == SECTION:
                facts = _facts(lines, f"{CONTEXT}: {title}", "user")
                other_tools.import_pieces(CLIENT, facts, brought)
    return brought


def _read_notes(folder: str, brought: archive.Brought) -> None:
    for path, data in archive.read_import_files(folder, brought):
        if path == INDEX:
            facts = _facts(decode(data).split("\n"), f"notes {path}", "project")
            other_tools.import_pieces(CLIENT, facts, brought)
        elif path[-3:].lower() != ".md" or path.startswith("skills/"):
            brought.skip(path, "it is not a note", archive.OTHER)
        else:
            other_tools.import_file(CLIENT, path, data, brought, {})


def _facts(lines: Sequence[str], place: str, type: str) -> Iterator[other_tools.Piece]:
    """Items of the outermost lists, with their lines; a pointer to a note is no fact."""
    items: list[list[str]] = []
    for line in lines:
        if line[:2] in ("- ", "* "):
            items.append([line[2:]])
        elif items and line[:1] in (" ", "\t"):
            items[-1].append(line.removeprefix("  "))
        elif line.strip():
            items.append([])  # not an item: ignore the lines indented below it
    for item in items:
        if item and ".md)" not in item[0]:
            fact = "\n".join(item).strip()
            yield other_tools.Piece(fact, fact, type, place)


# Transcripts: a file per session, `tmp/<project>/chats/session-*.jsonl`.

SUFFIX = ".jsonl"
PREFIX = "session-"
HEAD_BYTES = 64 * 1024
USER, AGENTS = "user", "gemini"
SILENT = ("info", "error", "warning")
# Text behind this mark was read from files that the prompt names.
REFERENCED = "\n--- Content from referenced files ---"


def open_reader(home: str, environ: Mapping[str, str]) -> GeminiReader:
    return GeminiReader(os.path.join(tidy_path(_top(home, environ)), "tmp"), home)


class GeminiReader(transcripts.Reader):
    def read(
        self, path: str, since: conversation.Cursor, last: str = ""
    ) -> conversation.NewMessages:
        cwd = self._project(os.path.dirname(os.path.dirname(path)))
        meta = transcripts.first_client_line(path, self.root, HEAD_BYTES, "sessionId")
        parser = GeminiParser(self.home, cwd, meta.get("kind") == "subagent")
        session = as_text(meta.get("sessionId")) or os.path.basename(path).removesuffix(SUFFIX)
        return transcripts.read_client_session(path, self.root, since, last, parser, session)

    def sessions(self, project: str) -> list[conversation.Session]:
        sessions = [
            conversation.Session(CLIENT, file.name.removesuffix(SUFFIX), file.path, *file.facts)
            for folder in self.folders(project)
            for file in transcripts.list_transcripts(os.path.join(folder.path, "chats"), SUFFIX)
            if file.name.startswith(PREFIX)
        ]
        return transcripts.sort_client_sessions(sessions)

    def folders(self, project: str) -> list[transcripts.File]:
        paths = (project, os.path.realpath(project))
        keys = {sha256(path.encode("utf-8", "surrogateescape")).hexdigest() for path in paths}
        return [
            folder
            for folder in transcripts.list_transcripts(self.root)
            if folder.name in keys or self._project(folder.path) in paths
        ]

    def _project(self, folder: str) -> str:
        """Project directory of a folder of sessions; empty if unknown."""
        try:
            with transcripts.open_transcript(os.path.join(folder, ROOT_FILE), self.root) as handle:
                text = os.pread(handle, PATH_CHARACTERS, 0).decode("utf-8", "replace").strip()
        except MemdirError:
            return ""
        return tidy_path(text) if text.startswith("/") and text.isprintable() else ""


class GeminiParser(transcripts.Parser):
    def __init__(self, home: str, cwd: str, by_agent: bool) -> None:
        super().__init__(home, cwd, by_agent)
        self.seen: set[tuple[str, int]] = set()  # a message is written again when it grows

    def mark(self, record: transcripts.Record) -> str | None:
        return as_text(record.get("id")) if "type" in record else None

    def take(self, record: transcripts.Record) -> Iterable[conversation.Message] | None:
        kind = record.get("type")
        if kind is None and ("$set" in record or "$rewindTo" in record or "sessionId" in record):
            return []
        if kind not in (USER, AGENTS):
            return [] if kind in SILENT else None
        if self.by_agent:
            return []
        if kind == USER:
            shown = record.get("displayContent") or record.get("content")
            text = _flat(shown, results=False).partition(REFERENCED)[0]
            parsed = self.say(PERSON, typed_client_text(text))
        else:
            parsed = [*self._agent(record)]
        return [message for message in parsed if self._is_new(as_text(record.get("id")), message)]

    def _is_new(self, own: str, message: conversation.Message) -> bool:
        key = (own, hash(message._replace(id="", time=0.0)))
        is_new = not own or key not in self.seen
        self.seen.add(key)
        return is_new

    def _agent(self, record: transcripts.Record) -> Iterator[conversation.Message]:
        yield from self.say(AGENT, _flat(record.get("content")))
        for call in as_blocks(record.get("toolCalls")):
            name, status = as_text(call.get("name")), call.get("status")
            if status == "success":
                wrote = conversation.files_tool_wrote(name, call.get("args"), self.cwd, self.home)
                yield from self.say(AGENT, "", wrote=wrote)
            if status in ("success", "error", "cancelled"):
                result = _flat(call.get("result")) or as_text(call.get("resultDisplay"))
                yield from self.say(TOOL, result, name)


def _flat(content: Any, results: bool = True) -> str:
    texts = []
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict) and not part.get("thought"):
            texts.append(as_text(part.get("text")))
            response = as_object(as_object(part.get("functionResponse")).get("response"))
            if results:
                texts.append(as_text(response.get("output")) or as_text(response.get("error")))
    return "\n".join(filter(None, texts))
