"""The blocks of an index, what a merge moves about: read from a text, written as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from memdir.core.outline import BLANK, MORE, Line, Lookup, read_outline
from memdir.core.pointer import LINK, read_pointers

ENTRY, MARK = "entry", "mark"
Key = tuple[str, int]  # the memory, and which of its entries
NO_KEY: Key = ("", 0)


@dataclass(frozen=True)
class Block:
    """An entry with the lines that continue it, or one line of anything else."""

    text: str
    kind: str
    key: Key = NO_KEY
    ends: tuple[str, ...] = ()  # of its lines; empty: as the others
    theirs: bool = False

    @property
    def free(self) -> bool:
        """True for what can stand beside anything: its meaning does not depend on its place."""
        return self.kind in (ENTRY, BLANK)


@dataclass(frozen=True)
class Version:
    """One of the three texts: the kinds of line end it has, and whether its last line has one."""

    bom: str
    blocks: list[Block]
    ends: frozenset[str]
    ended: bool

    @property
    def style(self) -> str:
        """The one line end it has; empty where there is none or more than one."""
        return next(iter(self.ends)) if len(self.ends) == 1 else ""

    @property
    def keyed(self) -> dict[Key, Block]:
        """Its entries by what they lead to."""
        return {block.key: block for block in self.blocks if block.kind == ENTRY}


def targets_of(*texts: str) -> set[str]:
    """What the links of these lead to, so that a [[wikilink]] and a link can mean the same."""
    lines = (line for text in texts for line in text.split("\n") if "](" in line)
    return {one.target for line in lines for one in read_pointers(line, 1) if one.form == LINK}


def read_version(text: str, lookup: Lookup) -> Version:
    """A text as blocks."""
    bom, lines = read_outline(text, lookup)
    blocks: list[Block] = []
    count: Counter[str] = Counter()
    at = 0
    while at < len(lines):
        end, key = at + 1, NO_KEY
        if lines[at].entry:
            while end < len(lines) and lines[end].kind == MORE:
                end += 1
            target = lines[at].paths[0] or lines[at].pointers[0].target
            count[target] += 1
            key = (target, count[target])
        blocks.append(_block(lines[at:end], key))
        at = end
    ended = not lines or bool(lines[-1].end)
    return Version(bom, blocks, frozenset(line.end for line in lines if line.end), ended)


def _block(lines: Sequence[Line], key: Key) -> Block:
    text = "\n".join(line.text for line in lines)
    kind = ENTRY if key != NO_KEY else lines[0].kind
    return Block(text, kind, key, tuple(line.end for line in lines))


def write_version(blocks: Sequence[Block], old: Version, mine: Version, other: Version) -> str:
    """Blocks as a text: line ends, byte order mark and end as ours, or as theirs changed them."""
    chosen = mine.style if other.style == old.style else other.style
    style = chosen or mine.style or other.style or "\n"
    uniform = all(len(side.ends) < 2 for side in (old, mine, other))
    bom = mine.bom if other.bom == old.bom else other.bom
    ended = mine.ended if other.ended == old.ended else other.ended
    out: list[tuple[str, str]] = []
    for block in blocks:
        lines = block.text.split("\n")
        own = block.ends if len(block.ends) == len(lines) else ("",) * len(lines)
        out += zip(lines, [style if uniform else end or style for end in own], strict=True)
    if out and not ended:
        out[-1] = (out[-1][0], "")
    return bom + "".join(line + end for line, end in out)
