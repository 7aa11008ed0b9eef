"""What imports share: files of another tool, pieces of its memory, and the files they become."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from memdir.clients.archive import (
    BROKEN,
    MAX_ENTRIES,
    MAX_FILE_BYTES,
    MAX_TOTAL_BYTES,
    Brought,
    unusable,
)
from memdir.format.names import RESERVED, name_for, slugify
from memdir.hot import types
from memdir.hot.disk import Disk
from memdir.hot.memory import decode, edit, encode, is_memory, write
from memdir.hot.memory import read as read_header
from memdir.hot.safe import inert_line, parse_time

SOURCE = "import"  # who saved it, as its header says
DESCRIPTION_BYTES = 150
PLACE_BYTES = 200
_MARKS = re.compile(r"^[#>*+\s-]{0,20}(?:\[[ x]\] )?")
_HEADING = re.compile(r"^(#{1,6})[ \t]{1,20}(\S.{0,500})$")
_FENCE = re.compile(r"^ {0,3}(```|~~~)")


@dataclass(frozen=True)
class Around:
    """Where a source is looked for; without a project, it is for a person in all of theirs."""

    home: str
    project: str = ""
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)


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


def names_in(folder: str, next: str) -> list[str]:
    """What lies in a folder of a client, sorted; nothing where it is not there."""
    try:
        return sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise unusable(folder, error.strerror or "unreadable", next) from None


def inside(top: str, *parts: str) -> str:
    """A folder or file of a project; empty where it is not there or lies behind a link.

    A repository may have put a link there: it would bring files from anywhere.
    """
    path = os.path.join(top, *parts)
    real = os.path.join(os.path.realpath(top), *parts)
    return path if os.path.exists(path) and os.path.realpath(path) == real else ""


def files_below(root: str, brought: Brought, without: str = "") -> Iterator[tuple[str, bytes]]:
    """Path and bytes of every file; links, hidden names and special files are not taken."""
    disk, total_bytes = Disk(root), 0
    entries = disk.walk(lambda _: True, brought.skipped)
    paths = sorted((path, entry.is_file(follow_symlinks=False)) for _, path, entry in entries)
    if len(paths) > MAX_ENTRIES:
        raise unusable(root, f"it has more than {MAX_ENTRIES:,} files", "name a folder in it")
    for path, is_file in paths:
        if not is_file:
            brought.skip(path, "a link or a special file")
        elif not (without and path.startswith(without)):
            try:
                data = disk.read(path, MAX_FILE_BYTES + 1)[0]
            except OSError as error:
                brought.skip(path, error.strerror or "unreadable", BROKEN)
                continue
            total_bytes += len(data)
            if len(data) > MAX_FILE_BYTES:
                brought.skip(path, f"it has more than {MAX_FILE_BYTES:,} bytes", BROKEN)
            elif total_bytes > MAX_TOTAL_BYTES:
                cause = f"all files have more than {MAX_TOTAL_BYTES:,} bytes"
                raise unusable(root, cause, "name a folder in it")
            else:
                yield path, data


def add_pieces(source: str, pieces: Iterable[Piece], brought: Brought) -> None:
    """Add each piece as a memory of its own, by a name of its own."""
    taken = {path.casefold(): data for path, data in brought.files}
    known, numbers = set(taken.values()), Counter[str]()
    for piece in pieces:
        if len(taken) >= MAX_ENTRIES:
            brought.skip(piece.place, f"there are more than {MAX_ENTRIES:,} entries", BROKEN)
            return
        if not clean(piece.body).strip():
            brought.skip(piece.place, "it says nothing", BROKEN)
            continue
        name = name_for(clean(piece.title), piece.type)
        data = write_piece(source, piece, name)
        if data in known:
            continue  # the same once more
        known.add(data)
        path = free_path(name, taken, numbers)
        if path != f"{name}.md":
            data = write_piece(source, piece, path[:-3])
        taken[path.casefold()] = data
        brought.files.append((path, data))


def free_path(name: str, taken: Mapping[str, bytes], numbers: Counter[str]) -> str:
    """A path that nothing has yet; thousands of one name are counted on, not each from one."""
    path = f"{name}.md" if numbers[name] < 2 else f"{name}-{numbers[name]}.md"
    while path.casefold() in taken:
        numbers[name] = max(numbers[name], 1) + 1
        path = f"{name}-{numbers[name]}.md"
    return path


def write_piece(source: str, piece: Piece, name: str) -> bytes:
    """The file: its header tells where it comes from."""
    body = clean(piece.body)
    description = inert_line(clean(piece.description), DESCRIPTION_BYTES) or about(body)
    fields = [
        ("name", name),
        ("description", description),
        ("type", piece.type if piece.type in types.names() else "project"),
        ("metadata.created", piece.created if parse_time(piece.created) else ""),
        ("metadata.modified", piece.modified if parse_time(piece.modified) else ""),
        ("metadata.source", SOURCE),
        ("metadata.imported_from", inert_line(f"{source} {clean(piece.place)}", PLACE_BYTES)),
    ]
    return encode(write([(key, value) for key, value in fields if value], body))


def labelled(source: str, path: str, data: bytes, fields: Mapping[str, str]) -> bytes:
    """A Markdown file with these values in its header where they are missing; its body stays."""
    document = read_header(decode(data))
    origin = {"metadata.imported_from": inert_line(f"{source} {path}", PLACE_BYTES)}
    for key, value in {**fields, "metadata.source": SOURCE, **origin}.items():
        if value and not document.values.get(key):
            document = read_header(edit(document, key, value).text)
    return encode(document.text)


def about(text: str) -> str:
    """The first line that says something, as one line without its marks."""
    for line in text.split("\n")[:200]:
        said = _MARKS.sub("", line[:500]).strip()
        if said and not said.startswith(("```", "~~~", "---", "<!--", "|")):
            return inert_line(said, DESCRIPTION_BYTES)
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
    parts: list[tuple[str, list[str]]] = [("", [])]
    fence = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if mark:
            fence = "" if fence == mark[1] else fence or mark[1]
        heading = None if fence else _HEADING.match(line)
        if heading and len(heading[1]) <= level:
            parts.append((heading[2].strip(" #") if len(heading[1]) == level else "", []))
        parts[-1][1].append(line)
    return [(title, "\n".join(lines)) for title, lines in parts]


def bullets(text: str) -> list[str]:
    """Each item of the outermost lists, with the lines that belong to it."""
    items: list[list[str]] = []
    for line in text.split("\n"):
        if line[:2] in ("- ", "* "):
            items.append([line[2:]])
        elif items and line[:1] in (" ", "\t"):
            items[-1].append(line.removeprefix("  "))
        elif line.strip():
            items.append([])  # something else: what is indented below it is not ours
    return ["\n".join(lines).strip() for lines in items if lines]
