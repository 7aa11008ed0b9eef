"""The invariant: every line of knowledge is there afterwards, or accounted for.

A line is what is left of it without its marks (bullet, number, heading, quote, blanks): those
change with the place. Lines without a letter or digit are no knowledge.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from memdir.core import frontmatter
from memdir.core.inline import plain as unescaped
from memdir.core.pointer import item_start, read_pointers
from memdir.core.restructuring.work import Accounted

_MARKS = re.compile(r"^(?:[\s>#*+|\ufeff-]|\d{1,9}[.)]\s)+")
_SEE = re.compile(r"[\s(—–-]*\bsee\s*:?\s*$", re.IGNORECASE)  # in front of a link only
_ENDS = " \t\r#|*"


@dataclass(frozen=True)
class Lost:
    """A line that would disappear: never allowed to happen."""

    path: str
    line: int
    text: str


def bare(line: str) -> str:
    """A line without its marks, its blanks single."""
    return " ".join(_MARKS.sub("", line.replace("\ufeff", "")).rstrip(_ENDS).split())


def holds(text: str, words: str) -> bool:
    """Does a text say these words, wherever its lines break?"""
    return bare(words) in " ".join(text.split())


def find_lost(
    before: Mapping[str, str], after: Mapping[str, str], accounted: Iterable[Accounted]
) -> list[Lost]:
    """The lines of before that are nowhere afterwards and that nobody accounted for."""
    there = _Said(after)
    told = {bare(one.text) for one in accounted}
    found = []
    for path, text in before.items():
        for number, line in enumerate(text.split("\n"), 1):
            said = bare(line)
            if not any(map(str.isalnum, said)) or said in told:
                continue
            if not there.says(line, said):
                found.append(Lost(path, number, line))
    return found


class _Said:
    """Everything the files say: their lines for a quick look, their whole text for the rest."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._lines = {bare(line) for text in texts.values() for line in text.split("\n")}
        self._texts = list(texts.values())
        self._whole = ""

    def says(self, line: str, said: str) -> bool:
        if said in self._lines or self._flowing(said):
            return True
        if self._points(line.strip()):
            return True
        # In a header the value counts, however it is quoted there.
        _, colon, value = said.partition(": ")
        return bool(colon) and self._flowing(bare(frontmatter.unquote(value.strip())))

    def _points(self, line: str) -> bool:
        """A pointer is there when its title and all words beside it are."""
        pointers = read_pointers(line, 1)
        if not pointers:
            return False
        front = _SEE.sub("", line[max(item_start(line), 0) : pointers[0].start])
        words = [front, *(part for each in pointers for part in (each.title.strip("`"), each.hook))]
        return all(self._flowing(bare(each)) for each in words if any(map(str.isalnum, each)))

    def _flowing(self, said: str) -> bool:
        if not self._whole:
            parts = [" ".join(text.split()) for text in self._texts]
            self._whole = "\n".join([*parts, *map(unescaped, parts)])
        return said in self._whole
