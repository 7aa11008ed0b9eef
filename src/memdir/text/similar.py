"""Near-duplicates: memories that say the same, and lines that say the same as a text.

All words have the same weight: rules use everyday words (push, wait, ask), while two memories about
one module share all its rare names and may still say different things.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from memdir.hot import memory
from memdir.hot.memory import stem as stem_of
from memdir.hot.types import names as type_names
from memdir.hot.words import Words
from memdir.text import FILLERS, pattern
from memdir.text.markdown import MAX_CHARACTERS, MAX_SENTENCES, split_sentences

MERGE = 0.9  # only if one memory contains every sentence of the other
SHOW = 0.5  # similar enough to show to a person
LINK_DISCOUNT = 0.05  # an author who links to a memory meant to write another
PLACE_SENTENCES = 5  # consecutive sentences that count as one place
ABOUT_SENTENCES = 3  # of the body, if there is no description
MIN_TERMS = 3  # of a sentence; shorter ones are similar by chance
MIN_HELD_TERMS = 6  # of a memory; a shorter one may be contained by chance
MAX_PARTS = 400  # sentences of a memory
MAX_WORK = 20_000_000  # pairs of sentences: about ten seconds
PAIR_WORK = 50  # overhead of a pair of memories, in pairs of sentences
MAX_NEAREST = 10  # pairs per memory: nobody wants a thousand copies listed
MIN_HANDLE_CHARACTERS = 6  # of a name that counts as a mention of the memory


@dataclass(frozen=True)
class Alike:
    first: str
    second: str
    score: float
    first_held: float  # share of the first that the second contains
    second_held: float
    head_held: float = 0.0  # mean share of name and description that the other contains
    linked: bool = False  # one mentions the other


def find_similar_texts(texts: Mapping[str, str], threshold: float = SHOW) -> list[Alike]:
    """Pairs of memories (path -> text) above the threshold, most similar first.

    From `MERGE` on, merging the two loses nothing.
    """
    terms = _Terms()
    sketches = {path: _Sketch(path, text, terms) for path, text in sorted(texts.items())}
    pairs = [_compare(*pair) for pair in _candidates(sketches, threshold)]
    pairs = [pair for pair in pairs if pair.score >= threshold]
    named: Counter[str] = Counter()
    result = []
    for pair in sorted(pairs, key=lambda pair: (-pair.score, pair.first, pair.second)):
        if min(named[pair.first], named[pair.second]) < MAX_NEAREST:
            result.append(pair)
            named.update((pair.first, pair.second))
    return result


class _Terms:
    """Numbers every word, so that a set of words is an integer and cheap to compare."""

    def __init__(self) -> None:
        self._words = Words()
        self._bits: dict[str, int] = {}
        self.types = frozenset(type_names())

    def mask(self, text: str, but: frozenset[str] = frozenset()) -> int:
        mask = 0
        for term in self._words.count(text)[0]:
            if term not in but:
                mask |= 1 << self._bits.setdefault(term, len(self._bits))
        return mask


class _Sketch:
    def __init__(self, path: str, text: str, terms: _Terms) -> None:
        self.path = path
        document = memory.read_header(text)
        name, description = (document.values.get(key, "") for key in ("name", "description"))
        body = split_sentences(document.body)
        about = description or " ".join(sentence for sentence, _ in body[:ABOUT_SENTENCES])
        labels = f"{name} {stem_of(path)}".replace("_", " ").replace("-", " ")
        self.head = terms.mask(f"{labels} {about}", terms.types)
        self.head_size = self.head.bit_count() or 1
        everything = [*split_sentences(description), *body]
        masks = [terms.mask(sentence) for sentence, _ in everything]
        self.parts = [mask for mask in masks if mask.bit_count() >= MIN_TERMS][:MAX_PARTS]
        self.total = sum(map(int.bit_count, self.parts))
        self.all = self.head
        for mask in self.parts:
            self.all |= mask
        self.size = self.all.bit_count()
        # Code as it is, prose without emphasis and capitals.
        self.runs = frozenset(text if code else _normalize(text) for text, code in everything)
        self.whole = len(document.body) <= MAX_CHARACTERS and len(body) < MAX_SENTENCES
        self.text = document.body.lower().replace("_", "-")
        handles = {label.lower().replace("_", "-") for label in (name, stem_of(path))}
        # Names by which other memories mention this one.
        self.handles = {
            handle for handle in handles if len(handle) >= MIN_HANDLE_CHARACTERS and "-" in handle
        }

    def names(self, other: _Sketch) -> bool:
        return any(handle in self.text for handle in other.handles - self.handles)

    def holds(self, other: _Sketch) -> bool:
        """True if it contains every sentence and the head's words of the other memory."""
        enough = other.whole and other.runs and other.size >= MIN_HELD_TERMS
        return bool(enough) and other.runs <= self.runs and not other.head & ~self.all

    def head_in(self, other: _Sketch) -> float:
        """Largest share of the head in a single place of the other: a long log has any word."""
        best, places = 0, [mask & self.head for mask in other.parts]
        for i in range(len(places) or 1):
            words = other.head & self.head
            for mask in places[i : i + PLACE_SENTENCES]:
                words |= mask
            best = max(best, words.bit_count())
        return best / self.head_size


def _normalize(sentence: str) -> str:
    """Drops emphasis, line breaks and capitals, but keeps `-d` and `-D` apart."""
    words = sentence.replace("**", "").split()
    plain = [word.lower() if word.istitle() and word.isalpha() else word for word in words]
    return " ".join(plain).strip(".,:; ")


def _candidates(sketches: Mapping[str, _Sketch], threshold: float) -> list[tuple[_Sketch, _Sketch]]:
    """Pairs that can reach the threshold, likeliest first, within the work limit.

    Identical texts are represented by the first of them.
    """
    firsts: dict[tuple[int, frozenset[str]], str] = {}
    pairs = []
    for path, sketch in sketches.items():
        first = firsts.setdefault((sketch.head, sketch.runs), path)
        pairs += [(-1.0, first, path)] if first != path else []
    distinct = [sketches[path] for path in firsts.values()]
    for i, mine in enumerate(distinct):
        for other in distinct[i + 1 :]:
            first_head = (mine.head & other.all).bit_count() / mine.head_size
            second_head = (other.head & mine.all).bit_count() / other.head_size
            head = (first_head + second_head) / 2
            shared = (mine.all & other.all).bit_count()
            # The first bound is cheap and loose; the second one reads each sentence.
            if head + shared / (min(mine.size, other.size) or 1) < 2 * threshold:
                continue
            held = sum(map(int.bit_count, map(other.all.__and__, mine.parts)))
            other_held = sum(map(int.bit_count, map(mine.all.__and__, other.parts)))
            body = (held / (mine.total or 1) + other_held / (other.total or 1)) / 2
            if (head + body) / 2 >= threshold:
                pairs.append((-(head + body) / 2, mine.path, other.path))
    result: list[tuple[_Sketch, _Sketch]] = []
    work = 0
    for _, path, other_path in sorted(pairs):
        mine, other = sketches[path], sketches[other_path]
        work += len(mine.parts) * len(other.parts) + PAIR_WORK
        if work > MAX_WORK and result:
            break
        result.append((mine, other))
    return result


def _compare(mine: _Sketch, other: _Sketch) -> Alike:
    first = second = 0.0
    if mine.parts and other.parts:
        held, best = 0, [0] * len(other.parts)
        for mask in mine.parts:
            shared = list(map(int.bit_count, map(mask.__and__, other.parts)))
            held += max(shared)
            best = list(map(max, best, shared))
        first, second = held / mine.total, sum(best) / other.total
    head = (mine.head_in(other) + other.head_in(mine)) / 2
    linked = mine.names(other) or other.names(mine)
    if mine.holds(other) or other.holds(mine):
        score = MERGE + (1 - MERGE) * min(first, second)
    else:
        score = (head + (first + second) / 2) / 2 - (LINK_DISCOUNT if linked else 0.0)
        score = min(max(score, 0.0), MERGE - 0.01)
    return Alike(mine.path, other.path, score, first, second, head, linked)


MIN_WORDS = 3  # fewer are hardly a sentence
STEM_LETTERS = 4  # words that begin alike are forms of one word: `deploy`, `deployed`
SAME = 0.8  # share of common words that makes two lines alike
MIN_LOOSE_WORDS = 4  # in shorter lines all words must be the same
# Chinese and Japanese have no spaces: each character counts as a word.
_SIGN = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = pattern(rf"[{_SIGN}]|[^\W_{_SIGN}]+")


def compared_words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))


def find_twin(text: str, others: Iterable[str]) -> str:
    """The first text that says the same in nearly the same words, else "".

    A number, a name or any other word of weight that only one of them has makes two facts.
    """
    mine = compared_words(text)
    if len(mine) < MIN_WORDS:
        return ""
    return next((other for other in others if _says_same(mine, compared_words(other))), "")


def _says_same(mine: frozenset[str], other: frozenset[str]) -> bool:
    return not (_weigh(mine - other, other) or _weigh(other - mine, mine))


def _weigh(words: frozenset[str], other: frozenset[str]) -> bool:
    stems = {word[:STEM_LETTERS] for word in other if len(word) > STEM_LETTERS}
    return any(
        word not in FILLERS and (not word.isalpha() or word[:STEM_LETTERS] not in stems)
        for word in words
    )
