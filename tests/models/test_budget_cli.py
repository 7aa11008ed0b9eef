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


def test_without_a_call_the_limits_are_told():
    answer = memdir("budget")
    assert answer.code == 0
    assert "0 of 100,000" in answer.text
    assert "at most 20,000 tokens" in answer.text
    assert "at most 8,000 tokens" in answer.text
    assert "No model is set" in answer.text


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


def test_bars_grow_and_everything_fits_the_screen(ledger, monkeypatch):
    def bar() -> int:
        return memdir("budget").text.splitlines()[0].count("█")

    monkeypatch.setenv("COLUMNS", "80")
    assert bar() == 0
    spend(ledger, usage=Usage(1, 0))
    assert bar() == 1
    spend(ledger, usage=Usage(49_999, 0), produced="saved " + "a-long-name, " * 20)
    assert bar() == 15
    spend(ledger, usage=Usage(10**9, 10**6, 10**9, 1234.5), produced="held\x1b[31m 1")
    assert bar() == 30
    text = memdir("budget").text
    assert max(map(len, text.splitlines())) <= 80
    assert "\x1b" not in text


def test_a_few_calls_are_shown_and_all_on_demand(ledger):
    for at in range(12):
        spend(ledger, produced=f"nr {at}.")
    assert "nr 11." in memdir("budget").text
    assert "nr 0." not in memdir("budget").text
    assert "shown: 10 of 12" in memdir("budget").text
    assert "nr 0." in memdir("budget", "--limit", "0").text


def test_a_call_that_failed_says_how(ledger):
    spend(ledger, outcome="model_timeout")
    assert "model_timeou" in memdir("budget").text


def test_a_broken_ledger_is_an_error_with_a_way_on(ledger):
    spend(ledger)
    with open(ledger.path, "ab") as file:
        file.write(b"nonsense\n")
    answer = memdir("budget", "--json")
    assert (answer.code, answer.error["code"]) == (1, "ledger_broken")
    assert "mv " in answer.error["next"]


def test_looking_changes_nothing(ledger):
    spend(ledger)
    before = Path(ledger.path).read_bytes()
    memdir("budget")
    assert Path(ledger.path).read_bytes() == before
