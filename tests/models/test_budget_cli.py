"""`memdir budget`: the limits, what was spent, and every call."""

import time
from pathlib import Path

import pytest

from memdir.models.budget import Limits
from memdir.models.ledger import Ledger
from memdir.models.model import Usage
from tests.helpers.terminal import memdir

pytestmark = pytest.mark.usefixtures("project")

FIELDS = [
    *("id", "time", "purpose", "model", "session", "input_tokens", "output_tokens"),
    *("cached_tokens", "cost", "outcome", "produced"),
]


@pytest.fixture
def ledger(home: Path) -> Ledger:
    return Ledger(str(home / ".local/state/memdir"), time.time)


def spend(ledger: Ledger, session: str = "s1", **more: object) -> None:
    values = {"usage": Usage(2_000, 500, 900, 0.0125), "outcome": "answered"}
    call = ledger.reserve(
        "capture", "anthropic:claude-haiku-4-5", session, Usage(1, 1), Limits(10**6, 10**6)
    )
    ledger.settle(call, **{**values, **more})


def test_a_program_gets_limits_spent_and_entries(ledger):
    spend(ledger, produced="saved 2, held 1")
    spend(ledger, "s2")
    said = memdir("budget", "--json").json
    assert said["limits"] == {"run": 8_000, "session": 20_000, "day": 100_000}
    assert said["spent"] == {"day": 5_000, "cached": 1_800, "cost": 0.025}
    assert [list(entry) for entry in said["entries"]] == [FIELDS, FIELDS]
    assert [entry["session"] for entry in said["entries"]] == ["s2", "s1"]
    assert said["entries"][1]["produced"] == "saved 2, held 1"


def test_a_session_is_counted_apart_where_it_is_named(ledger, monkeypatch):
    spend(ledger, "s1")
    spend(ledger, "s2")
    monkeypatch.setenv("MEMDIR_SESSION", "s2")
    assert memdir("budget", "--json").json["spent"]["session"] == 2_500
    assert "2,500 of 20,000" in memdir("budget").text


def test_limits_come_from_the_settings(monkeypatch):
    monkeypatch.setenv("MEMDIR_RUN_TOKENS", "7")
    monkeypatch.setenv("MEMDIR_DAY_TOKENS", "0")
    assert memdir("budget", "--json").json["limits"] == {"run": 7, "session": 20_000, "day": 0}
    assert "0 of 0" in memdir("budget").text


def test_a_broken_ledger_is_an_error_with_a_way_on(ledger):
    spend(ledger)
    with open(ledger.path, "ab") as file:
        file.write(b"nonsense\n")
    answer = memdir("budget", "--json")
    assert (answer.code, answer.error["code"]) == (1, "ledger_broken")
    assert "mv " in answer.error["next"]
