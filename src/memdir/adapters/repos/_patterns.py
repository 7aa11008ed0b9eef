"""Paths that fit a name with stars: a few are enough to know that something does."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from memdir.adapters.repos._bounds import FEW

STARS = re.compile(r"\*{1,3}")
MOST_PARTS = 4  # between stars
MOST_PATTERNS = 1_000  # of one look
MOST_TRIED = 20_000  # paths that hold the longest part of a pattern
APART = "\0"


class Patterns:
    """All paths as one text, in which the longest plain part of a pattern is found quickly."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.text = APART + APART.join(paths) + APART

    def find_all(self, patterns: Iterable[str]) -> dict[str, list[str]]:
        """What fits each pattern, where anything does."""
        few = islice(sorted(patterns), MOST_PATTERNS)
        found = {pattern: self.find(pattern) for pattern in few}
        return {pattern: paths for pattern, paths in found.items() if paths}

    def find(self, pattern: str) -> list[str]:
        """A few paths that fit; a star may cross folders, and a folder means what is below."""
        parts = STARS.split(pattern.removeprefix("./").strip("/"))
        if not 1 < len(parts) <= MOST_PARTS or not any(parts) or APART in pattern:
            return []
        found: list[str] = []
        for tried, path in enumerate(self._holding(max(parts, key=len))):
            if _fits(parts, path):
                found.append(path)
            if len(found) == FEW or tried == MOST_TRIED:
                break
        return found

    def _holding(self, part: str) -> Iterator[str]:
        at = self.text.find(part)
        while at >= 0:
            end = self.text.index(APART, at)
            yield self.text[self.text.rindex(APART, 0, at) + 1 : end]
            at = self.text.find(part, end)


def _fits(parts: Sequence[str], path: str) -> bool:
    """One part after the other, each at its first place: a regex would try all places of all."""
    text, at = f"/{path}/", 0
    first = f"/{parts[0]}" if parts[0] else ""
    for part in (first, *parts[1:-1], f"{parts[-1]}/"):
        at = text.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return True
