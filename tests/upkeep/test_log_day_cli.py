"""`memdir log-day`: a line for today's log, where the client's project lies."""

import time
from pathlib import Path

import pytest

from tests.helpers.terminal import memdir

pytestmark = pytest.mark.usefixtures("project")


def today() -> str:
    return time.strftime("%Y/%m/%Y-%m-%d.md")


def test_an_entry_goes_to_the_log_beside_the_projects_memories(store):
    answer = memdir("log-day", "The build runs on Jenkins.", "--json").json
    path = Path(answer["path"])
    assert path == store.parent / "logs" / today() and not answer["dry_run"]
    assert path.read_text().endswith(answer["entry"])
    assert "[project] The build runs on Jenkins." in answer["entry"]
    assert not store.exists() and memdir("list", "--json").json["memories"] == []


def test_entries_are_only_added(store):
    memdir("log-day", "First.")
    text = (store.parent / "logs" / today()).read_text()
    memdir("log-day", "Second.", "--type", "user")
    again = (store.parent / "logs" / today()).read_text()
    assert again.startswith(text) and "[user] Second.\n" in again


def test_a_text_may_come_from_stdin_and_look_like_options(store):
    assert memdir("log-day", "-", stdin=b"- one\n- two\n").code == 0
    assert memdir("log-day", "--- a rule\nbelow").code == 0
    text = (store.parent / "logs" / today()).read_text()
    assert "- one\n  - two\n" in text and "--- a rule\n  below\n" in text


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("the key is ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2,), "secret"),
        (("  \n ",), "empty"),
        (("Text", "--type", "nonsense"), "not known"),
        (("Text", "--date", "soon"), "not a day"),
        (("x" * 9_000,), "limit"),
    ],
)
def test_what_cannot_be_logged_is_refused_with_the_reason(store, words, part):
    answer = memdir("log-day", *words, "--json")
    assert answer.code == 1 and part in answer.error["message"] and answer.error["next"]
    assert "ghp_a1B2" not in answer.text
    assert not (store.parent / "logs").exists()


def test_a_link_in_the_way_is_refused(store, tmp_path):
    store.parent.mkdir(parents=True)
    (store.parent / "logs").symlink_to(tmp_path)
    answer = memdir("log-day", "Text", "--json")
    assert (answer.code, answer.error["code"]) == (1, "unwritable")
    assert not (tmp_path / time.strftime("%Y")).exists()


def test_another_store_keeps_its_logs_below_it(tmp_path):
    (tmp_path / "other").mkdir()
    answer = memdir("log-day", "Text", "--dir", str(tmp_path / "other"), "--json").json
    assert answer["path"] == str(tmp_path / "other/logs" / today())
    listed = memdir("list", "--dir", str(tmp_path / "other"), "--json").json
    assert listed["memories"] == []
