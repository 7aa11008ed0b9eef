"""Overlong memories split, twins merged; every line that only one of them has is kept."""

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
    MAX_FILE_LINES,
    MAX_PART_LINES,
    Section,
    grouped,
    level_of,
    sections,
    split_level,
    trimmed,
)
from memdir.text.similar import MERGE, SHOW, Alike, find_alike
from memdir.upkeep.titles import free_path, plain_line, summarize, title_of
from memdir.upkeep.topics import split_lines
from memdir.upkeep.worksheet import (
    MERGED,
    SPLIT,
    Page,
    Proposal,
    Work,
    bare,
    count_lines,
    has_words,
    holds,
    line_end,
)

MAX_COMPARED_PAGES = 2_000  # every pair is compared
MERGE_INTO = "merge into "
MERGED_KEY = "metadata.merged_from"
MIN_KNOWN_WORDS = 6  # in lines that stand in another memory by no accident
KNOWN_SHARE = 0.5  # of the lines; then a memory of the same name is the same topic
PARTS = "## Parts"


def merge_alike(work: Work, chosen: Iterable[tuple[str, str]] = ()) -> None:
    """Merge what is surely the same, and the pairs that a model named among the likely ones."""
    if len(work.pages) > MAX_COMPARED_PAGES:
        work.remarks.append(
            f"more than {MAX_COMPARED_PAGES:,} memories: near-duplicates were not looked for"
        )
        return
    wanted = {frozenset(pair) for pair in chosen}
    work.proposals = [item for item in work.proposals if not item.what.startswith(MERGE_INTO)]
    for pair in find_pairs(work):
        first, second = paths = pair.first, pair.second
        if first not in work.pages or second not in work.pages:
            continue
        if pair.score < MERGE and frozenset(paths) not in wanted:
            continue
        linked = {path for path in paths if _is_linked(work, path, paths)}
        if len({work.memory(path).type for path in paths} - {UNKNOWN}) > 1:
            objection = "their types differ"
        elif len(linked) > 1:
            objection = "other memories link to both"
        else:
            # What others link to stays, else the longer one.
            size = {path: len(work.pages[path].document.body) for path in paths}
            stays = max(paths, key=lambda path: (path in linked, size[path], path == first))
            _merge(work, stays, second if stays == first else first, pair.score)
            continue
        evidence = (f"{pair.score:.0%} alike, but {objection}",)
        work.proposals.append(
            Proposal(second, MERGE_INTO + first, evidence, retire_command(second))
        )


def find_pairs(work: Work, min_score: float = SHOW) -> list[Alike]:
    """Pairs that may be the same; compared once, as long as nothing changes."""
    if len(work.pages) > MAX_COMPARED_PAGES:
        return []
    texts = work.texts
    if work.compared is None or work.compared[0] != texts:
        work.compared = texts, find_alike(texts, SHOW)
    return [pair for pair in work.compared[1] if pair.score >= min_score]


def propose_alike(work: Work) -> None:
    """Pairs that are alike and stay two: only a person knows whether one of them is right."""
    asked = {
        frozenset((item.path, item.what.removeprefix(MERGE_INTO)))
        for item in work.proposals
        if item.what.startswith(MERGE_INTO)
    }
    for item in find_pairs(work):
        if {item.first, item.second} in asked:
            continue
        message = f"uses much the same words as {item.first}"
        doubt = "the same thing twice, or does one correct the other?"
        evidence = (f"{item.score:.0%} alike", doubt)
        command = retire_command(item.second)
        work.proposals.append(Proposal(item.second, message, evidence, command))


def retire_command(path: str) -> str:
    return f"memdir retire {shlex.quote(path)}"


def _is_linked(work: Work, path: str, pair: tuple[str, str]) -> bool:
    """Does a third memory link to this one?"""
    name = path.rpartition("/")[2]
    marks = (f"[[{stem(path)}", f"[[{work.memory(path).name}]]", f"({name})", f"/{name})")
    others = (page.text for other, page in work.pages.items() if other not in pair)
    return any(mark in text for text in others for mark in marks)


def _merge(work: Work, stays: str, goes: str, score: float) -> None:
    page, other = work.pages[stays], work.pages[goes]
    mine, theirs = page.document, other.document
    lines = [line.removesuffix("\r") for line in theirs.body.split("\n")]
    new = [
        block
        for block in split_blocks(lines)
        if any(has_words(bare(line)) and not holds(page.text, line) for line in block)
    ]
    description = theirs.get("description")
    if description and not holds(page.text, description):
        new.insert(0, [description])
    for key, value in theirs.values.items():
        if value and key not in ("description", memory.NEST) and not holds(page.text, value):
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
    counted = count_lines(sum(map(len, new)))
    work.note(MERGED, stays, f"took in {goes} ({score:.0%} alike); {counted} of it new")
    work.note(MERGED, goes, f"says the same as {stays}; merged into it")


def split_blocks(lines: Sequence[str]) -> list[list[str]]:
    """Paragraphs and items, nested lines with them; code and tables whole."""
    blocks: list[list[str]] = []
    before, above = "", TEXT
    for (layer, _), line in zip(layers(lines), lines, strict=True):
        inside = layer != TEXT and layer == above
        is_item = item_start(line) >= 0 and line[:1] not in (" ", "\t")
        # A paragraph that was broken into lines is one thing.
        flows = before.strip() and line.strip() and not is_item and not level_of(line)
        if not blocks or not (inside or (flows and not level_of(before))):
            blocks.append([])
        blocks[-1].append(line)
        before, above = line, layer
    return [trimmed(block) for block in blocks if any(line.strip() for line in block)]


class KnownLines:
    """The lines of every memory: content of the index that is known makes no second memory."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._lines = {
            path: {bare(line) for line in page.document.body.split("\n")}
            for path, page in work.pages.items()
        }

    def take(self, title: str, lines: Sequence[str]) -> bool:
        """Does a memory say this already, or nearly so? It then takes the rest of it."""
        said = [bare(line) for line in lines if not level_of(line)]
        said = [line for line in said if has_words(line)]
        if not said or len(" ".join(said).split()) < MIN_KNOWN_WORDS:
            return False
        holders = [path for path, known in self._lines.items() if known.issuperset(said)]
        if not holders:
            name = names.name_for(title, UNKNOWN, "-")
            holders = [
                path
                for path, known in self._lines.items()
                if untyped(stem(path)).replace("_", "-").casefold() == name
                and sum(line in known for line in said) >= KNOWN_SHARE * len(said)
            ]
        if holders:
            self._settle(holders[0], lines)
        return bool(holders)

    def _settle(self, path: str, lines: Sequence[str]) -> None:
        work, known = self._work, self._lines[path]
        new = [
            block
            for block in split_blocks(lines)
            if any(bare(line) not in known and not level_of(line) for line in block)
        ]
        kept = {line for block in new for line in block}
        for line in lines:
            if line not in kept and has_words(line):
                work.account(work.given.index_path, line, f"{path} says it already")
        for block in new:
            work.append(path, "\n".join(block))
        count = sum(map(len, new))
        taken = f"took {count} new of them" if count else "says them all"
        work.note(MERGED, path, f"has these lines of the index already; {taken}")


def split_overlong(work: Work) -> dict[str, str]:
    """Every overlong memory that has headings; gives each new part with what it is a part of."""
    made: dict[str, str] = {}
    for path in sorted(work.pages):
        text = work.pages[path].text
        if not is_overlong(text):
            continue
        parts = _split(work, path)
        made |= dict.fromkeys(parts, path)
        if not parts:
            lines = text.count("\n")
            work.remarks.append(f"{path} has {lines:,} lines and no headings to split it at")
    return made


def is_overlong(text: str) -> bool:
    """Longer than what is read at once?"""
    return text.count("\n") + (not text.endswith("\n")) > MAX_FILE_LINES


def _split(work: Work, path: str) -> list[str]:
    """Cut at headings; the first part leads to the others."""
    document = work.pages[path].document
    end = line_end(document.body)
    lines = [line.removesuffix("\r") for line in document.body.split("\n")]
    level = split_level(lines)
    found = sections(lines, level) if level else []
    # What stands above the sections stays; without such an introduction, a short first section.
    stays = bool(found) and (not found[0].title or len(found[0].lines) <= MAX_PART_LINES // 2)
    first, rest = found[:stays], found[stays:]
    if not rest:
        return []
    title = stem(path).replace("_", " ").replace("-", " ").capitalize()
    made, links = [], []
    for part in (part for group in grouped(rest) for part in _split_group(group)):
        new = _write_part(work, path, title, part, end)
        made.append(new)
        pointer = title_of(part.title), new.rpartition("/")[2], summarize(part.lines)
        links.append(write_pointer(*pointer))
    kept = trimmed([line for section in first for line in section.lines])
    body = end.join([*kept, "", PARTS, "", *links]) + end
    head = Document(document.opening, document.lines, document.closing, "").text
    work.write(path, head + (end if document.lines is not None else "") + body)
    work.note(SPLIT, path, f"{len(lines):,} lines became {len(made) + 1} files, cut at headings")
    return made


def _split_group(group: list[Section]) -> list[Section]:
    """A group as one part, or as several where a section alone is too long."""
    lines = [line for section in group for line in section.lines]
    title = next((section.title for section in group if section.title), "")
    if len(lines) <= MAX_PART_LINES:
        return [Section(title, tuple(trimmed(lines)))]
    result = []
    for number, part in enumerate(split_lines(lines), 1):
        name = part.title or title
        name = f"{name}, part {number}" if name == title and number > 1 else name
        result.append(Section(name, part.lines))
    return result


def _write_part(work: Work, path: str, title: str, part: Section, end: str) -> str:
    page = work.pages[path]
    document = page.document
    folder = path[: len(path) - len(path.rpartition("/")[2])]
    name = title_of(part.title)
    style = Style(work.given.style.type_key, "_" in stem(path) and "-" not in stem(path))
    file_title = f"{stem(path)}{'_' if style.prefix else '-'}{name}"
    new = free_path(file_title, UNKNOWN, work.taken, style, folder)
    fields = [("name", plain_line(f"{title}: {name}")), ("description", summarize(part.lines))]
    key = next((key for key in TYPE_KEYS if key in document.values), "")
    fields += [(key, document.values[key])] if key else []
    for keys in (CREATED_KEYS, MODIFIED_KEYS):
        fields += [(keys[0], document.get(*keys))] if document.get(*keys) else []
    fields.append(("metadata.part_of", path))
    text = memory.write(fields, "\n".join(part.lines)).replace("\n", end)
    work.pages[new] = Page(text, page.clock, page.dated)
    return new
