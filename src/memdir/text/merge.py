"""Three versions of a text become one, line by line; where both sides changed, ours stays."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

DEEPEST = 12  # gaps within gaps; what is left then has changed
SMALL = 64  # lines of a gap that are still compared each with each

Change = tuple[int, int, list[str]]  # these lines of the old text, and what stands there instead


def changes(old: Sequence[str], new: Sequence[str]) -> list[Change]:
    """What leads from the old lines to the new ones, from the first to the last."""
    return [(a, b, list(new[c:d])) for a, b, c, d in gaps(old, new)]


def gaps(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """Where the two differ: the places in the old one, and those in the new one."""
    at = place = 0
    for left, right in [*align(old, new), (len(old), len(new))]:
        if left > at or right > place:
            yield at, left, place, right
        at, place = left + 1, right + 1


def align(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of places with the same line, both rising; lines that occur once are the anchors."""
    found: list[tuple[int, int]] = []
    todo = [(0, len(old), 0, len(new), DEEPEST)]
    while todo:
        a, b, c, d, depth = todo.pop()
        while a < b and c < d and old[a] == new[c]:
            found.append((a, c))
            a, c = a + 1, c + 1
        while a < b and c < d and old[b - 1] == new[d - 1]:
            b, d = b - 1, d - 1
            found.append((b, d))
        if a == b or c == d or not depth:
            continue
        anchors = _anchors(old, new, (a, b, c, d)) or _small(old, new, (a, b, c, d))
        found += anchors
        edges = [(a - 1, c - 1), *anchors, (b, d)]
        if anchors:
            todo += [
                (left + 1, right, above + 1, below, depth - 1)
                for (left, above), (right, below) in pairwise(edges)
            ]
    return sorted(found)


def _anchors(
    old: Sequence[str], new: Sequence[str], gap: tuple[int, int, int, int]
) -> list[tuple[int, int]]:
    """The longest rising row of lines that both sides have exactly once."""
    a, b, c, d = gap
    before, after = Counter(old[a:b]), Counter(new[c:d])
    places = {new[at]: at for at in range(c, d) if after[new[at]] == 1}
    single = (at for at in range(a, b) if before[old[at]] == 1)
    pairs = [(at, places[old[at]]) for at in single if old[at] in places]
    ends: list[int] = []  # the smallest place that a row of that length ends with
    rows: list[int] = []  # and its pair
    back = [-1] * len(pairs)
    for at, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        back[at] = rows[length - 1] if length else -1
        ends[length : length + 1] = [place]
        rows[length : length + 1] = [at]
    row: list[tuple[int, int]] = []
    at = rows[-1] if rows else -1
    while at >= 0:
        row.append(pairs[at])
        at = back[at]
    return row[::-1]


def _small(
    old: Sequence[str], new: Sequence[str], gap: tuple[int, int, int, int]
) -> list[tuple[int, int]]:
    """Without anchors: each line with each, where that is cheap."""
    a, b, c, d = gap
    if max(b - a, d - c) > SMALL:
        return []
    from difflib import SequenceMatcher

    blocks = SequenceMatcher(None, old[a:b], new[c:d], autojunk=False).get_matching_blocks()
    return [(a + one + n, c + other + n) for one, other, size in blocks for n in range(size)]


def merge(base: str, ours: str, theirs: str) -> tuple[str, int]:
    """`ours` with what leads from `base` to `theirs`; and how many places did not fit.

    Lines that both sides put in at the same place are kept, theirs first: nothing is lost.
    """
    old = base.split("\n")
    mine, wanted = changes(old, ours.split("\n")), changes(old, theirs.split("\n"))
    taken, clashing = _fitting(wanted, mine)
    out: list[str] = []
    at = 0
    both = [*((edit[:2], 0, edit[2]) for edit in taken), *((edit[:2], 1, edit[2]) for edit in mine)]
    for (start, end), _, lines in sorted(both):
        out += old[at:start] + lines
        at = end
    return "\n".join(out + old[at:]), clashing


def _fitting(wanted: list[Change], mine: list[Change]) -> tuple[list[Change], int]:
    """The changes that touch no line of ours, and how many others do; both lists are in order."""
    fitting, clashing, first = list[Change](), 0, 0
    for edit in wanted:
        while first < len(mine) and mine[first][1] < edit[0]:
            first += 1
        near, at = list[Change](), first
        while at < len(mine) and mine[at][0] <= edit[1]:
            near.append(mine[at])
            at += 1
        if edit in near:
            continue
        clash = any(_clash(edit, other) for other in near)
        clashing += clash
        fitting += [] if clash else [edit]
    return fitting, clashing


def _clash(one: Change, other: Change) -> bool:
    """Do both touch the same lines? Lines put in at the edge of a change stand beside it."""
    first, second = sorted((one, other), key=lambda edit: edit[:2])
    return second[0] < first[1]
