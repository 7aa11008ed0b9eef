"""`python -m evals pairs`: which memories say the same, in figures."""

import pytest

from evals.pairs_measure import auc
from tests.evals.bench import figures


@pytest.mark.parametrize(
    ("positives", "negatives", "area"),
    [([3, 4], [1, 2], 1), ([1], [2], 0), ([1], [1], 0.5), ([1, 3], [2], 0.5), ([], [1], None)],
)
def test_the_area_is_how_often_a_positive_scores_above_a_negative(positives, negatives, area):
    assert auc(positives, negatives) == area


def test_on_real_memories_the_goal_is_met_and_words_alone_are_beaten(shared):
    told = figures("pairs", shared / "corpus")["figures"]
    assert told["AUC, memdir"]["value"] >= 0.90
    assert told["AUC, left-out repositories"]["value"] >= 0.90
    assert told["AUC, memdir above words"]["low"] > 0
    assert told["merged in whole directories"]["value"] == 0
    assert told["shown in whole directories"]["value"] <= 10
    assert told["alarms on other memories"]["value"] == 0
