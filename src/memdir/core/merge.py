"""Three versions of a text become one, line by line; where both sides changed, ours stays."""

from __future__ import annotations

from memdir.core.alignment import Change, changes


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
