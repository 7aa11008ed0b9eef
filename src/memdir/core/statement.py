"""What a sentence states in a form that another sentence can deny: few forms, but sure ones.

Real memories are full of *not*, *instead* and *never* that deny nothing of each other: taken
loosely, not one suspicion in fifty was right. So a condition, a report of the past or a question
makes a sentence state nothing here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from memdir.core.sentences import Sentence
from memdir.core.words import Words, split

# Forms: what to do, what is so, what is better, what something is set to, what it is called now.
DO, STATE, BETTER, VALUE, NAME = "do", "state", "better", "value", "name"
YES, NO = "yes", "no"
LONGEST = 400  # characters of a sentence; beyond them it says more than one thing
MOST_WORDS = 100_000  # kept between one memory and the next
MOST_OBJECTS = 8  # words that belong to a verb

_CONDITION = re.compile(
    r"(?i)\b(?:if|when|whenever|unless|until|once|without|except|only|just|while|where|might|may|"
    r"could|would|was|were|had|did|used to|previously|earlier|originally|formerly|old|e\.g|"
    r"example|either|whether|both)\b|\?|->|→"
)
_CLAUSE = re.compile(
    r"[,:()]|\b(?:but|because|so that|so|since|and|or|then|as|which|that|instead of|rather than|"
    r"over)\b"
)
_DENIAL = re.compile(
    r"(?i)^(?:please |you |we |and |also )?"
    r"(?:never|do not|don['’]t|must not|should not|mustn['’]t|shouldn['’]t|avoid)\s+(.{3,200})"
)
_REQUEST = re.compile(
    r"(?i)^(?:please |you |we |also )?(?:must |should |shall |always )?(\w{2,20} .{2,200})"
)
_FLAG = re.compile(r"(?<![\w-])-[A-Za-z](?![\w-])")  # too short for a word, and all the difference
_DENYING = re.compile(r"(?i)\b(?:not|never|no)\b")
_THING = r"(?:the |an? )?(?:`([^`\n]{2,60})`|([\w.-]{2,30}))"
_LAST = r"(?:the |an? )?(?:`([^`\n]{2,60})`|([\w.-]{2,30}?)(?=[.,;:)!]|$))"
_BETTER = re.compile(
    rf"(?i)\b(?:use|prefer|choose|pick) {_THING}[^.;`]{{0,60}}?"
    rf",? (?:over|instead of|rather than|and not|not|never) {_LAST}"
)
# A name, not a word: there is a mark or a capital inside it.
_NAMED = r"`?((?=[\w./-]{0,38}[a-z0-9_./-][A-Z_./-]|--?[a-z]|[A-Z]{3})[\w./-]{3,40})`?"
_WRITTEN = re.compile(r"(?=.{0,30}\w)[\w./:@-]{2,60}")  # a name in backticks, not a command
_GIVEN_UP = re.compile(r"(?i)renam|replac|called")  # asked first: most sentences have none
_RENAMING = re.compile(r"(?i)\brenam(?:e|es|ed|ing)\b")
_ARROW = re.compile(rf"{_NAMED} ?(?:→|->) ?{_NAMED}")
_RENAMES = (
    re.compile(rf"(?i:\brenam(?:e|es|ed|ing)\b)[^.;→]{{0,60}}?{_NAMED} (?:to|into) {_NAMED}"),
    re.compile(rf"{_NAMED} (?:was|is|has been|got|is now) (?:renamed(?: to)?|called) {_NAMED}"),
    re.compile(rf"\b[Rr]eplaced? {_NAMED} (?:by|with) {_NAMED}"),
)
_VALUES = (
    re.compile(
        r"(?i)\b(port|timeout|limit|quota|retries|workers|threshold)"
        r"(?: is| of|:| =|=)? `?(\d[\d_,.]{0,12}\w{0,3})"
    ),
    re.compile(r"\b([A-Z][A-Za-z]{1,20}) (?:version )?v?(\d{1,3}(?:\.\d{1,4}){1,2})\b"),
    re.compile(r"`([A-Za-z_][\w.-]{2,40}) ?= ?([\w./:-]{1,40})`"),
    re.compile(
        r"(?i)\b((?:default|main|base|integration|release|target) branch)"
        r"(?: is|:| =) `?([\w./-]{2,40})"
    ),
)
# Two words for the two ends of one thing.
_ENDS = (
    *(("enabled", "disabled"), ("required", "optional"), ("allowed", "forbidden")),
    *(("public", "private"), ("supported", "unsupported"), ("mutable", "immutable")),
    *(("tracked", "untracked"), ("safe", "unsafe"), ("on", "off"), ("true", "false")),
    *(("synchronous", "asynchronous"), ("deprecated", "current")),
)
_SIDES = {
    word: (ends[0], side) for ends in _ENDS for word, side in zip(ends, (YES, NO), strict=True)
}
_IS = re.compile(
    r"(?i)\b(?:is|are|stays?|remains?|must be|should be)\b"
    r"(?: always| still| now)?( not\b|n['’]t\b)?"
)
_OTHER = {YES: NO, NO: YES}


@dataclass(frozen=True)
class Statement:
    """A form, what it is about (`key` exactly, `words` roughly), and what is said of it."""

    form: str
    key: str
    value: str
    words: frozenset[str]
    sentence: Sentence
    path: str = ""


@lru_cache(maxsize=1)
def _kept_words() -> Words:
    return Words()


def known_words() -> Words:
    """The words met so far: who looks at memory after memory meets the same ones again."""
    words = _kept_words()
    if len(words) > MOST_WORDS:
        _kept_words.cache_clear()
    return words


class Reader:
    """Reads sentences; words that were met before are looked up."""

    def __init__(self) -> None:
        self._words = known_words()

    def read(self, sentence: Sentence, path: str = "") -> list[Statement]:
        """What a sentence states; mostly nothing."""
        text = sentence.text
        if sentence.code or len(text) > LONGEST:
            return []
        found = [(NAME, old, new, self._terms(text)) for old, new in _renames(text)]
        if not _CONDITION.search(text):
            found += [
                (VALUE, key, value, self._beside(text, key, value)) for key, value in _values(text)
            ]
            found += self._better(text)
            found += self._doing(text)
            found += self._being(text)
        return [Statement(*one, sentence, path) for one in found]

    def _better(self, text: str) -> list[_Found]:
        """`Use uv over pip`: the two in the order of the alphabet are the key, uv the value."""
        found: list[_Found] = []
        for match in _BETTER.finditer(text):
            good, bad = match[1] or match[2], match[3] or match[4]
            if good.lower() == bad.lower():
                continue
            found.append((BETTER, " / ".join(sorted((good, bad))), good, self._terms(text)))
            found.append((DO, self._words["use"], NO, self._terms(bad)))
            if match[3] and _WRITTEN.fullmatch(bad):
                found.append((NAME, bad, good, self._terms(text)))
        return found

    def _doing(self, text: str) -> list[_Found]:
        """`Never push to main`: the verb is the key, the rest of the clause its objects."""
        found: list[_Found] = []
        for at, part in enumerate(_CLAUSE.split(text)):
            clause = part.strip(" *_.")
            denied = _DENIAL.match(clause)
            asked = None if denied or at else _REQUEST.match(clause)
            rest = denied or asked
            said = _DENYING.split(rest[1])[0] if rest else ""
            words = split(said)
            if len(words) < 2 or (asked and words[0].lower().endswith(("s", "ing", "ed", "ly"))):
                continue
            verb = "use" if words[0].lower() == "using" else words[0].lower()
            objects = self._terms(" ".join(words[1:])).union(_FLAG.findall(said))
            if self._words[verb] and 0 < len(objects) <= MOST_OBJECTS:
                found.append((DO, self._words[verb], NO if denied else YES, objects))
        return found

    def _being(self, text: str) -> list[_Found]:
        """`The cache is (not) enabled`."""
        found: list[_Found] = []
        for clause in _CLAUSE.split(text):
            verb = _IS.search(clause)
            words = split(clause[verb.end() :]) if verb else []
            if verb is None or not words or words[0].lower() not in _SIDES:
                continue
            end, side = _SIDES[words[0].lower()]
            subject = self._terms(clause[: verb.start()])
            found.append((STATE, end, _OTHER[side] if verb[1] else side, subject))
        return found

    def _beside(self, text: str, key: str, value: str) -> frozenset[str]:
        return self._terms(text) - self._terms(f"{key} {value}")

    def _terms(self, text: str) -> frozenset[str]:
        return frozenset(self._words.count(text)[0])


_Found = tuple[str, str, str, frozenset[str]]  # form, key, value, words


def _renames(text: str) -> list[tuple[str, str]]:
    if not _GIVEN_UP.search(text):
        return []
    forms = (*_RENAMES, _ARROW) if _RENAMING.search(text) else _RENAMES
    pairs = [(match[1], match[2]) for form in forms for match in form.finditer(text)]
    return [(old, new) for old, new in pairs if old != new]


def _values(text: str) -> list[tuple[str, str]]:
    """Keys with the one value that the sentence gives them; a list of values states none."""
    found: dict[str, set[str]] = {}
    for form in _VALUES:
        for match in form.finditer(text):
            found.setdefault(match[1].lower(), set()).add(match[2].rstrip(".,:"))
    return [(key, values.pop()) for key, values in found.items() if len(values) == 1]
