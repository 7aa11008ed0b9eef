"""Near-duplicates: does an existing memory already say this?"""

from __future__ import annotations

import re
from collections.abc import Iterable

SAME = 0.8  # share of words in common; below it two memories may well be two memories
FEWEST_WORDS = 4  # shorter lines are alike by chance
_WORD = re.compile(r"[^\W_]+")


def words(text: str) -> frozenset[str]:
    """The words of a text, in any script, in lower case."""
    return frozenset(_WORD.findall(text.lower()))


def find_twin(text: str, others: Iterable[tuple[str, str]]) -> str:
    """The path of the memory whose line says nearly the same, else the empty string."""
    mine = words(text)
    if len(mine) < FEWEST_WORDS:
        return ""
    best, path = 0.0, ""
    for other, line in others:
        theirs = words(line)
        if not theirs or len(theirs) * SAME > len(mine) / SAME:
            continue
        share = len(mine & theirs) / len(mine | theirs)
        if share > best:
            best, path = share, other
    return path if best >= SAME else ""
