"""Content of the index, in pieces.

A section without pointers goes as a whole, with its heading. Where pointers and content share a
section, the heading stays with the pointers and the content goes as one piece.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

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
    block_end,
)
from memdir.format.pointer import is_row
from memdir.text.markdown import CODE, COMMENT, FRONT, OPEN, REST
from memdir.text.prose import heading_text, level_of, trimmed
from memdir.upkeep.titles import is_generic, is_stamp, plain

ABOUT = "About this index"
MAX_INTRO_CHARACTERS = 600  # more is content, whatever it is about
MAX_LABEL_CHARACTERS = 150  # of a line that becomes a heading
LOOK_CHARACTERS = 400  # of a line
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
_INTRODUCES = re.compile(
    r"\b(?:memory|memories|index|pointers?|one[- ]line|entries|read first|topic files?)\b", re.I
)
# `*(Add project_*.md as needed.)*`, `(none yet)`, `_TBD_`: a word to whoever keeps the index.
_PLACEHOLDER = re.compile(
    r"[*_]{0,2}\((?:add|none|nothing|no|empty|tbd|todo|to be|fill|placeholder)\b.{0,120}\)[*_]{0,2}"
    r"|[*_]{0,2}(?:none|none yet|tbd|empty)[*_.]{0,3}"
)


@dataclass
class Piece:
    """Lines of the index that become a memory; `heading` is theirs, `section` the one that stays.

    `target` is a memory that they hang on.
    """

    heading: str
    section: str
    lines: list[str] = field(default_factory=list)
    whole: bool = False  # its heading goes with it
    target: str = ""


def asks_to_stay(texts: Sequence[str]) -> bool:
    """Does a heading, or the text below it, say that agents must always see it?"""
    first = heading_text(texts[0]) if texts and level_of(texts[0]) else ""
    if _STAY_TITLE.search(first) or _STAY_TITLE.search(first.lower()):
        return True
    body = [text for text in texts if not level_of(text)]
    return any(_STAY_WORDS.search(text[:LOOK_CHARACTERS].lower()) for text in body)


def find_kept(lines: Sequence[Line]) -> set[int]:
    """The lines of sections that ask to stay in view; a section with pointers is none."""
    result: set[int] = set()
    heads = [i for i, line in enumerate(lines) if line.kind == HEADING]
    for i in heads:
        level = lines[i].level
        end = next((j for j in heads if j > i and lines[j].level <= level), len(lines))
        first_below = next((j for j in heads if j > i), len(lines))
        if level == 1 and end == len(lines) and first_below < end:
            continue  # the title of the whole index
        kinds = {line.kind for line in lines[i + 1 : end]}
        texts = [line.text for line in lines[i:first_below]]
        if kinds.isdisjoint(_LEADS) and CONTENT in kinds and asks_to_stay(texts):
            result.update(range(i, end))
    return result


def is_placeholder(text: str) -> bool:
    """A line to whoever keeps the index: nothing is known yet."""
    body = text.strip().removeprefix("- ").removeprefix("* ").strip()
    return bool(_PLACEHOLDER.fullmatch(body.casefold())) and "-->" not in body


class Extract:
    """What goes out of an index: `pieces`, and in `gone` the numbers of their lines.

    Placeholders stay, as comments: an agent need not read them.
    """

    def __init__(self, lines: list[Line], kept: Collection[int] = ()) -> None:
        self.lines = lines
        self.kept = kept
        self.pieces: list[Piece] = []
        self.gone: set[int] = set()
        self.placeholders: list[int] = []
        self.title = self._find_title()
        self._mark_nested()
        self._mark_labels()
        levels = [
            line.level for i, line in enumerate(lines) if line.kind == HEADING and i != self.title
        ]
        self._take_range(0, len(lines), min(levels, default=7))

    def _find_title(self) -> int:
        """The heading that names the whole index: the only one of level 1, on top; else -1."""
        tops = [i for i, line in enumerate(self.lines) if line.kind == HEADING and line.level == 1]
        above = [line.kind for line in self.lines[: tops[0]]] if tops else []
        first = all(kind in (BLANK, RULE, COMMENT, FRONT, INTRO) for kind in above)
        return tops[0] if len(tops) == 1 and first else -1

    def _mark_nested(self) -> None:
        """A link in passing, below an item of content, belongs to that item."""
        above: list[Line] = []  # the lines that this one is moved in below
        for line in self.lines:
            if line.kind in (BLANK, CODE, OPEN):
                continue
            while above and above[-1].indent >= line.indent:
                above.pop()
            if line.kind == POINTER and not line.entry and above and above[-1].kind == CONTENT:
                line.kind = CONTENT
            above.append(line)

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
            leads = below is not None and below.kind == POINTER and below.entry
            if leads and above in (BLANK, POINTER, HEADING):
                line.text, line.kind, line.level = f"{'#' * level} {text}", HEADING, level

    def _take_range(self, start: int, end: int, level: int) -> None:
        """What stands above the first heading of a level, then each section of it."""
        lines = self.lines
        cuts = [
            i
            for i in range(start, end)
            if lines[i].kind == HEADING and lines[i].level <= level and i != self.title
        ]
        for first, last in zip([start, *cuts], [*cuts, end], strict=True):
            if first in cuts:
                self._take_section(first, last)
            else:
                self._take_mixed(first, last)

    def _take_section(self, start: int, end: int) -> None:
        if start in self.kept:
            return
        body = range(start + 1, end)
        lines = self.lines
        content = any(lines[i].kind in _SAYS and not is_placeholder(lines[i].text) for i in body)
        if content and not any(lines[i].kind in _LEADS or i in self.kept for i in body):
            # Comments and rules at its end stay with what follows.
            while end > start + 1 and lines[end - 1].kind in (BLANK, RULE, COMMENT):
                end -= 1
            texts = trimmed([line.text for line in lines[start:end]])
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
        piece: Piece | None = None
        targets = self._find_targets(start, end)
        for i in self._find_content(start, end):
            line = lines[i]
            if is_placeholder(line.text) and line.kind == CONTENT:
                self.placeholders.append(i)
                continue
            self.gone.add(i)
            if i in targets:
                if not self.pieces or self.pieces[-1].target != targets[i]:
                    self.pieces.append(Piece("", section, target=targets[i]))
                self.pieces[-1].lines.append(line.text)
                continue
            if piece is None or (heading < 0 and self._is_behind_rule(i)):
                piece = Piece(section, section if heading != self.title else "")
                self.pieces.append(piece)
            # Blank lines between parts stay, and there is one where something was left out.
            alone = i - 1 not in self.gone and not line.item
            if piece.lines and (lines[i - 1].kind == BLANK or alone):
                piece.lines.append("")
            piece.lines.append(line.text)
        if piece is None:
            return
        only_intro = all(lines[i].kind != CONTENT or i not in self.gone for i in range(start, end))
        if only_intro and _INTRODUCES.search("\n".join(piece.lines)):
            piece.heading = ABOUT
        if is_generic(piece.heading):
            piece.heading = ""

    def _is_behind_rule(self, i: int) -> bool:
        """Does a rule (`---`) part this line from the content above it?"""
        above = next((line for line in reversed(self.lines[:i]) if line.kind != BLANK), None)
        return above is not None and above.kind == RULE and self.lines[i].kind != CODE

    def _find_content(self, start: int, end: int) -> list[int]:
        """Lines to take out, with what belongs to them: the head of a table, a comment's start."""
        lines = self.lines
        intro = [i for i in range(start, end) if lines[i].kind == INTRO]
        text = "\n".join(plain(lines[i].text) for i in intro)
        is_intro = len(text) <= MAX_INTRO_CHARACTERS and _INTRODUCES.search(text)
        pointed = any(line.pointers or line.kind == ELSEWHERE for line in lines)
        result = set() if pointed and is_intro else set(intro)
        result = {i for i in result if not is_stamp(lines[i].text)}
        for i in range(start, end):
            line = lines[i]
            if line.kind in _SAYS:
                result.add(i)
            if line.kind == CONTENT and line.layer == REST:  # behind a comment, which goes as well
                first = i
                while (
                    first and lines[first - 1].kind == COMMENT and "<!--" not in lines[first].text
                ):
                    first -= 1
                result.update(range(first, i))
            if line.kind == CONTENT and is_row(line.text):
                result.update(self._find_table_head(i))
        return sorted(result)

    def _find_table_head(self, i: int) -> list[int]:
        """The head of the table that a row of content stands in, unless pointers stand in it."""
        lines, top, end = self.lines, i, i
        while (
            top and is_row(lines[top - 1].text) and lines[top - 1].kind in (HEAD, CONTENT, POINTER)
        ):
            top -= 1
        while end < len(lines) and is_row(lines[end].text):
            end += 1
        rows = range(top, end)
        if any(lines[row].kind in _LEADS for row in rows):
            return []
        return [row for row in rows if lines[row].kind == HEAD]

    def _find_targets(self, start: int, end: int) -> dict[int, str]:
        """Lines moved in below an entry speak of its memory: line -> path."""
        result: dict[int, str] = {}
        for i in range(start, end):
            line = self.lines[i]
            if line.kind == POINTER and line.entry and line.paths[0] and len(line.paths) == 1:
                for below in range(i + 1, min(block_end(self.lines, i, line.indent), end)):
                    if self.lines[below].kind in _LEADS:
                        break
                    result[below] = str(line.paths[0])
        return result

    def comment_placeholders(self) -> None:
        for i in self.placeholders:
            end = self.lines[i].end or "\n"
            self.lines[i].text = f"<!--{end}{self.lines[i].text}{end}-->"
