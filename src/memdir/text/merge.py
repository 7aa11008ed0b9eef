"""Three-way merge by lines; if both sides changed the same lines, ours stay."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

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
