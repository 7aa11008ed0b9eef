"""Every figure against a value worked out by hand."""

import math

import pytest

from memdir.evals import report
from memdir.evals.report import wilson

RANKING = ["a", "b", "c", "d"]
GOLD = ("b", "d", "z")


@pytest.mark.parametrize(("k", "share"), [(1, 0), (2, 1 / 3), (3, 1 / 3), (4, 2 / 3), (20, 2 / 3)])
def test_recall_is_the_share_of_the_gold_among_the_first(k, share):
    assert report.recall_at(k, RANKING, GOLD) == pytest.approx(share)


def test_gold_named_twice_or_returned_twice_counts_once():
    assert report.recall_at(5, ["a", "a"], ["a", "a", "b"]) == 0.5


@pytest.mark.parametrize(("gold", "value"), [(("a",), 1), (GOLD, 0.5), (("d",), 0.25), (("z",), 0)])
def test_the_reciprocal_rank_is_that_of_the_first_gold(gold, value):
    assert report.reciprocal_rank(RANKING, gold) == value


def test_ndcg_discounts_by_the_logarithm_of_the_rank():
    gain = 1 / math.log2(3) + 1 / math.log2(5)  # ranks 2 and 4
    ideal = 1 + 1 / math.log2(3) + 1 / math.log2(4)  # three gold memories on top
    assert report.ndcg_at(10, RANKING, GOLD) == pytest.approx(gain / ideal)
    assert report.ndcg_at(10, RANKING, GOLD) == pytest.approx(0.4982, abs=1e-4)
    assert report.ndcg_at(10, ["z", "d", "b"], GOLD) == 1
    assert report.ndcg_at(2, ["b", "d"], GOLD) == 1
    assert report.ndcg_at(10, [], GOLD) == 0


def test_precision_of_nothing_said_is_unknown():
    assert report.precision(3, 4) == 0.75
    assert report.precision(0, 0) is None


@pytest.mark.parametrize(("share", "value"), [(0, 1), (0.5, 2.5), (0.95, 3.85), (1, 4), (1 / 3, 2)])
def test_a_quantile_lies_between_its_neighbours_in_proportion(share, value):
    assert report.quantile([1, 2, 3, 4], share) == pytest.approx(value)


def test_median_and_p95_need_no_order_and_may_be_absent():
    assert report.median([3, 1, 2]) == 2
    assert report.p95([1, 0]) == pytest.approx(0.95)
    assert report.median([]) is None and report.p95([]) is None


def test_a_mean_has_its_n_and_the_same_interval_every_time():
    values = [1.0, 0.0] * 50
    figure = report.mean_figure("x", values)
    assert (figure.value, figure.n) == (0.5, 100)
    # The normal approximation: 1.96 × sqrt(0.25 / 100) on either side.
    assert figure.low == pytest.approx(0.402, abs=0.03)
    assert figure.high == pytest.approx(0.598, abs=0.03)
    assert report.mean_figure("x", values) == figure


def test_values_that_do_not_vary_have_no_interval_and_nothing_has_no_mean():
    same = report.mean_figure("x", [0.25] * 4)
    assert (same.value, same.low, same.high) == (0.25, 0.25, 0.25)
    assert report.mean_figure("x", []).remark == "there was nothing to measure"


@pytest.mark.parametrize(
    ("part", "whole", "low", "high"),
    [(0, 0, None, None), (17, 17, 0.816, 1.0), (14, 19, 0.512, 0.882), (0, 10, 0.0, 0.278)],
)
def test_the_interval_is_wilsons(part, whole, low, high):
    assert wilson(part, whole) == (
        low if low is None else pytest.approx(low, abs=1e-3),
        high if high is None else pytest.approx(high, abs=1e-3),
    )
