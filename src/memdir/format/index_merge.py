"""Merges MEMORY.md of two branches: pointers by target, other lines as text.

A pointer that one side removed goes only if the other side left it unchanged. If both sides
changed it, both texts stay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from memdir.format.outline import BLANK, HEADING, MORE, Lookup, read_index_lines
from memdir.format.pointer import LINK, parse_pointers
from memdir.text.markdown import BOM
from memdir.text.merge import align_text_lines, find_changed_regions

ENTRY, MARK = "entry", "mark"
MARKS = ("<<<<<<< ours", "=======", ">>>>>>> theirs")
Key = tuple[str, int]  # the memory and the number of its entry
NO_KEY: Key = ("", 0)


@dataclass(frozen=True)
class Block:
    """A line, or an entry with the lines that continue it."""

    text: str
    kind: str
    key: Key = NO_KEY
    theirs: bool = False

    @property
    def free(self) -> bool:
        """True if its meaning does not depend on its position."""
        return self.kind in (ENTRY, BLANK)


@dataclass(frozen=True)
class Merged:
    text: str
    conflicts: int = 0
    added: tuple[str, ...] = ()  # by theirs
    dropped: tuple[str, ...] = ()  # by theirs
    joined: tuple[str, ...] = ()  # changed by both sides; both texts stay


def merge_indexes(base: str, ours: str, theirs: str) -> Merged:
    """Conflict marks appear only where both sides rewrote prose."""
    if ours == theirs or theirs == base:
        return Merged(ours)
    # Link targets are known files, so a [[wikilink]] and a link can be the same entry.
    lines = [line for text in (base, ours, theirs) for line in text.split("\n") if "](" in line]
    links = [item for line in lines for item in parse_pointers(line, 1) if item.form == LINK]
    lookup = Lookup({item.target for item in links}, {})
    old, mine, other = (_read_blocks(text, lookup) for text in (base, ours, theirs))
    entries = [
        {block.key: block.text for block in side if block.key[0]} for side in (old, mine, other)
    ]
    settled, joined = _settle(*entries)
    # An entry missing on one side counts as new on the other, so nothing removes it.
    known = set.intersection(*map(set, entries))
    start = _settled(old, {key: settled[key] for key in known if key in settled})
    our = _settled(mine, settled)
    their = [replace(block, theirs=True) for block in _settled(other, settled)]
    texts = ([block.text for block in side] for side in (start, our, their))
    blocks, conflicts, done = list[Block](), 0, 0
    for first, last, our_part, their_part in find_changed_regions(*texts):
        blocks += start[done:first]
        done = last
        if our_part is None or their_part is None:
            blocks += our[our_part] if our_part else their[their_part or slice(0)]
        else:
            region, count = _reconcile(our[our_part], their[their_part], inserted=first == last)
            blocks += region
            conflicts += count
    blocks = _once(blocks + start[done:])
    before = {key[0] for key in entries[1]}
    after = {block.key[0] for block in blocks if block.kind == ENTRY}
    # Byte order mark and line ends are ours, unless only theirs changed them.
    bom, line_end, last_end = map(_choose, *map(_frame, (base, ours, theirs)))
    text = "\n".join(block.text for block in blocks) + (last_end or "" if blocks else "")
    return Merged(
        f"{bom}{text}".replace("\n", line_end or "\n"),
        conflicts,
        tuple(sorted(after - before)),
        tuple(sorted(before - after)),
        tuple(sorted(joined)),
    )


def _read_blocks(text: str, lookup: Lookup) -> list[Block]:
    _, lines = read_index_lines(text, lookup)
    blocks: list[Block] = []
    count: Counter[str] = Counter()
    i = 0
    while i < len(lines):
        end, kind, key = i + 1, lines[i].kind, NO_KEY
        if lines[i].entry:
            while end < len(lines) and lines[end].kind == MORE:
                end += 1
            target = lines[i].paths[0] or lines[i].pointers[0].target
            count[target] += 1
            kind, key = ENTRY, (target, count[target])
        blocks.append(Block("\n".join(line.text for line in lines[i:end]), kind, key))
        i = end
    return blocks


def _frame(text: str) -> tuple[str, str, str]:
    bom = BOM if text.startswith(BOM) else ""
    return bom, "\r\n" if "\r\n" in text else "\n", "\n" if text.endswith("\n") else ""


def _settle(
    old: Mapping[Key, str], mine: Mapping[Key, str], other: Mapping[Key, str]
) -> tuple[dict[Key, str], set[str]]:
    settled: dict[Key, str] = {}
    joined: set[str] = set()
    for key in {**mine, **other}:
        was, our, their = (side.get(key, "") for side in (old, mine, other))
        chosen = _choose(was, our, their)
        if chosen is None:
            joined.add(key[0])
            # Removed by one side and changed by the other: the change wins.
            chosen = _join(was, our, their) if our and their else our or their
        if chosen:
            settled[key] = chosen
    return settled, joined


def _choose(was: str, ours: str, theirs: str) -> str | None:
    """Three-way choice; None if both sides changed it differently."""
    if ours in (was, theirs):
        return theirs
    return ours if theirs == was else None


def _join(was: str, ours: str, theirs: str) -> str:
    """The changed title (ours if both did) with both hooks; two lines if it cannot be joined."""
    first, second = _halves(ours), _halves(theirs)
    if first is None or second is None:
        return f"{ours}\n{theirs}"
    base = _halves(was) or ("", "")
    link = _choose(base[0], first[0], second[0]) or first[0]
    hook = _choose(base[1], first[1], second[1])
    if hook is None:
        mine, other = first[1].strip(" \t—–-:"), second[1].strip(" \t—–-:")
        hook = first[1] if other in mine else second[1] if mine in other else ""
        hook = hook or f"{first[1].rstrip()}; {other}"
    return link + hook


def _halves(text: str) -> tuple[str, str] | None:
    result = (
        parse_pointers(text, 1) if "\n" not in text and not text.lstrip().startswith("|") else []
    )
    if len(result) != 1 or result[0].form != LINK:
        return None
    return text[: result[0].end], text[result[0].end :]


def _settled(blocks: Sequence[Block], settled: Mapping[Key, str]) -> list[Block]:
    return [
        block if block.kind != ENTRY else Block(settled[block.key], ENTRY, block.key)
        for block in blocks
        if block.kind != ENTRY or block.key in settled
    ]


def _reconcile(
    ours: list[Block], theirs: list[Block], *, inserted: bool
) -> tuple[list[Block], int]:
    out: list[Block] = []
    conflicts = i = place = 0
    pairs = align_text_lines([block.text for block in ours], [block.text for block in theirs])
    for left, right in [*pairs, (len(ours), len(theirs))]:
        mine, other = ours[i:left], theirs[place:right]
        if inserted or all(block.free for block in (*mine, *other)):
            out += _beside(mine, other)
        elif mine or other:
            marks = [Block(text, MARK) for text in MARKS]
            out += [marks[0], *mine, marks[1], *other, marks[2]]
            conflicts += 1
        out += ours[left : left + 1]
        i, place = left + 1, right + 1
    return out, conflicts


def _beside(ours: list[Block], theirs: list[Block]) -> list[Block]:
    """Both sides; lines before either's first heading come first, in the section above."""
    (lead, rest), (other, more) = _split(ours), _split(theirs)
    if not rest and not more and any(block.kind == BLANK for block in lead):
        other = [block for block in other if block.kind != BLANK]
    out = [*lead, *other]
    for part in (rest, more):
        parted = not out or out[-1].kind == BLANK or not part or part[0].kind == BLANK
        out += part if parted else [Block("", BLANK), *part]
    return out


def _split(blocks: list[Block]) -> tuple[list[Block], list[Block]]:
    i = next((i for i, block in enumerate(blocks) if block.kind == HEADING), len(blocks))
    while 0 < i < len(blocks) and blocks[i - 1].kind == BLANK:
        i -= 1
    return blocks[:i], blocks[i:]


def _once(blocks: list[Block]) -> list[Block]:
    """If both sides moved an entry, ours stays."""
    entries = [block for block in blocks if block.kind == ENTRY]
    ours = {block.key for block in entries if not block.theirs}
    out, seen = list[Block](), set[Key]()
    for block in blocks:
        if block.kind == ENTRY:
            if block.key in seen or (block.theirs and block.key in ours):
                continue
            seen.add(block.key)
        out.append(block)
    return out
