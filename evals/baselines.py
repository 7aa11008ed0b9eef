"""Simple searches that ours must beat in the same run; each has the `find` of any search."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable

from memdir.errors import MemdirError
from memdir.hot import memory as memory_module
from memdir.hot.memory import Memory
from memdir.hot.recall import Found, Hit
from memdir.store.ports import Store

K1, B = 1.2, 0.75  # the usual constants of BM25
_WORD = re.compile(r"\w+")


def words(text: str) -> list[str]:
    """Lower-case words, nothing more: no stems, no stop words."""
    return _WORD.findall(text.lower())


class _Baseline:
    """Reads the store once, then ranks it for any number of prompts."""

    def __init__(self, store: Store) -> None:
        self._read: list[tuple[Memory, str]] = []
        for memory in store.scan().memories:
            try:
                self._read.append((memory, memory_module.decode(store.view(memory.path))))
            except MemdirError:
                continue  # the evaluation of the store itself reports it
        self._prepare()

    def find(self, prompt: str, limit: int) -> Found:
        """The memories with a positive score, best first; ties by path."""
        asked = dict.fromkeys(words(prompt))
        scored = [(self._score(at, asked), at) for at in range(len(self._read))]
        best = sorted((-score, self._read[at][0].path, at) for score, at in scored if score > 0)
        hits = [Hit(self._read[at][0], -score, -score, {}) for score, _, at in best[:limit]]
        return Found(hits, len(self._read), [])

    def _prepare(self) -> None:
        """Once per store."""

    def _score(self, at: int, asked: dict[str, None]) -> float:
        raise NotImplementedError


class Grep(_Baseline):
    """The number of lines with any word of the prompt in them, as `grep -ciw` counts."""

    def _prepare(self) -> None:
        self._lines = [[set(words(line)) for line in text.split("\n")] for _, text in self._read]

    def _score(self, at: int, asked: dict[str, None]) -> float:
        return sum(1 for line in self._lines[at] if not line.isdisjoint(asked))


class Overlap(_Baseline):
    """The number of words that the prompt shares with name and description."""

    def _prepare(self) -> None:
        self._heads = [set(words(f"{one.name} {one.description}")) for one, _ in self._read]

    def _score(self, at: int, asked: dict[str, None]) -> float:
        return len(self._heads[at].intersection(asked))


class Bm25(_Baseline):
    """Plain BM25 over the whole file."""

    def _prepare(self) -> None:
        self._counts = [Counter(words(text)) for _, text in self._read]
        self._lengths = [sum(counts.values()) for counts in self._counts]
        self._usual = sum(self._lengths) / len(self._lengths) if self._lengths else 1.0
        files = Counter(word for counts in self._counts for word in counts)
        total = len(self._counts)
        self._weights = {
            word: math.log(1 + (total - n + 0.5) / (n + 0.5)) for word, n in files.items()
        }

    def _score(self, at: int, asked: dict[str, None]) -> float:
        counts = self._counts[at]
        drag = K1 * (1 - B + B * self._lengths[at] / (self._usual or 1.0))
        return sum(
            self._weights[word] * counts[word] * (K1 + 1) / (counts[word] + drag)
            for word in asked
            if word in counts
        )


BASELINES: dict[str, Callable[[Store], _Baseline]] = {
    "grep": Grep,
    "keyword overlap": Overlap,
    "plain BM25": Bm25,
}
