"""Pieces to memories: title, type, header."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from memdir.format.draft import MAX_DESCRIPTION
from memdir.hot import memory, safe
from memdir.hot.memory import MODIFIED_KEYS, SOURCE_KEYS, TYPE_KEYS, UNKNOWN, Document, stem
from memdir.text import prose
from memdir.text.markdown import BOM
from memdir.text.prose import (
    MOST,
    Section,
    grouped,
    heading_text,
    headings,
    level_of,
    runs,
    sections,
    split_level,
)
from memdir.upkeep.pieces import Piece, asks_to_stay
from memdir.upkeep.titles import (
    FEEDBACK,
    NOTES,
    file_title,
    free_path,
    guess,
    plain,
    says,
    title_of,
    unlike,
)
from memdir.upkeep.worksheet import HEADED, MOVED, Page, Work

# Name, description and type for a memory that lacks them; what it has stays as it is.

NEEDED = ("name", "description", "type")
SHORTEST_HOOK = 12  # characters; a shorter hook does not say what a memory is about


def lacking(document: Document) -> list[str]:
    """The fields that every header should have and this one has not."""
    has = {"name": ("name",), "description": ("description",), "type": TYPE_KEYS}
    return [field for field in NEEDED if not document.get(*has[field]).strip()]


def add_headers(work: Work, hooks: dict[str, tuple[str, str]]) -> None:
    """Complete every header; `hooks` gives the index's words and section for a path."""
    for path in sorted(work.pages):
        document = work.pages[path].document
        missing = lacking(document)
        if not missing:
            continue
        hook, section = hooks.get(path, ("", ""))
        lines = document.body.removeprefix(BOM).split("\n")
        tops = headings(lines)
        top = heading_text(lines[tops[0][0]]) if tops else ""
        type, reason = guess(path, top, section, lines)
        values = {
            "name": title_of(top) or stem(path),
            "description": _description(hook, lines, path),
            "type": type,
        }
        text = _with(document, [(field, values[field]) for field in missing], work)
        work.write(path, text)
        what = f"header got {', '.join(missing)}"
        work.say(HEADED, path, what + (f"; type {type}: {reason}" if "type" in missing else ""))


def _description(hook: str, lines: list[str], path: str) -> str:
    if len(hook) >= SHORTEST_HOOK:
        return plain_line(hook)[:MAX_DESCRIPTION]
    return says(lines) or plain(hook) or stem(path).replace("_", " ").replace("-", " ")


def plain_line(text: str) -> str:
    """One line without control characters; marks stay."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def _with(document: Document, fields: list[tuple[str, str]], work: Work) -> str:
    """The text with these fields, a byte order mark still in front of all."""
    bom = BOM if document.lines is None and document.body.startswith(BOM) else ""
    body = document.body.removeprefix(bom)
    new = document.lines is None
    document = Document(document.opening, document.lines, document.closing, body)
    for field, value in fields:
        key = field
        if field == "type":
            nested = "metadata" in document.values and not document.values["metadata"]
            key = TYPE_KEYS[1] if nested else work.given.style.type_key
        document = memory.edit(document, key, value)
    text = document.text
    if new and body[:1] not in ("\n", "\r", ""):
        end = "\r\n" if document.opening.endswith("\r\n") else "\n"
        text = document.opening + "".join(line + "\n" for line in document.lines or ())
        text += document.closing + end + body
    return bom + text


# Pieces of the index as memories: of a good size, named, described and typed.

TINY = 2  # lines below a heading; neighbours of that size share a memory
TINIES = (TINY, 5, 10, 20, 40, 80)  # tried in turn while there are too many
MOST_TOPICS = 120  # memories out of one index; each needs a line of it
SOURCE = "restructure"
_DAY = re.compile(r"\b(?:19|20)\d\d-\d\d-\d\d\b")


@dataclass(frozen=True)
class Topic:
    """A memory to be; `section` is the heading of the index below which its pointer goes."""

    title: str
    lines: tuple[str, ...]
    section: str
    at: int


@dataclass(frozen=True)
class Placed:
    """A new memory and where its pointer goes: below a heading that stays, else by its type."""

    path: str
    section: str
    at: int


def topics(pieces: Sequence[Piece], heading: str) -> list[Topic]:
    """Every piece in memories of a good size; `heading` names those that have none."""
    for tiny in TINIES:
        found = [topic for group in _gathered(pieces, tiny) for topic in _sized(group, heading)]
        if len(found) <= MOST_TOPICS:
            break
    return found


def make_topics(work: Work, found: Sequence[Topic]) -> list[Placed]:
    """Write them; gives where their pointers go."""
    placed = []
    taken_titles = [work.memory(path).name for path in work.pages]
    for topic in found:
        topic = replace(topic, title=unlike(topic.title, taken_titles, topic.lines))
        taken_titles.append(topic.title)
        heading = heading_text(topic.lines[0]) if level_of(topic.lines[0]) else ""
        said = topic.lines[1:] if heading else topic.lines
        type, reason = guess("", f"{topic.title} {heading}", topic.section, said)
        if asks_to_stay(topic.lines):
            type, reason = FEEDBACK, "it says that agents must always see it"
        taken = {*work.given.taken, *work.pages}
        path = free_path(file_title(topic.title), type, taken, work.given.style)
        work.pages[path] = _page(work, topic, type)
        lines = sum(1 for line in topic.lines if line.strip())
        counted = "1 line" if lines == 1 else f"{lines} lines"
        what = f"{counted} out of the index; type {type}: {reason}"
        work.say(MOVED, path, what)
        placed.append(Placed(path, topic.section, topic.at))
    return placed


def _page(work: Work, topic: Topic, type: str) -> Page:
    index = work.given.index
    fields = [("name", plain_line(topic.title)), ("description", says(topic.lines))]
    fields.append((work.given.style.type_key, type if type != UNKNOWN else "project"))
    if index.dated:
        fields.append((MODIFIED_KEYS[0], safe.iso_time(index.clock)))
    fields += [(SOURCE_KEYS[0], SOURCE), ("metadata.from", work.given.index_path)]
    end = "\r\n" if "\r\n" in index.text[:4096] else "\n"
    text = memory.write(fields, "\n".join(topic.lines))
    return Page(text.replace("\n", end), index.clock, index.dated)


def _gathered(pieces: Sequence[Piece], tiny: int) -> list[list[Piece]]:
    """Neighbouring sections with next to nothing in them, together."""
    groups: list[list[Piece]] = []
    open = False  # may the next tiny one join the last group?
    kind = above = ("", "")
    for piece in pieces:
        filled = sum(1 for line in piece.lines if line.strip()) - piece.whole
        small = piece.whole and filled <= tiny
        length = sum(len(each.lines) for each in groups[-1]) if groups else 0
        # A preference and a gotcha are two things, however short; so are two days.
        kind = _kind(piece) if tiny == TINY and small else ("", "")
        if small and open and kind == above and length + len(piece.lines) <= prose.AIM:
            groups[-1].append(piece)
        else:
            groups.append([piece])
        open, above = small, kind
    return groups


def _kind(piece: Piece) -> tuple[str, str]:
    """The type of a piece, and the day in its heading."""
    day = _DAY.search(piece.heading)
    return guess("", piece.heading, piece.section, piece.lines[1:])[0], day[0] if day else ""


def _sized(group: Sequence[Piece], heading: str) -> list[Topic]:
    """One topic, or several where the lines are too many for one file."""
    first = group[0]
    lines = [line for piece in group for line in (*piece.lines, "")][:-1]
    names = [title_of(piece.heading) for piece in group if title_of(piece.heading)]
    title = _together(names) or title_of(heading) or NOTES
    parts = parts_of(lines)
    if len(parts) == 1:
        return [Topic(title, tuple(lines), first.section, first.at)]
    found = []
    for number, part in enumerate(parts, 1):
        named = title_of(part.title)
        called = f"{title}: {named}" if named and named != title else title
        called = called if named else f"{title}, part {number}"
        found.append(Topic(called, part.lines, first.section or heading_of(first), first.at))
    return found


def heading_of(piece: Piece) -> str:
    """The heading that a piece which became several memories leaves in the index."""
    return piece.heading if piece.whole else piece.section


def _together(names: list[str]) -> str:
    if len(names) < 2:
        return "".join(names)
    more = f" and {len(names) - 2} more" if len(names) > 2 else ""
    return f"{names[0]}, {names[1]}{more}" if more else f"{names[0]} and {names[1]}"


def parts_of(lines: Sequence[str], most: int = MOST) -> list[Section]:
    """The lines whole if they fit a file, else cut at headings, else between blocks."""
    if len(lines) <= most:
        return [Section("", 0, tuple(lines))]
    level = split_level(lines)
    if not level:
        cut = runs(lines, most)
        return [Section("", 0, tuple(prose.trimmed(run))) for run in cut]
    found = []
    for group in grouped(sections(lines, level)):
        joined = [line for section in group for line in section.lines]
        title = next((section.title for section in group if section.title), "")
        if len(joined) <= most:
            found.append(Section(title, level, tuple(prose.trimmed(joined))))
            continue
        for part in parts_of(joined, most):
            named = part.title or title
            found.append(Section(named, level, part.lines))
    return found
