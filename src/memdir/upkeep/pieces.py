"""Content of the index, in pieces."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
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

# Sections of the index that say themselves that they must stay in view.

_TITLE = re.compile(
    r"\b(?:always[- ]on|always[- ]loaded|always in (?:view|context)|binding|non-negotiables?"
    r"|read (?:this )?before acting|read this first|must[- ]read|must stay)\b|^\W{0,4}IMPORTANT\b"
)
_WORDS = re.compile(
    r"\b(?:always[- ]on|always[- ]loaded|binding inline|(?:must|should) (?:stay|remain|be) "
    r"(?:in view|inline|in the index|in this index|always loaded)"
    r"|keep (?:this|these)(?: \w{1,12})? (?:inline|in the index|in this index|in view))\b"
)
_LOOK = 400  # characters of a line


def asks_to_stay(texts: Sequence[str]) -> bool:
    """Does a heading, or the text below it, say that agents must always see it?"""
    first = heading_text(texts[0]) if texts and level_of(texts[0]) else ""
    if _TITLE.search(first) or _TITLE.search(first.lower()):
        return True
    body = [text for text in texts if not level_of(text)]
    return any(_WORDS.search(text[:_LOOK].lower()) for text in body)


def in_view(lines: Sequence[Line]) -> set[int]:
    """The places of the lines in such sections; a section with pointers is none."""
    found: set[int] = set()
    heads = [at for at, line in enumerate(lines) if line.kind == HEADING]
    for at in heads:
        level = lines[at].level
        end = next((to for to in heads if to > at and lines[to].level <= level), len(lines))
        own = next((to for to in heads if to > at), len(lines))
        below = lines[at + 1 : end]
        if level == 1 and end == len(lines) and own < end:
            continue  # the title of the whole index
        leads = any(line.kind in (POINTER, ELSEWHERE) for line in below)
        texts = [line.text for line in lines[at:own]]
        if not leads and asks_to_stay(texts) and any(line.kind == CONTENT for line in below):
            found.update(range(at, end))
    return found


# Content of the index: what each part of it is, and which piece it becomes.
#
# A section without pointers goes as a whole, with its heading. Where pointers and content share a
# section, the heading stays with the pointers and the content goes as one piece.

LONGEST_INTRO = 600  # characters; more is content, whatever it is about
_INTRODUCES = re.compile(
    r"\b(?:memory|memories|index|pointers?|one[- ]line|entries|read first|topic files?)\b", re.I
)
# `*(Add project_*.md as needed.)*`, `(none yet)`, `_TBD_`: a word to whoever keeps the index.
_PLACEHOLDER = re.compile(
    r"[*_]{0,2}\((?:add|none|nothing|no|empty|tbd|todo|to be|fill|placeholder)\b.{0,120}\)[*_]{0,2}"
    r"|[*_]{0,2}(?:none|none yet|tbd|empty)[*_.]{0,3}"
)
ABOUT = "About this index"
LONGEST_LABEL = 150  # characters of a line that becomes a heading
_LEADS = (POINTER, ELSEWHERE)


@dataclass
class Piece:
    """Lines of the index that become a memory; `heading` is theirs, `section` the one that stays.

    `at` is the line of the index where they stood, `target` a memory that they hang on.
    """

    heading: str
    section: str
    at: int
    lines: list[str] = field(default_factory=list)
    whole: bool = False  # its heading goes with it
    target: str = ""


@dataclass
class Taken:
    """What goes: pieces, and the numbers of their lines; `asides` are kept as comments."""

    pieces: list[Piece] = field(default_factory=list)
    gone: set[int] = field(default_factory=set)
    asides: list[int] = field(default_factory=list)
    title: int = -1
    kept: frozenset[int] = frozenset()  # lines that ask to stay in view


def take_out(lines: list[Line], kept: Collection[int] = ()) -> Taken:
    """Every line of content but those kept, in pieces that belong together."""
    taken = Taken(title=_title(lines), kept=frozenset(kept))
    _mark_nested(lines)
    _mark_labels(lines, taken)
    levels = [
        one.level for at, one in enumerate(lines) if one.kind == HEADING and at != taken.title
    ]
    level = min(levels, default=7)
    _take_range(lines, 0, len(lines), level, taken)
    return taken


def _mark_nested(lines: list[Line]) -> None:
    """A link in passing, below an item of content, belongs to that item."""
    above: list[Line] = []  # the lines that this one is moved in below
    for line in lines:
        if line.kind in (BLANK, CODE, OPEN):
            continue
        while above and above[-1].indent >= line.indent:
            above.pop()
        if line.kind == POINTER and not line.entry and above and above[-1].kind == CONTENT:
            line.kind = CONTENT
        above.append(line)


def _mark_labels(lines: list[Line], taken: Taken) -> None:
    """A line such as `Older ones:` right above a list of pointers is the heading of that list."""
    level = 2
    for at, line in enumerate(lines):
        if line.kind == HEADING and at != taken.title:
            level = min(line.level + 1, 6)
        text = line.text.strip()
        label = line.kind == CONTENT and not line.item and text.endswith(":") and not line.pointers
        if not label or line.layer == REST or line.indent or len(text) > LONGEST_LABEL:
            continue
        after = next((one for one in lines[at + 1 :] if one.kind != BLANK), None)
        above = lines[at - 1].kind if at else BLANK
        if after and after.kind == POINTER and after.entry and above in (BLANK, POINTER, HEADING):
            line.text, line.kind, line.level = f"{'#' * level} {text}", HEADING, level


def is_content(line: Line) -> bool:
    """Does the line say something that belongs into a memory?"""
    return line.kind in (CONTENT, CODE, OPEN)


def is_placeholder(text: str) -> bool:
    """A line to whoever keeps the index: nothing is known yet."""
    body = text.strip().removeprefix("- ").removeprefix("* ").strip()
    return bool(_PLACEHOLDER.fullmatch(body.casefold())) and "-->" not in body


def introduces(text: str) -> bool:
    """Do these lines tell how to use the index, rather than something to know?"""
    return len(text) <= LONGEST_INTRO and bool(_INTRODUCES.search(text))


def _title(lines: list[Line]) -> int:
    """The heading that names the whole index: the only one of level 1, on top."""
    tops = [at for at, line in enumerate(lines) if line.kind == HEADING and line.level == 1]
    above = [line.kind for line in lines[: tops[0]]] if tops else []
    first = all(kind in (BLANK, RULE, COMMENT, FRONT, INTRO) for kind in above)
    return tops[0] if len(tops) == 1 and first else -1


def _take_range(lines: list[Line], start: int, end: int, level: int, taken: Taken) -> None:
    """What stands above the first heading of a level, then each section of it."""
    cuts = [
        at
        for at in range(start, end)
        if lines[at].kind == HEADING and lines[at].level <= level and at != taken.title
    ]
    for first, last in zip([start, *cuts], [*cuts, end], strict=True):
        if first in cuts:
            _take_section(lines, first, last, taken)
        else:
            _take_mixed(lines, first, last, taken)


def _take_section(lines: list[Line], start: int, end: int, taken: Taken) -> None:
    if start in taken.kept:
        return
    body = range(start + 1, end)
    content = [at for at in body if is_content(lines[at])]
    content = [at for at in content if not is_placeholder(lines[at].text)]
    stays = any(lines[at].kind in _LEADS or at in taken.kept for at in body)
    if content and not stays:
        _take_whole(lines, start, end, taken)
        return
    deeper = [lines[at].level for at in body if lines[at].kind == HEADING]
    if deeper and content:
        own = next(at for at in body if lines[at].kind == HEADING)
        _take_mixed(lines, start, own, taken)
        _take_range(lines, own, end, min(deeper), taken)
    else:
        _take_mixed(lines, start, end, taken)


def _take_whole(lines: list[Line], start: int, end: int, taken: Taken) -> None:
    """A section with its heading; comments and rules at its end stay with what follows."""
    while end > start + 1 and lines[end - 1].kind in (BLANK, RULE, COMMENT):
        end -= 1
    heading = heading_text(lines[start].text)
    texts = [line.text for line in lines[start:end]]
    taken.pieces.append(Piece(heading, "", start, trimmed(texts), whole=True))
    taken.gone.update(range(start, end))


def _take_mixed(lines: list[Line], start: int, end: int, taken: Taken) -> None:
    """Content among pointers: as one piece, in its order; the heading and the pointers stay."""
    heading = next((at for at in range(start, end) if lines[at].kind == HEADING), -1)
    section = heading_text(lines[heading].text) if heading >= 0 else ""
    piece: Piece | None = None
    hung = _hanging(lines, start, end)
    for at in _content(lines, start, end, taken):
        line = lines[at]
        if is_placeholder(line.text) and line.kind == CONTENT:
            taken.asides.append(at)
            continue
        taken.gone.add(at)
        if at in hung:
            target = hung[at]
            last = taken.pieces[-1] if taken.pieces else None
            if last is None or last.target != target:
                last = Piece("", section, at, target=target)
                taken.pieces.append(last)
            last.lines.append(line.text)
            continue
        if piece is None or (heading < 0 and _broken(lines, at, taken)):
            piece = Piece(section, section if heading != taken.title else "", at)
            taken.pieces.append(piece)
        # Blank lines between parts stay, and there is one where something was left out.
        alone = at - 1 not in taken.gone and not line.item
        if piece.lines and (lines[at - 1].kind == BLANK or alone):
            piece.lines.append("")
        piece.lines.append(line.text)
    if piece is None:
        return
    if all(
        line.kind != CONTENT or at not in taken.gone for at, line in numbered(lines, start, end)
    ):
        piece.heading = ABOUT if _INTRODUCES.search("\n".join(piece.lines)) else piece.heading
    if is_generic(piece.heading):
        piece.heading = ""


def _broken(lines: list[Line], at: int, taken: Taken) -> bool:
    """Does a rule (`---`) part this line from the content above it?"""
    above = at - 1
    while above >= 0 and lines[above].kind == BLANK:
        above -= 1
    return above >= 0 and lines[above].kind == RULE and lines[at].kind != CODE


def numbered(lines: list[Line], start: int, end: int) -> Iterator[tuple[int, Line]]:
    """These lines with their places."""
    return zip(range(start, end), lines[start:end], strict=True)


def _content(lines: list[Line], start: int, end: int, taken: Taken) -> list[int]:
    """The lines to take out, with what belongs to them: the head of a table, a comment's start."""
    intro = [at for at in range(start, end) if lines[at].kind == INTRO]
    told = "\n".join(plain(lines[at].text) for at in intro)
    pointed = any(line.pointers or line.kind == ELSEWHERE for line in lines)
    found = set(intro) if intro and not (pointed and introduces(told)) else set()
    found = {at for at in found if not is_stamp(lines[at].text)}
    for at in range(start, end):
        line = lines[at]
        if line.kind == CONTENT and line.layer == REST:
            found.update(_comment_of(lines, at))
        if is_content(line):
            found.add(at)
            if line.kind == CONTENT and is_row(line.text):
                found.update(_head_of(lines, at))
    return sorted(found)


def _head_of(lines: list[Line], at: int) -> list[int]:
    """The head of the table that a row of content stands in, unless pointers stand in it too."""
    top = at
    while top and is_row(lines[top - 1].text) and lines[top - 1].kind in (HEAD, CONTENT, POINTER):
        top -= 1
    end = at
    while end < len(lines) and is_row(lines[end].text):
        end += 1
    rows = range(top, end)
    if any(lines[row].kind in _LEADS for row in rows):
        return []
    return [row for row in rows if lines[row].kind == HEAD]


def _comment_of(lines: list[Line], at: int) -> range:
    """The comment that ends on this line."""
    start = at
    while start and lines[start - 1].kind == COMMENT and "<!--" not in lines[start].text:
        start -= 1
    return range(start, at + 1)


def _hanging(lines: list[Line], start: int, end: int) -> dict[int, str]:
    """Lines moved in below an entry: they speak of its memory."""
    found: dict[int, str] = {}
    for at in range(start, end):
        line = lines[at]
        if line.kind == POINTER and line.entry and line.paths[0] and len(line.paths) == 1:
            for below in range(at + 1, min(block_end(lines, at, line.indent), end)):
                if lines[below].kind in _LEADS:
                    break
                found[below] = str(line.paths[0])
    return found


def asides_as_comments(lines: Sequence[Line], asides: Sequence[int]) -> None:
    """Turn such lines into comments where they stand: an agent need not read them."""
    for at in asides:
        end = lines[at].end or "\n"
        lines[at].text = f"<!--{end}{lines[at].text}{end}-->"
