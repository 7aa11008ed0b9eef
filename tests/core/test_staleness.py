"""Staleness: the table of seed 000, exact where a band begins."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.core import types
from memdir.core.staleness import action, score

# type, half-life = days to 50 points, days to about 90 points
TABLE = [
    ("value", 365, 1213),
    ("user", 180, 598),
    ("feedback", 90, 299),
    ("reference", 60, 199),
    ("project", 14, 47),
    ("unknown", 30, 100),
]


@pytest.mark.parametrize(("name", "fifty", "ninety"), TABLE)
def test_a_type_ages_as_the_table_says(name, fifty, ninety):
    half_life = types.get(name).half_life_days
    assert half_life == fifty
    assert score(fifty - 1, half_life) < 50 == score(fifty, half_life)
    reached = next(day for day in range(2000) if score(day, half_life) >= 90)
    assert abs(reached - ninety) <= 1


@given(st.integers(1, 100_000))
def test_whole_half_lives_are_exact(half_life):
    assert score(half_life, half_life) == 50
    assert score(2 * half_life, half_life) == 75


@given(st.floats(0, 1e6), st.floats(0.01, 1e5))
def test_it_is_the_formula_of_the_seed(age, half_life):
    exact = 100 * (1 - math.exp(-age * math.log(2) / half_life))
    assert abs(score(age, half_life) - exact) <= 1
    assert 0 <= score(age, half_life) <= 100


@pytest.mark.parametrize("age", [0, -0.5, -3650])
def test_the_future_is_fresh(age):
    assert score(age, 14) == 0


@pytest.mark.parametrize(
    ("points", "expected"),
    [(0, "keep"), (49, "keep"), (50, "review"), (74, "review"), (75, "prune"), (100, "prune")],
)
def test_a_score_proposes_an_action(points, expected):
    assert action(points) == expected
