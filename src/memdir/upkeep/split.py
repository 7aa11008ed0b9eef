"""Memories in order: overlong ones split, twins merged, relative dates written out.

Every line that only one of two twins has is kept.
"""

from __future__ import annotations

import datetime
import shlex
from collections.abc import Sequence
from itertools import pairwise

from memdir.format.draft import Style
from memdir.format.pointer import format_pointer
from memdir.hot import memory, safe
from memdir.hot.memory import CREATED_KEYS, MODIFIED_KEYS, TYPE_KEYS, UNKNOWN, Document, stem
from memdir.store.ports import name_few_store_paths
from memdir.text.dates import make_dates_absolute
from memdir.text.markdown import (
    TEXT,
    heading_level,
    heading_text,
    list_item_start,
    markdown_headings,
    markdown_layers,
)
from memdir.text.similar import Alike, find_similar_texts
from memdir.text.terminal import plural
from memdir.upkeep.worksheet import (
    Page,
    Work,
    bare_line,
    free_restructured_path,
    line_has_words,
    plain_title_line,
    restructured_line_end,
    summarize_topic,
    text_holds,
    topic_title,
)

MAX_FILE_LINES = 200  # more is read only in part, or not at all
MAX_PART_LINES = MAX_FILE_LINES - 14  # a header and the way back take the rest
GROUP_LINES = 120  # of sections that share a part
SAYS_SAME = "says the same as "
MERGED_KEY = "metadata.merged_from"
PARTS = "## Parts"
SOME_DAY = datetime.date(2000, 1, 3)  # to see whether there is anything to write out
MAX_DATED_CHARACTERS = 1_000_000  # a longer file is a dump, whose dates are its own
UNKNOWN_DAY = "metadata.day_unknown"  # relative dates in there count from no day that we know


def split_overlong_lines(lines: Sequence[str]) -> list[list[str]]:
    """The lines whole if they fit a file, else cut at headings, else between blocks."""
    if len(lines) <= MAX_PART_LINES:
        return [trim_part(lines)]
    level = _split_level(lines)
    sections = _cut_at_headings(lines, level) if level else split_overlong_blocks(lines)
    limit = GROUP_LINES if level else MAX_PART_LINES
    groups: list[list[str]] = []
    for section in sections:  # neighbours together, so that no part is a scrap
        if groups and len(groups[-1]) + len(section) <= limit:
            groups[-1] += section
        else:
            groups.append([*section])
    parts = [
        part
        for group in groups
        for part in (split_overlong_lines(group) if level else [trim_part(group)])
    ]
    return [part for part in parts if part]


def heading_of_split_part(lines: Sequence[str]) -> str:
    return next((heading_text(lines[i]) for i, _ in markdown_headings(lines)), "")


def _split_level(lines: Sequence[str]) -> int:
    """The level at which the lines fall into several sections; 0 where there is none."""
    levels = [level for _, level in markdown_headings(lines)]
    return next((level for level in sorted(set(levels)) if levels.count(level) > 1), 0)


def _cut_at_headings(lines: Sequence[str], level: int) -> list[list[str]]:
    """The sections of this level or above it; the first one may have no heading."""
    cuts = [0, *(i for i, found in markdown_headings(lines) if found <= level and i), len(lines)]
    sections = [list(lines[start:end]) for start, end in pairwise(cuts)]
    return [section for section in sections if trim_part(section)]


def split_overlong_blocks(lines: Sequence[str]) -> list[list[str]]:
    """Paragraphs and items, nested lines and blank ones below with them; code and tables whole."""
    blocks: list[list[str]] = []
    before, above = "", TEXT
    for (layer, _), line in zip(markdown_layers(lines), lines, strict=True):
        inside = layer != TEXT and layer == above
        is_item = list_item_start(line) >= 0 and line[:1] not in (" ", "\t")
        # A paragraph that was broken into lines is one thing.
        flows = not line.strip() or (before.strip() and not is_item and not heading_level(line))
        if not blocks or not (inside or (flows and not heading_level(before))):
            blocks.append([])
        blocks[-1].append(line)
        before, above = line, layer
    return blocks


def trim_part(lines: Sequence[str]) -> list[str]:
    """Without blank lines and rules at both ends; a rule is no knowledge."""
    kept = [i for i, line in enumerate(lines) if line.strip() and not _is_rule(line.strip())]
    return list(lines[kept[0] : kept[-1] + 1]) if kept else []


def _is_rule(body: str) -> bool:
    return len(body) > 2 and body[0] in "-*_" and not body.strip(body[0] + " ")


def split_overlong_memories(work: Work) -> dict[str, str]:
    """Every overlong memory that has headings; gives each new part with what it is a part of."""
    made: dict[str, str] = {}
    for path in sorted(work.pages):
        text = work.pages[path].text
        if is_memory_to_split(text):
            parts = _split(work, path)
            made |= dict.fromkeys(parts, path)
            if not parts:
                lines = text.count("\n")
                work.remarks.append(f"{path} has {lines:,} lines and no headings to split it at")
    return made


def is_memory_to_split(text: str) -> bool:
    """Longer than what is read at once?"""
    return text.count("\n") + (not text.endswith("\n")) > MAX_FILE_LINES


def _split(work: Work, path: str) -> list[str]:
    """Cut at headings; the first part leads to the others."""
    page = work.pages[path]
    document = page.document
    end = restructured_line_end(document.body)
    lines = [line.removesuffix("\r") for line in document.body.split("\n")]
    level = _split_level(lines)
    sections = _cut_at_headings(lines, level) if level else []
    # What stands above the sections stays; without such an introduction, a short first section.
    kept: list[str] = []
    if sections and (not heading_level(sections[0][0]) or len(sections[0]) <= MAX_PART_LINES // 2):
        kept = trim_part(sections.pop(0))
    if not sections:
        return []
    label = stem(path)
    title = label.replace("_", " ").replace("-", " ").capitalize()
    style = Style(work.given.style.type_key, "_" in label and "-" not in label)
    fields = [(key, document.values[key]) for key in TYPE_KEYS if key in document.values][:1]
    for keys in (CREATED_KEYS, MODIFIED_KEYS):
        fields += [(keys[0], document.get(*keys))] if document.get(*keys) else []
    fields.append(("metadata.part_of", path))
    made, links = [], []
    for number, part in enumerate(
        split_overlong_lines([line for each in sections for line in each]), 1
    ):
        name = topic_title(heading_of_split_part(part)) or f"part {number}"
        file_title = f"{label}{'_' if style.prefix else '-'}{name}"
        folder = path[: len(path) - len(path.rpartition("/")[2])]
        new = free_restructured_path(file_title, UNKNOWN, work.taken, style, folder)
        summary = summarize_topic(part)
        named = [("name", plain_title_line(f"{title}: {name}")), ("description", summary)]
        text = memory.write_header(named + fields, "\n".join(part)).replace("\n", end)
        work.pages[new] = Page(text, page.clock, page.dated)
        made.append(new)
        links.append(format_pointer(name, new.rpartition("/")[2], summary))
    body = end.join([*kept, "", PARTS, "", *links]) + end
    head = Document(document.opening, document.lines, document.closing, "").text
    work.write(path, head + (end if document.lines is not None else "") + body)
    work.note(path, f"{len(lines):,} lines became {len(made) + 1} files, cut at headings")
    return made


def merge_similar_memories(work: Work) -> None:
    """Merge what says the same sentence by sentence; what else is alike is asked at the end."""
    for pair in find_twins_to_restructure(work):
        there = pair.first in work.pages and pair.second in work.pages
        if there and pair.held and not _object_to_merge(work, pair):
            goes = pair.choose_poorer(work.clocks)
            _merge(work, pair.other(goes), goes, pair)


def _object_to_merge(work: Work, pair: Alike) -> str:
    paths = (pair.first, pair.second)
    if any(path not in work.given.pages for path in paths):
        return "one of them was made of the index"
    if len({work.memory(path).type for path in paths} - {UNKNOWN}) > 1:
        return "their types differ"
    return "another memory links to it" * _is_linked(work, pair)


def find_twins_to_restructure(work: Work) -> list[Alike]:
    """Pairs that say the same; compared once, as long as nothing changes."""
    texts = work.texts
    if work.compared is None or work.compared[0] != texts:
        work.compared = texts, find_similar_texts(texts)
    return work.compared[1]


def propose_merging_similar(work: Work) -> None:
    """Pairs that stay two: the poorer or older one may go, never both, and never unasked."""
    asked = {item.path for item in work.proposals}
    for pair in find_twins_to_restructure(work):
        goes = pair.choose_poorer(work.clocks)
        if not asked & {pair.first, pair.second}:
            path = goes or pair.first
            command = f"memdir retire {shlex.quote(goes)}" if goes else ""
            doubt = _object_to_merge(work, pair) or "does one correct the other?"
            work.propose(path, SAYS_SAME + pair.other(path), (pair.explain(), doubt), command)
            asked.update((pair.first, pair.second))


def _is_linked(work: Work, pair: Alike) -> bool:
    """Does a third memory link to the one that would go?"""
    path, mine = pair.choose_poorer(work.clocks) or pair.first, (pair.first, pair.second)
    name = path.rpartition("/")[2]
    marks = (f"[[{stem(path)}", f"[[{work.memory(path).name}]]", f"({name})", f"/{name})")
    others = (page.text for other, page in work.pages.items() if other not in mine)
    return any(mark in text for text in others for mark in marks)


def _merge(work: Work, stays: str, goes: str, pair: Alike) -> None:
    page = work.pages[stays]
    mine, theirs = page.document, work.pages[goes].document
    lines = [line.removesuffix("\r") for line in theirs.body.split("\n")]
    new = [
        trim_part(block)
        for block in split_overlong_blocks(lines)
        if any(line_has_words(line) and not text_holds(page.text, line) for line in block)
    ]
    description = theirs.get("description")
    if description and not text_holds(page.text, description):
        new.insert(0, [description])
    for key, value in theirs.values.items():
        if value and key not in ("description", memory.NEST) and not text_holds(page.text, value):
            work.account(goes, f"{key}: {value}", f"header of {goes}, merged into {stays}")
    kept = {bare_line(line) for block in new for line in block}
    for line in lines:
        if bare_line(line) not in kept | {""}:
            work.account(goes, line, f"{stays} says the same")
    origin = ", ".join(filter(None, (mine.get(MERGED_KEY), theirs.get(MERGED_KEY), goes)))
    work.write(stays, memory.edit_header(mine, MERGED_KEY, origin).text)
    for block in new:
        work.append(stays, "\n".join(block))
    counted = plural(sum(map(len, new)), "line")
    work.note(stays, f"took in {goes} ({pair.explain()}); {counted} of it new")
    work.note(goes, f"says the same as {stays}; merged into it")
    work.merged[goes] = stays
    del work.pages[goes]


def write_restructured_dates(work: Work) -> None:
    """What surely happened on a day; habits, rules and whatever is unsure keep their words."""
    unknown: list[str] = []
    for path in sorted(work.pages):
        page = work.pages[path]
        if len(page.text) > MAX_DATED_CHARACTERS or work.settled.get(path) is page:
            continue
        day = _day_of(page)
        document = page.document
        old = document.get("description")
        body, description = (
            make_dates_absolute(text, day or SOME_DAY, events=True, anchor=True)[0]
            for text in (document.body, old)
        )
        if (body, description) == (document.body, old):
            work.settled[path] = page
            continue
        if day is None:
            unknown.append(path)
            known = page is work.given.pages.get(path) or UNKNOWN_DAY in document.values
            if not known and document.lines is not None:
                # We rewrite this file: its time is no date from now on.
                text = memory.edit_header(document, UNKNOWN_DAY, "true").text
                work.pages[path] = Page(text, page.clock, page.dated)
            continue
        new = set(body.split("\n"))
        for line in document.body.split("\n"):
            if line not in new:
                work.account(path, line, f"dates by {day}")
        text = page.text[: len(page.text) - len(document.body)] + body
        if description != old:
            work.account(path, f"description: {old}", f"dates by {day}: {description}")
            text = memory.edit_header(memory.read_header(text), "description", description).text
        work.write(path, text)
        work.note(path, f"dates written out, counted from {day}")
    if unknown:
        reason = "nobody knows the day they count from"
        work.remarks.append(f"relative dates stay in {name_few_store_paths(unknown)}: {reason}")


def _day_of(page: Page) -> datetime.date | None:
    """The one day on which a memory was written, where that is certain."""
    document = page.document
    times = [safe.parse_time(document.get(*keys)) for keys in (CREATED_KEYS, MODIFIED_KEYS)]
    days = {safe.iso_day(moment) for moment in times if moment is not None}
    if not days and page.dated and UNKNOWN_DAY not in document.values:
        days = {safe.iso_day(page.clock)}
    return datetime.date.fromisoformat(days.pop()) if len(days) == 1 else None
