"""Every figure against a value worked out by hand; the same report on a page and for a program."""

import math
import re
from dataclasses import replace

import pytest

from memdir.cli.output import Screen
from memdir.evals import report
from memdir.evals.report import COUNT, MS, SHARE, TEXT, Figure, Report, Section, Table
from memdir.text.terminal import text_width

RANKING = ["a", "b", "c", "d"]
GOLD = ("b", "d", "z")
HOSTILE = (
    "<script>alert(1)</script>\"'&<img src=https://example.com/x> \x1b[2J\u202e\udc80"
    + "日本語の長い名前" * 20
)


@pytest.mark.parametrize(("k", "share"), [(1, 0), (2, 1 / 3), (3, 1 / 3), (4, 2 / 3), (20, 2 / 3)])
def test_recall_is_the_share_of_the_gold_among_the_first(k, share):
    assert report.recall_at(k, RANKING, GOLD) == pytest.approx(share)
    assert report.recall_at(5, ["a", "a"], ["a", "a", "b"]) == 0.5


@pytest.mark.parametrize(("gold", "value"), [(("a",), 1), (GOLD, 0.5), (("d",), 0.25), (("z",), 0)])
def test_the_reciprocal_rank_is_that_of_the_first_gold(gold, value):
    assert report.reciprocal_rank(RANKING, gold) == value


def test_ndcg_discounts_by_the_logarithm_of_the_rank():
    gain = 1 / math.log2(3) + 1 / math.log2(5)  # ranks 2 and 4
    ideal = 1 + 1 / math.log2(3) + 1 / math.log2(4)  # three gold memories on top
    assert report.ndcg_at(10, RANKING, GOLD) == pytest.approx(gain / ideal)
    assert report.ndcg_at(10, ["z", "d", "b"], GOLD) == 1
    assert report.ndcg_at(2, ["b", "d"], GOLD) == 1
    assert report.ndcg_at(10, [], GOLD) == 0


def test_a_mean_has_its_n_and_the_same_interval_every_time():
    values = [1.0, 0.0] * 50
    figure = report.mean_figure("x", values)
    assert (figure.value, figure.n) == (0.5, 100)
    # The normal approximation: 1.96 × sqrt(0.25 / 100) on either side.
    assert figure.low == pytest.approx(0.402, abs=0.03)
    assert figure.high == pytest.approx(0.598, abs=0.03)
    assert report.mean_figure("x", values) == figure


@pytest.fixture
def hostile() -> Report:
    columns = (("name", TEXT), ("n", COUNT), ("R@5", SHARE), ("ms", MS))
    wide = (("kind", TEXT), ("memory", TEXT), ("finding", TEXT))
    section = Section(
        HOSTILE,
        (
            Figure("R@5", 0.8604, SHARE, 80, 0.79, 0.92),
            Figure("MRR", 0.7, SHARE, 80, 0.6, 0.8),
            Figure(HOSTILE, 1234567, COUNT, 1),
            Figure("absent", None, MS, 0, remark=HOSTILE),
        ),
        (
            Table("by " + HOSTILE, columns, ((HOSTILE, 12, 0.5, 1.234), ("b", 1, None, None))),
            Table("findings", wide, ((HOSTILE, HOSTILE, HOSTILE),)),
        ),
        (HOSTILE,),
    )
    return Report("own", "/tmp/" + HOSTILE, HOSTILE, (section, Section("empty")))


def lines(shown: Report) -> list[str]:
    return report.evaluation_report_lines(shown, Screen({"NO_COLOR": "1"}))


def test_the_page_fits_80_columns_and_shows_what_is_hidden(hostile):
    shown = lines(hostile)
    assert [line for line in shown if text_width(line) > 80 and len(line.split()) > 1] == []
    assert not re.search("[\x00-\x1f\x7f-\x9f\u202e\ud800-\udfff]", "".join(shown))


def test_the_page_has_value_interval_and_n(hostile):
    section = hostile.sections[0]
    tame = replace(section, figures=section.figures[:2])
    shown = [*lines(replace(hostile, sections=(tame,))), *lines(hostile)]
    text = "\n".join(" ".join(line.split()) for line in shown)
    assert "R@5 0.860 0.790–0.920 80" in text
    assert "MRR 0.700 0.600–0.800 80" in text
    assert "1,234,567 1" in text
    assert "b 1 – –" in text
