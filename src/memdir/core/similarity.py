"""Near-duplicates: does an existing memory already say this?"""

from __future__ import annotations

import re
from collections.abc import Callable

SAME = 0.8  # share of words in common; below it two memories may well be two memories
FEWEST_WORDS = 4  # shorter lines are alike by chance: of them all words must be the same
SHORTEST = 3  # words; less is hardly a sentence
FIRST_WORDS = 8  # of a text; a line that had to be cut still begins with them
# Chinese and Japanese are written without spaces: each sign counts as a word.
_SIGN = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_SIGN}]|[^\W_{_SIGN}]+")


def words(text: str) -> frozenset[str]:
    """The words of a text, in any script, in lower case."""
    return frozenset(_WORD.findall(text.lower()))


def find_twin(text: str, listing: str, what_it_says: Callable[[str], str]) -> str:
    """The line of a listing that says nearly the same as this text, else the empty string.

    Two texts with that much in common share one of any few words, so most lines are passed over
    without taking them apart; `what_it_says` gives the part of a line that counts.
    """
    mine = words(text)
    if len(mine) < SHORTEST:
        return ""
    enough = SAME if len(mine) >= FEWEST_WORDS else 1.0
    first = sorted(set(_WORD.findall(text.lower())[:FIRST_WORDS]), key=len)
    few = sorted(mine, key=len)[-(len(mine) - int(len(mine) * SAME) + 1) :] + first[-2:]
    best, twin = 0.0, ""
    for line in _lines_with(few, listing):
        theirs = words(what_it_says(line))
        share = len(mine & theirs) / len(mine | theirs)
        if share > best:
            best, twin = share, line
    return twin if best >= enough else ""


def _lines_with(few: list[str], listing: str) -> list[str]:
    """The lines that hold one of these words, in their order; lower case is compared."""
    low = listing.lower()
    if len(low) != len(listing):  # a letter whose lower case is two: places would not agree
        return [line for line in listing.split("\n") if any(word in line.lower() for word in few)]
    found: dict[int, str] = {}
    for word in few:
        at = low.find(word)
        while at >= 0:
            start = low.rfind("\n", 0, at) + 1
            end = low.find("\n", at)
            end = len(low) if end < 0 else end
            found[start] = listing[start:end]
            at = low.find(word, end)
    return [found[start] for start in sorted(found)]
