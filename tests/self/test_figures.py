"""`make figures` and `make peers`: what cannot run is a line that says why, never a crash."""

import json
import subprocess
import sys

import pytest

from benchmarks.peer_kinds import PEERS
from benchmarks.peer_page import compose
from tests.self.source import ROOT

COMPARED = ROOT / "docs/compare.json"


def page_of(script: str, *words: str) -> str:
    command = [sys.executable, f"benchmarks/{script}", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    return done.stdout


def test_figures_say_what_could_not_run_on_top_and_in_its_place(tmp_path):
    page = page_of("figures.py", "quiet", "types", "--shared", str(tmp_path / "none"))
    top, *parts = page.split("\n## ")[1:4]
    assert top.startswith("Missed, or not run")
    assert len(parts) == 2
    for text in (top, *parts):
        assert "not run: " in text


def test_a_figure_names_its_command_and_its_goal(shared):
    page = page_of("figures.py", "pairs", "--shared", str(shared))
    assert "`python -m evals pairs --data ../shared/corpus`" in page
    assert "| AUC, memdir | 0." in page
    assert "at least 0.9" in page


@pytest.mark.skipif(not COMPARED.exists(), reason="docs/compare.json is not there: make peers")
def test_the_comparison_is_the_one_of_its_figures():
    answer = json.loads(COMPARED.read_text("utf-8"))
    assert compose(answer) == (ROOT / "docs/compare.md").read_text("utf-8")
    assert {row["name"] for row in answer["peers"]} == {kind.name for kind in PEERS}
