"""`memdir dream` and `memdir log-day`: the report of a consolidation, and what it reads."""

import re
import time
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
    assert found["log_entries"] == 2
    assert found["batch"].startswith("dream-")
    assert found["before"]["files"] + 1 == found["after"]["files"]
    assert memdir("log", "--json").json["changes"][0]["batch"] == found["batch"]
    assert memdir("undo").code == 0
    assert contents(logged) == before


def test_the_commands_of_slash_dream_run_in_its_order(logged):
    text = (Path(__file__).parents[2] / "plugin/commands/dream.md").read_text("utf-8")
    before, steps = (
        contents(logged),
        re.findall(r"Run `memdir (dream[^`]*)`|run `memdir (dream)`", text),
    )
    assert [first or second for first, second in steps] == ["dream --dry-run", "dream"]
    assert "invoices" in memdir("dream", "--dry-run").text and contents(logged) == before
    assert memdir("dream").code == 0 and contents(logged) != before
    assert memdir("undo").code == 0 and contents(logged) == before


def test_it_says_what_became_of_every_entry(logged):
    text = " ".join(memdir("dream").text.split())
    assert "2 new entries: 1 to remember, 0 for you to decide on (memdir review), 1 with" in text
    memdir("log-day", "From now on we use PostgreSQL, because of jsonb.")
    assert "logs: 1 new entry: 1 to remember" in memdir("dream").text


def today() -> str:
    return time.strftime("%Y/%m/%Y-%m-%d.md")


def test_an_entry_goes_to_the_log_beside_the_projects_memories(store):
    answer = memdir("log-day", "The build runs on Jenkins.", "--json").json
    path = Path(answer["path"])
    assert path == store.parent / "logs" / today() and not answer["dry_run"]
    assert path.read_text().endswith(answer["entry"])
    assert "[project] The build runs on Jenkins." in answer["entry"]
    assert not store.exists() and memdir("list", "--json").json["memories"] == []


@pytest.mark.parametrize("words", [("  \n ",), ("Text", "--date", "soon"), ("x" * 9_000,)])
def test_what_cannot_be_logged_is_refused_with_the_reason(store, words):
    answer = memdir("log-day", *words, "--json")
    assert answer.code == 1 and answer.error["message"] and answer.error["next"]
    assert not (store.parent / "logs").exists()


def test_a_link_in_the_way_is_refused(store, tmp_path):
    store.parent.mkdir(parents=True)
    (store.parent / "logs").symlink_to(tmp_path)
    answer = memdir("log-day", "Text", "--json")
    assert (answer.code, answer.error["code"]) == (1, "unwritable")
    assert not (tmp_path / time.strftime("%Y")).exists()
