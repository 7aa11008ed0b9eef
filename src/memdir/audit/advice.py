"""What to do with a memory: keep, look at, fix or retire it. Age alone says `look`, never more."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass

from memdir.audit.ages import PRUNE, REVIEW, type_to_judge_by
from memdir.hot.memory import Memory, read_header
from memdir.text.markdown import split_sentences

OLD_RULE = 90  # points, reached after more than three: a rule is looked at that late
KEEP, LOOK, FIX, RETIRE = "keep", "look", "fix", "retire"
# Never advised to go: a rule or a choice does not wear out.
LASTING = ("value", "user", "feedback", "decision")
DATED = ("project", "unknown", "session_summary", "runbook")
MAX_SHORT = 6  # sentences of a memory that is about little else than its date
LOOK_CHARACTERS = 20_000  # of a memory
START_CHARACTERS = 120  # of its first sentence
MIN_WRONG = 2  # stale claims, and none that holds: the code contradicts the memory as a whole
_DATE = r"(20\d\d-[01]\d-[0-3]\d)"
# A day that something was due: `until 2026-03-05`, `deadline: 2026-03-05`, `freeze on 2026-03-05`.
_DUE = re.compile(
    rf"\b(?:due|deadlines?|expires?|freezes?|frozen|cut-?off|go-?live)\b[^.;\d]{{0,40}}{_DATE}"
    r"|\b(?:until|till|by|before|ends?|begins?|starts?|starting|scheduled|planned|target|eta"
    rf"|launch(?:es)?|moves?|migrates?)[\s:*_]{{1,3}}(?:(?:on|at|for|is|the|date)\s+){{0,2}}{_DATE}",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"\b(?:was|were|had|did|since|(?:complet|merg|fix|verifi|confirm|decid|discover|reset|releas"
    r"|shipp|rebuil|updat|creat|approv|audit|measur|audit|land)(?:ed|t)?|ran|found|done)\b",
    re.IGNORECASE,
)
_OVER = re.compile(
    r"\b(?:superseded|obsolete|deprecated|abandoned|outdated|no longer (?:used|true|valid|applies"
    r"|needed|relevant))\b",
    re.IGNORECASE,
)
# Said of the whole memory: in its name or description, or as a status of its own.
_DONE = re.compile(
    r"(?i:\bstatus\W{1,6}(?:done|shipped|complete[d]?|closed|finished|merged|cancell?ed)\b)"
    r"|\b(?:DONE|COMPLETED?|FINISHED|SHIPPED|CLOSED|CANCELL?ED)\b|^✅"
)


@dataclass(frozen=True)
class Tally:
    """Claims of a memory; those `checked` are stale or true."""

    checked: int = 0
    stale: int = 0
    unknown: int = 0
    unasked: int = 0  # of the unknown ones: URLs, and all where there is no repository


def advise_on_memory(
    memory: Memory, text: str, score: int, claims: Tally, today: datetime.date
) -> tuple[str, tuple[str, ...]]:
    """The advice, and the reasons other than age and claims; `score` is that of the age alone."""
    body = read_header(text[:LOOK_CHARACTERS]).body
    sentences = [text for text, code in split_sentences(body) if not code]
    kind = type_to_judge_by(memory)
    labels = f"{memory.name}\n{memory.description}"
    start = "".join(sentences[:1])[:START_CHARACTERS]
    over = _OVER.search(labels) or _OVER.search(start)
    done = _DONE.search(labels) or _DONE.search(start)
    due = ""
    if kind in DATED:
        due = _find_passed_day([memory.description, *sentences], today.isoformat())
    reasons = [f"it says itself: {match[0].strip().lower()}" for match in (over or done,) if match]
    reasons += [f"this was due on {due}"] if due else []
    wrong = claims.stale == claims.checked >= MIN_WRONG
    finished = over or done or (due and len(sentences) <= MAX_SHORT) or wrong
    lasting = kind in LASTING or memory.pinned
    if finished and score >= PRUNE and not lasting:
        return RETIRE, tuple(reasons)
    if claims.stale or due or over:
        return FIX, tuple(reasons)
    # A rule is seldom about what git can show: that nothing of it could be checked says nothing.
    if claims.unknown > claims.unasked and not claims.checked and not lasting:
        reasons.append("none of its claims could be checked")
    # The half-life of a lasting memory is about how sure it is, not about its worth.
    old = score >= (OLD_RULE if lasting else REVIEW)
    return LOOK if old or reasons else KEEP, tuple(reasons)


def _find_passed_day(sentences: Sequence[str], today: str) -> str:
    """The latest day something was due on, if it has passed; else ""."""
    ahead = [sentence for sentence in sentences if not _PAST.search(sentence)]
    days = [match[1] or match[2] for sentence in ahead for match in _DUE.finditer(sentence)]
    last = max(days, default="")
    return last if last < today else ""
