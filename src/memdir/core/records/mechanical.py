"""Drafts of records without a model: the words of the conversation, in the fields they fit.

Nothing is made up: what a field must say and nobody said is named as missing, for a person to add.
"""

from __future__ import annotations

from memdir.core.inert import inert_line
from memdir.core.records import fields
from memdir.core.records.fields import Record
from memdir.core.records.scoring import RULES, Score, Scored
from memdir.core.transcript import AGENT, PERSON

UNSAID = "Not said in the conversation."
TAG = "captured"
LONGEST = 600  # bytes of a field
MOST_ITEMS = 5
_FIXED: dict[str, Record] = {
    "decision": {"status": "proposed"},
    "constraint": {"kind": "limitation", "severity": "medium", "active": True},
    "tech_debt": {"status": "open", "priority": "medium"},
    "preference": {"strength": "default"},
    "session_summary": {"outcome": "partial"},
}
_BOOSTERS = {rule.type: rule.boosters for rule in RULES}


def drafted(scored: Scored, one: Score) -> Record:
    """A draft of one type that triggers; the best line first, the others as its grounds."""
    quoted = _quotes(scored, one)
    first, rest = (quoted[0], quoted[1:]) if quoted else (UNSAID, [])
    content = dict(_FIXED.get(one.type, {})) | _content(scored, one.type, first, rest)
    title = inert_line(first if quoted else content.get("goal", ""), fields.MAX_TITLE)
    return {
        "category": one.type,
        "title": title,
        "tags": [TAG],
        "confidence": fields.DEFAULT_CONFIDENCE,
        "content": content,
    }


def _quotes(scored: Scored, one: Score) -> list[str]:
    """The lines with a hit, those with a booster first, each once."""
    numbers = dict.fromkeys((*one.boosted, *one.hits))
    texts = (inert_line(scored.lines[at].text.strip(" \t-*>#"), LONGEST) for at in numbers)
    return list(dict.fromkeys(filter(None, texts)))[:MOST_ITEMS]


def _content(scored: Scored, type: str, first: str, rest: list[str]) -> Record:
    why = [_grounds(one, type) for one in (first, *rest)]
    grounds = [one for one in why if one] or [UNSAID]
    if type == "decision":
        return {"context": _asked(scored), "decision": first, "rationale": grounds}
    if type == "runbook":
        return {"trigger": first, "steps": grounds, "verification": UNSAID}
    if type == "constraint":
        return {"rule": first, "impact": rest or [UNSAID]}
    if type == "tech_debt":
        return {"description": first, "reason_deferred": grounds[0]}
    if type == "preference":
        return {"topic": inert_line(first, 80), "value": first, "reason": grounds[0]}
    done = [inert_line(one.text, LONGEST) for one in scored.said if one.who == AGENT and one.text]
    return {"goal": _asked(scored, False), "completed": done[-1:], "next_actions": [UNSAID]}


def _grounds(line: str, type: str) -> str:
    """From the first booster on; nothing where the line has none."""
    low = line.lower()
    starts = [low.find(word) for word in _BOOSTERS.get(type, ()) if word in low]
    return line[min(starts) :] if starts and len(low) == len(line) else ""


def _asked(scored: Scored, last: bool = True) -> str:
    """What the person said last, or first."""
    said = [one.text for one in scored.said if one.who == PERSON and one.text.strip()]
    return inert_line(said[-1 if last else 0], LONGEST) if said else UNSAID
