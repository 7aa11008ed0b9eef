"""Staleness: the table of seed 000, exact where a band begins; what claims add; the clock."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.audit.ages import (
    Moments,
    choose_audit_action,
    find_age_start,
    raise_staleness_score,
    score_staleness,
)
from memdir.claims.claim import (
    BRANCH,
    PACKAGE,
    PATH,
    STALE,
    SYMBOL,
    TRUE,
    UNKNOWN,
    URL,
    Claim,
    Judged,
)
from memdir.hot import types
from memdir.hot.memory import Memory

# type, half-life = days to 50 points, days to about 90 points
TABLE = [
    ("value", 365, 1213),
    ("user", 180, 598),
    ("feedback", 90, 299),
    ("reference", 60, 199),
    ("project", 14, 47),
    ("unknown", 30, 100),
]
RECORDS = {
    **dict.fromkeys(("decision", "constraint", "preference"), 365),
    "runbook": 60,
    "tech_debt": 60,
    "session_summary": 14,
}
DAY = 86_400.0


@pytest.mark.parametrize(("name", "fifty", "ninety"), TABLE)
def test_a_type_ages_as_the_table_says(name, fifty, ninety):
    half_life = types.get(name).half_life_days
    assert half_life == fifty
    assert score_staleness(fifty - 1, half_life) < 50 == score_staleness(fifty, half_life)
    reached = next(day for day in range(2000) if score_staleness(day, half_life) >= 90)
    assert abs(reached - ninety) <= 1


def test_every_type_has_a_half_life_that_somebody_decided():
    records = {name: types.get(name).half_life_days for name in types.names()}
    assert {name for name, *_ in TABLE} - {"unknown"} | RECORDS.keys() == records.keys()
    assert RECORDS.items() <= records.items()


@given(st.floats(0, 1e6), st.floats(0.01, 1e5))
def test_it_is_the_formula_of_the_seed(age, half_life):
    assert (score_staleness(half_life, half_life), score_staleness(2 * half_life, half_life)) == (
        50,
        75,
    )
    exact = 100 * (1 - math.exp(-age * math.log(2) / half_life))
    assert abs(score_staleness(age, half_life) - exact) <= 1
    assert 0 <= score_staleness(age, half_life) <= 100


@pytest.mark.parametrize(
    ("points", "expected"),
    [(0, "keep"), (49, "keep"), (50, "review"), (74, "review"), (75, "prune"), (100, "prune")],
)
def test_a_score_proposes_an_action(points, expected):
    assert choose_audit_action(points) == expected


def judged(kind: str, verdict: str = STALE, text: str = "x") -> Judged:
    return Judged(Claim(kind, text, 1), verdict)


@pytest.mark.parametrize(
    ("claims", "points"),
    [
        ([judged(PATH)], 20),
        ([judged(SYMBOL)], 30),
        ([judged(URL)], 10),
        ([judged(BRANCH)], 15),
        ([judged(PACKAGE)], 0),
        ([judged(PATH), judged(SYMBOL), judged(URL), judged(BRANCH)], 75),
        ([judged(PATH), judged(PATH, text="y")], 20),  # one renamed folder is one reason
        ([judged(PATH, UNKNOWN), judged(SYMBOL, TRUE)], 0),
    ],
)
def test_only_stale_claims_add_points_each_kind_once(claims, points):
    assert raise_staleness_score(10, claims) == 10 + points
    assert raise_staleness_score(90, claims) == min(90 + points, 100)


def memory(**header: str) -> Memory:
    lines = "".join(f"{key}: {value}\n" for key, value in header.items())
    return Memory("x.md", f"---\n{lines}---\n", mtime=100 * DAY, size=10)


SOONER, LATER = "1970-01-11", "1970-01-21"  # ten and twenty days


@pytest.mark.parametrize(
    ("header", "moments", "days"),
    [
        ({"modified": SOONER, "last_verified": LATER}, Moments(), 20),
        ({"modified": LATER, "last_verified": SOONER}, Moments(), 20),
        ({"created": SOONER}, Moments(), 10),
        ({"created": SOONER, "modified": LATER}, Moments(), 20),
        ({}, Moments(), 100),
        # An outside edit counts where it is newer, a version that the history only got does not.
        ({"modified": SOONER}, Moments(edited=30 * DAY), 30),
        ({"modified": LATER}, Moments(edited=15 * DAY), 20),
        ({"created": SOONER}, Moments(edited=30 * DAY), 30),
        ({"modified": SOONER}, Moments(kept=30 * DAY), 10),
        ({"modified": SOONER}, Moments(committed=30 * DAY), 10),
        # A pull is seen late; the edit was made when it was committed.
        ({"modified": SOONER}, Moments(edited=90 * DAY, committed=40 * DAY), 40),
        ({}, Moments(kept=30 * DAY), 30),
        ({}, Moments(kept=90 * DAY, committed=40 * DAY), 40),
        ({}, Moments(committed=40 * DAY), 40),
    ],
)
def test_the_clock_asks_who_knows_best(header, moments, days):
    assert find_age_start(memory(**header), moments) == days * DAY
