"""Which memories belong to a prompt: BM25 over weighted fields, and how sure the match is.

The constants were chosen on memory directories from the wild (docs/decisions/0004); none of them
depends on the store, so that a catalog made at once and one made in steps answer alike. Hot path.
"""

from math import log

from memdir.core import background
from memdir.core.words import IMPLIED, PIECE, Words, implied

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SATURATION = 1.6  # the k1 of BM25
STEPS = 64  # weights are kept as whole numbers of 64ths: the same in memory and in the catalog
HEAVIEST = 65_535
RULES = ("feedback", "user")  # what applies to a kind of task, whatever its words
RULE_SHARE, RULE_START = 1.05, 0.2
SURE = 0.5  # below it, nothing fits the prompt
MAX_TERMS = 40  # of a prompt; the rarest ones count
_RARITY: dict[str, float] = {}
MOST_KNOWN = 10_000  # words whose rarity is kept
FIRST, LAST = 6000, 2000  # characters of an endless prompt: a question stands before or after


def read_prompt(prompt: str, words: Words) -> dict[str, float]:
    """The terms of a prompt and how much each counts; nothing for a prompt without words."""
    if len(prompt) > FIRST + LAST:
        prompt = f"{prompt[:FIRST]}\n{prompt[-LAST:]}"
    counts, _ = words.count(prompt)
    terms = {term: 1.0 if count >= 1 else PIECE for term, count in counts.items()}
    for term in implied(prompt):
        terms[term] = max(terms.get(term, 0.0), IMPLIED)
    if len(terms) <= MAX_TERMS:
        return terms
    rarest = sorted(terms, key=lambda term: (-rarity(term) * terms[term], term))
    return {term: terms[term] for term in rarest[:MAX_TERMS]}


def rarity(term: str) -> float:
    """How rare a word is in memories at large."""
    known = _RARITY.get(term)
    if known is None:
        if len(_RARITY) > MOST_KNOWN:
            _RARITY.clear()
        known = _RARITY[term] = background.rarity(term)
    return known


def gain(share: float, holders: int, count: int) -> float:
    """What a term is worth in a store of `count` memories, `holders` of which have it."""
    return share * log(1 + (count - holders + 0.5) / (holders + 0.5))


class Matches:
    """Who holds the terms of a prompt, and what that is worth."""

    __slots__ = ("gains", "held", "scores", "wanted", "worths")

    def __init__(
        self,
        terms: "Mapping[str, float]",
        count: int,
        look_up: "Callable[[str], tuple[int, dict[int, int]]]",
    ) -> None:
        self.gains: dict[str, float] = {}
        self.held: dict[str, dict[int, int]] = {}  # weights by term and memory
        for term, share in terms.items():
            holders, weights = look_up(term)
            if weights:
                self.gains[term] = gain(share, holders, count)
                self.held[term] = weights
        self.scores = self._add_up()
        self.worths = {term: rarity(term) * share for term, share in terms.items()}
        self.wanted = sum([worth for term, worth in self.worths.items() if not term.isdigit()])

    def _add_up(self) -> dict[int, float]:
        scores: dict[int, float] = {}
        get = scores.get
        rounding = SATURATION * STEPS
        for term, holders in self.held.items():
            worth = self.gains[term] * (SATURATION + 1)
            for number, weight in holders.items():
                scores[number] = get(number, 0.0) + worth * weight / (rounding + weight)
        return scores

    def best(self, count: int) -> list[int]:
        """The memories with the highest scores, and those as good as the last of them."""
        scores = self.scores
        if len(scores) <= count:
            return list(scores)
        least = sorted(scores.values(), reverse=True)[count - 1]
        return [number for number, score in scores.items() if score >= least]

    def words(self, number: int) -> dict[str, float]:
        """What each term of the prompt added to a memory's score, the best first."""
        rounding = SATURATION * STEPS
        found = []
        for term, holders in self.held.items():
            weight = holders.get(number)
            if weight:
                gained = self.gains[term] * (SATURATION + 1) * weight / (rounding + weight)
                found.append((-gained, term))
        found.sort()
        return {term: -gained for gained, term in found}

    def sure(self, number: int) -> float:
        """How well a memory fits, comparable between stores: what matched times the share of it.

        A number that nothing holds does not count against it: ids are arbitrary.
        """
        mass = matched = 0.0
        total = self.wanted
        rounding = SATURATION * STEPS
        for term, holders in self.held.items():
            weight = holders.get(number)
            if weight:
                worth = self.worths[term]
                mass += worth * weight / (rounding + weight)
                matched += worth
                if term.isdigit():
                    total += worth
        return mass * matched / total if total else 0.0


def final(score: float, is_rule: bool) -> float:
    """The score with what the type adds: rules apply to a kind of task, whatever its words."""
    return round(score * RULE_SHARE + RULE_START if is_rule else score, 6)
