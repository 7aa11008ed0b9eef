"""Pieces of the index as memories: of a good size, named, described and typed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memdir.format.draft import MAX_DESCRIPTION
from memdir.hot import memory, safe
from memdir.hot.memory import MODIFIED_KEYS, SOURCE_KEYS, TYPE_KEYS, UNKNOWN, Document, stem
from memdir.text.markdown import BOM
from memdir.text.prose import (
    GROUP_LINES,
    MAX_PART_LINES,
    Section,
    grouped,
    heading_text,
    headings,
    level_of,
    runs,
    sections,
    split_level,
    trimmed,
)
from memdir.upkeep.pieces import Piece, asks_to_stay
from memdir.upkeep.titles import (
    FEEDBACK,
    free_path,
    guess_type,
    make_unique,
    plain,
    plain_line,
    summarize,
    title_of,
)
from memdir.upkeep.worksheet import HEADED, MOVED, Page, Work, count_lines, line_end

MIN_HOOK_CHARACTERS = 12  # a shorter hook does not say what a memory is about
MAX_TOPICS = 120  # memories out of one index; each needs a line of it
# Lines below a heading; neighbours of that size share a memory. Tried in turn while there are
# too many topics.
TINY_LINES = (2, 5, 10, 20, 40, 80)
SOURCE = "restructure"
_DAY = re.compile(r"\b(?:19|20)\d\d-\d\d-\d\d\b")


@dataclass(frozen=True)
class Topic:
    """A memory to be; `section` is the heading of the index below which its pointer goes."""

    title: str
    lines: Sequence[str]
    section: str


def find_missing(document: Document) -> list[str]:
    """The fields that every header should have and this one has not."""
    keys = {"name": ("name",), "description": ("description",), "type": TYPE_KEYS}
    return [field for field, names in keys.items() if not document.get(*names).strip()]


def add_headers(work: Work, hooks: Mapping[str, tuple[str, str]]) -> None:
    """Complete every header; `hooks` gives the index's words and section for a path."""
    for path in sorted(work.pages):
        document = work.pages[path].document
        missing = find_missing(document)
        if not missing:
            continue
        hook, section = hooks.get(path, ("", ""))
        lines = document.body.removeprefix(BOM).split("\n")
        tops = headings(lines)
        top = heading_text(lines[tops[0][0]]) if tops else ""
        type, reason = guess_type(path, top, section, lines)
        if len(hook) >= MIN_HOOK_CHARACTERS:
            description = plain_line(hook)[:MAX_DESCRIPTION]
        else:
            words = stem(path).replace("_", " ").replace("-", " ")
            description = summarize(lines) or plain(hook) or words
        values = {"name": title_of(top) or stem(path), "description": description, "type": type}
        work.write(path, _add_fields(document, {key: values[key] for key in missing}, work))
        reason = f"; type {type}: {reason}" if "type" in missing else ""
        work.note(HEADED, path, f"header got {', '.join(missing)}{reason}")


def _add_fields(document: Document, fields: Mapping[str, str], work: Work) -> str:
    """The text with these fields, a byte order mark still in front of all."""
    new = document.lines is None
    bom = BOM if new and document.body.startswith(BOM) else ""
    body = document.body.removeprefix(bom)
    document = Document(document.opening, document.lines, document.closing, body)
    for key, value in fields.items():
        if key == "type":
            nested = document.values.get("metadata") == ""
            key = TYPE_KEYS[1] if nested else work.given.style.type_key
        document = memory.edit(document, key, value)
    text = document.text
    if new and body[:1] not in ("\n", "\r", ""):
        end = "\r\n" if document.opening.endswith("\r\n") else "\n"
        text = document.opening + "".join(line + "\n" for line in document.lines or ())
        text += document.closing + end + body
    return bom + text


def make_topics(pieces: Sequence[Piece], heading: str) -> list[Topic]:
    """Every piece in memories of a good size; `heading` names those that have none."""
    for tiny in TINY_LINES:
        groups = _group_tiny(pieces, tiny)
        result = [topic for group in groups for topic in _split_group(group, heading)]
        if len(result) <= MAX_TOPICS:
            break
    return result


def write_topics(work: Work, topics: Sequence[Topic]) -> dict[str, str]:
    """Gives each new path with the heading below which its pointer goes."""
    placed = {}
    taken_titles = [work.memory(path).name for path in work.pages]
    for topic in topics:
        title = make_unique(topic.title, taken_titles, topic.lines)
        taken_titles.append(title)
        heading = heading_text(topic.lines[0]) if level_of(topic.lines[0]) else ""
        said = topic.lines[1:] if heading else topic.lines
        type, reason = guess_type("", f"{title} {heading}", topic.section, said)
        if asks_to_stay(topic.lines):
            type, reason = FEEDBACK, "it says that agents must always see it"
        head = title.partition(" — ")[0].partition(" – ")[0]
        file_title = head if len(head.split()) > 1 else title
        path = free_path(file_title, type, work.taken, work.given.style)
        text = "\n".join(topic.lines)
        work.pages[path] = new_page(work, title, summarize(topic.lines), type, text)
        lines = count_lines(sum(1 for line in topic.lines if line.strip()))
        work.note(MOVED, path, f"{lines} out of the index; type {type}: {reason}")
        placed[path] = topic.section
    return placed


def new_page(work: Work, title: str, description: str, type: str, body: str) -> Page:
    """A memory made of lines of the index, as old as the index."""
    index = work.given.index
    fields = [("name", plain_line(title)), ("description", description)]
    fields.append((work.given.style.type_key, type if type != UNKNOWN else "project"))
    if index.dated:
        fields.append((MODIFIED_KEYS[0], safe.iso_time(index.clock)))
    fields += [(SOURCE_KEYS[0], SOURCE), ("metadata.from", work.given.index_path)]
    text = memory.write(fields, body).replace("\n", line_end(index.text))
    return Page(text, index.clock, index.dated)


def _group_tiny(pieces: Sequence[Piece], tiny: int) -> list[list[Piece]]:
    """Neighbouring sections with next to nothing in them, together."""
    groups: list[list[Piece]] = []
    above = None  # the kind of the tiny piece above, which the next one may join
    for piece in pieces:
        filled = sum(1 for line in piece.lines if line.strip()) - piece.whole
        kind = None
        if piece.whole and filled <= tiny:
            # A preference and a gotcha are two things, however short; so are two days.
            kind = _kind_of(piece) if tiny == TINY_LINES[0] else ("", "")
        length = sum(len(item.lines) for item in groups[-1]) if groups else 0
        if kind and kind == above and length + len(piece.lines) <= GROUP_LINES:
            groups[-1].append(piece)
        else:
            groups.append([piece])
        above = kind
    return groups


def _kind_of(piece: Piece) -> tuple[str, str]:
    """The type of a piece, and the day in its heading."""
    day = _DAY.search(piece.heading)
    return guess_type("", piece.heading, piece.section, piece.lines[1:])[0], day[0] if day else ""


def _split_group(group: Sequence[Piece], heading: str) -> list[Topic]:
    """One topic, or several where the lines are too many for one file."""
    first = group[0]
    lines = [line for piece in group for line in (*piece.lines, "")][:-1]
    names = [title for piece in group if (title := title_of(piece.heading))]
    title = title_of(heading) or "Notes"
    if len(names) > 2:
        title = f"{names[0]}, {names[1]} and {len(names) - 2} more"
    elif names:
        title = " and ".join(names)
    parts = split_lines(lines)
    if len(parts) == 1:
        return [Topic(title, lines, first.section)]
    section = first.section or (first.heading if first.whole else "")
    result = []
    for number, part in enumerate(parts, 1):
        name = title_of(part.title)
        part_title = f"{title}: {name}" if name and name != title else title
        part_title = part_title if name else f"{title}, part {number}"
        result.append(Topic(part_title, part.lines, section))
    return result


def split_lines(lines: Sequence[str]) -> list[Section]:
    """The lines whole if they fit a file, else cut at headings, else between blocks."""
    if len(lines) <= MAX_PART_LINES:
        return [Section("", tuple(lines))]
    level = split_level(lines)
    if not level:
        return [Section("", tuple(trimmed(run))) for run in runs(lines)]
    result = []
    for group in grouped(sections(lines, level)):
        joined = [line for section in group for line in section.lines]
        title = next((section.title for section in group if section.title), "")
        if len(joined) <= MAX_PART_LINES:
            result.append(Section(title, tuple(trimmed(joined))))
        else:
            result += [Section(part.title or title, part.lines) for part in split_lines(joined)]
    return result
