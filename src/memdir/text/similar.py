"""Twins and near-duplicates."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from memdir.hot import memory
from memdir.hot.memory import stem as stem_of
from memdir.hot.types import names as type_names
from memdir.hot.words import Words
from memdir.text.prose import MOST_CHARACTERS, MOST_SENTENCES, sentences

# How alike two memories are: do they say the same, or does one hold the other?
#
# `find_alike(texts, threshold)` finds the pairs of a store (path -> text), the most alike first.
# From `MERGE` on nothing is lost when the two become one; from `SHOW` on a person may want to look.
#
# Every word counts the same: a rule is told in everyday words (push, wait, ask), while two memories
# about one module share all its rare names and may still say different things.

MERGE = 0.9  # reached only where every sentence of one memory stands in the other
BELOW = MERGE - 0.01  # what is only alike, however much
SHOW = 0.5
# Who links to a memory knew of it, and still wrote another: mostly two things.
KNOWN = 0.05
PLACE = 5  # sentences in a row that speak of one thing
FIRST_SENTENCES = 3  # of a body, in the place of a description
FEWEST_TERMS = 3  # of a sentence; shorter ones are alike by chance
FEWEST_HELD = 6  # words of a memory that may stand in another one by no accident
MOST_PARTS = 400  # sentences of a memory
MOST_WORK = 20_000_000  # pairs of sentences: some ten seconds
PAIR_WORK = 50  # what a pair of memories costs besides, in pairs of sentences
NEAREST = 10  # memories
SHORTEST_HANDLE = 6  # characters of a name that another memory can mean by writing it


@dataclass(frozen=True)
class Alike:
    """Two memories by their paths, how alike they are, and how much each has of the other."""

    first: str
    second: str
    score: float
    first_held: float  # how much of the first the second also says
    second_held: float
    head_held: float = 0.0  # how much of the names and descriptions the other says, on average
    linked: bool = False  # one of the two names the other


def find_alike(texts: Mapping[str, str], threshold: float = SHOW) -> list[Alike]:
    """The pairs of a store that are at least so alike, the most alike first; path -> text.

    A memory is named with the `NEAREST` few that are most like it: of a thousand copies nobody
    wants each with each.
    """
    sketches = _Sketches(texts)
    compared = [sketches.compare(one, other) for one, other in sketches.candidates(threshold)]
    found = [pair for pair in compared if pair.score >= threshold]
    named: Counter[str] = Counter()
    near = []
    for pair in sorted(found, key=lambda pair: (-pair.score, pair.first, pair.second)):
        if min(named[pair.first], named[pair.second]) < NEAREST:
            near.append(pair)
            named.update((pair.first, pair.second))
    return near


class _Sketch:
    """A memory as sets of words; a set is one integer, so that comparing costs next to nothing."""

    __slots__ = (
        *("all", "handles", "head", "head_size", "parts", "runs", "size", "text", "total", "whole"),
    )

    def __init__(self) -> None:
        self.head = 0  # the words of name and description
        self.head_size = 1  # how many they are, at least one
        self.all = 0
        self.size = 0  # how many they are
        self.parts: list[int] = []  # the words of each sentence
        self.total = 0  # how many words the sentences have
        self.runs: frozenset[str] = frozenset()  # each sentence, nearly as it stands
        self.whole = True  # nothing of it was too much to read
        self.handles: tuple[str, ...] = ()  # what another memory calls this one
        self.text = ""


class _Sketches:
    """All memories of a store, their words numbered."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._words = Words()
        self._bits: dict[str, int] = {}
        self._types = frozenset(type_names())
        self._of = {path: self._sketch(stem_of(path), text) for path, text in sorted(texts.items())}

    def candidates(self, threshold: float) -> list[tuple[str, str]]:
        """Pairs whose words alone allow the threshold, the likeliest first, as many as we can.

        Of memories with the same text, the first one stands for all.
        """
        copies: dict[tuple[int, frozenset[str]], str] = {}
        found = []
        for path, sketch in self._of.items():
            first = copies.setdefault((sketch.head, sketch.runs), path)
            found += [(-1.0, first, path)] if first != path else []
        made = [(path, self._of[path]) for path in copies.values()]
        for at, (one, mine) in enumerate(made):
            for other, theirs in made[at + 1 :]:
                head = _head_most(mine, theirs)
                shared = (mine.all & theirs.all).bit_count()
                # The first bound is cheap and loose, the second one costs a look at each sentence.
                if head + shared / (min(mine.size, theirs.size) or 1) < 2 * threshold:
                    continue
                most = (head + _most(mine, theirs)) / 2
                if most >= threshold:
                    found.append((-most, one, other))
        return [(one, other) for _, one, other in self._affordable(sorted(found))]

    def _affordable(self, found: list[tuple[float, str, str]]) -> list[tuple[float, str, str]]:
        """As many as cost no more than MOST_WORK; only a store made to be slow has more."""
        spent = 0
        for at, (_, one, other) in enumerate(found):
            spent += len(self._of[one].parts) * len(self._of[other].parts) + PAIR_WORK
            if spent > MOST_WORK and at:
                return found[:at]
        return found

    def compare(self, one: str, other: str) -> Alike:
        """The mean of two shares: of the heads in the other's text, of sentences in the other's."""
        mine, theirs = self._of[one], self._of[other]
        first, second = _covers(mine, theirs)
        head = (_head_cover(mine, theirs) + _head_cover(theirs, mine)) / 2
        linked = _names(mine, theirs) or _names(theirs, mine)
        score = (head + (first + second) / 2) / 2 - (KNOWN if linked else 0.0)
        score = min(max(score, 0.0), BELOW)
        if _holds(theirs, mine) or _holds(mine, theirs):
            score = MERGE + (1 - MERGE) * min(first, second)
        return Alike(one, other, score, first, second, head, linked)

    def _sketch(self, stem: str, text: str) -> _Sketch:
        document = memory.read(text)
        made = _Sketch()
        name, description = (document.values.get(key, "") for key in ("name", "description"))
        body = sentences(document.body)
        about = description or " ".join(one.text for one in body[:FIRST_SENTENCES])
        made.head = self._mask(f"{_words_of(name)} {_words_of(stem)} {about}", self._types)
        made.head_size = made.head.bit_count() or 1
        said = [*sentences(description), *body]
        masks = (self._number(self._terms(one.text)) for one in said)
        made.parts = [mask for mask in masks if mask.bit_count() >= FEWEST_TERMS][:MOST_PARTS]
        made.total = sum(map(int.bit_count, made.parts))
        made.all = made.head
        for mask in made.parts:
            made.all |= mask
        made.size = made.all.bit_count()
        made.runs = frozenset(one.text if one.code else _run(one.text) for one in said)
        made.whole = len(document.body) <= MOST_CHARACTERS and len(body) < MOST_SENTENCES
        made.text = _flat(document.body)
        made.handles = tuple(
            handle
            for handle in {_flat(name), _flat(stem)}
            if len(handle) >= SHORTEST_HANDLE and "-" in handle
        )
        return made

    def _terms(self, text: str) -> list[str]:
        return [*self._words.count(text)[0]]

    def _number(self, terms: list[str]) -> int:
        mask = 0
        for term in terms:
            mask |= 1 << self._bits.setdefault(term, len(self._bits))
        return mask

    def _mask(self, text: str, but: frozenset[str]) -> int:
        return self._number([term for term in self._terms(text) if term not in but])


def _head_most(mine: _Sketch, theirs: _Sketch) -> float:
    """What `_head_cover` cannot exceed, both ways on average."""
    first = (mine.head & theirs.all).bit_count() / mine.head_size
    second = (theirs.head & mine.all).bit_count() / theirs.head_size
    return (first + second) / 2


def _head_cover(mine: _Sketch, theirs: _Sketch) -> float:
    """How much of what I am said to be about stands in one place of theirs, and in its head.

    In one place: a long log has any word somewhere.
    """
    best, places = 0, [mask & mine.head for mask in theirs.parts]
    for at in range(len(places) or 1):
        words = theirs.head & mine.head
        for mask in places[at : at + PLACE]:
            words |= mask
        best = max(best, words.bit_count())
    return best / mine.head_size


def _most(mine: _Sketch, theirs: _Sketch) -> float:
    """What `_covers` cannot exceed, both ways on average."""
    first = sum(map(int.bit_count, map(theirs.all.__and__, mine.parts))) / (mine.total or 1)
    second = sum(map(int.bit_count, map(mine.all.__and__, theirs.parts))) / (theirs.total or 1)
    return (first + second) / 2


def _covers(mine: _Sketch, theirs: _Sketch) -> tuple[float, float]:
    """How much of each one's sentences stands in the other's sentence that fits best."""
    if not mine.parts or not theirs.parts:
        return 0.0, 0.0
    got, best = 0, [0] * len(theirs.parts)
    for mask in mine.parts:
        shared = list(map(int.bit_count, map(mask.__and__, theirs.parts)))
        got += max(shared)
        best = list(map(max, best, shared))
    return got / mine.total, sum(best) / theirs.total


def _names(mine: _Sketch, theirs: _Sketch) -> bool:
    return any(handle in mine.text for handle in theirs.handles if handle not in mine.handles)


def _holds(large: _Sketch, small: _Sketch) -> bool:
    """True where every sentence of the small one stands in the large one, its head words too."""
    enough = small.whole and small.runs and small.size >= FEWEST_HELD
    return bool(enough) and small.runs <= large.runs and not small.head & ~large.all


def _run(text: str) -> str:
    """A sentence without emphasis, line breaks and capitals; `-d` and `-D` stay two things."""
    words = text.replace("**", "").split()
    plain = [word.lower() if word.istitle() and word.isalpha() else word for word in words]
    return " ".join(plain).strip(".,:; ")


def _words_of(name: str) -> str:
    return name.replace("_", " ").replace("-", " ")


def _flat(text: str) -> str:
    return text.lower().replace("_", "-")


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
