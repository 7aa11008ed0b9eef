"""Overlong memories in parts, cut at their headings; the first part leads to the others."""

from __future__ import annotations

from memdir.core import frontmatter
from memdir.core.frontmatter import Document
from memdir.core.memory import CREATED_KEYS, MODIFIED_KEYS, TYPE_KEYS, stem
from memdir.core.pointer import write_pointer
from memdir.core.restructuring.bodies import (
    MOST,
    OVERLONG,
    Section,
    grouped,
    sections,
    split_level,
    trimmed,
)
from memdir.core.restructuring.headers import plain_line
from memdir.core.restructuring.titles import free_path, says, title_of
from memdir.core.restructuring.topics import parts_of
from memdir.core.restructuring.work import SPLIT, Page, Work
from memdir.core.revision import Style

PARTS = "## Parts"


def split_overlong(work: Work) -> list[tuple[str, str]]:
    """Every overlong memory that has headings; gives each new part with what it is a part of."""
    made = []
    for path in sorted(work.pages):
        if is_overlong(work.pages[path].text):
            parts = _split(work, path)
            made += [(part, path) for part in parts]
            if not parts:
                lines = work.pages[path].text.count("\n")
                what = f"{path} has {lines:,} lines and no headings to split it at"
                work.remarks.append(what)
    return made


def is_overlong(text: str) -> bool:
    """Longer than what is read at once?"""
    return text.count("\n") + (not text.endswith("\n")) > OVERLONG


def _split(work: Work, path: str) -> list[str]:
    document = work.pages[path].document
    end = "\r\n" if "\r\n" in document.body[:4096] else "\n"
    lines = [line.removesuffix("\r") for line in document.body.split("\n")]
    level = split_level(lines)
    found = sections(lines, level) if level else []
    first, rest = _kept(found)
    if not rest:
        return []
    parts = [part for group in grouped(rest) for part in _fitting(group)]
    title = stem(path).replace("_", " ").replace("-", " ").capitalize()
    made, links = [], []
    for part in parts:
        new = _write_part(work, path, title, part, end)
        made.append(new)
        links.append(write_pointer(title_of(part.title), new.rpartition("/")[2], says(part.lines)))
    kept = trimmed([line for section in first for line in section.lines])
    body = end.join([*kept, "", PARTS, "", *links]) + end
    head = Document(document.opening, document.lines, document.closing, "").text
    work.write(path, head + (end if document.lines is not None else "") + body)
    work.say(SPLIT, path, f"{len(lines):,} lines became {len(made) + 1} files, cut at headings")
    return made


def _kept(found: list[Section]) -> tuple[list[Section], list[Section]]:
    """What stays in the file (what stands above the sections), and what becomes parts."""
    first = [found[0]] if found and not found[0].title else []
    if not first and found and len(found[0].lines) <= MOST // 2:
        first = [found[0]]  # no introduction: the first section stays
    rest = found[len(first) :]
    return first, rest


def _fitting(group: list[Section]) -> list[Section]:
    """A group as one part, or as several where a section alone is too long."""
    lines = [line for section in group for line in section.lines]
    title = next((section.title for section in group if section.title), "")
    if len(lines) <= MOST:
        return [Section(title, 0, tuple(trimmed(lines)))]
    found = []
    for number, part in enumerate(parts_of(lines), 1):
        named = part.title if part.title and part.title != title else title
        again = named == title and number > 1
        found.append(Section(f"{named}, part {number}" if again else named, 0, part.lines))
    return found


def _write_part(work: Work, path: str, title: str, part: Section, end: str) -> str:
    page = work.pages[path]
    document = page.document
    folder = path[: len(path) - len(path.rpartition("/")[2])]
    named = title_of(part.title)
    style = Style(work.given.style.type_key, "_" in stem(path) and "-" not in stem(path))
    taken = {*work.given.taken, *work.pages}
    mark = "_" if style.prefix else "-"
    new = free_path(f"{stem(path)}{mark}{named}", "unknown", taken, style, folder)
    key = next((key for key in TYPE_KEYS if key in document.values), "")
    fields = [("name", plain_line(f"{title}: {named}")), ("description", says(part.lines))]
    fields += [(key, document.values[key])] if key else []
    for keys in (CREATED_KEYS, MODIFIED_KEYS):
        fields += [(keys[0], document.get(*keys))] if document.get(*keys) else []
    fields.append(("metadata.part_of", path))
    text = frontmatter.write(fields, "\n".join(part.lines)).replace("\n", end)
    work.pages[new] = Page(text, page.clock, page.dated)
    return new
