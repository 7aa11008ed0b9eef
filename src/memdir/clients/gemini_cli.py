"""The same."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

from memdir.clients import transcripts
from memdir.clients.archive import MAX_FILE_BYTES, OTHER, Brought
from memdir.clients.conversation import AGENT, PERSON, TOOL, Cursor, Said, Session, Stretch
from memdir.clients.edit_json import Merge
from memdir.clients.edit_text import marked_edit
from memdir.clients.other_tools import (
    Around,
    Piece,
    bullets,
    files_below,
    folder_of,
    inside,
    marked,
    names_in,
    read_whole,
    sections,
    skip,
    store_path,
    unusable,
)
from memdir.clients.other_tools import brought_from as add
from memdir.clients.receipt import Host, Plan, Receipt, Wish, only_settings
from memdir.clients.setup import NAME, group_is_ours, hook_line, is_server, runs_us, server
from memdir.clients.transcripts import (
    Message,
    Where,
    document,
    listed,
    opened,
    readable,
    seconds,
    stretch,
    typed,
    unframed,
    words,
    written,
)
from memdir.errors import BadInput, MemdirError
from memdir.hot.memory import INDEX, decode
from memdir.hot.place import PATH_CHARACTERS, tidy

# Gemini CLI: hooks and the MCP server in settings.json, words in GEMINI.md.

TITLE = "Gemini CLI"
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
    named = host.environ.get("GEMINI_CLI_HOME", "")
    return os.path.join(named if named.startswith("/") else host.home, ".gemini")


def plan(wish: Wish, host: Host, receipt: Receipt) -> Plan:
    """What installing or removing would do to its files."""
    remarks = only_settings(TITLE, wish)
    top = folder(host)
    lines = {name: hook_line(host, "gemini-cli", event) for name, event, _ in EVENTS}
    command, *args = server(host)
    settings = Merge(
        os.path.join(top, "settings.json"),
        {
            "hooks": {name: [_group(lines[name], one)] for name, _, one in EVENTS},
            SERVERS: {NAME: {"command": command, "args": args}},
        },
        _is_ours,
        (SERVERS, NAME),
        remarks,
    )
    edits = (
        settings.edit(receipt, wish.remove),
        marked_edit(os.path.join(top, "GEMINI.md"), receipt, wish.remove),
    )
    if not wish.remove:
        remarks.append(f"hooks run with {host.python}: {host.why}")
    return Plan("", edits, {} if wish.remove else lines, tuple(remarks))


def _group(line: str, milliseconds: int) -> dict[str, Any]:
    hook = {"type": "command", "name": NAME, "command": line, "timeout": milliseconds}
    return {"hooks": [hook]}


def _is_ours(path: tuple[str | int, ...], value: Any) -> bool:
    if path == (SERVERS, NAME):
        return is_server(value)
    if path[:1] != ("hooks",):
        return False
    return (len(path) == 3 and group_is_ours(value)) or (len(path) == 5 and runs_us(value))


# Gemini CLI: the section of GEMINI.md that it adds to, and its notes on a project.

SOURCE = "gemini-cli"
CONTEXT, SECTION = "GEMINI.md", "gemini added memories"
ROOT_FILE = ".project_root"  # says which project a folder of notes is for
NEXT = "name a GEMINI.md or a folder of notes: memdir import gemini-cli ~/.gemini/GEMINI.md"


def read(path: str, around: Around) -> Brought:
    """What it was told to remember: everywhere, in this project, and its private notes on it."""
    brought = Brought()
    if path:
        _folder(path, brought) if os.path.isdir(path) else _context(path, brought)
        return brought
    top = os.path.join(folder_of(around, "GEMINI_CLI_HOME", ""), ".gemini")
    places = [inside(top, CONTEXT), inside(around.project, CONTEXT) if around.project else ""]
    notes = [folder for folder in _private(top, around.project) if folder]
    for place in filter(None, places):
        _context(place, brought)
    for folder in notes:
        _folder(folder, brought)
    if not any(places) and not notes:
        raise unusable(top, "Gemini CLI keeps no memories there", NEXT)
    return brought


def _context(path: str, brought: Brought) -> None:
    text = decode(read_whole(path, NEXT)[:MAX_FILE_BYTES])
    for title, part in sections(text, 2):
        if title.lower() == SECTION:
            add(SOURCE, _facts(part, f"{CONTEXT}: {title}", "user"), brought)


def _folder(folder: str, brought: Brought) -> None:
    """Notes as they are; the index beside them may say something itself."""
    for path, data in files_below(folder, lambda path: not path.startswith("skills/"), brought):
        if path == INDEX:
            add(SOURCE, _facts(decode(data), f"notes {path}", "project"), brought)
        elif path[-3:].lower() != ".md":
            skip(brought, path, "it is not Markdown", OTHER)
        else:
            brought.files.append((store_path(SOURCE, path), marked(SOURCE, path, data, {})))


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


# Gemini CLI: a file per session, `tmp/<project>/chats/session-*` of its own directory.
#
# Newer versions append records to a `.jsonl` and write a message again when it grows; older ones
# write one `.json` anew each time.

CLIENT = "gemini-cli"
LINES, WHOLE = ".jsonl", ".json"
PREFIX = "session-"
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
            meta = transcripts.first(path, self.root, HEAD, "sessionId")
            talk = Talk(self.home, cwd, meta.get("kind") == "subagent")
            session = words(meta.get("sessionId")) or name.removesuffix(LINES)
            return transcripts.read(path, self.root, since, last, talk, session)
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

    def mark(self, record: transcripts.Record) -> str | None:
        return words(record.get("id")) if "type" in record else None

    def take(self, record: transcripts.Record, id: str) -> list[Said] | None:
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

    def _agent(self, record: transcripts.Record, id: str, time: float) -> Iterator[Said]:
        if text := readable(unframed(_flat(record.get("content")))):
            yield Said(id, AGENT, text, time)
        calls = record.get("toolCalls")
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict) and call.get("status") in ("success", "error", "cancelled"):
                yield from self._call(call, id, seconds(call.get("timestamp")) or time)

    def _call(self, call: transcripts.Record, id: str, time: float) -> Iterator[Said]:
        name = words(call.get("name"))
        if call.get("status") == "success":
            paths = written(name, call.get("args"), self.cwd, self.home)
            if paths:
                yield Said(id, AGENT, "", time, wrote=paths)
        result = _flat(call.get("result")) or words(call.get("resultDisplay"))
        if text := readable(unframed(result, reminders=True)):
            yield Said(id, TOOL, text, time, name)


def _typed(record: transcripts.Record, id: str, time: float) -> Iterator[Said]:
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
