"""The same report for the terminal and a program: complete, narrow, harmless."""

import re
from dataclasses import replace

import pytest

from memdir.cli.output import Screen
from memdir.evals.report import (
    COUNT,
    MS,
    SHARE,
    TEXT,
    Chart,
    Figure,
    Goal,
    Report,
    Section,
    Table,
    bar,
    fields,
    page,
    spell,
)
from memdir.text.terminal import width

HOSTILE = (
    "<script>alert(1)</script>\"'&<img src=https://example.com/x> \x1b[2J\u202e\udc80"
    + "日本語の長い名前" * 20
)


@pytest.fixture
def report() -> Report:
    columns = (("name", TEXT), ("n", COUNT), ("R@5", SHARE), ("ms", MS))
    wide = (("kind", TEXT), ("memory", TEXT), ("finding", TEXT))
    section = Section(
        HOSTILE,
        (
            Figure("R@5", 0.8604, SHARE, 80, 0.79, 0.92, Goal(0.848, aim=0.86)),
            Figure("MRR", 0.7, SHARE, 80, 0.6, 0.8, Goal(0.787)),
            Figure(HOSTILE, 1234567, COUNT, 1, goal=Goal(4000, at_most=True)),
            Figure("absent", None, MS, 0, remark=HOSTILE),
        ),
        (
            Table("by " + HOSTILE, columns, ((HOSTILE, 12, 0.5, 1.234), ("b", 1, None, None))),
            Table("findings", wide, ((HOSTILE, HOSTILE, HOSTILE),)),
        ),
        (Chart(HOSTILE, ((HOSTILE, 0.5), ("b", 2.0), ("c", 0.0))), Chart("none", (), COUNT, 0)),
        (HOSTILE,),
    )
    return Report("own", "/tmp/" + HOSTILE, HOSTILE, (section, Section("empty")))


def lines(report: Report) -> list[str]:
    return page(report, Screen({"NO_COLOR": "1"}))


def test_the_page_fits_80_columns_and_shows_what_is_hidden(report):
    shown = lines(report)
    assert [line for line in shown if width(line) > 80 and len(line.split()) > 1] == []
    assert not re.search("[\x00-\x1f\x7f-\x9f\u202e\ud800-\udfff]", "".join(shown))


def test_the_page_has_value_interval_n_goal_and_verdict(report):
    section = report.sections[0]
    tame = replace(section, figures=section.figures[:2])
    shown = [*lines(replace(report, sections=(tame,))), *lines(report)]
    text = "\n".join(" ".join(line.split()) for line in shown)
    assert "R@5 0.860 0.790–0.920 80 ≥ 0.848 met (aim 0.86)" in text
    assert "MRR 0.700 0.600–0.800 80 ≥ 0.787 missed" in text
    assert "1,234,567 1 ≤ 4,000 missed" in text
    assert "b 1 – –" in text


@pytest.mark.parametrize(
    ("share", "shown"),
    [(0, ""), (1, "████"), (2, "████"), (-1, ""), (0.5, "██"), (0.25 + 1 / 8, "█▌"), (0.01, "")],
)
def test_a_bar_is_as_long_as_its_share(share, shown):
    assert bar(share, 4) == shown


def test_the_fields_carry_every_figure_by_its_name(report):
    given = fields(report)
    figures = given["figures"]
    assert isinstance(figures, dict)
    measured = {"value": 0.8604, "unit": "share", "n": 80, "low": 0.79, "high": 0.92}
    judged = {"goal": 0.848, "goal_is": "at least", "aim": 0.86, "met": True, "remark": ""}
    assert figures["R@5"] == measured | judged
    assert figures["absent"]["met"] is None
    tables = given["tables"]
    assert isinstance(tables, dict)
    assert tables["findings"] == [{"kind": HOSTILE, "memory": HOSTILE, "finding": HOSTILE}]


def test_what_prints_alike_is_judged_alike():
    assert spell(0.8476, SHARE) == "0.848" and Goal(0.848).met(0.8476)
    assert not Goal(0.848).met(0.8474)
    assert Goal(0.02, at_most=True).met(0.0204) and not Goal(0.02, at_most=True).met(0.0206)
    assert not Goal(0).met(None)
