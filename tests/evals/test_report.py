"""Every figure against a value worked out by hand."""

import math

import pytest

from memdir import evals

RANKING = ["a", "b", "c", "d"]
GOLD = ("b", "d", "z")


@pytest.mark.parametrize(("k", "share"), [(1, 0), (2, 1 / 3), (3, 1 / 3), (4, 2 / 3), (20, 2 / 3)])
def test_recall_is_the_share_of_the_gold_among_the_first(k, share):
    assert evals.recall_at(k, RANKING, GOLD) == pytest.approx(share)
    assert evals.recall_at(5, ["a", "a"], ["a", "a", "b"]) == 0.5


@pytest.mark.parametrize(("gold", "value"), [(("a",), 1), (GOLD, 0.5), (("d",), 0.25), (("z",), 0)])
def test_the_reciprocal_rank_is_that_of_the_first_gold(gold, value):
    assert evals.reciprocal_rank(RANKING, gold) == value


def test_ndcg_discounts_by_the_logarithm_of_the_rank():
    gain = 1 / math.log2(3) + 1 / math.log2(5)  # ranks 2 and 4
    ideal = 1 + 1 / math.log2(3) + 1 / math.log2(4)  # three gold memories on top
    assert evals.ndcg_at(10, RANKING, GOLD) == pytest.approx(gain / ideal)
    assert evals.ndcg_at(10, ["z", "d", "b"], GOLD) == 1
    assert evals.ndcg_at(2, ["b", "d"], GOLD) == 1
    assert evals.ndcg_at(10, [], GOLD) == 0


def test_a_mean_has_its_n_and_the_same_interval_every_time():
    values = [1.0, 0.0] * 50
    figure = evals.mean_figure("x", values)
    assert (figure.value, figure.n) == (0.5, 100)
    # The normal approximation: 1.96 × sqrt(0.25 / 100) on either side.
    assert figure.low == pytest.approx(0.402, abs=0.03)
    assert figure.high == pytest.approx(0.598, abs=0.03)
    assert evals.mean_figure("x", values) == figure
