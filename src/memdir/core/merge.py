"""Three versions of a text become one, line by line; where both sides changed, ours stays."""

from __future__ import annotations

from collections import Counter

# More is no index but an attack on our time: lines between what is the same at both ends, and
# pairs of equal lines among them.
MOST_LINES = 3_000
MOST_PAIRS = 1_000_000

Edit = tuple[int, int, list[str]]  # these lines of the base, and what stands there instead


def merge(base: str, ours: str, theirs: str) -> tuple[str, int]:
    """`ours` with what leads from `base` to `theirs`; and how many places did not fit.

    Lines that both sides put in at the same place are kept, theirs first: nothing is lost.
    """
    old = base.split("\n")
    mine, wanted = _edits(old, ours.split("\n")), _edits(old, theirs.split("\n"))
    if mine is None or wanted is None:
        return ours, 1
    fitting = [edit for edit in wanted if edit not in mine]
    clashing = [edit for edit in fitting if any(_clash(edit, other) for other in mine)]
    taken = [(edit[:2], 0, edit[2]) for edit in fitting if edit not in clashing]
    out: list[str] = []
    at = 0
    for (start, end), _, lines in sorted([*taken, *((edit[:2], 1, edit[2]) for edit in mine)]):
        out += old[at:start] + lines
        at = end
    return "\n".join(out + old[at:]), len(clashing)


def _clash(one: Edit, other: Edit) -> bool:
    """Do both touch the same lines? Lines put in at the edge of a change stand beside it."""
    first, second = sorted((one, other), key=lambda edit: edit[:2])
    return second[0] < first[1]


def _edits(old: list[str], new: list[str]) -> list[Edit] | None:
    """What leads from the old lines to the new ones; None where finding out takes too long."""
    from difflib import SequenceMatcher  # only an undo across later changes needs it

    # What is the same at both ends goes first: a blank line in between must not pass for the end.
    head = _same(old, new)
    tail = _same(old[head:][::-1], new[head:][::-1])
    old, new = old[head : len(old) - tail], new[head : len(new) - tail]
    before, after = Counter(old), Counter(new)
    pairs = sum(count * after[line] for line, count in before.items())
    if max(len(old), len(new)) > MOST_LINES or pairs > MOST_PAIRS:
        return None
    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [(head + a, head + b, new[c:d]) for tag, a, b, c, d in codes if tag != "equal"]


def _same(one: list[str], other: list[str]) -> int:
    """How many lines from the start on are the same."""
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count
