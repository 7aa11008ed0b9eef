"""`memdir capture` and `memdir status` from the outside: answers, exit codes, columns."""

import json
from pathlib import Path

import pytest

from tests.helpers.conversing import NOTICED, OSLO, TUESDAY, Conversation
from tests.helpers.terminal import memdir

pytestmark = pytest.mark.usefixtures("project")


@pytest.fixture
def talk(tmp_path: Path) -> Conversation:
    """Somewhere else than where the client keeps its sessions: a person may name any file."""
    return Conversation(tmp_path / "somewhere/talk.jsonl")


def capture(talk: Conversation, *words: str):
    return memdir("capture", "--transcript", str(talk.path), *words)


def one_line(text: str) -> str:
    """Without line breaks: how long a path is, nobody knows."""
    return " ".join(text.split())


def test_one_undo_takes_the_whole_capture_back(talk, store):
    talk.say(TUESDAY, "Yes.", OSLO, "Yes.")
    assert len(capture(talk, "--json").json["saved"]) == 2
    assert memdir("undo").code == 0
    assert list(store.glob("*.md")) == []


def test_the_wrong_client_passed_for_a_conversation_without_news(talk):
    talk.say(TUESDAY, "Yes.")
    wrong = capture(talk, "--client", "codex")
    assert (wrong.code, "0 of 2 lines could be read" in wrong.text) == (1, True)
    assert len(capture(talk, "--json").json["saved"]) == 1
    again = capture(talk, "--client", "codex")
    assert (again.code, "0 of 2 lines could be read" in again.text) == (1, True)
    assert "nothing new was said" in capture(talk).text  # and the right one's place is kept


# which project


def elsewhere(tmp_path: Path, cwd: Path) -> Conversation:
    (cwd / ".git").mkdir(parents=True)
    return Conversation(tmp_path / "somewhere/other.jsonl", str(cwd))


def test_what_was_said_in_another_project_was_saved_in_the_one_where_i_stood(tmp_path, store):
    other = tmp_path / "other"
    talk = elsewhere(tmp_path, other).say(TUESDAY, "Yes.")
    answer = capture(talk)
    assert f"project {other}" in one_line(answer.text)
    assert not store.exists()
    listed = memdir("list", "--project", str(other), "--json").json["memories"]
    assert [one["name"] for one in listed] == ["we-deploy-only-on-tuesdays"]
    assert capture(talk, "--json").json["reason"] == "nothing new was said"


@pytest.mark.parametrize("named", ["--project", "--dir", "--scope"])
def test_whoever_names_a_store_gets_that_one(tmp_path, store, project, home, named):
    talk = elsewhere(tmp_path, tmp_path / "other").say(TUESDAY, "Yes.")
    store.parent.mkdir(parents=True, exist_ok=True)
    value = {"--project": str(project), "--dir": str(store), "--scope": "project"}[named]
    assert capture(talk, named, value, "--json").json["store"] == str(store)
    assert (store / "we-deploy-only-on-tuesdays.md").exists()


def test_a_project_that_is_gone_is_said_and_the_current_one_remembers(talk, store):
    talk.say(TUESDAY, "Yes.")  # in /project, which is not there
    answer = capture(talk)
    assert "the directory of the conversation is gone: /project" in one_line(answer.stderr)
    assert (store / "we-deploy-only-on-tuesdays.md").exists()


def test_a_project_whose_repository_wants_no_memory_gets_none(tmp_path, store):
    other = tmp_path / "other"
    talk = elsewhere(tmp_path, other).say(TUESDAY, "Yes.")
    (other / ".claude").mkdir()
    (other / ".claude/settings.json").write_text('{"autoMemoryEnabled": false}')
    answer = capture(talk)
    assert (answer.code, "memory is switched off" in one_line(answer.stderr)) == (1, True)
    assert not store.exists()


# what is shown


# status


def test_status_notices_a_recall_and_the_last_trouble(home):
    memdir("remember", "The cat is called Tom.", "--name", "cat")
    memdir("recall", "what is the cat called?", "--session", "s1")
    log = home / ".local/state/memdir/hooks.log"
    log.write_text("2026-03-01T00:00:00Z stop: old\n2026-03-02T00:00:00Z stop: it broke\n")
    found = memdir("status", "--json").json
    assert found["last_recall"] is not None
    assert found["last_trouble"].endswith("stop: it broke")
    assert "it broke" in memdir("status").text


def test_a_sum_that_does_not_come_out_is_an_error_that_everybody_sees(talk, home):
    talk.say(TUESDAY, "Yes.")
    capture(talk)
    (journal,) = (home / ".local/state/memdir/stores").glob("*/captures/journal")
    line = json.dumps({"id": "lost", "what": "saved", "time": 0.0})
    journal.write_text(journal.read_text() + line + "\n")
    answer = memdir("status")
    assert answer.code == 1
    assert "THIS DOES NOT ADD UP" in answer.text
    assert "lost: saved, but never received" in answer.text


def test_what_waits_said_neither_until_when_nor_what_to_do(talk, tmp_path, monkeypatch):
    (tmp_path / "answers.jsonl").write_text('{"fails": "unavailable"}\n')
    monkeypatch.setenv("MEMDIR_MODEL", f"scripted:{tmp_path}/answers.jsonl")
    talk.say(NOTICED, "Understood.")
    assert capture(talk, "--json").json["waiting"] == 1
    answer = memdir("status")
    assert "waits until 20" in answer.text
    assert "is not there" in one_line(answer.text)
    assert "memdir capture --transcript" in one_line(answer.text)
    (waits,) = memdir("status", "--json").json["waits"]
    assert waits["transcript"] == str(talk.path)
    assert waits["until"] is not None
    settled = capture(talk, "--no-model", "--json").json
    assert (settled["waiting"], len(settled["held"])) == (0, 1)
    assert memdir("status", "--json").json["waits"] == []
