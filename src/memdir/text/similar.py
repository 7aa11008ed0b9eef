"""Near-duplicates: memories that say the same, and lines that say the same as a text.

A pair is reported only with evidence: every sentence of one stands in the other, or both are worded
alike and give the same names and numbers. All words have the same weight: rules use everyday words
(push, wait, ask), while two memories about one module share all its rare names and may still say
different things.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from memdir.hot import memory
from memdir.hot.memory import stem as stem_of
from memdir.hot.types import names as type_names
from memdir.hot.words import Words
from memdir.text import FILLERS, pattern
from memdir.text.markdown import MAX_CHARACTERS, MAX_SENTENCES, split_sentences

SHOW = 0.5  # likeness from which the same names and numbers are evidence
LINK_DISCOUNT = 0.05  # of the likeness: an author who links to a memory meant to write another
PLACE_SENTENCES = 5  # consecutive sentences that count as one place
ABOUT_SENTENCES = 3  # of the body, if there is no description
MIN_TERMS = 3  # of a sentence; shorter ones are similar by chance
MIN_HELD_TERMS = 6  # of a memory; a shorter one may be contained by chance
MIN_VALUES = 2  # names and numbers that two memories must share
VALUE_SHARE = 3  # and one in three of those of the poorer
SAME_SENTENCE = 0.6  # share of common words that makes two sentences versions of one
MAX_TEXT_CHARACTERS = 65_536  # longer memories are not compared
MAX_PARTS = 400  # sentences of a memory
MAX_SHARED = 50  # memories; a sentence or value that more of them have tells none of them apart
MAX_NEAREST = 10  # pairs per memory: nobody wants a thousand copies listed
MIN_HANDLE_CHARACTERS = 6  # of a name that counts as a mention of the memory
# Code, addresses, numbers, identifiers, capitals, and names inside a sentence.
_VALUE = pattern(
    r"`[^`\n]{1,80}`|https?://[^\s)>\]]{1,200}|\d[\w.:/,-]{0,40}|\b[A-Z][A-Z0-9_-]{1,40}\b"
    r"|\b\w{1,80}+(?:[/.-]\w{1,80}+){1,8}\b|\b[^\W_]{0,40}+_\w{1,80}+\b"
    r"|\b[a-z]{1,30}[A-Z]\w{0,40}|(?<=[\w,] )[A-Z][a-z]{2,30}\b"
)


@dataclass(frozen=True)
class Alike:
    """Two memories; `held` are those of which the other contains every sentence."""

    first: str
    second: str
    score: float
    held: tuple[str, ...] = ()
    values: tuple[str, ...] = ()  # names and numbers that both give, if that is evidence
    richer: str = ""  # the one that gives all names and numbers of the other, and more
    head: float = 0.0  # mean share of name and description that the other contains
    body: float = 0.0  # mean share of the sentences' words
    linked: bool = False  # one mentions the other

    def other(self, path: str) -> str:
        return self.second if path == self.first else self.first

    def explain(self) -> str:
        if self.held:
            return "every sentence of it is there already"
        return f"{self.score:.0%} alike, and both name {', '.join(self.values[:3])}"

    def choose_poorer(self, clocks: Mapping[str, float]) -> str:
        """What the other contains, else the older; "" if the older one says more."""
        if len(self.held) == 1:
            return self.held[0]
        pair = sorted((self.first, self.second), key=lambda path: (clocks.get(path, 0.0), path))
        return "" if pair[0] == self.richer else pair[0]


def find_similar_texts(texts: Mapping[str, str]) -> list[Alike]:
    """Pairs of memories (path -> text) with evidence, surest first."""
    words = Words()
    sketches = {
        path: _Sketch(path, text, words)
        for path, text in sorted(texts.items())
        if len(text) <= MAX_TEXT_CHARACTERS
    }
    pairs = [_compare(sketches[first], sketches[second]) for first, second in _candidates(sketches)]
    named: Counter[str] = Counter()
    result = []
    for pair in sorted(
        pairs, key=lambda pair: (not pair.held, -pair.score, pair.first, pair.second)
    ):
        evident = pair.held or (pair.values and pair.score >= SHOW)
        if evident and min(named[pair.first], named[pair.second]) < MAX_NEAREST:
            result.append(pair)
            named.update((pair.first, pair.second))
    return result


def compare_two_texts(first: tuple[str, str], second: tuple[str, str]) -> Alike:
    """Path and text of each; whether or not there is evidence."""
    words = Words()
    return _compare(_Sketch(*first, words), _Sketch(*second, words))


class _Sketch:
    def __init__(self, path: str, text: str, words: Words) -> None:
        self.path = path
        self.words = words
        document = memory.read_header(text)
        self.name, description = (document.values.get(key, "") for key in ("name", "description"))
        body = split_sentences(document.body)
        self.about = description or " ".join(sentence for sentence, _ in body[:ABOUT_SENTENCES])
        self.sentences = [*split_sentences(description), *body]
        # Code as it is, prose without emphasis and capitals.
        self.runs = frozenset(text if code else _normalize(text) for text, code in self.sentences)
        self.values = frozenset(find_named_values(text for text, _ in self.sentences))
        self.whole = len(document.body) <= MAX_CHARACTERS and len(body) < MAX_SENTENCES
        self.text = document.body.lower().replace("_", "-")

    def terms(self, text: str) -> frozenset[str]:
        return frozenset(self.words.count(text)[0])

    @cached_property
    def head(self) -> frozenset[str]:
        labels = f"{self.name} {stem_of(self.path)}".replace("_", " ").replace("-", " ")
        return self.terms(f"{labels} {self.about}") - frozenset(type_names())

    @cached_property
    def parts(self) -> list[tuple[frozenset[str], str]]:
        """Words and text of each sentence that says enough."""
        every = [(self.terms(text), text) for text, _ in self.sentences]
        return [part for part in every if len(part[0]) >= MIN_TERMS][:MAX_PARTS]

    @cached_property
    def all(self) -> frozenset[str]:
        return self.head.union(*(terms for terms, _ in self.parts))

    @cached_property
    def handles(self) -> set[str]:
        """Names by which other memories mention this one."""
        handles = {label.lower().replace("_", "-") for label in (self.name, stem_of(self.path))}
        return {name for name in handles if len(name) >= MIN_HANDLE_CHARACTERS and "-" in name}

    def mentions(self, other: _Sketch) -> bool:
        return any(handle in self.text for handle in other.handles - self.handles)

    def holds(self, other: _Sketch) -> bool:
        """True if it contains every sentence and the head's words of the other memory."""
        if not (other.whole and other.runs and other.runs <= self.runs):
            return False
        return len(other.all) >= MIN_HELD_TERMS and other.head <= self.all

    def head_in(self, other: _Sketch) -> float:
        """Largest share of the head in a single place of the other: a long log has any word."""
        best, places = 0, [terms & self.head for terms, _ in other.parts]
        shared = other.head & self.head
        for i in range(len(places) or 1):
            best = max(best, len(shared.union(*places[i : i + PLACE_SENTENCES])))
        return best / (len(self.head) or 1)


def find_named_values(sentences: Iterable[str]) -> Iterator[str]:
    """Names, numbers, dates, code and addresses: two facts that differ in one are two facts."""
    for sentence in sentences:
        for value in _VALUE.findall(sentence):
            yield value.strip("`.,:-").lower()


def _normalize(sentence: str) -> str:
    """Drops emphasis, line breaks and capitals, but keeps `-d` and `-D` apart."""
    words = sentence.replace("**", "").split()
    plain = [word.lower() if word.istitle() and word.isalpha() else word for word in words]
    return " ".join(plain).strip(".,:; ")


def _candidates(sketches: Mapping[str, _Sketch]) -> list[tuple[str, str]]:
    """Pairs that may have evidence: they share the rarest sentence or a rare value of one."""
    runs, values = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    for path, sketch in sketches.items():
        for run in sketch.runs:
            runs[run].append(path)
        for value in sketch.values:
            values[value].append(path)
    pairs: set[tuple[str, str]] = set()
    for path, sketch in sketches.items():
        same = min((runs[run] for run in sketch.runs), key=len, default=[])
        near = {*same[: MAX_SHARED + 1]}
        # Whoever shares enough values has one of the rarer ones.
        rare = sorted((values[value] for value in sketch.values), key=len)
        for shared in rare[: len(rare) - _needed_values(len(rare)) + 1]:
            if len(shared) <= MAX_SHARED:
                near.update(other for other in shared if _share_values(sketch, sketches[other]))
        pairs.update((min(path, other), max(path, other)) for other in near if other != path)
    return sorted(pairs)


def _share_values(mine: _Sketch, other: _Sketch) -> bool:
    count = min(len(mine.values), len(other.values))
    return len(mine.values & other.values) >= _needed_values(count)


def _needed_values(count: int) -> int:
    return max(MIN_VALUES, -(-count // VALUE_SHARE))


def _compare(mine: _Sketch, other: _Sketch) -> Alike:
    held = [sketch.path for sketch, by in ((mine, other), (other, mine)) if by.holds(sketch)]
    first = second = 0
    best = [0] * len(other.parts)
    for terms, _ in mine.parts:
        shared = [len(terms & theirs) for theirs, _ in other.parts]
        first += max(shared, default=0)
        best = [*map(max, best, shared)]
    second = sum(best)
    totals = [sum(len(terms) for terms, _ in sketch.parts) or 1 for sketch in (mine, other)]
    body = (first / totals[0] + second / totals[1]) / 2
    head = (mine.head_in(other) + other.head_in(mine)) / 2
    linked = mine.mentions(other) or other.mentions(mine)
    score = 1.0 if held else max((head + body) / 2 - (LINK_DISCOUNT if linked else 0.0), 0.0)
    same = _share_values(mine, other) and not linked and not _differ_in_a_value(mine, other)
    values = sorted(mine.values & other.values) if same else []
    richer = mine.path if mine.values > other.values else ""
    richer = other.path if other.values > mine.values else richer
    return Alike(mine.path, other.path, score, (*held,), (*values,), richer, head, body, linked)


def _differ_in_a_value(mine: _Sketch, other: _Sketch) -> bool:
    """Is there a sentence that both have, each with a name or number of its own?"""
    for terms, text in mine.parts:
        for theirs, their_text in other.parts:
            if len(terms & theirs) >= SAME_SENTENCE * len(terms | theirs):
                values, others = ({*find_named_values([said])} for said in (text, their_text))
                if values - others and others - values:
                    return True
    return False


MIN_WORDS = 3  # fewer are hardly a sentence
STEM_LETTERS = 4  # words that begin alike are forms of one word: `deploy`, `deployed`
# Chinese and Japanese have no spaces: each character counts as a word.
_SIGN = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = pattern(rf"[{_SIGN}]|[^\W_{_SIGN}]+")


def compared_words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))


def find_twin_text(text: str, others: Iterable[str]) -> str:
    """The first text that says the same in nearly the same words, else "".

    A number, a name or any other word of weight that only one of them has makes two facts.
    """
    mine = compared_words(text)
    for other in others if len(mine) >= MIN_WORDS else ():
        theirs = compared_words(other)
        if not (_weigh(mine - theirs, theirs) or _weigh(theirs - mine, mine)):
            return other
    return ""


def _weigh(words: frozenset[str], other: frozenset[str]) -> bool:
    stems = {word[:STEM_LETTERS] for word in other if len(word) > STEM_LETTERS}
    return any(
        word not in FILLERS and (not word.isalpha() or word[:STEM_LETTERS] not in stems)
        for word in words
    )
