"""A memory's text in blocks: what belongs to one paragraph, list item, table row or code block.

Whether a span is a claim depends on the sentence around it, and sentences run over line ends.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

from memdir.core.inline import structure

LONGEST_TEXT = 1_000_000  # characters of a memory that are looked at
LONGEST_LINE = 20_000  # characters of a line; what is longer is data, not language
MOST_LINES = 400  # of one block; then the next one begins
LONGEST_LEAD = 300  # characters of a line that introduces others
PROSE, FENCED, ROW, HEADING = "prose", "fenced", "row", "heading"
HIDDEN = "\x01"  # stands for every character of a code span where words are looked for

_FENCE = re.compile(r" {0,12}(?:[-*+>] {0,3})?(`{3,20}|~{3,20})")
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
        fence = _FENCE.match(line)
        if fence is not None and "`" not in line[fence.end() :]:
            yield from reader.close()
            end = _fence_end(lines, at, fence[1])
            for start in range(at + 1, end, MOST_LINES):
                reader.open, reader.first = lines[start : min(start + MOST_LINES, end)], start + 1
                yield from reader.close(FENCED)
            at = end + 1
            continue
        yield from _line(reader, at + 1, line)
        at += 1
    yield from reader.close()


def _fence_end(lines: list[str], at: int, mark: str) -> int:
    """The line that closes the code block; without one it runs to the end."""
    for number in range(at + 1, len(lines)):
        text = lines[number].strip().lstrip("> ")
        if text.startswith(mark) and not text.strip(mark[0]):
            return number
    return len(lines)


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
