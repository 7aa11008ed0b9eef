"""The budget is decided before a call."""

import pytest

from memdir.models.budget import (
    Call,
    Limits,
    Spent,
    cost,
    estimate,
    spent_by,
    too_much,
    too_much_for_run,
)
from memdir.models.model import Question, Turn, Usage

LIMITS = Limits(session=100, day=1000)


@pytest.mark.parametrize(
    ("wanted", "spent", "session", "reason"),
    [
        (100, Spent(0, 0), "s", ""),
        (101, Spent(0, 0), "s", "this session has 100 of 100 left"),
        (60, Spent(40, 0), "s", ""),
        (61, Spent(40, 0), "s", "this session has 60 of 100 left"),
        (1, Spent(500, 0), "s", "this session has 0 of 100 left"),
        (50, Spent(0, 950), "s", ""),
        (51, Spent(0, 950), "s", "this day has 50 of 1,000 left"),
        (900, Spent(0, 0), "", ""),
        (1001, Spent(0, 0), "", "this day has 1,000 of 1,000 left"),
    ],
)
def test_a_call_may_take_what_is_left_and_no_more(wanted, spent, session, reason):
    told = too_much(wanted, spent, LIMITS, session)
    assert told.endswith(reason)
    assert bool(told) == bool(reason)


def test_an_estimate_counts_all_that_is_sent_and_the_longest_answer():
    schema = {"type": "object"}  # 18 characters as JSON
    assert estimate(Question("s" * 10, "u" * 12, schema, 256)) == Usage(10, 256)
    assert estimate(Question("s" * 10, "u" * 12, None, 256)) == Usage(6, 256)


def test_an_estimate_counts_earlier_turns_and_what_a_cache_just_gave():
    turns = (Turn("a" * 8, "t" * 16),)
    question = Question("s" * 10, "u" * 10, None, 256, earlier=turns)
    assert estimate(question) == Usage(11, 256)
    assert estimate(question, cached=5) == Usage(6, 256, 5)
    assert estimate(question, cached=500) == Usage(0, 256, 11)
    assert estimate(Question("s" * 10, "u" * 10, None, 256), cached=5) == Usage(5, 256)


@pytest.mark.parametrize(
    ("wanted", "used", "limit", "reason"),
    [
        (100, 0, 100, ""),
        (101, 0, 100, "this run has 100 of 100 left"),
        (60, 50, 100, "this run has 50 of 100 left"),
        (1, 0, 0, "this run has 0 of 0 left"),
        (10**9, 10**9, None, ""),
    ],
)
def test_a_run_may_take_what_is_left_of_it(wanted, used, limit, reason):
    told = too_much_for_run(wanted, used, Limits(0, 0, limit))
    assert told.endswith(reason)
    assert bool(told) == bool(reason)


@pytest.mark.parametrize(
    ("model", "usage", "dollars"),
    [
        ("anthropic:claude-haiku-4-5", Usage(1_000_000, 0, 0), 1.0),
        ("anthropic:claude-haiku-4-5-20251001", Usage(0, 1_000_000, 1_000_000), 5.1),
        ("anthropic:claude-haiku-4-5", Usage(1_000_000, 0, 0, 0.25), 0.25),
        ("anthropic:claude-haiku-4-55", Usage(1, 1), None),
        ("openai:some-local-model", Usage(1, 1), None),
        ("claude:haiku", Usage(1, 1), None),
    ],
)
def test_a_cost_is_told_where_a_price_is_known(model, usage, dollars):
    assert cost(model, usage) == (None if dollars is None else pytest.approx(dollars))


def call(day: str, session: str, given: int, made: int, cached: int = 0) -> Call:
    return Call("i", 0.0, day, "select", "m", session, Usage(given, made, cached))


def test_a_session_lasts_for_days_and_a_day_has_many_sessions():
    calls = [
        call("2026-03-01", "a", 1, 2),
        call("2026-03-02", "a", 10, 20, 5000),
        call("2026-03-02", "b", 100, 200),
        call("2026-03-02", "", 1000, 2000),
    ]
    assert spent_by(calls, "2026-03-02", "a") == Spent(33, 3330)
    assert spent_by(calls, "2026-03-02", "") == Spent(0, 3330)
    assert spent_by(calls, "2026-03-03", "c") == Spent(0, 0)
