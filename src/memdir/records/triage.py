"""Keyword scores of a conversation for each category of record, with the lines that match.

A line with a word of a category is one hit, worth more with a booster near it. A session summary is
scored by activity. Code does not count, nor does our own output to the agent: it is in the
transcript, too, and would trigger again at every stop. Linear in the size of the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from memdir.clients.conversation import AGENT, PERSON, TOOL, Message, typed_client_text
from memdir.records.fields import TYPES
from memdir.records.memory_config import SESSION_SUMMARY, RecordSettings
from memdir.text import pattern
from memdir.text.markdown import closes_fence, opened_fence

BOOSTER_LINES = 4  # before and after a hit, searched for a booster
TOOL_USE, DISTINCT_TOOL, EXCHANGE = 0.05, 0.1, 0.02  # points for a summary
SCORE_DIGITS = 4  # rounded, so that the order of addition does not matter
PLAIN_CAP, BOOSTED_CAP = 3, 2  # hits that count


class Rule(NamedTuple):
    plain: float
    boosted: float
    denominator: float
    words: str
    boosters: str


RULES = {
    "decision": Rule(
        *(0.3, 0.5, 1.9),
        "decided, chose, selected, went with, picked, settled on, switching to",
        "because, due to, reason, rationale, over, instead of, rather than",
    ),
    "runbook": Rule(
        *(0.2, 0.6, 1.8),
        "error, exception, traceback, stack trace, failed, failure, crash",
        "fixed by, resolved, root cause, solution, workaround, the fix",
    ),
    "constraint": Rule(
        *(0.3, 0.5, 1.9),
        "limitation, api limit, restricted, not supported, quota, rate limit, cannot",
        "discovered, found that, turns out, permanently, enduring, platform",
    ),
    "tech_debt": Rule(
        *(0.3, 0.5, 1.9),
        "todo, deferred, tech debt, technical debt, workaround, hack, will address later",
        "because, for now, temporary, acknowledged, deferring, cost, risk",
    ),
    "preference": Rule(
        *(0.35, 0.5, 2.05),
        "always use, never use, prefer, convention, from now on, standard, established",
        "agreed, going forward, consistently, rule, practice, workflow",
    ),
}
# Forms beyond plural and hyphen. Each starts with a letter, which is fast to search.
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
# Words allowed between a negation and its word: "haven't really decided", "not sure we chose".
_MAY_STAND_BETWEEN = (
    "a an the any of all be been being got have had has yet ever even just really actually "
    "finally formally already still quite explicitly longer known think know sure remember "
    "if whether that we i you they to going"
)
_BETWEEN = frozenset(_MAY_STAND_BETWEEN.split())
_NEGATION_WORDS = 5  # searched before a word
_NEGATION_CHARACTERS = 80
_QUOTES = "*_\"'(["  # that may surround a word
_NOTHING = pattern(r"[:=]?[ \t]{0,3}(?:0|none|nothing|zero)\b(?![.%]?\d)", re.ASCII)
_END = r"(?!\w|[-.]\w)"  # `error-free` and `error.log` are other words
_INLINE = pattern(r"`{1,3}[^`\n]{1,1000}`{1,3}")
_DATA = pattern(r"<(/?)(?:triage|transcript)[_-]data\b[^<>]{0,1000}>?", re.IGNORECASE)
# A line of a summary or an index, repeated by anyone.
_LISTED = pattern(
    rf"\s{{0,20}}(?:[-*]\s{{0,4}})?\*{{0,2}}\[(?:{'|'.join(TYPES)})\]", re.IGNORECASE | re.ASCII
)
# Agent output while saving: commands, paths, "Saved the decision record: ...".
_SAVING = pattern(
    r"\W{0,6}(?:create|update|delete|retire|draft|verifie)d?(?: [a-z_]{1,20}){0,3} "
    r"(?:records?|memor(?:y|ies)|drafts?)(?=\s{0,9}(?:$|[^\w\s])| (?:for|in|at|with|about|as|to)\b)"
    r"|\W{0,6}saved(?: [a-z_]{1,20}){0,3} (?:records?|memor(?:y|ies)|drafts?)\b",
    re.IGNORECASE | re.ASCII,
)
_PLACES = ("memdir records ", "memdir save ", ".claude/memory/", "#tags:")


class Line(NamedTuple):
    """`bare` is scored, in lower case; None for code, which is only shown."""

    text: str
    bare: str | None
    who: str
    message: int  # index of the message


class Activity(NamedTuple):
    """An exchange is a person's message that the agent answered."""

    tool_uses: int
    tools: tuple[str, ...]
    exchanges: int


class Score(NamedTuple):
    type: str
    score: float
    threshold: float
    hits: tuple[int, ...] = ()
    boosted: tuple[int, ...] = ()


class Scored(NamedTuple):
    said: tuple[Message, ...]
    lines: tuple[Line, ...]
    activity: Activity
    scores: tuple[Score, ...]

    @property
    def triggered(self) -> tuple[Score, ...]:
        return tuple(it for it in self.scores if it.score >= it.threshold)


def score_for_records(said: Sequence[Message], settings: RecordSettings) -> Scored:
    count, first = 0, len(said)
    while first and count < settings.max_messages:
        first -= 1
        count += _is_message(said[first])
    last = said[first:]
    lines = tuple(_lines_of(last))
    units = [number for number, line in enumerate(lines) if line.bare is not None]
    bare = [line.bare for line in lines if line.bare is not None]
    uses = [it.tool for it in last if it.who == TOOL]
    exchanges, asked = 0, False
    for item in filter(_is_message, last):
        exchanges += asked and item.who == AGENT
        asked = item.who == PERSON
    activity = Activity(len(uses), tuple(sorted({*uses} - {""})), exchanges)
    scores = []
    for type in filter(settings.captures, settings.types):
        hits, boosted = list[int](), list[int]()
        if type == SESSION_SUMMARY:
            value = activity.tool_uses * TOOL_USE + len(activity.tools) * DISTINCT_TOOL
            value += exchanges * EXCHANGE
        else:
            rule = RULES[type]
            hits = list(_lines_with(rule.words, bare))
            near = list(_lines_with(rule.boosters, bare)) if hits else []
            for line in hits:
                index = bisect_left(near, line - BOOSTER_LINES)
                if index < len(near) and near[index] <= line + BOOSTER_LINES:
                    boosted.append(line)
            more = min(len(boosted), BOOSTED_CAP)
            plain = min(len(hits) - more, PLAIN_CAP)  # a boosted hit beyond the cap is still a hit
            value = (plain * rule.plain + more * rule.boosted) / rule.denominator
        numbers = [tuple(units[line] for line in some) for some in (hits, boosted)]
        rounded = round(min(value, 1.0), SCORE_DIGITS)
        scores.append(Score(type, rounded, settings.thresholds[type], *numbers))
    return Scored(tuple(last), lines, activity, tuple(scores))


def _is_message(item: Message) -> bool:
    return item.who in (PERSON, AGENT) and bool(item.text.strip())


def _lines_of(said: Sequence[Message]) -> Iterator[Line]:
    for number, item in enumerate(said):
        text = typed_client_text(_outside_data(item.text)) if _is_message(item) else ""
        fence = ""
        for line in text.split("\n") if text else ():
            if fence or opened_fence(line):
                fence = "" if fence and closes_fence(line, fence) else fence or opened_fence(line)
                yield Line(line, None, item.who, number)
            elif not _is_own(line, item.who):
                bare = _INLINE.sub(" ", line) if "`" in line else line
                yield Line(line, bare.lower().replace("’", "'"), item.who, number)


def _outside_data(text: str) -> str:
    marks = list(_DATA.finditer(text))
    if not marks:
        return text
    start = 0 if marks[0][1] else marks[0].start()
    end = marks[-1].end() if marks[-1][1] else len(text)
    return f"{text[:start]}\n{text[end:]}"


def _is_own(line: str, who: str) -> bool:
    if "[" in line and _LISTED.match(line):
        return True
    saving = any(place in line for place in _PLACES) or _SAVING.match(line)
    return who == AGENT and bool(saving)


def _lines_with(words: str, lines: list[str]) -> Iterator[int]:
    text = "\n".join(lines)  # searched at once
    forms = []
    for word in words.split(", "):
        plural = "(?:es)?" if word.endswith(_HISSES) else "s?"
        for form in FORMS.get(word) or (word.replace(" ", _GAP),):
            # Compile only words that can occur: compiling is the slowest part.
            if "".join(takewhile(str.isalpha, form)) in text:
                forms.append(form + plural)
    if not forms:
        return
    line, end = -1, 0
    for match in re.finditer(f"(?:{'|'.join(forms)}){_END}", text, re.ASCII):
        start = match.start()
        if start < end or not _stands_alone(text, start) or _is_negated(text, *match.span()):
            continue
        while end <= start:
            line, end = line + 1, end + len(lines[line + 1]) + 1
        yield line


def _stands_alone(text: str, start: int) -> bool:
    """False in `x.error` and `non-standard`, which are other words."""
    before = text[start - 1 : start]
    if before in ("-", ".") and start > 1:
        before = text[start - 2]
    return not (before.isascii() and (before.isalnum() or before == "_"))


def _is_negated(text: str, start: int, end: int) -> bool:
    """ "not decided", "no known limitation", "nobody chose", "yet to be decided", "errors: 0"."""
    if _NOTHING.match(text, end):
        return True
    back = max(start - _NEGATION_CHARACTERS, 0)
    back = max(back, text.rfind("\n", back, start) + 1)
    words = [word.strip(_QUOTES) for word in text[back:start].split()[-_NEGATION_WORDS:]]
    for index in range(len(words) - 1, -1, -1):
        if words[index] in _NEGATIONS or words[index : index + 2] == ["yet", "to"]:
            return True
        if words[index] not in _BETWEEN:  # "no test failed"
            return index > 0 and words[index - 1] == "no" and words[index].isalpha()
    return False
