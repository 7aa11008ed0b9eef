"""`python -m evals claims`: what the figures mean on a small set, and must be on the corpus."""

import json
from pathlib import Path

import pytest

from evals.claims import list_stale_claims, read_readings
from tests.evals.bench import figures

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
    given = figures("claims", labelled)
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


def test_the_goals_are_met_on_the_corpus(shared):
    given = figures("claims", shared / "corpus")
    assert given["n"] == 187
    assert given["stale"]["gone"] == 19
    assert given["stale"]["found"] >= 16 and given["held_out"]["found"] >= 16
    assert given["held_out"]["false_alarms"] <= 1
    assert given["stale"]["false_alarms"] <= 1
    assert given["extraction"]["recall"] >= 0.90
    assert given["extraction"]["on_line"] >= 0.90
    assert given["naive"]["precision"] < 0.5 < given["stale"]["precision"]


def test_every_stale_verdict_on_the_corpus_was_read(shared):
    listed = list_stale_claims(str(shared / "corpus"))
    readings = list(read_readings("stale_verdicts.tsv").values())
    assert listed.startswith(f"{len(readings)} stale verdicts") and "not read" not in listed
    assert readings.count("right, right") / len(readings) >= 0.85
