"""Near-duplicates: does an existing memory already say this?"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

SAME = 0.8  # share of words in common; below it two memories may well be two memories
FEWEST_WORDS = 4  # shorter lines are alike by chance
_WORD = re.compile(r"[^\W_]+")


def words(text: str) -> frozenset[str]:
    """The words of a text, in any script, in lower case."""
    return frozenset(_WORD.findall(text.lower()))


def find_twin(text: str, lines: Iterable[str], what_it_says: Callable[[str], str]) -> str:
    """The line that says nearly the same as this text, else the empty string.

    Two texts with that much in common share one of any few words, so most lines are passed over
    without taking them apart; `what_it_says` gives the part of a line that counts.
    """
    mine = words(text)
    if len(mine) < FEWEST_WORDS:
        return ""
    few = sorted(mine, key=len)[-(len(mine) - int(len(mine) * SAME) + 1) :]
    best, twin = 0.0, ""
    for line in lines:
        low = line.lower()
        if not any(word in low for word in few):
            continue
        theirs = words(what_it_says(line))
        share = len(mine & theirs) / len(mine | theirs)
        if share > best:
            best, twin = share, line
    return twin if best >= SAME else ""
