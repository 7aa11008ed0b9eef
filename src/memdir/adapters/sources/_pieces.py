"""Pieces of another tool's memory, and the files they become: the same bytes every time."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable
from dataclasses import dataclass

from memdir.adapters.exchange import MAX_ENTRIES, Brought
from memdir.adapters.sources._files import BROKEN, skip
from memdir.core import frontmatter, types
from memdir.core.dates import parse_time
from memdir.core.inert import inert_line
from memdir.core.memory import is_memory
from memdir.core.naming import RESERVED, name_for, slugify

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
    return frontmatter.encode(frontmatter.write([one for one in fields if one[1]], body))


def marked(source: str, path: str, data: bytes, fields: dict[str, str]) -> bytes:
    """A Markdown file with these values in its header where they are missing; its body stays."""
    document = frontmatter.read(frontmatter.decode(data))
    wanted = {**fields, "metadata.source": SOURCE}
    wanted["metadata.imported_from"] = inert_line(f"{source} {path}", PLACE)
    for key, value in wanted.items():
        if value and not document.values.get(key):
            document = frontmatter.read(frontmatter.edit(document, key, value).text)
    return frontmatter.encode(document.text)


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
