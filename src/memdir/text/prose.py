"""A memory's text in blocks (paragraph, list item, table row, code), sections and sentences."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise

from memdir.text.markdown import (
    CODE,
    OPEN,
    TEXT,
    closes_fence,
    item_start,
    layers,
    opened_fence,
    structure,
)

LONGEST_TEXT = 1_000_000  # characters of a memory that are looked at
LONGEST_LINE = 20_000  # characters of a line; what is longer is data, not language
MOST_LINES = 400  # of one block; then the next one begins
LONGEST_LEAD = 300  # characters of a line that introduces others
PROSE, FENCED, ROW, HEADING = "prose", "fenced", "row", "heading"
HIDDEN = "\x01"  # stands for every character of a code span where words are looked for

_ITEM = re.compile(r"\s{0,40}(?:[-*+•]|\d{1,4}[.)])\s")
_HEADING = re.compile(r"\s{0,3}(#{1,6})\s")
_LABEL = re.compile(r"\s{0,8}\*\*[^*\n]{1,80}\*\*")  # **Why:** … begins a thought of its own
_DESCRIPTION = re.compile(r"description\s{0,3}:")


@dataclass
class Block:
    """Joined lines; `heads` are the headings above, `lead` what introduces it with a colon."""

    kind: str
    first: int  # line of the file, from 1 on
    lines: list[str]
    heads: tuple[str, ...] = ()
    lead: str = ""
    columns: tuple[str, ...] = ()  # of a table's row: what stands above each cell
    text: str = field(default="", init=False)
    masked: str = field(default="", init=False)  # the text with its code spans hidden
    spans: list[tuple[int, int]] = field(default_factory=list, init=False)
    _starts: list[int] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self.text = "\n".join(self.lines)
        at = 0
        for line in self.lines:
            self._starts.append(at)
            at += len(line) + 1
        if self.kind == FENCED:
            self.masked = self.text
            return
        self.spans = sorted(structure(self.text)[0].items())
        parts, end = [], 0
        for start, stop in self.spans:
            parts += [self.text[end:start], HIDDEN * (stop - start)]
            end = stop
        self.masked = "".join([*parts, self.text[end:]])

    def place(self, offset: int) -> tuple[int, int]:
        """The line of the file and the column in it."""
        at = bisect_right(self._starts, offset) - 1
        return self.first + at, offset - self._starts[at]


def blocks(text: str) -> Iterator[Block]:
    """The blocks of a memory, its header's description first."""
    lines = [line[:LONGEST_LINE] for line in text[:LONGEST_TEXT].split("\n")]
    at = 0
    if lines[0].rstrip() == "---":
        end = next((n for n in range(1, len(lines)) if lines[n].rstrip() == "---"), 0)
        yield from _header(lines, end)
        at = end + 1 if end else 0
    yield from _body(lines, at)


def _header(lines: list[str], end: int) -> Iterator[Block]:
    """Only the description speaks of the code; ids and dates do not."""
    taken: list[str] = []
    first = 0
    for number in range(1, end):
        line = lines[number]
        if _DESCRIPTION.match(line):
            taken, first = [line], number + 1
        elif taken and line[:1] in (" ", "\t"):
            taken.append(line)
        elif taken:
            break
    if taken:
        yield Block(PROSE, first, taken)


class _Reader:
    """Where we are: the open block, the headings above it, the sentence that leads a list."""

    def __init__(self) -> None:
        self.heads: list[tuple[int, str]] = []
        self.lead = ""
        self.items: list[tuple[int, str]] = []  # indent and lead of the list items we are in
        self.columns: tuple[str, ...] = ()
        self.open: list[str] = []
        self.first = 0

    def close(self, kind: str = PROSE) -> Iterator[Block]:
        """The open block, if there is one."""
        if not self.open:
            return
        heads = tuple(text for _, text in self.heads)
        item = _ITEM.match(self.open[0]) if kind == PROSE else None
        indent = len(self.open[0]) - len(self.open[0].lstrip())
        if item is not None:
            self.items = [one for one in self.items if one[0] < indent]
        elif kind == PROSE:
            self.items = []
        lead = " ".join([self.lead, *(text for _, text in self.items)]).strip()
        yield Block(kind, self.first, self.open, heads, lead, self.columns)
        if kind == PROSE:
            last = self.open[-1].rstrip().rstrip("*_")
            said = last[-LONGEST_LEAD:] if last.endswith((":", "：")) else ""
            if item is not None:
                self.items.append((indent, said))
            else:
                self.lead = said
        self.open = []

    def add(self, number: int, line: str) -> None:
        """One more line of the open block."""
        if not self.open:
            self.first = number
        self.open.append(line)

    def head(self, level: int, text: str) -> None:
        """A heading ends those of its level and below."""
        self.heads = [one for one in self.heads if one[0] < level] + [(level, text)]
        self.lead, self.items = "", []


def _body(lines: list[str], at: int) -> Iterator[Block]:
    reader = _Reader()
    while at < len(lines):
        line = lines[at]
        if fence := opened_fence(line):
            yield from reader.close()
            closing = (n for n in range(at + 1, len(lines)) if closes_fence(lines[n], fence))
            end = next(closing, len(lines))
            for start in range(at + 1, end, MOST_LINES):
                reader.open, reader.first = lines[start : min(start + MOST_LINES, end)], start + 1
                yield from reader.close(FENCED)
            at = end + 1
            continue
        yield from _line(reader, at + 1, line)
        at += 1
    yield from reader.close()


def _line(reader: _Reader, number: int, line: str) -> Iterator[Block]:
    heading = _HEADING.match(line)
    if not line.lstrip().startswith("|"):
        reader.columns = ()
    if not line.strip():
        yield from reader.close()
    elif heading is not None:
        yield from reader.close()
        reader.add(number, line)
        yield from reader.close(HEADING)
        reader.head(len(heading[1]), line)
    elif line.lstrip().startswith("|"):
        yield from reader.close()
        reader.columns = reader.columns or tuple(line.strip().strip("|").split("|"))
        reader.add(number, line)
        yield from reader.close(ROW)
        return
    else:
        if _ITEM.match(line) or _LABEL.match(line) or len(reader.open) >= MOST_LINES:
            yield from reader.close()
        reader.add(number, line)


MAX_FILE_LINES = 200  # more is read only in part, or not at all
MAX_PART_LINES = MAX_FILE_LINES - 14  # a header and the way back take the rest
GROUP_LINES = 120  # of sections that share a part


@dataclass(frozen=True)
class Section:
    """A heading (empty for what stands above the first one) and its lines, the heading's first."""

    title: str
    lines: tuple[str, ...]


def level_of(line: str) -> int:
    """The level of a heading; 0 for a line that is none."""
    body = line.strip()
    level = len(body) - len(body.lstrip("#"))
    return level if 0 < level <= 6 and body[level : level + 1] in ("", " ", "\t") else 0


def heading_text(line: str) -> str:
    """The words of a heading."""
    return line.strip().lstrip("#").strip().rstrip("#").strip()


def headings(lines: Sequence[str]) -> list[tuple[int, int]]:
    """Where headings stand and their levels; none inside code or comments."""
    return [
        (at, level)
        for at, (layer, shown) in enumerate(layers(lines))
        if layer == TEXT and (level := level_of(shown))
    ]


def with_marks(text: str) -> str:
    """The text with headings that are underlined written with `#`."""
    lines = text.split("\n")
    found = layers(lines)
    underlines: set[int] = set()
    for at in range(1, len(lines)):
        under, above = lines[at].strip(), lines[at - 1].strip()
        alone = at == 1 or not lines[at - 2].strip()
        if len(under) < 2 or under.strip(under[0]) or under[0] not in "=-" or not alone:
            continue
        told = any(map(str.isalnum, above)) and above[0] not in "#>|-*+<" and item_start(above) < 0
        if told and found[at][0] == found[at - 1][0] == TEXT:
            end = "\r" if lines[at - 1].endswith("\r") else ""
            lines[at - 1] = f"{'#' if under[0] == '=' else '##'} {above}{end}"
            underlines.add(at)
    return "\n".join(line for at, line in enumerate(lines) if at not in underlines)


def sections(lines: Sequence[str], level: int) -> list[Section]:
    """The lines cut at the headings of this level or above it; the first may have no heading."""
    cuts = [at for at, found in headings(lines) if found <= level]
    bounds = [0, *cuts, len(lines)] if not cuts or cuts[0] else [*cuts, len(lines)]
    found = []
    for start, end in pairwise(bounds):
        headed = start in cuts
        title = heading_text(lines[start]) if headed else ""
        found.append(Section(title, tuple(lines[start:end])))
    return [one for one in found if one.title or any(line.strip() for line in one.lines)]


def split_level(lines: Sequence[str]) -> int:
    """The level at which the lines fall into several sections; 0 where there is none."""
    levels = [level for _, level in headings(lines)]
    for level in sorted(set(levels)):
        if levels.count(level) > 1:
            return level
    return 0


def grouped(found: Sequence[Section], aim: int = GROUP_LINES) -> list[list[Section]]:
    """Neighbours together up to the aim, so that no part is a scrap."""
    groups: list[list[Section]] = []
    size = 0
    for section in found:
        more = len(section.lines)
        if groups and size + more <= aim:
            groups[-1].append(section)
            size += more
        else:
            groups.append([section])
            size = more
    return groups


def runs(lines: Sequence[str], most: int = MAX_PART_LINES) -> list[list[str]]:
    """Lines without headings cut between blocks; code, tables and nested lists stay whole."""
    found: list[list[str]] = [[]]
    layer = [name for name, _ in layers(lines)]
    for at, line in enumerate(lines):
        if len(found[-1]) >= most - 20 and _may_cut(lines, layer, at):
            found.append([])
        found[-1].append(line)
    return [run for run in found if any(line.strip() for line in run)]


def _may_cut(lines: Sequence[str], layer: Sequence[str], at: int) -> bool:
    """May a new part begin with this line?"""
    line, above = lines[at], lines[at - 1]
    if layer[at] in (CODE, OPEN):
        begins = layer[at - 1] not in (CODE, OPEN)
        return begins and not line.startswith((" ", "\t"))
    if layer[at] != TEXT or not line.strip() or line.startswith((" ", "\t")):
        return False
    item = line.startswith(("- ", "* ", "+ ")) or line[:1].isdigit()
    return item or not above.strip()


def trimmed(lines: Sequence[str]) -> list[str]:
    """Without blank lines and rules at both ends; a rule is no knowledge."""
    found = list(lines)
    while found and _empty(found[-1]):
        found.pop()
    while found and _empty(found[0]):
        found.pop(0)
    return found


def _empty(line: str) -> bool:
    body = line.strip()
    return not body or (len(body) > 2 and not body.strip(body[0] + " ") and body[0] in "-*_")


# Of a body; what comes behind them is not compared.
MOST_CHARACTERS = 40_000
MOST_SENTENCES = 2_000
_STARTS = re.compile(r"\s{0,40}(?:[-*+>|]\s|\d{1,3}[.)]\s|#{1,6}\s|\||\*\*)")
# A full stop ends a sentence only where the next one starts: `e.g. this` goes on.
_ENDS = re.compile(r"(?<=[.!?][\s*_)\"'`])\s{0,4}(?=[^a-z\s])|(?<=[;。！？])\s{0,4}|\s—\s|\s--\s")
_MARKS = re.compile(r"^[\s>#*+|-]{1,40}|\d{1,3}[.)]\s")
# Labels of the form that memories are asked to have; they say nothing about this one.
_SENTENCES_LABEL = re.compile(
    r"(?i)^[*_]{0,2}(?:why|how to apply|rule|note|lesson)[*_]{0,2}:[*_]{0,2}\s*"
)


@dataclass(frozen=True)
class Sentence:
    """What stands on a line (from 1, of the body or of the file, as it was asked for)."""

    line: int
    text: str
    code: bool = False


def sentences(body: str, first_line: int = 1) -> list[Sentence]:
    """Every sentence in order: wrapped lines are joined, list items stand alone."""
    return list(islice(_sentences(body[:MOST_CHARACTERS], first_line), MOST_SENTENCES))


def _sentences(body: str, first_line: int) -> Iterator[Sentence]:
    for line, text, code in _blocks(body, first_line):
        if code:
            yield Sentence(line, text.strip(), True)
        else:
            yield from _split(line, text)


def _blocks(body: str, first_line: int) -> Iterator[tuple[int, str, bool]]:
    """Paragraphs and items with the line they start on; their line breaks stay."""
    held: list[str] = []
    start, fence = first_line, ""
    for number, line in enumerate(body.split("\n"), first_line):
        bare = line.strip()
        opened = "" if fence else opened_fence(line)
        if held and (opened or not bare or _STARTS.match(line)):
            yield start, "\n".join(held), False
            held = []
        if opened or (fence and closes_fence(line, fence)):
            fence = opened
        elif fence:
            if bare:
                yield number, bare, True
        elif bare:
            start = start if held else number
            held.append(line)
    if held:
        yield start, "\n".join(held), False


def _split(line: int, text: str) -> Iterator[Sentence]:
    ends = [(match.start(), match.end()) for match in _ENDS.finditer(text)]
    begun = 0
    for end, next_start in [*ends, (len(text), len(text))]:
        part = text[begun:end]
        said = _bare(part)
        if said:
            lead = len(part) - len(part.lstrip())
            yield Sentence(line + part.count("\n", 0, lead), said)
        line += text.count("\n", begun, next_start)
        begun = next_start


def _bare(part: str) -> str:
    """A sentence on one line, without the marks of its list and its label."""
    text = _MARKS.sub("", " ".join(part.split()), count=1)
    return _SENTENCES_LABEL.sub("", text).strip(" *_|")
