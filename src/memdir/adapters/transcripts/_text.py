"""What every reader does with a text: harmless characters, a bound, a time, the words of others."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from math import isfinite

from memdir.core.dates import parse_time
from memdir.core.inert import visible
from memdir.core.patterns import pattern
from memdir.core.transcript import Said

TEXT = 32 * 1024  # characters of one thing that was said
ALL_TEXT = 4 * 1024 * 1024  # characters of all that is read at once
MOST = 20_000  # things that are read at once
LEFT_OUT = "\n[… {:,} characters left out …]\n"
_LATEST = 253_402_300_800  # the year 10000
_HALVES = pattern("[\ud800-\udfff]")


def readable(text: str) -> str:
    """A text that can be written down and compared: no hidden characters, at most so long."""
    if len(text) > TEXT:
        half = TEXT // 2
        text = text[:half] + LEFT_OUT.format(len(text) - 2 * half) + text[-half:]
    if not text.isascii():
        text = _HALVES.sub("\ufffd", text)
    return visible(text).strip()


def seconds(value: object) -> float:
    """Since 1970, of an ISO time or of milliseconds; 0 for anything else."""
    if isinstance(value, str):
        return max(parse_time(value) or 0.0, 0.0)
    if isinstance(value, int | float) and not isinstance(value, bool):
        # Compared before it is divided: an integer may be too large for a float.
        return value / 1000 if 0 < value < _LATEST * 1000 and isfinite(value) else 0.0
    return 0.0


def words(value: object) -> str:
    """The value where it is a text, else nothing."""
    return value if isinstance(value, str) else ""


class Kept:
    """The newest of what was said, within the bounds."""

    def __init__(self) -> None:
        self.said: deque[Said] = deque()
        self.size = 0
        self.cut = False

    def add(self, more: Iterable[Said]) -> None:
        """At the end; what is too much goes at the other."""
        for said in more:
            self.said.append(said)
            self.size += _size(said)
            while self.size > ALL_TEXT or len(self.said) > MOST:
                self.size -= _size(self.said.popleft())
                self.cut = True


def _size(said: Said) -> int:
    return len(said.text) + sum(map(len, said.wrote))
