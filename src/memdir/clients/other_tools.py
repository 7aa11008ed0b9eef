"""Import of memories from other tools.

mem0, basic-memory and the Anthropic memory tool are read here; clients read their own memories with
the same functions.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from memdir.clients import archive
from memdir.clients.conversation import as_object
from memdir.config.config import Config
from memdir.errors import BadInput
from memdir.format.names import RESERVED, memory_name, slugify
from memdir.hot import types
from memdir.hot.memory import INDEX, decode, edit_header, encode, is_memory_file, write_header
from memdir.hot.memory import read_header as read_header
from memdir.hot.safe import inert_line, parse_time
from memdir.store import registry

FAMILY = "sources"
SOURCE = "import"  # source in the header
DESCRIPTION_BYTES = 150
PLACE_BYTES = 200
NO_TEXT = "it is empty"
_MARKS = re.compile(r"^[#>*+\s-]{0,20}(?:\[[ x]\] )?")
_OBSERVATION = re.compile(r"^[-*] \[([\w -]{1,60})\] (\S.{0,500})$", re.MULTILINE)


@dataclass(frozen=True)
class Around:
    """Places to look for a source; without a project, only those for all projects."""

    home: str
    project: str = ""
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Piece:
    """One memory of another tool; `place` is its position in the source."""

    title: str
    body: str
    type: str
    place: str
    description: str = ""
    created: str = ""
    modified: str = ""


def list_import_sources(own: str = "") -> list[str]:
    return [name.replace("_", "-") for name in sorted({*READERS, *registry.members(FAMILY, own)})]


def read_memories_of_tool(config: Config, source: str, path: str = "") -> archive.Brought:
    """Gives each memory a unique name; `./codex` is a directory, not the tool."""
    if source not in (known := list_import_sources(config.own)):
        if path:
            raise BadInput(f"there is no source {source!r}", next=f"there are: {', '.join(known)}")
        return archive.read_import(source)
    name = source.replace("-", "_")
    read_member = READERS.get(name) or registry.load(FAMILY, name, config.own).read
    project = "" if config.scope.kind == "user" else config.checkout
    brought: archive.Brought = read_member(path, Around(config.home, project, config.environ))
    taken: dict[str, bytes] = {}
    numbers = Counter[str]()
    files = sorted(dict.fromkeys(brought.files), key=lambda file: file[0])
    brought.files.clear()
    for path, data in files:
        stem, key = path[:-3], path.casefold()
        while path.casefold() in taken:  # `a.md` and `A.md` are one file on some disks
            numbers[key] += 1
            path = f"{stem}-{numbers[key] + 1}.md"
        document = read_header(decode(data))
        if path[:-3] != stem and document.values.get("name") == stem.rpartition("/")[2]:
            data = encode(edit_header(document, "name", path[:-3].rpartition("/")[2]).text)
        taken[path.casefold()] = data
        brought.files.append((path, data))
    brought.files.sort()
    return brought


def find_client_files(top: str, *parts: str) -> str:
    """File or folder of a project; empty if missing or behind a link, which could lead anywhere."""
    path = os.path.join(top, *parts)
    real = os.path.join(os.path.realpath(top), *parts)
    return path if os.path.exists(path) and os.path.realpath(path) == real else ""


def import_pieces(source: str, pieces: Iterable[Piece], brought: archive.Brought) -> None:
    for piece in pieces:
        body, name = clean_import(piece.body), memory_name(clean_import(piece.title), piece.type)
        if len(brought.files) >= archive.MAX_ENTRIES:
            many = f"there are more than {archive.MAX_ENTRIES:,} entries"
            brought.skip(piece.place, many, archive.BROKEN)
            return
        if not body.strip():
            brought.skip(piece.place, NO_TEXT, archive.BROKEN)
            continue
        description = inert_line(clean_import(piece.description), DESCRIPTION_BYTES)
        fields = {
            "name": name,
            "description": description or import_description(body),
            "type": piece.type if piece.type in types.names() else "project",
            "metadata.created": piece.created if parse_time(piece.created) else "",
            "metadata.modified": piece.modified if parse_time(piece.modified) else "",
            "metadata.source": SOURCE,
            "metadata.imported_from": _origin(source, clean_import(piece.place)),
        }
        data = encode(write_header([(key, value) for key, value in fields.items() if value], body))
        brought.files.append((f"{name}.md", data))


def _origin(source: str, place: str) -> str:
    return inert_line(f"{source} {place}", PLACE_BYTES)


def import_file(
    source: str,
    path: str,
    data: bytes,
    brought: archive.Brought,
    fields: Mapping[str, str] | None,
    name: str = "",
) -> None:
    """Adds a file by its path or `name`, renamed if a store reserves that.

    The body always stays. The header gets the missing `fields` and the origin; without `fields`
    it stays, too.
    """
    whole = name or path
    whole = whole if whole[-3:].lower() == ".md" else f"{whole}.md"
    if not is_memory_file(whole) or slugify(whole.rpartition("/")[2][:-3]) in RESERVED:
        flat = slugify(whole[:-3].replace("/", " ")) or "notes"
        whole = f"{source}-{flat}.md" if flat in RESERVED else f"{flat}.md"
    if fields is None:
        brought.files.append((whole, data))
        return
    document = read_header(decode(data))
    if not document.body.strip():
        brought.skip(path, NO_TEXT, archive.BROKEN)
        return
    missing = {"metadata.source": SOURCE, "metadata.imported_from": _origin(source, path)}
    for key, value in {"name": whole.rpartition("/")[2][:-3], **fields, **missing}.items():
        if value and not document.values.get(key):
            document = read_header(edit_header(document, key, value).text)
    brought.files.append((whole, encode(document.text)))


def import_description(text: str) -> str:
    for line in text.split("\n")[:200]:
        first = _MARKS.sub("", line[:500]).strip()
        if first and not first.startswith(("```", "~~~", "---", "<!--", "|")):
            return inert_line(first, DESCRIPTION_BYTES)
    return ""


def clean_import(text: object) -> str:
    if not isinstance(text, str):
        return ""
    whole = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    try:
        whole.encode("utf-8", "surrogateescape")  # keeps bytes that are not UTF-8
    except UnicodeEncodeError:
        return whole.encode("utf-8", "replace").decode()
    return whole


# basic-memory: a folder of notes; their observations and relations stay as they are.


def read_basic_memory(path: str, around: Around) -> archive.Brought:
    """`[[links]]` between notes keep working."""
    source, top = "basic-memory", path or os.path.join(around.home, "basic-memory")
    if not os.path.isdir(top):
        next = "name the folder: memdir import basic-memory ~/basic-memory"
        raise archive.bad_import(top, "there is no such folder", next)
    brought = archive.Brought()
    for name, data in archive.read_import_files(top, brought):
        if name[-3:].lower() != ".md":
            brought.skip(name, "it is not a note", archive.OTHER)
            continue
        document = read_header(decode(data))
        kind = document.values.get("type", "").strip().lower()
        if kind and kind not in types.names():
            document = read_header(edit_header(document, "metadata.basic_memory_type", kind).text)
            document = read_header(edit_header(document, "type", "reference").text)
        observation = _OBSERVATION.search(document.body)
        fields = {
            "name": document.values.get("title", ""),
            "description": import_description(observation[2] if observation else document.body),
            "type": "reference",
        }
        import_file(source, name, encode(document.text), brought, fields)
    return brought


# mem0: the result of `get_all`, or an export.

# Types for mem0's categories.
MEM0_TYPES = {
    "user_preferences": "preference",
    "preferences": "preference",
    "personal_details": "user",
}


def read_mem0(path: str, around: Around) -> archive.Brought:
    advice = "name the file: memdir import mem0 export.json"
    if not path:
        raise archive.bad_import("mem0", "the exported file is needed", advice)
    try:
        rows = json.loads(archive.read_import_file(path, advice).decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError) as error:
        raise archive.bad_import(path, f"it is not JSON ({error})", advice) from None
    if isinstance(rows, dict):
        rows = rows.get("results", rows.get("memories"))
    if not isinstance(rows, list):
        raise archive.bad_import(path, "it holds no memories of mem0", advice)
    brought = archive.Brought()
    import_pieces("mem0", (_mem0_piece(row, number) for number, row in enumerate(rows, 1)), brought)
    return brought


def _mem0_piece(row: Any, number: int) -> Piece:
    fields = as_object(row)
    text, id, more = clean_import(fields.get("memory")), fields.get("id"), fields.get("metadata")
    place = f"memory {id}" if isinstance(id, (str, int)) else f"entry {number}"
    named = [as_object(more).get("type"), as_object(more).get("category")]
    named += fields["categories"] if isinstance(fields.get("categories"), list) else []
    words = [clean_import(word).lower() for word in named]
    known = [MEM0_TYPES.get(word, word) for word in words]
    type = next((word for word in known if word in types.names()), "user")
    times = clean_import(fields.get("created_at")), clean_import(fields.get("updated_at"))
    return Piece(text, text, type, place, "", *times)


# Anthropic memory tool: Markdown is copied, other text is wrapped in a memory.


def read_memory_tool(path: str, around: Around) -> archive.Brought:
    source = "memory-tool"
    if not path or not os.path.isdir(path):
        next = "name the directory: memdir import memory-tool ./memories"
        raise archive.bad_import(path or source, "the directory of the tool is needed", next)
    brought = archive.Brought()
    for name, data in archive.read_import_files(path, brought):
        text = data.decode("utf-8", "replace")
        if not text.strip() or "\0" in text or text.encode() != data:
            brought.skip(name, "it is no text" if text.strip() else NO_TEXT, archive.OTHER)
        elif name[-3:].lower() == ".md" and name != INDEX:
            import_file(source, name, data, brought, None)
        else:
            fields = {"description": import_description(text), "type": "project"}
            import_file(source, name, data, brought, fields, name.rpartition(".")[0] or name)
    return brought


READERS: dict[str, Callable[[str, Around], archive.Brought]] = {
    "basic_memory": read_basic_memory,
    "mem0": read_mem0,
    "memory_tool": read_memory_tool,
}
