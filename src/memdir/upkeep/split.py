"""Overlong memories split, twins merged."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

from memdir.format import names
from memdir.format.draft import Style
from memdir.format.outline import untyped
from memdir.format.pointer import write_pointer
from memdir.hot import memory
from memdir.hot.memory import CREATED_KEYS, MODIFIED_KEYS, TYPE_KEYS, UNKNOWN, Document, stem
from memdir.text.markdown import TEXT, item_start, layers
from memdir.text.prose import (
    MOST,
    OVERLONG,
    Section,
    grouped,
    level_of,
    sections,
    split_level,
    trimmed,
)
from memdir.text.similar import MERGE, SHOW, Alike, find_alike
from memdir.upkeep.titles import free_path, says, title_of
from memdir.upkeep.topics import parts_of, plain_line
from memdir.upkeep.worksheet import MERGED, SPLIT, Page, Proposal, Work, bare, holds

# Memories that say the same become one; every line that only one of them has is kept.

MOST_PAGES = 2_000  # every pair is compared
MERGE_INTO = "merge into "
MERGED_KEY = "metadata.merged_from"


def merge_alike(work: Work, chosen: Iterable[tuple[str, str]] = ()) -> None:
    """Merge what is surely the same, and the pairs that a model named among the likely ones."""
    if len(work.pages) > MOST_PAGES:
        work.remarks.append(
            f"more than {MOST_PAGES:,} memories: near-duplicates were not looked for"
        )
        return
    wanted = {frozenset(pair) for pair in chosen}
    work.proposals = [one for one in work.proposals if not one.what.startswith(MERGE_INTO)]
    for pair in _pairs(work):
        paths = (pair.first, pair.second)
        if not all(path in work.pages for path in paths):
            continue
        sure = pair.score >= MERGE or frozenset(paths) in wanted
        if not sure:
            continue
        reason = _objection(work, *paths)
        if reason:
            said = (f"{pair.score:.0%} alike, but {reason}",)
            what = MERGE_INTO + paths[0]
            work.proposals.append(Proposal(paths[1], what, said, retiring(paths[1])))
            continue
        _merge(work, *_order(work, *paths), pair.score)


def likely(work: Work, least: float = SHOW) -> list[tuple[str, str, float]]:
    """Pairs that may be the same; a person or a model may say so."""
    if len(work.pages) > MOST_PAGES:
        return []
    return [(one.first, one.second, one.score) for one in _pairs(work) if one.score >= least]


def propose_alike(work: Work) -> None:
    """Pairs that are alike and stay two: only a person knows whether one of them is right."""
    asked = {
        frozenset((one.path, one.what.removeprefix(MERGE_INTO)))
        for one in work.proposals
        if one.what.startswith(MERGE_INTO)
    }
    opposed = {frozenset((one.first, one.second)) for one in work.contradictions}
    for first, second, score in likely(work):
        pair = frozenset((first, second))
        if pair in asked:
            continue
        what = f"uses much the same words as {first}"
        told = "the same thing twice, or does one correct the other?"
        if pair in opposed:
            what, told = f"speaks of the same as {first}", "and seems to say otherwise, see above"
        said = (f"{score:.0%} alike", told)
        work.proposals.append(Proposal(second, what, said, retiring(second)))


def retiring(path: str) -> str:
    """The command that takes a memory out of the store."""
    return f"memdir retire {shlex.quote(path)}"


def _counted(blocks: list[list[str]]) -> str:
    lines = sum(map(len, blocks))
    return "1 line" if lines == 1 else f"{lines} lines"


def _pairs(work: Work) -> list[Alike]:
    """The pairs that a person may want to look at; compared once, as long as nothing changes."""
    texts = {path: page.text for path, page in work.pages.items()}
    if work.compared is None or work.compared[0] != texts:
        work.compared = texts, find_alike(texts, SHOW)
    return work.compared[1]


def _objection(work: Work, first: str, second: str) -> str:
    types = {work.memory(path).type for path in (first, second)} - {UNKNOWN}
    if len(types) > 1:
        return "their types differ"
    if len(_linked(work, (first, second))) > 1:
        return "other memories link to both"
    return ""


def _order(work: Work, first: str, second: str) -> tuple[str, str]:
    """The one that stays, then the one that goes: what others link to stays, else the longer."""
    linked = _linked(work, (first, second))
    size = {path: len(work.pages[path].document.body) for path in (first, second)}
    stays = max((first, second), key=lambda path: (path in linked, size[path], path == first))
    return stays, second if stays == first else first


def _linked(work: Work, paths: tuple[str, str]) -> set[str]:
    """Which of these two a third memory links to."""
    found = set()
    for path in paths:
        name = path.rpartition("/")[2]
        marks = (f"[[{stem(path)}", f"[[{work.memory(path).name}]]", f"({name})", f"/{name})")
        for other, page in work.pages.items():
            if other not in paths and any(mark in page.text for mark in marks):
                found.add(path)
    return found


def _merge(work: Work, stays: str, goes: str, score: float) -> None:
    page, other = work.pages[stays], work.pages[goes]
    mine, theirs = page.document, other.document
    text = page.text
    lines = [line.removesuffix("\r") for line in theirs.body.split("\n")]
    new = [block for block in blocks(lines) if not all(_there(text, line) for line in block)]
    description = theirs.get("description")
    if description and not holds(text, description):
        new.insert(0, [description])
    for key, value in theirs.values.items():
        if value and key not in ("description", memory.NEST) and not holds(text, value):
            work.account(goes, f"{key}: {value}", f"header of {goes}, which is merged into {stays}")
    kept = [bare(line) for block in new for line in block]
    for line in lines:
        if bare(line) and bare(line) not in kept:
            work.account(goes, line, f"{stays} says the same")
    origin = ", ".join(filter(None, (mine.get(MERGED_KEY), theirs.get(MERGED_KEY), goes)))
    work.write(stays, memory.edit(mine, MERGED_KEY, origin).text)
    for block in new:
        work.append(stays, "\n".join(block))
    del work.pages[goes]
    what = f"took in {goes} ({score:.0%} alike); {_counted(new)} of it new"
    work.say(MERGED, stays, what)
    work.say(MERGED, goes, f"says the same as {stays}; merged into it")


def _there(text: str, line: str) -> bool:
    said = bare(line)
    return not any(map(str.isalnum, said)) or holds(text, said)


def blocks(lines: list[str]) -> list[list[str]]:
    """Paragraphs and items, nested lines with them; code and tables whole."""
    found: list[list[str]] = []
    before, above = "", TEXT
    for (layer, _), line in zip(layers(lines), lines, strict=True):
        inside = layer != TEXT and layer == above
        starts = item_start(line) >= 0 and line[:1] not in (" ", "\t")
        # A paragraph that was broken into lines is one thing.
        flows = before.strip() and line.strip() and not starts and not level_of(line)
        if not found or not (inside or (flows and not level_of(before))):
            found.append([])
        found[-1].append(line)
        before, above = line, layer
    return [trimmed(block) for block in found if any(line.strip() for line in block)]


# What the memories say already: content of the index that is known makes no second memory.

FEWEST_WORDS = 6  # in lines that stand in another memory by no accident
SHARE = 0.5  # of the lines; then a memory of the same name is the same topic


class Known:
    """The lines of every memory."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._lines: dict[str, set[str]] = {}
        self._holders: dict[str, list[str]] = {}
        for path, page in work.pages.items():
            self._lines[path] = {bare(line) for line in page.document.body.split("\n")}
            for line in self._lines[path]:
                self._holders.setdefault(line, []).append(path)

    def took(self, title: str, lines: Sequence[str]) -> bool:
        """Does a memory say this already, or nearly so? It then takes the rest of it."""
        said = [bare(line) for line in lines if not level_of(line)]
        said = [line for line in said if any(map(str.isalnum, line))]
        if not said or len(" ".join(said).split()) < FEWEST_WORDS:
            return False
        for path in self._holders.get(said[0], []):
            if all(line in self._lines[path] for line in said):
                self._settle(path, lines)
                return True
        named = names.name_for(title, UNKNOWN, "-")
        for path, there in self._lines.items():
            same = untyped(stem(path)).replace("_", "-").casefold() == named
            if same and sum(line in there for line in said) >= SHARE * len(said):
                self._settle(path, lines)
                return True
        return False

    def _settle(self, path: str, lines: Sequence[str]) -> None:
        work, there = self._work, self._lines[path]
        new = [
            block
            for block in blocks(list(lines))
            if any(bare(line) not in there and not level_of(line) for line in block)
        ]
        kept = {line for block in new for line in block}
        for line in lines:
            if line not in kept and any(map(str.isalnum, line)):
                work.account(work.given.index_path, line, f"{path} says it already")
        for block in new:
            work.append(path, "\n".join(block))
        counted = sum(map(len, new))
        told = f"took {counted} new of them" if counted else "says them all"
        work.say(MERGED, path, f"has these lines of the index already; {told}")


# Overlong memories in parts, cut at their headings; the first part leads to the others.

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
    text = memory.write(fields, "\n".join(part.lines)).replace("\n", end)
    work.pages[new] = Page(text, page.clock, page.dated)
    return new
