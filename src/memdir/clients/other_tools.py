"""Mem0, basic-memory, claude-mem, replit, memory tool: import only."""

from __future__ import annotations

import json
import os
import re
import stat
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from memdir.clients.archive import (
    MAX_ENTRIES,
    MAX_FILE_BYTES,
    MAX_TOTAL_BYTES,
    OTHER,
    Brought,
    read_source,
)
from memdir.config.config import Config
from memdir.errors import BadInput, Finding
from memdir.format.names import RESERVED, name_for, slugify
from memdir.hot import memory, types
from memdir.hot.disk import Disk
from memdir.hot.memory import INDEX, decode, edit, is_memory
from memdir.hot.memory import read as read_header
from memdir.hot.safe import inert_line, parse_time
from memdir.store import registry

# The files of a source: read whole, bounded, never through a link that somebody else has put.

BROKEN = "broken"  # the kind of finding for an entry that nobody can read
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True)
class Around:
    """Where a source is looked for; without a project, it is for a person in all of theirs."""

    home: str
    project: str = ""
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)


def folder_of(around: Around, variable: str, name: str) -> str:
    """Where a client keeps its files: as its variable says, else below the home."""
    named = around.environ.get(variable, "")
    return named if named.startswith("/") else os.path.join(around.home, name)


def unusable(path: str, cause: str, next: str) -> BadInput:
    """A source that gives nothing at all."""
    return BadInput(f"{path}: {cause}; nothing was imported", path=path, next=next)


def read_whole(path: str, next: str) -> bytes:
    """All bytes of a file that a person has named."""
    try:
        handle = os.open(path, _READ)
    except (OSError, ValueError) as error:
        cause = getattr(error, "strerror", None) or "not a file name"
        raise unusable(path, cause, next) from None
    try:
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode):  # Python opens no directory, not even to look at it
            raise unusable(path, "it is no regular file", next)
        if facts.st_size > MAX_TOTAL_BYTES:
            raise unusable(path, f"it has more than {MAX_TOTAL_BYTES:,} bytes", next)
        with open(handle, "rb", closefd=False) as file:
            return file.read(MAX_TOTAL_BYTES)
    finally:
        os.close(handle)


def names_in(folder: str, next: str) -> list[str]:
    """What lies in a folder of a client, sorted; nothing where it is not there."""
    try:
        return sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise unusable(folder, error.strerror or "unreadable", next) from None


def read_json(path: str, next: str) -> Any:
    """A JSON file, or one JSON value on each line."""
    text = read_whole(path, next).decode("utf-8-sig", "replace")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        lines = [line for line in text.split("\n") if line.strip()]
        if len(lines) < 2 or not lines[0].lstrip().startswith("{"):
            raise unusable(path, f"it is not JSON ({error})", next) from None
    return [_line(line) for line in lines[: MAX_ENTRIES + 1]]


def _line(line: str) -> Any:
    """What stands on a line; what cannot be read is named where it is used."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def files_below(
    root: str, wanted: Callable[[str], bool], brought: Brought
) -> Iterator[tuple[str, bytes]]:
    """Path and bytes of every wanted file; links, hidden names and special files are not."""
    disk, total = Disk(root), 0
    entries = disk.walk(lambda _: True, brought.skipped)
    found = [(path, entry.is_file(follow_symlinks=False)) for _, path, entry in entries]
    if len(found) > MAX_ENTRIES:
        raise unusable(root, f"it has more than {MAX_ENTRIES:,} files", "name a folder in it")
    for path, is_file in sorted(found):
        if not is_file:
            skip(brought, path, "a link or a special file")
        elif wanted(path):
            try:
                data = disk.read(path, MAX_FILE_BYTES + 1)[0]
            except OSError as error:
                skip(brought, path, error.strerror or "unreadable", BROKEN)
                continue
            total += len(data)
            if len(data) > MAX_FILE_BYTES:
                skip(brought, path, f"it has more than {MAX_FILE_BYTES:,} bytes", BROKEN)
            elif total > MAX_TOTAL_BYTES:
                cause = f"all files have more than {MAX_TOTAL_BYTES:,} bytes"
                raise unusable(root, cause, "name a folder in it")
            else:
                yield path, data


def skip(brought: Brought, path: str, reason: str, kind: str = "skipped") -> None:
    """Say what was not taken, and why."""
    brought.skipped.append(Finding(kind, path, f"{path}: {reason}; skipped"))


def inside(top: str, *parts: str) -> str:
    """A folder or file of a project; empty where it is not there or lies behind a link.

    A repository may have put a link there: it would bring files from anywhere.
    """
    path = os.path.join(top, *parts)
    real = os.path.join(os.path.realpath(top), *parts)
    return path if os.path.exists(path) and os.path.realpath(path) == real else ""


# Pieces of another tool's memory, and the files they become: the same bytes every time.

SOURCE = "import"  # who saved it, as its header says
DESCRIPTION = 150  # bytes
PLACE = 200  # bytes
_MARKS = re.compile(r"^[#>*+\s-]{0,20}(?:\[[ x]\] )?")
_HEADING = re.compile(r"^(#{1,6})[ \t]{1,20}(\S.{0,500})$")
_FENCE = re.compile(r"^ {0,3}(```|~~~)")


@dataclass(frozen=True)
class Piece:
    """One thing that another tool remembers; `place` is where it stood in the source."""

    title: str
    body: str
    type: str
    place: str
    description: str = ""
    created: str = ""
    modified: str = ""


def brought_from(source: str, pieces: Iterable[Piece], brought: Brought) -> None:
    """Add each piece as a memory of its own, by a name of its own."""
    taken = {path.casefold(): data for path, data in brought.files}
    known, numbers = set(taken.values()), Counter[str]()
    for piece in pieces:
        if len(taken) >= MAX_ENTRIES:
            skip(brought, piece.place, f"there are more than {MAX_ENTRIES:,} entries", BROKEN)
            return
        if not clean(piece.body).strip():
            skip(brought, piece.place, "it says nothing", BROKEN)
            continue
        name = name_for(clean(piece.title), piece.type)
        whole = written(source, piece, name)
        if whole in known:
            continue  # the same once more
        known.add(whole)
        path = _free(name, taken, numbers)
        data = whole if path == f"{name}.md" else written(source, piece, path[:-3])
        taken[path.casefold()] = data
        brought.files.append((path, data))


def _free(name: str, taken: Container[str], numbers: Counter[str]) -> str:
    """A path that nothing has yet; thousands of one name are counted on, not each from one."""
    path = f"{name}.md" if numbers[name] < 2 else f"{name}-{numbers[name]}.md"
    while path.casefold() in taken:
        numbers[name] = max(numbers[name], 1) + 1
        path = f"{name}-{numbers[name]}.md"
    return path


def parted(files: Iterable[tuple[str, bytes]]) -> list[tuple[str, bytes]]:
    """The files, sorted, each by a name of its own on every disk: `a.md` and `A.md` are one."""
    taken: dict[str, bytes] = {}
    numbers = Counter[str]()
    found = []
    for path, data in sorted(files):
        key = path.casefold()
        if taken.get(key) == data:
            continue  # the same once more
        path = _free(path[:-3], taken, numbers) if key in taken else path
        taken[path.casefold()] = data
        found.append((path, data))
    return sorted(found)


def written(source: str, piece: Piece, name: str) -> bytes:
    """The file: its header tells where it comes from."""
    body = clean(piece.body)
    known = piece.type if piece.type in types.names() else "project"
    fields = [
        ("name", name),
        ("description", inert_line(clean(piece.description), DESCRIPTION) or about(body)),
        ("type", known),
        ("metadata.created", piece.created if parse_time(piece.created) else ""),
        ("metadata.modified", piece.modified if parse_time(piece.modified) else ""),
        ("metadata.source", SOURCE),
        ("metadata.imported_from", inert_line(f"{source} {clean(piece.place)}", PLACE)),
    ]
    return memory.encode(memory.write([one for one in fields if one[1]], body))


def marked(source: str, path: str, data: bytes, fields: dict[str, str]) -> bytes:
    """A Markdown file with these values in its header where they are missing; its body stays."""
    document = memory.read(memory.decode(data))
    wanted = {**fields, "metadata.source": SOURCE}
    wanted["metadata.imported_from"] = inert_line(f"{source} {path}", PLACE)
    for key, value in wanted.items():
        if value and not document.values.get(key):
            document = memory.read(memory.edit(document, key, value).text)
    return memory.encode(document.text)


def about(text: str) -> str:
    """The first line that says something, as one line without its marks."""
    for line in text.split("\n")[:200]:
        said = _MARKS.sub("", line[:500]).strip()
        if said and not said.startswith(("```", "~~~", "---", "<!--", "|")):
            return inert_line(said, DESCRIPTION)
    return ""


def clean(text: object) -> str:
    """Text of another tool as it can stand in a file; what is no text is empty."""
    if not isinstance(text, str):
        return ""
    whole = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    try:
        whole.encode("utf-8", "surrogateescape")  # bytes of a file that are no UTF-8 stay
    except UnicodeEncodeError:
        return whole.encode("utf-8", "replace").decode()
    return whole


def store_path(source: str, path: str) -> str:
    """The path a file gets in a store: its own, unless a store keeps something else there."""
    whole = path if path[-3:].lower() == ".md" else f"{path}.md"
    if is_memory(whole) and slugify(whole.rpartition("/")[2][:-3]) not in RESERVED:
        return whole
    flat = slugify(whole[:-3].replace("/", " ")) or "notes"
    return f"{source}-{flat}.md" if flat in RESERVED else f"{flat}.md"


def sections(text: str, level: int) -> list[tuple[str, str]]:
    """Title and text of each section whose heading has that many marks; the title is its first.

    What stands before the first one has no title. Headings in fences are none.
    """
    found: list[tuple[str, list[str]]] = [("", [])]
    fence = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if mark:
            fence = "" if fence == mark[1] else fence or mark[1]
        heading = None if fence else _HEADING.match(line)
        if heading and len(heading[1]) <= level:
            title = heading[2].strip(" #") if len(heading[1]) == level else ""
            found.append((title, []))
        found[-1][1].append(line)
    return [(title, "\n".join(lines)) for title, lines in found]


def bullets(text: str) -> list[str]:
    """Each item of the outermost lists, with the lines that belong to it."""
    found: list[list[str]] = []
    for line in text.split("\n"):
        if line[:2] in ("- ", "* "):
            found.append([line[2:]])
        elif found and line[:1] in (" ", "\t"):
            found[-1].append(line.removeprefix("  "))
        elif line.strip():
            found.append([])  # something else: what is indented below it is not ours
    return ["\n".join(lines).strip() for lines in found if lines]


# basic-memory: a folder of notes with observations and relations, which stay as they are.

TITLE = "basic-memory"
BASIC_MEMORY_SOURCE = "basic-memory"
FOLDER = "basic-memory"
KIND = "metadata.basic_memory_type"
NEXT = "name the folder: memdir import basic-memory ~/basic-memory"
_OBSERVATION = re.compile(r"^[-*] \[([\w -]{1,60})\] (\S.{0,500})$", re.MULTILINE)


def read(path: str, around: Around) -> Brought:
    """Every note; `[[links]]` between them go on leading to each other."""
    top = path or os.path.join(around.home, FOLDER)
    if not os.path.isdir(top):
        raise unusable(top, "there is no such folder", NEXT)
    brought = Brought()
    for name, data in files_below(top, lambda _: True, brought):
        if name[-3:].lower() != ".md":
            skip(brought, name, "it is no note", OTHER)
        elif not decode(data).strip():
            skip(brought, name, "it says nothing", BROKEN)
        else:
            brought.files.append((store_path(BASIC_MEMORY_SOURCE, name), _labelled(name, data)))
    return brought


def _labelled(name: str, data: bytes) -> bytes:
    document = read_header(decode(data))
    kind = document.values.get("type", "").strip().lower()
    if kind and kind not in types.names():
        document = read_header(edit(document, KIND, kind).text)
        document = read_header(edit(document, "type", "reference").text)
    said = _OBSERVATION.search(document.body)
    fields = {
        "name": document.values.get("title", ""),
        "description": about(said[2] if said else document.body),
        "type": "reference",
    }
    return marked(
        BASIC_MEMORY_SOURCE, name, document.text.encode("utf-8", "surrogateescape"), fields
    )


# JSON of tools around Claude: claude-memory, claude-mem, and memories.json of a Claude account.

CLAUDE_MEMORY_TITLE = "claude-memory JSON"
CLAUDE_MEMORY_SOURCE = "claude-memory"
FILE = ".claude/memory.json"  # of a project
CLAUDE_MEMORY_NEXT = "name the file: memdir import claude-memory export.json"
PASSED_OVER = ("tasks", "sessions", "actions", "prompts", "summaries")  # work, no knowledge
ACCOUNT = "conversations_memory"
PROJECTS = "project_memories"
KNOWN = ("decisions", "patterns", "knowledge", "observations", ACCOUNT, PROJECTS)


def read_claude_memory(path: str, around: Around) -> Brought:
    """Decisions, patterns, knowledge, observations; what an account remembers."""
    path = path or (inside(around.project, *FILE.split("/")) if around.project else "")
    if not path:
        raise unusable(
            CLAUDE_MEMORY_SOURCE,
            f"the exported file is needed (there is no {FILE})",
            CLAUDE_MEMORY_NEXT,
        )
    values = read_json(path, CLAUDE_MEMORY_NEXT)
    whole = values if isinstance(values, list) else [values]
    parts = [one for one in whole if isinstance(one, dict) and any(key in one for key in KNOWN)]
    if not parts:
        raise unusable(path, "it holds no memories that are known", CLAUDE_MEMORY_NEXT)
    brought = Brought()
    brought_from(
        CLAUDE_MEMORY_SOURCE, (one for part in parts for one in _pieces(part, brought)), brought
    )
    return brought


def _pieces(part: Mapping[str, Any], brought: Brought) -> Iterator[Piece]:
    readers = {"decisions": _decision, "patterns": _pattern, "observations": _observation}
    for key, reader in readers.items():
        for number, row in enumerate(_list(part.get(key)), 1):
            fields = row if isinstance(row, dict) else {}
            place = f"{key} {clean(fields.get('id')) or number}"
            piece = reader(fields, place)
            if piece:
                yield piece
            else:
                skip(brought, place, "it cannot be read", BROKEN)
    yield from _knowledge(part.get("knowledge"), brought)
    yield from _account(part)
    for key in PASSED_OVER:
        if rows := _list(part.get(key)):
            skip(brought, f"{key} ({len(rows)})", "that is work, no knowledge", OTHER)


def _decision(fields: Mapping[str, Any], place: str) -> Piece | None:
    said, why = clean(fields.get("decision")), clean(fields.get("reasoning"))
    if not said.strip():
        return None
    others = [clean(one) for one in _list(fields.get("alternatives")) if clean(one)]
    lines = [said, f"**Why:** {why}" if why else ""]
    lines += [f"Considered and not taken: {', '.join(others)}." if others else ""]
    lines += [f"Outcome: {clean(fields.get('outcome'))}" if clean(fields.get("outcome")) else ""]
    time = clean(fields.get("timestamp"))
    return Piece(said, "\n\n".join(filter(None, lines)), "decision", place, said, time)


def _pattern(fields: Mapping[str, Any], place: str) -> Piece | None:
    name, said = clean(fields.get("pattern")), clean(fields.get("description"))
    if not name.strip():
        return None
    lines = [f"{name}: {said}" if said else name]
    lines += [f"Solution: {clean(fields.get('solution'))}" if clean(fields.get("solution")) else ""]
    times = clean(fields.get("firstSeen")), clean(fields.get("lastSeen"))
    return Piece(name, "\n\n".join(filter(None, lines)), "feedback", place, said or name, *times)


def _observation(fields: Mapping[str, Any], place: str) -> Piece | None:
    title = clean(fields.get("title"))
    facts = fields.get("facts")
    rows = [clean(one) for one in _list(facts)] or [clean(facts)]
    text = clean(fields.get("narrative")) or clean(fields.get("text"))
    body = "\n\n".join(filter(None, [text, "\n".join(f"- {one}" for one in rows if one)]))
    if not title and not body:
        return None
    kind = "decision" if fields.get("type") == "decision" else "project"
    about = clean(fields.get("subtitle")) or title
    return Piece(title or body, body or title, kind, place, about, clean(fields.get("created_at")))


def _knowledge(values: Any, brought: Brought) -> Iterator[Piece]:
    """Values by their keys, in categories."""
    for category, rows in values.items() if isinstance(values, dict) else ():
        for key, row in rows.items() if isinstance(rows, dict) else ():
            fields = row if isinstance(row, dict) else {"value": row}
            said, place = clean(fields.get("value")), f"knowledge {category}: {key}"
            if said.strip():
                time = clean(fields.get("lastUpdated")) or clean(fields.get("timestamp"))
                yield Piece(key, f"{key}: {said}", "reference", place, "", "", time)
            else:
                skip(brought, place, "it cannot be read", BROKEN)


def _account(part: Mapping[str, Any]) -> Iterator[Piece]:
    """What Claude itself remembers of a person, and of each of their projects."""
    if said := clean(part.get(ACCOUNT)):
        yield Piece("claude account memory", said, "user", ACCOUNT)
    projects = part.get(PROJECTS)
    for key, text in projects.items() if isinstance(projects, dict) else ():
        if said := clean(text):
            yield Piece(f"claude project {key}", said, "project", f"{PROJECTS} {key}")


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


# mem0: what `get_all` or an export gives, as JSON or one JSON object on each line.

MEM0_TITLE = "mem0"
MEM0_SOURCE = "mem0"
LISTS = ("results", "memories", "data")
TEXTS = ("memory", "text", "content", "data")
MEM0_NEXT = "name the file: memdir import mem0 export.json"
# Categories of mem0 that say what a type of ours says.
TYPES = {"user_preferences": "preference", "preferences": "preference", "personal_details": "user"}


def read_mem0(path: str, around: Around) -> Brought:
    """Every memory of the file."""
    if not path:
        raise unusable(MEM0_SOURCE, "the exported file is needed", MEM0_NEXT)
    rows = _rows(read_json(path, MEM0_NEXT))
    if rows is None:
        raise unusable(path, "it holds no memories of mem0", MEM0_NEXT)
    brought = Brought()
    brought_from(MEM0_SOURCE, _mem0_pieces(rows, brought), brought)
    return brought


def _rows(values: Any) -> list[Any] | None:
    if isinstance(values, list):
        return values
    for key in LISTS if isinstance(values, dict) else ():
        if isinstance(values.get(key), list):
            found: list[Any] = values[key]
            return found
    return None


def _mem0_pieces(rows: list[Any], brought: Brought) -> Iterator[Piece]:
    for number, row in enumerate(rows, 1):
        fields = row if isinstance(row, dict) else {}
        texts = [fields[key] for key in TEXTS if isinstance(fields.get(key), str)]
        id = fields.get("id")
        place = f"memory {id}" if isinstance(id, (str, int)) else f"entry {number}"
        if not texts or not texts[0].strip():
            skip(brought, place, "there is no text in it", BROKEN)
            continue
        times = {key: fields.get(key) for key in ("created_at", "updated_at")}
        created, modified = (one if isinstance(one, str) else "" for one in times.values())
        yield Piece(texts[0], texts[0], _type(fields), place, "", created, modified)


def _type(fields: dict[str, Any]) -> str:
    """The type that the row names, by our words or by mem0's; else it is about a person."""
    said = fields.get("metadata")
    named = [said.get("type"), said.get("category")] if isinstance(said, dict) else []
    more = fields.get("categories")
    named += more if isinstance(more, list) else []
    for one in (word.lower() for word in named if isinstance(word, str)):
        if one in types.names() or one in TYPES:
            return TYPES.get(one, one)
    return "user"


# The directory of an Anthropic memory tool: Markdown as it is, other text in a memory.

MEMORY_TOOL_TITLE = "Anthropic memory tool"
MEMORY_TOOL_SOURCE = "memory-tool"
MEMORY_TOOL_NEXT = "name the directory: memdir import memory-tool ./memories"


def read_memory_tool(path: str, around: Around) -> Brought:
    """Every text file below the directory."""
    if not path or not os.path.isdir(path):
        raise unusable(
            path or "memory-tool", "the directory of the tool is needed", MEMORY_TOOL_NEXT
        )
    brought = Brought()
    for name, data in files_below(path, lambda _: True, brought):
        try:
            text = data.decode()
        except UnicodeDecodeError:
            skip(brought, name, "it is no text", OTHER)
            continue
        if not text.strip() or "\0" in text:
            skip(brought, name, "it says nothing" if "\0" not in text else "it is no text", OTHER)
        elif name[-3:].lower() == ".md" and name != INDEX:
            brought.files.append((store_path(MEMORY_TOOL_SOURCE, name), data))
        else:
            path = store_path(MEMORY_TOOL_SOURCE, name.rpartition(".")[0] or name)
            piece = Piece(name, text, "project", name, about(text))
            brought.files.append(
                (path, written(MEMORY_TOOL_SOURCE, piece, path.rpartition("/")[2][:-3]))
            )
    return brought


# Replit and its like: `.agents/memory` of a project, Markdown files that come as they are.

REPLIT_TITLE = "Replit (.agents/memory)"
REPLIT_FOLDER = ".agents/memory"
REPLIT_NEXT = "name the project: memdir import replit ../shop"


def read_replit(path: str, around: Around) -> Brought:
    """Byte for byte; the index beside them is not taken."""
    top = os.path.abspath(path or around.project or ".")
    if os.path.isdir(top) and not top.endswith(REPLIT_FOLDER):
        found = inside(top, *REPLIT_FOLDER.split("/"))
        if not found:
            raise unusable(top, f"there is no {REPLIT_FOLDER} in it", REPLIT_NEXT)
        top = found
    return read_source(top)


# Where memories come from: a directory or an archive, or what another tool keeps, by its name.

FAMILY = "sources"
READERS = {
    "basic_memory": read,
    "claude_memory": read_claude_memory,
    "mem0": read_mem0,
    "memory_tool": read_memory_tool,
    "replit": read_replit,
}


def sources(own: str = "") -> list[str]:
    """The tools whose memories can be read, as people write them; `own` are the user's."""
    return [name.replace("_", "-") for name in sorted({*READERS, *registry.members(FAMILY, own)})]


def read_sources(config: Config, source: str, path: str = "") -> Brought:
    """All memories of a source; `./codex` is a directory, `codex` the tool."""
    if source not in (there := sources(config.own)):
        if path:
            known = ", ".join(there)
            raise BadInput(f"there is no source {source!r}", next=f"there are: {known}")
        return read_source(source)
    name = source.replace("-", "_")
    read_member = READERS.get(name) or registry.load(FAMILY, name, config.own).read
    project = "" if config.scope.kind == "user" else config.checkout
    brought: Brought = read_member(path, Around(config.home, project, config.environ))
    brought.files[:] = parted(brought.files)
    return brought
