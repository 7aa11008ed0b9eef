"""Limits and prices."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from memdir.errors import MemdirError
from memdir.models.model import Question, Usage, tokens_of

# How many tokens may be spent: decided before a call, from what was spent already.

RESERVED = "reserved"  # the outcome of a call that has not come back; its estimate counts
ANSWERED = "answered"


RUN_TOKENS = 8_000  # of one capture, where nobody says otherwise


class OverBudget(MemdirError):
    """The call would cost more tokens than are left; it was not made."""

    code = "over_budget"


class OverRun(OverBudget):
    """The same for what one piece of work may cost: to wait does not help."""


class LedgerBroken(MemdirError):
    """Nobody knows what was spent, so no call is made."""

    code = "ledger_broken"


@dataclass(frozen=True)
class Limits:
    """Tokens, input that no cache gave and output together; 0 allows no call.

    `run` is for all calls of one piece of work; None where it has no limit of its own.
    """

    session: int
    day: int
    run: int | None = None


@dataclass(frozen=True)
class Spent:
    """Tokens of one session and of one day."""

    session: int = 0
    day: int = 0


@dataclass(frozen=True)
class Call:
    """One call as the ledger has it; `day` is the user's own, `usage` an estimate at first.

    `produced` says in a few words what became of the answer.
    """

    id: str
    time: float
    day: str
    purpose: str
    model: str
    session: str
    usage: Usage
    outcome: str = RESERVED
    produced: str = ""


def estimate(question: Question, cached: int = 0) -> Usage:
    """What a question will cost at the most, as far as its characters tell.

    `cached` tokens of it came from a cache a moment ago, in the turn before.
    """
    schema = json.dumps(question.schema) if question.schema else ""
    given = tokens_of(*question.texts, schema)
    cached = min(cached, given) if question.earlier else 0
    return Usage(given - cached, question.max_tokens, cached)


def spent_by(calls: Iterable[Call], day: str, session: str) -> Spent:
    """What these calls cost on that day and in that session (which may last for several)."""
    of_session = of_day = 0
    for call in calls:
        of_session += call.usage.total if session and call.session == session else 0
        of_day += call.usage.total if call.day == day else 0
    return Spent(of_session, of_day)


def too_much(wanted: int, spent: Spent, limits: Limits, session: str) -> str:
    """Why a call of that size may not be made; empty when it may. No session, no limit for it."""
    of_session = _short("this session", wanted, spent.session, limits.session) if session else ""
    return of_session or _short("this day", wanted, spent.day, limits.day)


def too_much_for_run(wanted: int, used: int, limits: Limits) -> str:
    """The same for the calls of one piece of work."""
    return "" if limits.run is None else _short("this run", wanted, used, limits.run)


def _short(name: str, wanted: int, used: int, limit: int) -> str:
    if used + wanted <= limit:
        return ""
    left = max(limit - used, 0)
    return f"the call needs about {wanted:,} tokens; {name} has {left:,} of {limit:,} left"


# What tokens cost, where that is known: list prices in US dollars, as published in late 2025.
#
# They change, and contracts differ: a figure that a model gives itself goes before ours.

MILLION = 1_000_000
# Of a million tokens: input, output, input that a cache gave. The longest name that fits counts.
PRICES = {
    "anthropic:claude-haiku-4-5": (1.00, 5.00, 0.10),
    "anthropic:claude-sonnet-4": (3.00, 15.00, 0.30),
    "anthropic:claude-opus-4-5": (5.00, 25.00, 0.50),
    "openai:gpt-5-nano": (0.05, 0.40, 0.005),
    "openai:gpt-5-mini": (0.25, 2.00, 0.025),
}


def cost(model: str, usage: Usage) -> float | None:
    """What a call cost in US dollars; None where nobody knows."""
    if usage.cost is not None:
        return usage.cost
    fitting = [name for name in PRICES if model == name or model.startswith(f"{name}-")]
    if not fitting:
        return None
    fresh, made, cached = PRICES[max(fitting, key=len)]
    total = usage.input_tokens * fresh + usage.output_tokens * made + usage.cached_tokens * cached
    return total / MILLION
