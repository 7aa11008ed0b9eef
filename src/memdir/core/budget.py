"""How many tokens may be spent: decided before a call, from what was spent already."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from memdir.core.errors import MemdirError
from memdir.core.model import Question, Usage, tokens_of

RESERVED = "reserved"  # the outcome of a call that has not come back; its estimate counts
ANSWERED = "answered"


class OverBudget(MemdirError):
    """The call would cost more tokens than are left; it was not made."""

    code = "over_budget"


class LedgerBroken(MemdirError):
    """Nobody knows what was spent, so no call is made."""

    code = "ledger_broken"


@dataclass(frozen=True)
class Limits:
    """Tokens, input that no cache gave and output together; 0 allows no call."""

    session: int
    day: int


@dataclass(frozen=True)
class Spent:
    """Tokens of one session and of one day."""

    session: int = 0
    day: int = 0


@dataclass(frozen=True)
class Call:
    """One call as the ledger has it; `day` is the user's own, `usage` an estimate at first."""

    id: str
    time: float
    day: str
    purpose: str
    model: str
    session: str
    usage: Usage
    outcome: str = RESERVED


def estimate(question: Question) -> Usage:
    """What a question will cost at the most, as far as its characters tell."""
    schema = json.dumps(question.schema) if question.schema else ""
    return Usage(tokens_of(question.system, question.user, schema), question.max_tokens)


def spent_by(calls: Iterable[Call], day: str, session: str) -> Spent:
    """What these calls cost on that day and in that session (which may last for several)."""
    of_session = of_day = 0
    for call in calls:
        of_session += call.usage.total if session and call.session == session else 0
        of_day += call.usage.total if call.day == day else 0
    return Spent(of_session, of_day)


def too_much(wanted: int, spent: Spent, limits: Limits, session: str) -> str:
    """Why a call of that size may not be made; empty when it may. No session, no limit for it."""
    rows = [("this day", spent.day, limits.day)]
    if session:
        rows.insert(0, ("this session", spent.session, limits.session))
    for name, used, limit in rows:
        if used + wanted > limit:
            return (
                f"the call needs about {wanted:,} tokens; {name} has {max(limit - used, 0):,} "
                f"of {limit:,} left"
            )
    return ""
