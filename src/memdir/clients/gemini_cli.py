"""Gemini CLI: settings.json and GEMINI.md; its memories; its transcripts."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

from memdir.clients.archive import MAX_FILE_BYTES, OTHER, Brought, read_whole, unusable
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
from memdir.clients.edit_text import marked_edit
from memdir.clients.receipt import Host, Plan, Receipt, Wish, only_settings
from memdir.clients.setup import NAME, hook_line, is_our_hook, is_server, python_remark, server
from memdir.clients.sources import (
    Around,
    Piece,
    add_pieces,
    bullets,
    files_below,
    inside,
    labelled,
    names_in,
    sections,
    store_path,
)
from memdir.clients.transcripts import (
    Parser,
    Record,
    first_record,
    list_folder,
    named_folder,
    newest_first,
    opened,
    read_document,
    read_lines,
    select_new,
)
from memdir.errors import BadInput, MemdirError
from memdir.hot.memory import INDEX, decode
from memdir.hot.place import PATH_CHARACTERS, tidy_path

TITLE, CLIENT = "Gemini CLI", "gemini-cli"
SERVERS = "mcpServers"
# The client's name of an event, ours, and the milliseconds it may take.
EVENTS = (
    ("SessionStart", "session-start", 10_000),
    ("BeforeAgent", "prompt", 5_000),
    ("AfterAgent", "stop", 5_000),
    ("PreCompress", "pre-compact", 5_000),
    ("SessionEnd", "session-end", 1_000),
)


def folder(host: Host) -> str:
    """Where Gemini CLI keeps what is the user's."""
    return os.path.join(named_folder(host.environ, "GEMINI_CLI_HOME", host.home), ".gemini")


def plan(wish: Wish, host: Host, receipt: Receipt) -> Plan:
    """What installing or removing would do to its files."""
    remarks = only_settings(TITLE, wish)
    top = folder(host)
    lines = {name: hook_line(host, CLIENT, event) for name, event, _ in EVENTS}
    command, *args = server(host)
    wanted = {
        "hooks": {name: [_group(lines[name], limit)] for name, _, limit in EVENTS},
        SERVERS: {NAME: {"command": command, "args": args}},
    }
    file = os.path.join(top, "settings.json")
    edits = (
        Merge(file, wanted, _is_ours, (SERVERS, NAME), remarks).edit(receipt, wish.remove),
        marked_edit(os.path.join(top, "GEMINI.md"), receipt, wish.remove),
    )
    remarks += [] if wish.remove else [python_remark(host)]
    return Plan("", edits, {} if wish.remove else lines, tuple(remarks))


def _group(line: str, milliseconds: int) -> dict[str, Any]:
    hook = {"type": "command", "name": NAME, "command": line, "timeout": milliseconds}
    return {"hooks": [hook]}


def _is_ours(path: Path, value: Any) -> bool:
    return is_server(value) if path == (SERVERS, NAME) else is_our_hook(path, value)


# Import: the section of GEMINI.md that it adds to, and its notes on a project.

CONTEXT, SECTION = "GEMINI.md", "gemini added memories"
ROOT_FILE = ".project_root"  # says which project a folder of notes is for
NEXT = "name a GEMINI.md or a folder of notes: memdir import gemini-cli ~/.gemini/GEMINI.md"


def read(path: str, around: Around) -> Brought:
    """What it was told to remember: everywhere, in this project, and its private notes on it."""
    brought = Brought()
    if path:
        _folder(path, brought) if os.path.isdir(path) else _context(path, brought)
        return brought
    home, project = around.home, around.project
    top = os.path.join(named_folder(around.environ, "GEMINI_CLI_HOME", home), ".gemini")
    places = filter(None, [inside(top, CONTEXT), inside(project, CONTEXT) if project else ""])
    contexts, notes = list(places), list(filter(None, _private(top, project)))
    for place in contexts:
        _context(place, brought)
    for folder in notes:
        _folder(folder, brought)
    if not contexts and not notes:
        raise unusable(top, "Gemini CLI keeps no memories there", NEXT)
    return brought


def _context(path: str, brought: Brought) -> None:
    text = decode(read_whole(path, NEXT)[:MAX_FILE_BYTES])
    for title, part in sections(text, 2):
        if title.lower() == SECTION:
            add_pieces(CLIENT, _facts(part, f"{CONTEXT}: {title}", "user"), brought)


def _folder(folder: str, brought: Brought) -> None:
    """Notes as they are; the index beside them may say something itself."""
    for path, data in files_below(folder, brought, without="skills/"):
        if path == INDEX:
            add_pieces(CLIENT, _facts(decode(data), f"notes {path}", "project"), brought)
        elif path[-3:].lower() != ".md":
            brought.skip(path, "it is not Markdown", OTHER)
        else:
            brought.files.append((store_path(CLIENT, path), labelled(CLIENT, path, data, {})))


def _facts(text: str, place: str, type: str) -> Iterator[Piece]:
    for fact in bullets(text):
        if ".md)" not in fact.partition("\n")[0]:  # a pointer to a note
            yield Piece(fact, fact, type, place)


def _private(top: str, project: str) -> Iterator[str]:
    """The folders of notes on this project."""
    tmp = os.path.join(top, "tmp")
    for name in names_in(tmp, NEXT) if project else ():
        try:
            root = decode(read_whole(os.path.join(tmp, name, ROOT_FILE), NEXT)[:4096]).strip()
        except BadInput:
            continue
        if root and "\0" not in root and os.path.realpath(root) == os.path.realpath(project):
            yield inside(tmp, name, "memory")


# Transcripts: a file per session, `tmp/<project>/chats/session-*` of its own directory.
#
# Newer versions append records to a `.jsonl` and write a message again when it grows; older ones
# write one `.json` anew each time.

LINES, WHOLE = ".jsonl", ".json"
PREFIX = "session-"
HEAD_BYTES = 64 * 1024
USER, AGENTS = "user", "gemini"
SILENT = ("info", "error", "warning")
# What follows was read from files that the prompt names.
REFERENCED = "\n--- Content from referenced files ---"


def open_reader(home: str, environ: Mapping[str, str]) -> Reader:
    """The reader for whoever has this home."""
    top = named_folder(environ, "GEMINI_CLI_HOME", home)
    return Reader(os.path.join(tidy_path(top), ".gemini", "tmp"), home)


class Reader:
    """Reads below one directory."""

    def __init__(self, root: str, home: str) -> None:
        self.root, self.home = root, home

    def read(self, path: str, since: Cursor, last: str = "") -> NewMessages:
        """What was said since the cursor; `last` is the reply that a hook was given."""
        cwd = self._project(os.path.dirname(os.path.dirname(path)))
        name = os.path.basename(path)
        if name.endswith(LINES):
            meta = first_record(path, self.root, HEAD_BYTES, "sessionId")
            parser = GeminiParser(self.home, cwd, meta.get("kind") == "subagent")
            session = words(meta.get("sessionId")) or name.removesuffix(LINES)
            return read_lines(path, self.root, since, last, parser, session)
        session, whole = name.removesuffix(WHOLE), read_document(path, self.root)
        if whole is None:
            return select_new((), since, last, session, cwd, broken=1)
        parser = GeminiParser(self.home, cwd, whole.get("kind") == "subagent")
        records = whole.get("messages")
        groups = [
            (words(record.get("id")), parser.take(record, words(record.get("id"))) or ())
            for record in (records if isinstance(records, list) else ())
            if isinstance(record, dict)
        ]
        return select_new(groups, since, last, words(whole.get("sessionId")) or session, cwd)

    def sessions(self, project: str) -> list[Session]:
        """Those of the project, newest first."""
        paths = (project, os.path.realpath(project))
        keys = {sha256(path.encode("utf-8", "surrogateescape")).hexdigest() for path in paths}
        sessions = []
        for folder in list_folder(self.root):
            if folder.name in keys or self._project(folder.path) in paths:
                for suffix in (LINES, WHOLE):
                    sessions += [
                        Session(CLIENT, file.name.removesuffix(suffix), file.path, *file.facts)
                        for file in list_folder(os.path.join(folder.path, "chats"), suffix)
                        if file.name.startswith(PREFIX)
                    ]
        return newest_first(sessions)

    def _project(self, folder: str) -> str:
        """The directory that a folder of sessions is for; empty where nobody knows."""
        try:
            with opened(os.path.join(folder, ROOT_FILE), self.root) as handle:
                text = os.pread(handle, PATH_CHARACTERS, 0).decode("utf-8", "replace").strip()
        except MemdirError:
            return ""
        return tidy_path(text) if text.startswith("/") and text.isprintable() else ""


class GeminiParser(Parser):
    """What Gemini CLI's records mean."""

    def __init__(self, home: str, cwd: str, by_agent: bool) -> None:
        super().__init__(home, cwd, by_agent)
        self.seen: set[tuple[str, int]] = set()  # a message is written again when it grows

    def mark(self, record: Record) -> str | None:
        return words(record.get("id")) if "type" in record else None

    def take(self, record: Record, id: str) -> list[Message] | None:
        kind = record.get("type")
        if kind is None and ("$set" in record or "$rewindTo" in record or "sessionId" in record):
            return []
        if kind not in (USER, AGENTS):
            return [] if kind in SILENT else None
        if self.by_agent:
            return []
        own, time = words(record.get("id")), seconds(record.get("timestamp"))
        if kind == USER:
            shown = record.get("displayContent") or record.get("content")
            text = _flat(shown, results=False).partition(REFERENCED)[0]
            said = messages(PERSON, id, typed(text), time)
        else:
            said = [*self._agent(record, id, time)]
        return [message for message in said if self._is_new(own, message)]

    def _is_new(self, own: str, message: Message) -> bool:
        key = (own, hash(message._replace(id="", time=0.0)))
        is_new = not own or key not in self.seen
        self.seen.add(key)
        return is_new

    def _agent(self, record: Record, id: str, time: float) -> Iterator[Message]:
        yield from messages(AGENT, id, _flat(record.get("content")), time)
        calls = record.get("toolCalls")
        for call in calls if isinstance(calls, list) else ():
            status = call.get("status") if isinstance(call, dict) else None
            if status not in ("success", "error", "cancelled"):
                continue
            name, moment = words(call.get("name")), seconds(call.get("timestamp")) or time
            if status == "success":
                wrote = written_files(name, call.get("args"), self.cwd, self.home)
                yield from messages(AGENT, id, "", moment, wrote=wrote)
            result = _flat(call.get("result")) or words(call.get("resultDisplay"))
            yield from messages(TOOL, id, result, moment, name)


def _flat(content: Any, results: bool = True) -> str:
    """The text of a message or of a result, whatever its form."""
    texts = []
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict) and not part.get("thought"):
            texts.append(words(part.get("text")))
            given = part.get("functionResponse") if results else None
            response = given.get("response") if isinstance(given, dict) else None
            if isinstance(response, dict):
                texts.append(words(response.get("output")) or words(response.get("error")))
    return "\n".join(filter(None, texts))
