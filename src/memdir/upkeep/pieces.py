"""Content of the index, in pieces, and the memories that they become.

A section without pointers goes as a whole, with its heading. Where pointers and content share a
section, the heading stays with the pointers and the content goes as one piece.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from memdir.format.draft import MAX_DESCRIPTION
from memdir.format.outline import (
    BLANK,
    CONTENT,
    ELSEWHERE,
    HEAD,
    HEADING,
    INTRO,
    POINTER,
    RULE,
    Line,
)
from memdir.format.pointer import is_table_row
from memdir.format.type_guess import FEEDBACK
from memdir.hot import memory, safe
from memdir.hot.memory import MODIFIED_KEYS, SOURCE_KEYS, TYPE_KEYS, UNKNOWN, Document, stem
from memdir.text import secrets
from memdir.text.markdown import (
    BOM,
    CODE,
    COMMENT,
    FRONT,
    OPEN,
    REST,
    heading_level,
    heading_text,
)
from memdir.text.terminal import plural
from memdir.upkeep.split import GROUP_LINES, heading_of_split_part, split_overlong_lines, trim_part
from memdir.upkeep.worksheet import (
    LOOK_CHARACTERS,
    Page,
    Work,
    free_restructured_path,
    guess_topic_type,
    is_generic_title,
    is_placeholder_piece,
    plain_title,
    plain_title_line,
    restructured_line_end,
    summarize_topic,
    title_words,
    topic_title,
)

MAX_INTRO_CHARACTERS = 600  # more is content, whatever it is about
MAX_LABEL_CHARACTERS = 150  # of a line that becomes a heading
MIN_HOOK_CHARACTERS = 12  # a shorter hook does not say what a memory is about
MAX_TOPICS = 120  # memories out of one index; each needs a line of it
# Lines below a heading: neighbours of that size share a memory, while there are too many topics.
TINY_LINES = (0, 5, 20, 80)
SOURCE = "restructure"
_LEADS = (POINTER, ELSEWHERE)
_SAYS = (CONTENT, CODE, OPEN)

# A heading, or the text below it, that says that agents must always see the section.
_STAY_TITLE = re.compile(
    r"\b(?:always[- ]on|always[- ]loaded|always in (?:view|context)|binding|non-negotiables?"
    r"|read (?:this )?before acting|read this first|must[- ]read|must stay)\b|^\W{0,4}IMPORTANT\b"
)
_STAY_WORDS = re.compile(
    r"\b(?:always[- ]on|always[- ]loaded|binding inline|(?:must|should) (?:stay|remain|be) "
    r"(?:in view|inline|in the index|in this index|always loaded)"
    r"|keep (?:this|these)(?: \w{1,12})? (?:inline|in the index|in this index|in view))\b"
)
MIN_STEPS = 3
_GONE = "(?:superseded|obsolete|deprecated|outdated|abandoned|replaced by|no longer (?:used|valid))"
_SUPERSEDED = re.compile(
    rf"\W{{0,6}}(?:~~|\b{_GONE}\b)|.{{0,80}}(?:\(|\[|: |— |- ){_GONE}\b", re.IGNORECASE
)
_STEP = re.compile(r"\s*(?:\d{1,3}[.)]|[-*] \[[ xX]\])\s")
_STEPS = re.compile(
    r"\b(?:implement\w*|steps?|changes made|what (?:was|we) (?:done|did)|to-?dos?|tasks)\b", re.I
)
# Steps that are done again and again are knowledge.
_RUNBOOK = re.compile(
    r"\b(?:releas|deploy|set ?up|install|run|test|debug|roll ?back|restor|check|review|how to)",
    re.I,
)
_INTRODUCES = re.compile(
    r"\b(?:memory|memories|index|pointers?|one[- ]line|entries|read first|topic files?)\b", re.I
)


@dataclass
class Piece:
    """Lines that become a memory; `heading` is theirs, `section` the one that stays."""

    heading: str
    section: str
    lines: list[str] = field(default_factory=list)
    whole: bool = False  # its heading goes with it


# A memory to be: its title, its lines, and the heading of the index below which its pointer goes.
Topic = tuple[str, Sequence[str], str]


def piece_asks_to_stay(texts: Sequence[str]) -> bool:
    """Does a heading, or the text below it, say that agents must always see it?"""
    first = heading_text(texts[0]) if texts and heading_level(texts[0]) else ""
    if _STAY_TITLE.search(first) or _STAY_TITLE.search(first.lower()):
        return True
    body = [text for text in texts if not heading_level(text)]
    return any(_STAY_WORDS.search(text[:LOOK_CHARACTERS].lower()) for text in body)


def find_pieces_that_stay(lines: Sequence[Line]) -> set[int]:
    """The lines of sections that ask to stay in view; a section with pointers is none."""
    result: set[int] = set()
    for start, end, texts in _find_content_sections(lines):
        result.update(range(start, end) if piece_asks_to_stay(texts) else ())
    return result


def find_pieces_to_decide(lines: Sequence[Line]) -> dict[range, str]:
    """Sections that make no memory: a secret, superseded text, steps; with the reason."""
    result: dict[range, str] = {}
    heads = [i for i, line in enumerate(lines) if line.kind == HEADING]
    for secret in secrets.find_secrets("\n".join(line.text for line in lines)):
        start = max((i for i in heads if i < secret.line), default=0)
        end = min((i for i in heads if i >= secret.line), default=len(lines))
        message = f"line {lines[secret.line - 1].number} looks like a secret ({secret.rule})"
        result.setdefault(range(start, end), message)
    for start, end, texts in _find_content_sections(lines):
        heading, first = heading_text(texts[0]), next(filter(str.strip, texts[1:]), "")
        steps = sum(1 for text in texts if _STEP.match(text))
        if _SUPERSEDED.search(heading) or _SUPERSEDED.match(plain_title(first)):
            result.setdefault(range(start, end), "it says that it is superseded")
        elif steps >= MIN_STEPS and _STEPS.search(heading) and not _RUNBOOK.search(heading):
            result.setdefault(range(start, end), "steps and tasks: the code is the record")
    return result


def _find_content_sections(lines: Sequence[Line]) -> Iterator[tuple[int, int, list[str]]]:
    """First line, end, and the texts up to the next heading, of each section without pointers."""
    heads = [i for i, line in enumerate(lines) if line.kind == HEADING]
    for i in heads:
        below = [j for j in heads if j > i]
        end = next((j for j in below if lines[j].level <= lines[i].level), len(lines))
        if lines[i].level == 1 and end == len(lines) and below:
            continue  # the title of the whole index
        kinds = {line.kind for line in lines[i + 1 : end]}
        if kinds.isdisjoint(_LEADS) and CONTENT in kinds:
            yield i, end, [line.text for line in lines[i : below[0] if below else end]]


class Extract:
    """What goes out of an index: `pieces`, and in `gone` the numbers of their lines."""

    def __init__(self, lines: list[Line], kept: Collection[int] = ()) -> None:
        self.lines = lines
        self.kept = kept
        self.pieces: list[Piece] = []
        self.gone: set[int] = set()
        # The heading that names the whole index: the only one of level 1, on top; else -1.
        tops = [i for i, line in enumerate(lines) if line.kind == HEADING and line.level == 1]
        above = [line.kind for line in lines[: tops[0]]] if tops else []
        first = all(kind in (BLANK, RULE, COMMENT, FRONT, INTRO) for kind in above)
        self.title = tops[0] if len(tops) == 1 and first else -1
        self._mark_labels()
        heads = {i: line.level for i, line in enumerate(lines) if line.kind == HEADING}
        heads.pop(self.title, None)
        self._take_range(0, len(lines), min(heads.values(), default=7))

    def _mark_labels(self) -> None:
        """A line such as `Older ones:` right above a list of pointers is that list's heading."""
        level = 2
        for i, line in enumerate(self.lines):
            if line.kind == HEADING and i != self.title:
                level = min(line.level + 1, 6)
            text = line.text.strip()
            label = line.kind == CONTENT and text.endswith(":") and not (line.item or line.pointers)
            if not label or line.layer == REST or line.indent or len(text) > MAX_LABEL_CHARACTERS:
                continue
            below = next((item for item in self.lines[i + 1 :] if item.kind != BLANK), None)
            above = self.lines[i - 1].kind if i else BLANK
            if below and below.entry and above in (BLANK, POINTER, HEADING):
                line.text, line.kind, line.level = f"{'#' * level} {text}", HEADING, level

    def _take_range(self, start: int, end: int, level: int) -> None:
        """What stands above the first heading of a level, then each section of it."""
        heads = [i for i in range(start, end) if self.lines[i].kind == HEADING and i != self.title]
        cuts = [i for i in heads if self.lines[i].level <= level]
        self._take_mixed(start, cuts[0] if cuts else end)
        for first, last in pairwise([*cuts, end]):
            self._take_section(first, last)

    def _take_section(self, start: int, end: int) -> None:
        if start in self.kept:
            return
        body = range(start + 1, end)
        lines = self.lines
        content = any(
            lines[i].kind in _SAYS and not is_placeholder_piece(lines[i].text) for i in body
        )
        if content and not any(lines[i].kind in _LEADS or i in self.kept for i in body):
            # Comments and rules at its end stay with what follows.
            while end > start + 1 and lines[end - 1].kind in (BLANK, RULE, COMMENT):
                end -= 1
            texts = trim_part([line.text for line in lines[start:end]])
            self.pieces.append(Piece(heading_text(lines[start].text), "", texts, whole=True))
            self.gone.update(range(start, end))
            return
        heads = [i for i in body if lines[i].kind == HEADING]
        if heads and content:
            self._take_mixed(start, heads[0])
            self._take_range(heads[0], end, min(lines[i].level for i in heads))
        else:
            self._take_mixed(start, end)

    def _take_mixed(self, start: int, end: int) -> None:
        """Content among pointers: as one piece, in its order; the heading and the pointers stay."""
        lines = self.lines
        heading = next((i for i in range(start, end) if lines[i].kind == HEADING), -1)
        section = heading_text(lines[heading].text) if heading >= 0 else ""
        content = [
            i
            for i in self._find_content(start, end)
            if lines[i].kind != CONTENT or not is_placeholder_piece(lines[i].text)
        ]
        self.gone.update(content)
        piece = Piece(section, section if heading != self.title else "")
        for i in content:
            # Blank lines between parts stay, and there is one where something was left out.
            alone = i - 1 not in self.gone and not lines[i].item
            if piece.lines and (lines[i - 1].kind == BLANK or alone):
                piece.lines.append("")
            piece.lines.append(lines[i].text)
        if is_generic_title(piece.heading):
            piece.heading = ""
        self.pieces += [piece] if piece.lines else []

    def _find_content(self, start: int, end: int) -> list[int]:
        """Lines to take out; text behind a comment stays, or it would end inside that."""
        lines, span = self.lines, range(start, end)
        intro = [i for i in span if lines[i].kind == INTRO]
        text = "\n".join(plain_title(lines[i].text) for i in intro)
        is_intro = len(text) <= MAX_INTRO_CHARACTERS and _INTRODUCES.search(text)
        pointed = any(line.pointers or line.kind == ELSEWHERE for line in lines)
        # The head of a table goes with its rows, if none of them is a pointer.
        rows = [lines[i].kind for i in span if is_table_row(lines[i].text)]
        kinds = _SAYS if set(rows) & {*_LEADS} or CONTENT not in rows else (*_SAYS, HEAD)
        result = set() if pointed and is_intro else set(intro)
        result.update(i for i in span if lines[i].kind in kinds and lines[i].layer != REST)
        return sorted(result.difference(self.kept))


def make_topics_of_pieces(pieces: Sequence[Piece], heading: str) -> list[Topic]:
    """Every piece in memories of a good size; `heading` names those that have none."""
    result: list[Topic] = []
    for tiny in TINY_LINES:
        if not result or len(result) > MAX_TOPICS:
            groups = _group_tiny(pieces, tiny)
            result = [topic for group in groups for topic in _split_group(group, heading)]
    return result


def _group_tiny(pieces: Sequence[Piece], tiny: int) -> list[list[Piece]]:
    """Neighbouring sections with next to nothing in them, together."""
    groups: list[list[Piece]] = []
    was_small = False
    for piece in pieces:
        is_small = piece.whole and sum(1 for line in piece.lines if line.strip()) - 1 <= tiny
        length = sum(len(item.lines) for item in groups[-1]) if groups else 0
        if is_small and was_small and length + len(piece.lines) <= GROUP_LINES:
            groups[-1].append(piece)
        else:
            groups.append([piece])
        was_small = is_small
    return groups


def _split_group(group: Sequence[Piece], heading: str) -> list[Topic]:
    """One topic, or several where the lines are too many for one file."""
    first = group[0]
    lines = [line for piece in group for line in (*piece.lines, "")][:-1]
    names = [title for piece in group if (title := topic_title(piece.heading))]
    title = names[0] if names else topic_title(heading) or "Notes"
    title = f"{title} and {len(names) - 1} more" if len(names) > 1 else title
    parts = split_overlong_lines(lines)
    if len(parts) == 1:
        return [(title, lines, first.section)]
    section = first.section or (first.heading if first.whole else "")
    result: list[Topic] = []
    for number, part in enumerate(parts, 1):
        name = topic_title(heading_of_split_part(part)) or f"part {number}"
        result.append((title if name == title else f"{title}: {name}", part, section))
    return result


def write_topics_of_pieces(work: Work, topics: Sequence[Topic]) -> dict[str, str]:
    """Gives each new path with the heading below which its pointer goes."""
    placed = {}
    for title, topic_lines, section in topics:
        heading = heading_text(topic_lines[0]) if heading_level(topic_lines[0]) else ""
        said = topic_lines[1:] if heading else topic_lines
        type, reason = guess_topic_type("", f"{title} {heading}", section, said)
        if piece_asks_to_stay(topic_lines):
            type, reason = FEEDBACK, "it says that agents must always see it"
        path = free_restructured_path(title, type, work.taken, work.given.style)
        index = work.given.index  # the memory is as old as the index
        fields = [("name", plain_title_line(title)), ("description", summarize_topic(topic_lines))]
        fields.append((work.given.style.type_key, type if type != UNKNOWN else "project"))
        if index.dated:
            fields.append((MODIFIED_KEYS[0], safe.iso_time(index.clock)))
        fields += [(SOURCE_KEYS[0], SOURCE), ("metadata.from", work.given.index_path)]
        text = memory.write_header(fields, "\n".join(topic_lines))
        text = text.replace("\n", restructured_line_end(index.text))
        work.pages[path] = Page(text, index.clock, index.dated)
        lines = plural(sum(1 for line in topic_lines if line.strip()), "line")
        work.note(path, f"{lines} out of the index; type {type}: {reason}")
        placed[path] = section
    return placed


def find_missing_header_fields(document: Document) -> list[str]:
    """The fields that every header should have and this one has not."""
    keys = {"name": ("name",), "description": ("description",), "type": TYPE_KEYS}
    return [field for field, names in keys.items() if not document.get(*names).strip()]


def add_missing_headers(work: Work, hooks: Mapping[str, tuple[str, str]]) -> None:
    """Complete every header; `hooks` gives the index's words and section for a path."""
    for path, page in sorted(work.pages.items()):
        document = page.document
        missing = find_missing_header_fields(document)
        if not missing:
            continue
        hook, section = hooks.get(path, ("", ""))
        lines = document.body.removeprefix(BOM).split("\n")
        top = heading_of_split_part(lines)
        type, reason = guess_topic_type(path, top, section, lines)
        description = plain_title_line(hook)[:MAX_DESCRIPTION]
        if len(hook) < MIN_HOOK_CHARACTERS:
            description = (
                summarize_topic(lines) or plain_title(hook) or " ".join(title_words(stem(path)))
            )
        values = {"name": topic_title(top) or stem(path), "description": description, "type": type}
        new = document.lines is None
        bom = BOM if new and document.body.startswith(BOM) else ""  # stays in front of all
        body = document.body.removeprefix(bom)
        gap = restructured_line_end(body) if new and body[:1] not in ("\n", "\r", "") else ""
        document = Document(document.opening, document.lines, document.closing, gap + body)
        nested = document.values.get("metadata") == ""
        for key in missing:
            own = work.given.style.type_key if key == "type" else key
            own = TYPE_KEYS[1] if key == "type" and nested else own
            document = memory.edit_header(document, own, values[key])
        work.write(path, bom + document.text)
        reason = f"; type {type}: {reason}" if "type" in missing else ""
        work.note(path, f"header got {', '.join(missing)}{reason}")
