"""A small run of each harness, with at least one known-bad store that it must catch.

The whole runs are `make faults` and `make faults-full`.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import only_with_every

pytestmark = [pytest.mark.faults, pytest.mark.slow]
ROOT = Path(__file__).resolve().parents[2]


def run(method: str) -> dict[str, Any]:
    """One method in a process of its own."""
    [row] = rows(method)
    return row


def rows(methods: str) -> list[dict[str, Any]]:
    """Some methods in one process; skipped, visibly, where the machine cannot run them."""
    command = [sys.executable, str(ROOT / "tests/faults/run.py"), "--small", "--json"]
    done = subprocess.run(
        [*command, "--only", methods], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.stdout, done.stderr
    report = json.loads(done.stdout)
    if report["not_run"]:
        pytest.skip("not run: " + "; ".join(report["not_run"]))
    return report["rows"]


def hold(row: dict[str, Any]) -> None:
    assert row["examples"] == []
    assert row["violations"] == 0
    assert 0 < row["points"] == row["fired"]
    assert all(row["controls"].values()), row["controls"]


def test_a_kill_at_any_call_loses_nothing():
    hold(run("kill"))


def test_a_call_that_fails_is_told_and_leaves_a_whole_store():
    hold(run("errors"))


def test_no_power_cut_that_posix_allows_loses_what_was_acknowledged():
    hold(run("crash_states"))


@only_with_every
def test_nothing_rests_on_what_a_killed_writer_had_not_forced():
    hold(run("twice"))


def test_racing_writers_lose_no_update_and_readers_see_no_half():
    hold(run("race"))


@only_with_every
def test_killed_and_ignorant_writers_harm_nobody():
    hold(run("writers"))


def test_the_store_does_what_a_dictionary_would():
    hold(run("model"))


@only_with_every
def test_a_name_that_becomes_a_link_leads_nowhere():
    hold(run("links"))


@only_with_every
def test_a_clock_that_jumps_loses_nothing():
    hold(run("clock"))


def test_a_full_disk_is_told_and_leaves_a_whole_store():
    hold(run("full_disk"))
