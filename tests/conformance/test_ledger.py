"""The ledger: no process spends what another has taken, and nothing is forgotten."""

import json
import os
import time
from pathlib import Path

import pytest

from memdir.models.ledger import (
    Call,
    Ledger,
    LedgerBroken,
    Limits,
    Metered,
    Spent,
    read_ledger_line,
    write_ledger_line,
)
from memdir.models.model import ModelRefused, ModelTimeout, ModelUnavailable, Question, Usage  # noqa: F401
from memdir.models.scripted import Scripted
from tests.helpers.programs import start_program
from tests.helpers.tables import cases

NOON = 1772452800.0  # 2026-03-02
DAY = "2026-03-02"
LIMITS = Limits(session=10_000, day=100_000)


@pytest.fixture
def ledger(tmp_path) -> Ledger:
    return Ledger(str(tmp_path / "state"), lambda: NOON)


def lines(ledger: Ledger) -> list[dict]:
    return [json.loads(line) for line in Path(ledger.path).read_text().splitlines()]


def test_a_line_of_an_earlier_version_is_read():
    call = Call("ab12", NOON, DAY, "select", "m", "s", Usage(1, 2, 3), "answered")
    said = json.loads(write_ledger_line(call))
    del said["cost"], said["produced"]
    assert read_ledger_line(json.dumps(said).encode()) == call


@cases("text")
def test_a_line_that_nobody_can_read_stops_every_call(ledger, text):
    ledger.reserve("select", "m", "s", Usage(1, 1), LIMITS)
    with open(ledger.path, "a") as file:
        file.write(text)
    with pytest.raises(LedgerBroken, match="line 2 cannot be read") as failure:
        ledger.reserve("select", "m", "s", Usage(1, 1), LIMITS)
    assert f"mv {ledger.path}" in failure.value.next


def test_a_line_that_was_cut_off_is_taken_away_by_the_next_writer(ledger):
    ledger.reserve("select", "m", "s", Usage(5, 0), LIMITS)
    with open(ledger.path, "ab") as file:
        file.write(b'{"id": "torn", "tim')
    assert ledger.spent(DAY, "s") == Spent(5, 5)
    ledger.reserve("select", "m", "s", Usage(6, 0), LIMITS)
    assert ledger.spent(DAY, "s") == Spent(11, 11)
    assert len(lines(ledger)) == 2


@cases("tail", ids=range(5))
def test_garbage_without_a_line_end_is_no_line_that_was_cut_off(ledger, tail):
    ledger.reserve("select", "m", "s", Usage(5, 0), LIMITS)
    with open(ledger.path, "ab") as file:
        file.write(tail)
    model = Scripted([{"text": "x"}])
    with pytest.raises(LedgerBroken, match="line 2 cannot be read"):
        Metered(model, ledger, LIMITS, "select", "s").answer(QUESTION)
    assert model.asked == []


def test_a_ledger_without_bounds_stops_every_call(ledger):
    os.makedirs(os.path.dirname(ledger.path))
    Path(ledger.path).touch()
    os.truncate(ledger.path, 500_000_000)  # all of it NULs, without a line end
    model = Scripted([{"text": "x"}])
    with pytest.raises(LedgerBroken, match="File too large"):
        Metered(model, ledger, LIMITS, "select", "s").answer(QUESTION)
    assert model.asked == []
    assert os.path.getsize(ledger.path) == 500_000_000


ROUNDS = 40


def test_racing_processes_never_overspend(tmp_path):
    racers = [start_program("racer", tmp_path, ROUNDS) for _ in range(2)]
    assert [racer.stdout.readline() for racer in racers] == ["ready\n"] * 2
    start = time.time() + 0.2
    for racer in racers:
        racer.stdin.write(f"{start}\n")
        racer.stdin.flush()
    got = [int(racer.communicate()[0]) for racer in racers]
    calls = Ledger(str(tmp_path), lambda: NOON).calls()
    assert sum(got) == len(calls) == ROUNDS
    assert len({call.day for call in calls}) == ROUNDS


# -- the model that is asked only while the budget lasts

QUESTION = Question("s" * 40, "u" * 40, None, 100, 1.0)
ESTIMATE = 120


@cases("fails", "failure", "total", ids=range(3))
def test_a_failure_costs_what_is_known_else_the_estimate(ledger, fails, failure, total):
    metered = Metered(Scripted([{"fails": fails}]), ledger, LIMITS, "select", "s")
    with pytest.raises(failure):
        metered.answer(QUESTION)
    assert ledger.spent(DAY, "s").day == total
    assert ledger.calls()[0].outcome == failure.code


def test_a_process_that_is_killed_while_it_asks_has_spent_its_estimate(ledger):
    def killed(_: float) -> None:
        raise KeyboardInterrupt

    metered = Metered(Scripted([{"text": "x"}], sleep=killed), ledger, LIMITS, "select", "s")
    with pytest.raises(KeyboardInterrupt):
        metered.answer(QUESTION)
    assert ledger.calls()[0].outcome == "reserved"
    assert ledger.spent(DAY, "s").day == ESTIMATE
