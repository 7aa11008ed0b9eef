"""`memdir budget`, and the budget itself: it is decided before a call."""

import time
from pathlib import Path

import pytest

from memdir.models.ledger import Ledger, Limits, Metered, OverBudget, OverRun, estimate_usage
from memdir.models.model import Question, Turn, Usage
from memdir.models.scripted import Scripted
from tests.helpers.terminal import memdir

pytestmark = pytest.mark.usefixtures("project")

FIELDS = [
    *("id", "time", "purpose", "model", "session", "input_tokens", "output_tokens"),
    *("cached_tokens", "cost", "outcome", "produced"),
]


@pytest.fixture
def ledger(home: Path) -> Ledger:
    return Ledger(str(home / ".local/state/memdir"), time.time)


@pytest.mark.parametrize(
    ("wanted", "spent", "session", "reason"),
    [
        (100, 0, "s", ""),
        (101, 0, "s", "this session has 100 of 100 left"),
        (60, 40, "s", ""),
        (61, 40, "s", "this session has 60 of 100 left"),
        (900, 0, "", ""),
        (1001, 0, "", "this day has 1,000 of 1,000 left"),
        (901, 100, "", "this day has 900 of 1,000 left"),
    ],
)
def test_a_call_may_take_what_is_left_and_no_more(ledger, wanted, spent, session, reason):
    limits = Limits(session=100, day=1000)
    ledger.reserve("select", "m", session, Usage(spent, 0), limits)
    if not reason:
        ledger.reserve("select", "m", session, Usage(wanted, 0), limits)
        return
    with pytest.raises(OverBudget) as failure:
        ledger.reserve("select", "m", session, Usage(wanted, 0), limits)
    assert failure.value.message.endswith(reason)


def test_a_run_may_take_what_is_left_of_it(ledger):
    model = Metered(Scripted([{"text": "x" * 40}]), ledger, Limits(10**6, 10**6, 40), "select")
    question = Question("s" * 40, "u" * 40, max_tokens=15)
    model.answer(question)
    with pytest.raises(OverRun, match="this run has 10 of 40 left"):
        model.answer(question)


def test_an_estimate_counts_earlier_turns_and_what_a_cache_just_gave():
    turns = (Turn("a" * 8, "t" * 16),)
    question = Question("s" * 10, "u" * 10, None, 256, earlier=turns)
    assert estimate_usage(question) == Usage(11, 256)
    assert estimate_usage(question, cached=5) == Usage(6, 256, 5)
    assert estimate_usage(question, cached=500) == Usage(0, 256, 11)
    assert estimate_usage(Question("s" * 10, "u" * 10, None, 256), cached=5) == Usage(5, 256)


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


def test_a_broken_ledger_is_an_error_with_a_way_on(ledger):
    spend(ledger)
    with open(ledger.path, "ab") as file:
        file.write(b"nonsense\n")
    answer = memdir("budget", "--json")
    assert (answer.code, answer.error["code"]) == (1, "ledger_broken")
    assert "mv " in answer.error["next"]
