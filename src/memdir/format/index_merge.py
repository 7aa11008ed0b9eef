"""Merges MEMORY.md of two branches: pointers by target, other lines as text.

A pointer that one side removed goes only if the other side left it unchanged. If both sides
changed it, both lines stay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memdir.format.pointer import is_table_row, parse_pointers
from memdir.text.markdown import BOM, heading_level, list_item_start
from memdir.text.merge import find_changed_regions

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


def merge_indexes(base: str, ours: str, theirs: str) -> Merged:
    """Conflict marks appear only where both sides rewrote prose."""
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
    lines, conflicts = _merge_lines(start, *(_settle(side, settled) for side in sides[1:]))
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


def _merge_lines(old: list[str], ours: list[str], theirs: list[str]) -> tuple[list[str], int]:
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
            out += [MARKS[0], *mine, MARKS[1], *other, MARKS[2]]
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
