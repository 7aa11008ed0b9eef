"""Three-way merges: of any text line by line, and of MEMORY.md of two branches.

In an index, pointers are merged by target, other lines as text. A pointer that one side removed
goes only if the other side left it unchanged. If both sides changed it, both lines stay.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from memdir.format.pointer import is_table_row, parse_pointers
from memdir.text.markdown import BOM, heading_level, list_item_start

MAX_DEPTH = 12  # nested gaps; deeper ones count as changed
SMALL_GAP_LINES = 64  # larger gaps are not compared line by line

Region = tuple[int, int, slice | None, slice | None]


def merge_three_texts(base: str, ours: str, theirs: str) -> tuple[str, int]:
    """The merged text and the number of conflicts, in which ours wins.

    If both sides insert lines at the same place, both are kept, theirs first.
    """
    old, mine, other = base.split("\n"), ours.split("\n"), theirs.split("\n")
    out: list[str] = []
    done = clashes = 0
    for start, end, our_part, their_part in find_changed_regions(old, mine, other):
        out += old[done:start]
        done = end
        our_lines = mine[our_part] if our_part else []
        their_lines = other[their_part] if their_part else []
        if our_part is None:
            out += their_lines
        elif their_part is None or our_lines == their_lines:
            out += our_lines
        elif start == end:
            out += their_lines + our_lines
        else:
            out += our_lines
            clashes += 1
    return "\n".join(out + old[done:]), clashes


def find_changed_regions(
    old: Sequence[str], ours: Sequence[str], theirs: Sequence[str]
) -> Iterator[Region]:
    """Changed regions: start and end in `old`, and the part of each side that changed it.

    An insertion at the edge of the other side's change is a region of its own.
    """
    edits = [(*gap, side) for side, new in enumerate((ours, theirs)) for gap in _gaps(old, new)]
    edits.sort(key=lambda edit: (edit[0], edit[1], edit[4]))
    i = 0
    while i < len(edits):
        start, end = edits[i][:2]
        sides: list[list[tuple[int, int, int, int, int]]] = [[], []]
        while i < len(edits) and (edits[i][0] < end or edits[i][:2] == (start, end)):
            sides[edits[i][4]].append(edits[i])
            end = max(end, edits[i][1])
            i += 1
        parts = [
            slice(side[0][2] - (side[0][0] - start), side[-1][3] + (end - side[-1][1]))
            if side
            else None
            for side in sides
        ]
        yield start, end, parts[0], parts[1]


def _gaps(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    i = j = 0
    for left, right in [*align_text_lines(old, new), (len(old), len(new))]:
        if left > i or right > j:
            yield i, left, j, right
        i, j = left + 1, right + 1


def align_text_lines(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Patience diff: index pairs of equal lines, anchored at lines that occur once."""
    pairs: list[tuple[int, int]] = []
    todo = [(0, len(old), 0, len(new), MAX_DEPTH)]
    while todo:
        a, b, c, d, depth = todo.pop()
        while a < b and c < d and old[a] == new[c]:
            pairs.append((a, c))
            a, c = a + 1, c + 1
        while a < b and c < d and old[b - 1] == new[d - 1]:
            b, d = b - 1, d - 1
            pairs.append((b, d))
        if a == b or c == d or not depth:
            continue
        anchors = _anchors(old, new, (a, b, c, d)) or _small(old, new, (a, b, c, d))
        pairs += anchors
        edges = [(a - 1, c - 1), *anchors, (b, d)]
        if anchors:
            todo += [
                (left + 1, right, above + 1, below, depth - 1)
                for (left, above), (right, below) in pairwise(edges)
            ]
    return sorted(pairs)


def _anchors(
    old: Sequence[str], new: Sequence[str], gap: tuple[int, int, int, int]
) -> list[tuple[int, int]]:
    a, b, c, d = gap
    before, after = Counter(old[a:b]), Counter(new[c:d])
    places = {new[j]: j for j in range(c, d) if after[new[j]] == 1}
    pairs = [(i, places[old[i]]) for i in range(a, b) if before[old[i]] == 1 and old[i] in places]
    ends: list[int] = []  # smallest end of a sequence, by length
    rows: list[int] = []  # the pair at that end
    back = [-1] * len(pairs)
    for i, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        back[i] = rows[length - 1] if length else -1
        ends[length : length + 1] = [place]
        rows[length : length + 1] = [i]
    row: list[tuple[int, int]] = []
    i = rows[-1] if rows else -1
    while i >= 0:
        row.append(pairs[i])
        i = back[i]
    return row[::-1]


def _small(
    old: Sequence[str], new: Sequence[str], gap: tuple[int, int, int, int]
) -> list[tuple[int, int]]:
    a, b, c, d = gap
    if max(b - a, d - c) > SMALL_GAP_LINES:
        return []
    from difflib import SequenceMatcher

    blocks = SequenceMatcher(None, old[a:b], new[c:d], autojunk=False).get_matching_blocks()
    return [(a + i + n, c + j + n) for i, j, size in blocks for n in range(size)]


MARKS = ("<<<<<<< ours", "=======", ">>>>>>> theirs")
Key = tuple[str, int]  # the memory and the number of its entry
NO_KEY: Key = ("", 0)


@dataclass(frozen=True)
class Merged:
    text: str
    conflicts: int = 0
    added: tuple[str, ...] = ()  # by theirs
    dropped: tuple[str, ...] = ()  # by theirs
    joined: tuple[str, ...] = ()  # changed by both sides; both lines stay


def merge_indexes(base: str, ours: str, theirs: str, *, marks: bool = True) -> Merged:
    """Where both sides rewrote prose, both texts stay, with conflict marks or without."""
    if ours == theirs or theirs == base:
        return Merged(ours)
    sides = [_read_entries(text) for text in (base, ours, theirs)]
    known = [{key: line for key, line in side if key[0]} for side in sides]
    settled: dict[Key, list[str]] = {}
    joined: set[str] = set()
    for key in {**known[1], **known[2]}:
        was, our, their = (side.get(key, "") for side in known)
        chosen = _choose(was, our, their)
        if chosen is None:  # removed by one side and changed by the other: the change wins
            joined.add(key[0])
        both = [line for line in (our, their) if line]
        settled[key] = both if chosen is None else [chosen] if chosen else []
    # An entry missing on one side counts as new on the other, so nothing removes it.
    common = set.intersection(*map(set, known))
    start = _settle(
        sides[0], {key: settled.get(key, []) if key in common else [] for key in known[0]}
    )
    lines, conflicts = _merge_lines(
        start, *(_settle(side, settled) for side in sides[1:]), marks=marks
    )
    before = {key[0] for key in known[1]}
    after = {key[0] for key, lines in settled.items() if lines}
    # Byte order mark and line ends are ours, unless only theirs changed them.
    bom, line_end, last_end = map(_choose, *map(_frame, (base, ours, theirs)))
    text = "\n".join(lines) + (last_end or "" if lines else "")
    return Merged(
        f"{bom}{text}".replace("\n", line_end or "\n"),
        conflicts,
        tuple(sorted(after - before)),
        tuple(sorted(before - after)),
        tuple(sorted(joined)),
    )


def _read_entries(text: str) -> list[tuple[Key, str]]:
    count: Counter[str] = Counter()
    entries = []
    for line in text.removeprefix(BOM).replace("\r\n", "\n").removesuffix("\n").split("\n"):
        pointers = parse_pointers(line, 1)
        is_entry = pointers and (list_item_start(line) >= 0 or is_table_row(line))
        target = pointers[0].target if is_entry else ""
        count[target] += 1
        entries.append(((target, count[target]) if target else NO_KEY, line))
    return entries if text.removeprefix(BOM) else []


def _settle(entries: Sequence[tuple[Key, str]], settled: dict[Key, list[str]]) -> list[str]:
    return [text for key, line in entries for text in settled.get(key, [line])]


def _choose(was: str, ours: str, theirs: str) -> str | None:
    """Three-way choice; None if both sides changed it differently."""
    if ours in (was, theirs):
        return theirs
    return ours if theirs == was else None


def _merge_lines(
    old: list[str], ours: list[str], theirs: list[str], *, marks: bool
) -> tuple[list[str], int]:
    out: list[str] = []
    done = conflicts = 0
    for start, end, our_part, their_part in find_changed_regions(old, ours, theirs):
        out += old[done:start]
        done = end
        mine, other = ours[our_part or slice(0)], theirs[their_part or slice(0)]
        added = [line for line in other if line not in mine]
        prose = any(line.strip() and not _read_entries(line)[0][0][0] for line in (*mine, *other))
        if our_part is None or their_part is None or start == end or not prose:
            # An entry must not slip below a heading that the other side added.
            headed = any(map(heading_level, mine)) and not any(map(heading_level, other))
            out += added + mine if headed else mine + added
        elif mine != other:
            marked = [MARKS[0], *mine, MARKS[1], *other, MARKS[2]]
            out += marked if marks else [*mine, *other]
            conflicts += 1
        else:
            out += mine
    return list(_once(out + old[done:])), conflicts


def _once(lines: list[str]) -> Iterator[str]:
    """An entry that both sides moved stays where it comes first."""
    seen: set[str] = set()
    for line in lines:
        if line not in seen or not parse_pointers(line, 1):
            yield line
        seen.add(line)


def _frame(text: str) -> tuple[str, str, str]:
    bom = BOM if text.startswith(BOM) else ""
    return bom, "\r\n" if "\r\n" in text else "\n", "\n" if text.endswith("\n") else ""
