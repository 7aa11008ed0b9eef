"""Staleness: the table of seed 000, exact where a band begins; what claims add; the clock."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.audit import ages
from memdir.claims import claim
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
DAY = 86_400.0


@pytest.mark.parametrize(("name", "fifty", "ninety"), TABLE)
def test_a_type_ages_as_the_table_says(name, fifty, ninety):
    half_life = types.get(name).half_life_days
    assert half_life == fifty
    assert ages.score_staleness(fifty - 1, half_life) < 50 == ages.score_staleness(fifty, half_life)
    reached = next(day for day in range(2000) if ages.score_staleness(day, half_life) >= 90)
    assert abs(reached - ninety) <= 1


@given(st.floats(0, 1e6), st.floats(0.01, 1e5))
def test_it_is_the_formula_of_the_seed(age, half_life):
    marks = [ages.score_staleness(lives * half_life, half_life) for lives in (1, 2)]
    assert marks == [50, 75]
    exact = 100 * (1 - math.exp(-age * math.log(2) / half_life))
    assert abs(ages.score_staleness(age, half_life) - exact) <= 1
    assert 0 <= ages.score_staleness(age, half_life) <= 100


def judged(kind: str, verdict: str = claim.STALE, text: str = "x") -> claim.Judged:
    return claim.Judged(claim.Claim(kind, text, 1), verdict)


@pytest.mark.parametrize(
    ("claims", "points"),
    [
        ([judged(claim.PATH)], 20),
        ([judged(claim.SYMBOL)], 30),
        ([judged(claim.URL)], 10),
        ([judged(claim.BRANCH)], 15),
        ([judged(claim.PACKAGE)], 0),
        ([judged(claim.PATH), judged(claim.SYMBOL), judged(claim.URL), judged(claim.BRANCH)], 75),
        # One renamed folder is one reason.
        ([judged(claim.PATH), judged(claim.PATH, text="y")], 20),
        ([judged(claim.PATH, claim.UNKNOWN), judged(claim.SYMBOL, claim.TRUE)], 0),
    ],
)
def test_only_stale_claims_add_points_each_kind_once(claims, points):
    assert ages.raise_staleness_score(10, claims) == 10 + points
    assert ages.raise_staleness_score(90, claims) == min(90 + points, 100)


def memory(**header: str) -> Memory:
    lines = "".join(f"{key}: {value}\n" for key, value in header.items())
    return Memory("x.md", f"---\n{lines}---\n", mtime=100 * DAY, size=10)


SOONER, LATER = "1970-01-11", "1970-01-21"  # ten and twenty days


@pytest.mark.parametrize(
    ("header", "moments", "days"),
    [
        ({"modified": SOONER, "last_verified": LATER}, ages.Moments(), 20),
        ({"modified": LATER, "last_verified": SOONER}, ages.Moments(), 20),
        ({"created": SOONER}, ages.Moments(), 10),
        ({"created": SOONER, "modified": LATER}, ages.Moments(), 20),
        ({}, ages.Moments(), 100),
        # An outside edit counts where it is newer, a version that the history only got does not.
        ({"modified": SOONER}, ages.Moments(edited=30 * DAY), 30),
        ({"modified": LATER}, ages.Moments(edited=15 * DAY), 20),
        ({"created": SOONER}, ages.Moments(edited=30 * DAY), 30),
        ({"modified": SOONER}, ages.Moments(kept=30 * DAY), 10),
        ({"modified": SOONER}, ages.Moments(committed=30 * DAY), 10),
        # A pull is seen late; the edit was made when it was committed.
        ({"modified": SOONER}, ages.Moments(edited=90 * DAY, committed=40 * DAY), 40),
        ({}, ages.Moments(kept=30 * DAY), 30),
        ({}, ages.Moments(kept=90 * DAY, committed=40 * DAY), 40),
        ({}, ages.Moments(committed=40 * DAY), 40),
    ],
)
def test_the_clock_asks_who_knows_best(header, moments, days):
    assert ages.find_age_start(memory(**header), moments) == days * DAY
