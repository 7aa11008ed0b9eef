"""One path, three versions: what stands afterwards, and what of ours waits as a variant."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TypeVar

from memdir.format.merge import find_changed_regions, merge_indexes
from memdir.hot.memory import INDEX, decode, encode, read_header

T = TypeVar("T", str, bytes)


@dataclass(frozen=True)
class Merged:
    """`data` is None for no file; `variant` is our version, if both cannot stand."""

    data: bytes | None
    variant: bytes | None = None


def merge_path(path: str, base: bytes | None, ours: bytes | None, theirs: bytes | None) -> Merged:
    """What was edited stays against what was removed; where both changed the same lines, theirs
    stands, since others have it already, and ours waits.
    """
    if ours == theirs or theirs == base:
        return Merged(ours)
    if ours == base:
        return Merged(theirs)
    if ours is None or theirs is None:
        return Merged(theirs if ours is None else ours)
    if path == INDEX:
        texts = decode(base or b""), decode(ours), decode(theirs)
        return Merged(encode(merge_indexes(*texts, marks=False).text))
    if base is None:  # both are new: one may have all of the other
        mine, other = ours.split(b"\n"), theirs.split(b"\n")
        if _has(mine, other):
            return Merged(ours)
        return Merged(theirs, None if _has(other, mine) else ours)
    merged = merge_synced_lines(decode(base), decode(ours), decode(theirs))
    return Merged(theirs, ours) if merged is None else Merged(encode(merged))


def merge_synced_lines(base: str, ours: str, theirs: str) -> str | None:
    """None where both changed the same lines to different ones."""
    old, mine, other = base.split("\n"), ours.split("\n"), theirs.split("\n")
    out: list[str] = []
    done = 0
    for start, end, our_part, their_part in find_changed_regions(old, mine, other):
        out += old[done:start]
        done = end
        our_lines = mine[our_part or slice(0)]
        their_lines = other[their_part or slice(0)]
        if our_part is None or (their_part is not None and _has(their_lines, our_lines)):
            out += their_lines
        elif their_part is None or _has(our_lines, their_lines):
            out += our_lines
        elif start == end and (inserted := _merge_inserted(our_lines, their_lines)):
            out += inserted
        else:
            return None
    text = "\n".join(out + old[done:])
    # Two keys of one name in a header are no merge.
    known = {problem for side in (ours, theirs) for _, problem in read_header(side).problems}
    new = {problem for _, problem in read_header(text).problems}
    return text if new <= known else None


def _has(lines: list[T], others: list[T]) -> bool:
    """All of the others stand in these lines, in their order."""
    rest = iter(lines)
    return all(line in rest for line in others)


def _merge_inserted(ours: list[str], theirs: list[str]) -> list[str]:
    """Nothing if they are the same in part: repeating that, merge by merge, would never end."""
    mine, other = _count_lines(ours), _count_lines(theirs)
    if not mine.keys() & other.keys():
        return theirs + ours
    return theirs if mine <= other else ours if other <= mine else []


def _count_lines(lines: list[str]) -> Counter[str]:
    """The lines that say something."""
    return Counter(line for line in lines if any(map(str.isalnum, line)))
