"""`memdir dream`: the report of a consolidation, for people and for programs."""

from pathlib import Path

import pytest

from tests.helpers.terminal import memdir

pytestmark = pytest.mark.usefixtures("project")


@pytest.fixture
def logged(store: Path) -> Path:
    memdir("remember", "Use uv, never pip, to install packages.", "--name", "use-uv")
    memdir("log-day", "Remember that invoices are numbered per country.")
    memdir("log-day", "Nothing much happened.")
    return store


def contents(store: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in store.iterdir()}


def test_it_says_what_it_did_and_one_undo_takes_it_back(logged):
    before = contents(logged)
    answer = memdir("dream", "--json")
    assert answer.code == 0
    found = answer.json
    assert [one["change"] for one in found["changes"]] == ["created", "updated"]
    assert (found["lost"], found["log_entries"]) == ([], 2)
    assert found["batch"].startswith("dream-")
    assert found["before"]["files"] + 1 == found["after"]["files"]
    assert memdir("log", "--json").json["changes"][0]["batch"] == found["batch"]
    assert memdir("undo").code == 0
    assert contents(logged) == before


def test_it_says_what_became_of_every_entry(logged):
    text = " ".join(memdir("dream").text.split())
    assert "2 new entries: 1 item to remember, 1 entry with nothing to keep" in text
    memdir("log-day", "From now on we use PostgreSQL, because of jsonb.")
    assert "logs: 1 new entry: 1 for you to decide on (memdir review)" in memdir("dream").text


def test_a_dry_run_shows_the_diff_and_writes_nothing(logged):
    before = contents(logged)
    answer = memdir("dream", "--dry-run")
    assert "invoices-are-numbered" in answer.text and "nothing was written" in answer.text
    found = memdir("dream", "--dry-run", "--json").json
    assert (found["batch"], found["dry_run"]) == ("", True)
    assert any("invoices" in one["diff"] for one in found["files"])
    assert contents(logged) == before
