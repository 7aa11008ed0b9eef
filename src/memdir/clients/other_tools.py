"""Import from mem0, basic-memory, claude-memory, Replit and the Anthropic memory tool."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from memdir.clients.archive import (
    BROKEN,
    MAX_ENTRIES,
    OTHER,
    Brought,
    read_source,
    read_whole,
    unusable,
)
from memdir.clients.sources import (
    Around,
    Piece,
    about,
    add_pieces,
    clean,
    files_below,
    free_path,
    inside,
    labelled,
    store_path,
    write_piece,
)
from memdir.config.config import Config
from memdir.errors import BadInput
from memdir.hot import types
from memdir.hot.memory import INDEX, decode, edit, encode
from memdir.hot.memory import read as read_header
from memdir.store import registry

FAMILY = "sources"
_OBSERVATION = re.compile(r"^[-*] \[([\w -]{1,60})\] (\S.{0,500})$", re.MULTILINE)


def sources(own: str = "") -> list[str]:
    """The tools whose memories can be read, as people write them; `own` are the user's."""
    return [name.replace("_", "-") for name in sorted({*READERS, *registry.members(FAMILY, own)})]


def read_sources(config: Config, source: str, path: str = "") -> Brought:
    """All memories of a source; `./codex` is a directory, `codex` the tool."""
    if source not in (known := sources(config.own)):
        if path:
            raise BadInput(f"there is no source {source!r}", next=f"there are: {', '.join(known)}")
        return read_source(source)
    name = source.replace("-", "_")
    read_member = READERS.get(name) or registry.load(FAMILY, name, config.own).read
    project = "" if config.scope.kind == "user" else config.checkout
    brought: Brought = read_member(path, Around(config.home, project, config.environ))
    taken: dict[str, bytes] = {}
    numbers = Counter[str]()
    files, brought.files[:] = sorted(brought.files), []
    for path, data in files:
        if taken.get(path.casefold()) == data:
            continue  # the same once more
        if path.casefold() in taken:  # on some disks `a.md` and `A.md` are one
            path = free_path(path[:-3], taken, numbers)
        taken[path.casefold()] = data
        brought.files.append((path, data))
    brought.files.sort()
    return brought


def _read_json(path: str, next: str) -> Any:
    """A JSON file, or one JSON value on each line; None for a line that cannot be read."""
    text = read_whole(path, next).decode("utf-8-sig", "replace")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        lines = [line for line in text.split("\n") if line.strip()]
        if len(lines) < 2 or not lines[0].lstrip().startswith("{"):
            raise unusable(path, f"it is not JSON ({error})", next) from None
    values: list[Any] = []
    for line in lines[: MAX_ENTRIES + 1]:
        try:
            values.append(json.loads(line))
        except (ValueError, RecursionError):
            values.append(None)
    return values


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


# basic-memory: a folder of notes with observations and relations, which stay as they are.


def read_basic_memory(path: str, around: Around) -> Brought:
    """Every note; `[[links]]` between them go on leading to each other."""
    source, top = "basic-memory", path or os.path.join(around.home, "basic-memory")
    if not os.path.isdir(top):
        next = "name the folder: memdir import basic-memory ~/basic-memory"
        raise unusable(top, "there is no such folder", next)
    brought = Brought()
    for name, data in files_below(top, brought):
        if name[-3:].lower() != ".md":
            brought.skip(name, "it is no note", OTHER)
            continue
        document = read_header(decode(data))
        if not document.text.strip():
            brought.skip(name, "it says nothing", BROKEN)
            continue
        kind = document.values.get("type", "").strip().lower()
        if kind and kind not in types.names():
            document = read_header(edit(document, "metadata.basic_memory_type", kind).text)
            document = read_header(edit(document, "type", "reference").text)
        said = _OBSERVATION.search(document.body)
        description = about(said[2] if said else document.body)
        title = document.values.get("title", "")
        fields = {"name": title, "description": description, "type": "reference"}
        note = labelled(source, name, encode(document.text), fields)
        brought.files.append((store_path(source, name), note))
    return brought


# JSON of tools around Claude: claude-memory, claude-mem, and memories.json of a Claude account.

CLAUDE_FILE = ".claude/memory.json"  # of a project
ACCOUNT, PROJECTS = "conversations_memory", "project_memories"
CLAUDE_KEYS = ("decisions", "patterns", "knowledge", "observations", ACCOUNT, PROJECTS)
WORK_KEYS = ("tasks", "sessions", "actions", "prompts", "summaries")  # no knowledge


def read_claude_memory(path: str, around: Around) -> Brought:
    """Decisions, patterns, knowledge, observations; what an account remembers."""
    next = "name the file: memdir import claude-memory export.json"
    path = path or (inside(around.project, *CLAUDE_FILE.split("/")) if around.project else "")
    if not path:
        cause = f"the exported file is needed (there is no {CLAUDE_FILE})"
        raise unusable("claude-memory", cause, next)
    values = _read_json(path, next)
    parts = [
        part
        for part in (values if isinstance(values, list) else [values])
        if isinstance(part, dict) and any(key in part for key in CLAUDE_KEYS)
    ]
    if not parts:
        raise unusable(path, "it holds no memories that are known", next)
    brought = Brought()
    pieces = (piece for part in parts for piece in _claude_pieces(part, brought))
    add_pieces("claude-memory", pieces, brought)
    return brought


def _claude_pieces(part: Mapping[str, Any], brought: Brought) -> Iterator[Piece]:
    readers = {"decisions": _decision, "patterns": _pattern, "observations": _observation}
    for key, reader in readers.items():
        for number, row in enumerate(_list(part.get(key)), 1):
            fields = row if isinstance(row, dict) else {}
            place = f"{key} {clean(fields.get('id')) or number}"
            piece = reader(fields, place)
            if piece:
                yield piece
            else:
                brought.skip(place, "it cannot be read", BROKEN)
    knowledge = part.get("knowledge")
    for category, rows in knowledge.items() if isinstance(knowledge, dict) else ():
        for key, row in rows.items() if isinstance(rows, dict) else ():
            fields = row if isinstance(row, dict) else {"value": row}
            said, place = clean(fields.get("value")), f"knowledge {category}: {key}"
            if said.strip():
                time = clean(fields.get("lastUpdated")) or clean(fields.get("timestamp"))
                yield Piece(key, f"{key}: {said}", "reference", place, "", "", time)
            else:
                brought.skip(place, "it cannot be read", BROKEN)
    if said := clean(part.get(ACCOUNT)):
        yield Piece("claude account memory", said, "user", ACCOUNT)
    projects = part.get(PROJECTS)
    for key, text in projects.items() if isinstance(projects, dict) else ():
        if said := clean(text):
            yield Piece(f"claude project {key}", said, "project", f"{PROJECTS} {key}")
    for key in WORK_KEYS:
        if rows := _list(part.get(key)):
            brought.skip(f"{key} ({len(rows)})", "that is work, no knowledge", OTHER)


def _decision(fields: Mapping[str, Any], place: str) -> Piece | None:
    said, why = clean(fields.get("decision")), clean(fields.get("reasoning"))
    if not said.strip():
        return None
    others = ", ".join(filter(None, map(clean, _list(fields.get("alternatives")))))
    outcome = clean(fields.get("outcome"))
    lines = [said, f"**Why:** {why}" if why else ""]
    lines += [f"Considered and not taken: {others}." if others else ""]
    lines += [f"Outcome: {outcome}" if outcome else ""]
    time = clean(fields.get("timestamp"))
    return Piece(said, "\n\n".join(filter(None, lines)), "decision", place, said, time)


def _pattern(fields: Mapping[str, Any], place: str) -> Piece | None:
    name, said = clean(fields.get("pattern")), clean(fields.get("description"))
    if not name.strip():
        return None
    solution = clean(fields.get("solution"))
    body = f"{name}: {said}" if said else name
    body += f"\n\nSolution: {solution}" if solution else ""
    times = clean(fields.get("firstSeen")), clean(fields.get("lastSeen"))
    return Piece(name, body, "feedback", place, said or name, *times)


def _observation(fields: Mapping[str, Any], place: str) -> Piece | None:
    title, facts = clean(fields.get("title")), fields.get("facts")
    rows = [clean(fact) for fact in _list(facts)] or [clean(facts)]
    text = clean(fields.get("narrative")) or clean(fields.get("text"))
    body = "\n\n".join(filter(None, [text, "\n".join(f"- {row}" for row in rows if row)]))
    if not title and not body:
        return None
    kind = "decision" if fields.get("type") == "decision" else "project"
    subtitle, time = clean(fields.get("subtitle")) or title, clean(fields.get("created_at"))
    return Piece(title or body, body or title, kind, place, subtitle, time)


# mem0: what `get_all` or an export gives, as JSON or one JSON object on each line.

# Categories of mem0 that say what a type of ours says.
MEM0_TYPES = dict.fromkeys(("user_preferences", "preferences"), "preference")
MEM0_TYPES["personal_details"] = "user"


def read_mem0(path: str, around: Around) -> Brought:
    """Every memory of the file."""
    advice = "name the file: memdir import mem0 export.json"
    if not path:
        raise unusable("mem0", "the exported file is needed", advice)
    rows = _read_json(path, advice)
    if isinstance(rows, dict):
        values = [rows.get(key) for key in ("results", "memories", "data")]
        rows = next((value for value in values if isinstance(value, list)), None)
    if not isinstance(rows, list):
        raise unusable(path, "it holds no memories of mem0", advice)
    brought = Brought()
    add_pieces("mem0", _mem0_pieces(rows, brought), brought)
    return brought


def _mem0_pieces(rows: list[Any], brought: Brought) -> Iterator[Piece]:
    for number, row in enumerate(rows, 1):
        fields = row if isinstance(row, dict) else {}
        values = [fields.get(key) for key in ("memory", "text", "content", "data")]
        text = next((value for value in values if isinstance(value, str)), "")
        id = fields.get("id")
        place = f"memory {id}" if isinstance(id, (str, int)) else f"entry {number}"
        if not text.strip():
            brought.skip(place, "there is no text in it", BROKEN)
            continue
        created, modified = fields.get("created_at"), fields.get("updated_at")
        times = [time if isinstance(time, str) else "" for time in (created, modified)]
        yield Piece(text, text, _mem0_type(fields), place, "", *times)


def _mem0_type(fields: dict[str, Any]) -> str:
    """The type that the row names, by our words or by mem0's; else it is about a person."""
    said = fields.get("metadata")
    named = [said.get("type"), said.get("category")] if isinstance(said, dict) else []
    named += _list(fields.get("categories"))
    for word in (word.lower() for word in named if isinstance(word, str)):
        if word in types.names() or word in MEM0_TYPES:
            return MEM0_TYPES.get(word, word)
    return "user"


# The directory of an Anthropic memory tool: Markdown as it is, other text in a memory.


def read_memory_tool(path: str, around: Around) -> Brought:
    """Every text file below the directory."""
    source = "memory-tool"
    if not path or not os.path.isdir(path):
        next = "name the directory: memdir import memory-tool ./memories"
        raise unusable(path or source, "the directory of the tool is needed", next)
    brought = Brought()
    for name, data in files_below(path, brought):
        try:
            text = data.decode()
        except UnicodeDecodeError:
            text = "\0"
        if not text.strip() or "\0" in text:
            brought.skip(name, "it is no text" if "\0" in text else "it says nothing", OTHER)
        elif name[-3:].lower() == ".md" and name != INDEX:
            brought.files.append((store_path(source, name), data))
        else:
            target = store_path(source, name.rpartition(".")[0] or name)
            piece = Piece(name, text, "project", name, about(text))
            title = target.rpartition("/")[2][:-3]
            brought.files.append((target, write_piece(source, piece, title)))
    return brought


# Replit and its like: `.agents/memory` of a project, Markdown files that come as they are.


def read_replit(path: str, around: Around) -> Brought:
    """Byte for byte; the index beside them is not taken."""
    folder, top = ".agents/memory", os.path.abspath(path or around.project or ".")
    if os.path.isdir(top) and not top.endswith(folder):
        place = inside(top, *folder.split("/"))
        if not place:
            next = "name the project: memdir import replit ../shop"
            raise unusable(top, f"there is no {folder} in it", next)
        top = place
    return read_source(top)


READERS: dict[str, Callable[[str, Around], Brought]] = {
    "basic_memory": read_basic_memory,
    "claude_memory": read_claude_memory,
    "mem0": read_mem0,
    "memory_tool": read_memory_tool,
    "replit": read_replit,
}
