"""`memdir eval claims`: what the figures mean on a small set, and must be on the corpus."""

import json
from pathlib import Path

import pytest

from memdir.evaluation.claims import evaluate_claims
from memdir.evaluation.claims_set import read
from memdir.evaluation.intervals import wilson
from tests.surfaces.terminal import memdir
from tests.surfaces.test_looks import too_wide

MEMORY = """\
---
name: x
description: rules
---

Rules are in `docs/rules.md`, see `src/api.py` and src/cli.py.
The old `docs/gone.md` was removed. Later `plans/later.md`.
"""
LABELS = [
    ("docs/rules.md", 6, "missing", "renamed", "stratified"),
    ("src/api.py", 6, "exists", "exact", "exhaustive"),
    ("src/cli.py", 1, "exists", "exact", "exhaustive"),
    ("docs/gone.md", 7, "not-a-claim", "negated", "stratified"),
    ("plans/later.md", 7, "missing", "planned", "stratified"),
    ("not in the text", 7, "not-a-claim", "example", "exhaustive"),
]
HISTORY = (
    "docs/rules.md\t3f2c1e9\t2026-03-02\trenamed\tdocs/style.md\n"
    "docs/gone.md\t3f2c1e9\t2026-03-02\tdeleted\t\n"
)


def label(number: int, text: str, line: int, status: str, why: str, sample: str) -> dict:
    return {
        "id": f"c{number}", "sample": sample, "repo": "ann/shop", "file": ".claude/memory/x.md",
        "line": line, "text": text, "status": status, "why": why,
    }  # fmt: skip


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    data = tmp_path / "labelled"
    repo = data / "ann__shop"
    (repo / ".claude/memory").mkdir(parents=True)
    (repo / ".claude/memory/x.md").write_text(MEMORY)
    (repo / "tree.txt").write_text("src/api.py\nsrc/cli.py\ndocs/style.md\n")
    (repo / "history.txt").write_text(HISTORY)
    for name in ("symbols.txt", "history_symbols.txt"):
        (repo / name).write_text("")
    (repo / "meta.json").write_text("{}")
    lines = [json.dumps(label(at, *row)) + "\n" for at, row in enumerate(LABELS)]
    (data / "claims.jsonl").write_text("".join(lines))
    return data


def test_the_figures_are_those_of_the_labels(labelled):
    answer = memdir("eval", "claims", "--data", str(labelled), "--json")
    assert answer.code == 0, answer.stderr
    given = answer.json
    assert given["n"] == 6
    assert given["stale"]["precision"] == given["stale"]["recall"] == 1
    assert (given["stale"]["said"], given["stale"]["false_alarms"]) == (1, 0)
    # Found elsewhere in the file counts; the labelled line alone is the stricter figure.
    assert given["extraction"]["recall"] == pytest.approx(2 / 3)
    assert given["extraction"]["on_line"] == pytest.approx(1 / 3)
    # The denied and the planned path are not found either.
    assert (given["naive"]["said"], given["naive"]["false_alarms"]) == (3, 1)
    assert given["naive"]["precision"] == pytest.approx(2 / 3)
    rows = {row["label"]: row for row in given["tables"]["by status"]}
    assert rows["exists"]["true"] == 2
    assert rows["missing (renamed)"]["stale"] == 1
    assert rows["not-a-claim"]["no span"] == 1


def test_a_false_alarm_is_counted(labelled):
    path = labelled / "claims.jsonl"
    path.write_text(path.read_text().replace('"missing", "why": "renamed"', '"exists", "why": "x"'))
    given = memdir("eval", "claims", "--data", str(labelled), "--json").json
    assert (given["stale"]["false_alarms"], given["stale"]["precision"]) == (1, 0)
    assert given["stale"]["recall"] is None


def test_the_page_fits_80_columns_and_has_bars(labelled):
    answer = memdir("eval", "claims", "--data", str(labelled))
    assert answer.code == 0, answer.stderr
    assert too_wide(answer.text) == []
    assert "not found, so stale" in answer.text and "█" in answer.text


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("{", ""), "not a JSON object"),
        (('"line": 6', '"line": "6"'), "'line' is not a number"),
        (('"status": "missing"', '"status": "perhaps"'), "the status is none of"),
        (('"id": "c1"', '"id": "c0"'), "was there before"),
        ((".claude/memory/x.md", "../x.md"), "no file below the data"),
        ((".claude/memory/x.md", ".claude/none.md"), "there is no file"),
        (('"text": "src/api.py"', '"text": ""'), "'text' is not a text"),
    ],
)
def test_a_label_that_is_not_right_ends_the_run(labelled, change, says):
    path = labelled / "claims.jsonl"
    path.write_text(path.read_text().replace(*change, 1))
    answer = memdir("eval", "claims", "--data", str(labelled), "--json")
    assert answer.code == 1
    assert says in answer.error["message"] and "claims.jsonl:" in answer.error["message"]


def test_without_labels_there_is_an_error_and_without_data_a_usage(labelled, tmp_path):
    (labelled / "claims.jsonl").write_text("\n")
    assert (
        "no label" in memdir("eval", "claims", "--data", str(labelled), "--json").error["message"]
    )
    assert memdir("eval", "claims", "--data", str(tmp_path / "no"), "--json").code == 1
    assert memdir("eval", "claims").code == 2
    assert memdir("eval", "claims", "--data", str(labelled), "--k", "3").code == 2


@pytest.mark.parametrize(
    ("part", "whole", "low", "high"),
    [(0, 0, None, None), (17, 17, 0.816, 1.0), (14, 19, 0.512, 0.882), (0, 10, 0.0, 0.278)],
)
def test_the_interval_is_wilsons(part, whole, low, high):
    assert wilson(part, whole) == (
        low if low is None else pytest.approx(low, abs=1e-3),
        high if high is None else pytest.approx(high, abs=1e-3),
    )


def test_the_goals_are_met_on_the_corpus(shared):
    _, given = evaluate_claims(read(str(shared / "corpus")), lambda text: None)
    assert given["n"] == 187
    assert given["stale"]["gone"] == 19
    assert given["stale"]["found"] >= 14
    assert given["stale"]["false_alarms"] <= 1
    assert given["extraction"]["recall"] >= 0.90
    assert given["extraction"]["on_line"] >= 0.90
    assert given["naive"]["precision"] < 0.5 < given["stale"]["precision"]
