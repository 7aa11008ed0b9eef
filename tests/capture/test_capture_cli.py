"""`memdir capture` and `memdir status` from the outside: answers, exit codes, columns."""

import json
from pathlib import Path

import pytest

from tests.helpers.conversing import NOTICED, OSLO, TUESDAY, Conversation
from tests.helpers.tables import toml_cases as cases
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


@cases("capture")
def test_what_a_person_can_get_wrong_is_said_in_a_sentence(words, code, said):
    answer = memdir("capture", *words)
    assert (answer.code, said in answer.stderr) == (code, True)
    assert "Traceback" not in answer.stderr


def test_a_file_that_nobody_can_read_passed_for_one_in_which_nothing_was_said(talk):
    talk.path.write_bytes(b"\xff\xfe\0\nnot json\n[1,2]\n{}\n" * 50)
    answer = capture(talk)
    assert answer.code == 1
    assert "0 of 200 lines could be read as a transcript of claude-code" in answer.text


def test_the_wrong_client_passed_for_a_conversation_without_news(talk):
    talk.say(TUESDAY, "Yes.")
    wrong = capture(talk, "--client", "codex")
    assert (wrong.code, "0 of 2 lines could be read" in wrong.text) == (1, True)
    assert len(capture(talk, "--json").json["saved"]) == 1
    again = capture(talk, "--client", "codex")
    assert (again.code, "0 of 2 lines could be read" in again.text) == (1, True)
    assert "nothing new was said" in capture(talk).text  # and the right one's place is kept


def test_a_line_that_nobody_can_read_is_told_where_nothing_was_found(talk):
    talk.say("What does this do?", "It adds.")
    talk.path.write_text(talk.path.read_text() + "not json\n")
    assert "(1 of 3 lines could not be read)" in capture(talk).text


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


def test_status_says_what_became_of_everything_and_that_it_balances(talk, store):
    talk.say(TUESDAY, "Yes.", NOTICED, "Understood.")
    capture(talk)
    memdir("remember", "The cat is called Tom.", "--name", "cat")
    found = memdir("status", "--json").json
    counts = [found[what] for what in ("received", "saved", "refused", "held", "waiting")]
    assert counts == [2, 1, 0, 1, 0]
    assert found["balances"] is True
    assert (found["queued"], found["worker"], found["hooks"]) == (0, "idle", "not set up")
    assert found["review"] == 1
    assert found["last_saved"] == "cat"
    assert found["last_capture"] is not None
    assert found["last_recall"] is None
    assert found["budget"]["left"] == found["budget"]["day_tokens"]


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
    assert "THE SUM IS WRONG" in answer.text
    assert "lost: saved, but never received" in answer.text


def test_hooks_were_on_although_nothing_was_set_up(home):
    assert memdir("setup", "claude-code").code == 0
    assert "hooks     set up (settings)" in memdir("status").text
    memdir("setup", "claude-code", "--remove")
    assert "hooks     not set up" in memdir("status").text
    (home / ".claude").mkdir(exist_ok=True)
    (home / ".claude/settings.json").write_text('{"enabledPlugins": {"memdir@memdir": true}}')
    assert memdir("status", "--json").json["hooks"] == "set up (plugin)"


def test_drafts_that_were_decided_on_were_still_said_to_be_held(talk):
    talk.say(NOTICED, "Understood.")
    capture(talk)
    assert "review    1 waits for memdir review" in memdir("status").text
    (held,) = memdir("review", "--json").json["held"]
    memdir("review", "approve", held["id"])
    found = memdir("status", "--json").json
    assert (found["held"], found["review"], found["balances"]) == (1, 0, True)
    assert "nothing waits for it" in memdir("status").text


def test_the_last_save_was_one_that_had_been_undone():
    memdir("remember", "The cat is called Tom.", "--name", "cat")
    memdir("remember", "We deploy on Tuesdays only.", "--name", "tuesdays")
    memdir("undo")
    assert memdir("status", "--json").json["last_saved"] == "cat"
    memdir("undo")
    assert memdir("status", "--json").json["last_save"] is None


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
