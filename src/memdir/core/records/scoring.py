"""Triage of records: what a conversation holds of each type, by the words in its lines.

Every line with a word of a type is one hit, worth more with a booster near it. A session's summary
is told by how much was done. Linear in the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from memdir.core.patterns import pattern
from memdir.core.records.lines import Line, heard, is_message, lines
from memdir.core.records.settings import SESSION_SUMMARY, RecordSettings
from memdir.core.transcript import AGENT, PERSON, TOOL, Said

NEAR = 4  # lines in which a booster counts, before and behind
TOOL_USE, DISTINCT_TOOL, EXCHANGE = 0.05, 0.1, 0.02  # what each is worth for a summary
DIGITS = 4  # of a score: a threshold is met however its parts were added up


class Rule(NamedTuple):
    """How the hits of a type are counted; `caps` and `weights`: plain and boosted ones."""

    type: str
    primary: tuple[str, ...]
    boosters: tuple[str, ...]
    weights: tuple[float, float]
    denominator: float
    caps: tuple[int, int] = (3, 2)


RULES = (
    Rule(
        "decision",
        ("decided", "chose", "selected", "went with", "picked", "settled on", "switching to"),
        ("because", "due to", "reason", "rationale", "over", "instead of", "rather than"),
        (0.3, 0.5),
        1.9,
    ),
    Rule(
        "runbook",
        ("error", "exception", "traceback", "stack trace", "failed", "failure", "crash"),
        ("fixed by", "resolved", "root cause", "solution", "workaround", "the fix"),
        (0.2, 0.6),
        1.8,
    ),
    Rule(
        "constraint",
        (
            *("limitation", "api limit", "restricted", "not supported", "quota", "rate limit"),
            "cannot",
        ),
        ("discovered", "found that", "turns out", "permanently", "enduring", "platform"),
        (0.3, 0.5),
        1.9,
    ),
    Rule(
        "tech_debt",
        (
            *("todo", "deferred", "tech debt", "technical debt", "workaround", "hack"),
            "will address later",
        ),
        ("because", "for now", "temporary", "acknowledged", "deferring", "cost", "risk"),
        (0.3, 0.5),
        1.9,
    ),
    Rule(
        "preference",
        (
            *("always use", "never use", "prefer", "convention", "from now on", "standard"),
            "established",
        ),
        ("agreed", "going forward", "consistently", "rule", "practice", "workflow"),
        (0.35, 0.5),
        2.05,
    ),
)
# Forms that are more than a plural or a hyphen. Each starts with a letter: that is searched fast.
_UNSUPPORTED = r"(?: yet| currently| officially)?[ -]supported"
FORMS = {
    "todo": ("to-?do",),
    "workaround": ("work-?around",),
    "stack trace": ("stack[ -]?trace",),
    "cannot": ("can ?not",),
    "not supported": (
        *(f"{word}{_UNSUPPORTED}" for word in ("not", "isn't", "aren't", "wasn't", "weren't")),
        "unsupported",
    ),
}
_GAP = r"[ \t-]{1,3}"
_HISSES = ("s", "x", "z", "ch", "sh")
_VERBS = "do does did is are was were has have had ca could wo would should must need ai"
_NEGATIONS = frozenset(
    (
        *("not", "never", "nor", "neither", "nobody", "nothing", "none", "no", "cannot"),
        *("without", "hardly", "zero", "0"),
        *(verb + end for verb in _VERBS.split() for end in ("n't", "nt")),
    )
)
# What may stand between a negation and its word: "haven't really decided", "not sure we chose".
_BETWEEN = frozenset(
    (
        *("a", "an", "the", "any", "of", "all", "one", "single", "more", "other", "new", "further"),
        *("be", "been", "being", "get", "got", "have", "had", "has", "yet", "ever", "even", "just"),
        *("fully", "really", "actually", "finally", "formally", "officially", "already", "still"),
        *("quite", "exactly", "necessarily", "explicitly", "currently", "strictly", "longer"),
        *("known", "think", "believe", "know", "sure", "remember", "recall", "seem", "want"),
        *("if", "whether", "that", "we", "i", "you", "they", "us", "them", "to", "going"),
    )
)
_FARTHEST = 5  # words before a word in which it is negated
_QUOTES = "*_\"'(["  # around a word of a sentence
_LOOK_BACK = 80  # characters
_NOTHING = pattern(r"[:=]?[ \t]{0,3}(?:0|none|nothing|zero)\b(?![.%]?\d)", re.ASCII)
_END = r"(?!\w|[-.]\w)"  # `error-free` and `error.log` are other words


class Activity(NamedTuple):
    """How much was done; an exchange is a message of the person that the agent answered."""

    tool_uses: int
    tools: tuple[str, ...]
    exchanges: int

    @property
    def score(self) -> float:
        """What it is worth for a summary."""
        done = self.tool_uses * TOOL_USE + len(self.tools) * DISTINCT_TOOL
        return _rounded(done + self.exchanges * EXCHANGE)


class Score(NamedTuple):
    """What a conversation holds of a type; `hits` are numbers of lines, `boosted` some of them."""

    type: str
    score: float
    threshold: float
    hits: tuple[int, ...] = ()
    boosted: tuple[int, ...] = ()

    @property
    def triggers(self) -> bool:
        """Is there enough of it for a record?"""
        return self.score >= self.threshold


class Scored(NamedTuple):
    """A conversation that was looked through, with a score of each type that is captured."""

    said: tuple[Said, ...]
    lines: tuple[Line, ...]
    activity: Activity
    scores: tuple[Score, ...]

    @property
    def triggered(self) -> tuple[Score, ...]:
        """Those that reach their threshold."""
        return tuple(one for one in self.scores if one.triggers)


def score(said: Sequence[Said], settings: RecordSettings) -> Scored:
    """Look through the end of a conversation for every type that the settings want captured."""
    last = heard(said, settings.max_messages)
    spoken = lines(last)
    units = [number for number, line in enumerate(spoken) if line.bare is not None]
    page = _Page([line.bare for line in spoken if line.bare is not None])
    activity = activity_of(last)
    scores = []
    for type in filter(settings.captures, settings.types):
        threshold = settings.thresholds[type]
        if type == SESSION_SUMMARY:
            scores.append(Score(type, activity.score, threshold))
        else:
            value, hits, boosted = _count(_BY_TYPE[type], page)
            found = [tuple(units[line] for line in some) for some in (hits, boosted)]
            scores.append(Score(type, value, threshold, *found))
    return Scored(tuple(last), tuple(spoken), activity, tuple(scores))


def activity_of(said: Sequence[Said]) -> Activity:
    """How much was done in it."""
    uses = [one.tool for one in said if one.who == TOOL]
    exchanges, asked = 0, False
    for one in filter(is_message, said):
        exchanges += asked and one.who == AGENT
        asked = one.who == PERSON
    return Activity(len(uses), tuple(sorted({*uses} - {""})), exchanges)


_BY_TYPE = {rule.type: rule for rule in RULES}


class _Page:
    """Lines as one text, which is searched at once; a place in it has the number of its line."""

    def __init__(self, bare: list[str]) -> None:
        self.text = "\n".join(bare)
        self.starts = [0]
        for line in bare:
            self.starts.append(self.starts[-1] + len(line) + 1)

    def with_any(self, words: tuple[str, ...]) -> Iterator[int]:
        """The numbers of the lines that have one of these words, each once, in order."""
        text, line, end = self.text, -1, 0
        for found in _found(words, text):
            start = found.start()
            if start < end or not _stands_alone(text, start) or _is_negated(text, *found.span()):
                continue
            while end <= start:
                line, end = line + 1, self.starts[line + 2]
            yield line


def _count(rule: Rule, page: _Page) -> tuple[float, list[int], list[int]]:
    """The score, the lines with a hit, and those of them that are boosted."""
    hits, boosted = list(page.with_any(rule.primary)), []
    near = list(page.with_any(rule.boosters)) if hits else []
    for line in hits:
        at = bisect_left(near, line - NEAR)
        if at < len(near) and near[at] <= line + NEAR:
            boosted.append(line)
    more = min(len(boosted), rule.caps[1])
    # A boosted hit beyond the cap is still a hit.
    plain = min(len(hits) - more, rule.caps[0])
    total = plain * rule.weights[0] + more * rule.weights[1]
    return _rounded(total / rule.denominator), hits, boosted


def _rounded(value: float) -> float:
    return round(min(value, 1.0), DIGITS)


def _found(words: tuple[str, ...], text: str) -> Iterable[re.Match[str]]:
    """Where one of the words stands. Only those that can be there are compiled: that costs most."""
    forms = [form for word in words for form in _forms(word, text)]
    return re.finditer(f"(?:{'|'.join(forms)}){_END}", text, re.ASCII) if forms else ()


def _forms(word: str, text: str) -> list[str]:
    """The word, its plural, its parts with spaces or hyphens between them, if the text has any."""
    plural = "(?:es)?" if word.endswith(_HISSES) else "s?"
    forms = FORMS.get(word) or (word.replace(" ", _GAP),)
    return [form + plural for form in forms if "".join(takewhile(str.isalpha, form)) in text]


def _stands_alone(text: str, start: int) -> bool:
    """Does a word begin here? `x.error` and `non-standard` are other words."""
    before = text[start - 1 : start]
    if before in ("-", ".") and start > 1:
        before = text[start - 2]
    return not (before.isascii() and (before.isalnum() or before == "_"))


def _is_negated(text: str, start: int, end: int) -> bool:
    """ "not decided", "no known limitation", "nobody chose", "yet to be decided", "errors: 0"."""
    if _NOTHING.match(text, end):
        return True
    back = max(start - _LOOK_BACK, 0)
    back = max(back, text.rfind("\n", back, start) + 1)
    words = [word.strip(_QUOTES) for word in text[back:start].split()[-_FARTHEST:]]
    for at in range(len(words) - 1, -1, -1):
        if words[at] in _NEGATIONS or words[at : at + 2] == ["yet", "to"]:
            return True
        if words[at] not in _BETWEEN:
            return at > 0 and words[at - 1] == "no" and words[at].isalpha()  # "no test failed"
    return False
