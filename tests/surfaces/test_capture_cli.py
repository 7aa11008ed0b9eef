"""`memdir capture` and `memdir status` from the outside: answers, exit codes, columns."""

import json
from pathlib import Path

import pytest

from tests.flows.conversing import NOTICED, OSLO, TUESDAY, Conversation
from tests.surfaces.terminal import memdir
from tests.surfaces.test_looks import too_wide


@pytest.fixture
def talk(tmp_path: Path) -> Conversation:
    """Somewhere else than where the client keeps its sessions: a person may name any file."""
    return Conversation(tmp_path / "somewhere/talk.jsonl")


def capture(talk: Conversation, *words: str):
    return memdir("capture", "--transcript", str(talk.path), *words)


def test_json_has_the_fields_that_scripts_rely_on(talk):
    talk.say(TUESDAY, "Yes.", NOTICED, "Understood.")
    answer = capture(talk, "--json")
    assert answer.code == 0
    found = answer.json
    assert found["received"] == 2
    assert [one["name"] for one in found["saved"]] == ["we-deploy-only-on-tuesdays"]
    assert len(found["held"]) == 1
    assert (found["refused"], found["waiting"], found["tokens"]) == ([], 0, 0)


def test_a_person_sees_what_became_of_each_thing(talk):
    talk.say(TUESDAY, "Yes.", NOTICED, "Understood.")
    answer = capture(talk)
    assert "2 things received" in answer.text
    assert "saved   we-deploy-only-on-tuesdays" in answer.text
    assert "held " in answer.text
    assert too_wide(answer.text) == []
    assert "nothing to keep: nothing new was said" in capture(talk).text


def test_a_dry_run_writes_nothing(talk, store):
    talk.say(TUESDAY, "Yes.")
    answer = capture(talk, "--dry-run", "--json")
    assert answer.json["dry_run"] is True
    assert len(answer.json["saved"]) == 1
    assert not store.exists()
    assert len(capture(talk, "--json").json["saved"]) == 1


def test_one_undo_takes_the_whole_capture_back(talk, store):
    talk.say(TUESDAY, "Yes.", OSLO, "Yes.")
    assert len(capture(talk, "--json").json["saved"]) == 2
    assert memdir("undo").code == 0
    assert list(store.glob("*.md")) == []


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--transcript", "/nowhere/at/all.jsonl"), 1, "there is no transcript"),
        (("--transcript", ".", "--client", "nobody"), 1, "there is no client 'nobody'"),
        (("--transcript", ".", "--model", "x", "--no-model"), 2, "not both"),
        ((), 2, "--transcript"),
        (("--transcript", "."), 1, "not a regular file"),
    ],
)
def test_what_a_person_can_get_wrong_is_said_in_a_sentence(words, code, said):
    answer = memdir("capture", *words)
    assert (answer.code, said in answer.stderr) == (code, True)
    assert "Traceback" not in answer.stderr


def test_a_file_that_is_no_transcript_holds_nothing_to_keep(talk):
    talk.path.write_bytes(b"\xff\xfe\0\nnot json\n[1,2]\n{}\n" * 50)
    answer = capture(talk)
    assert answer.code == 0
    assert "nothing to keep" in answer.text


# status


def test_status_says_what_became_of_everything_and_that_it_balances(talk, store):
    talk.say(TUESDAY, "Yes.", NOTICED, "Understood.")
    capture(talk)
    memdir("remember", "The cat is called Tom.", "--name", "cat")
    found = memdir("status", "--json").json
    counts = [found[what] for what in ("received", "saved", "refused", "held", "waiting")]
    assert counts == [2, 1, 0, 1, 0]
    assert found["balances"] is True
    assert (found["queued"], found["worker"], found["hooks"]) == (0, "idle", "on")
    assert found["last_saved"] == "cat"
    assert found["last_capture"] is not None
    assert found["last_recall"] is None
    assert found["budget"]["left"] == found["budget"]["day_tokens"]


def test_status_before_anything_happened():
    answer = memdir("status")
    assert answer.code == 0
    assert "0 things = 0 saved, 0 refused, 0 held, 0 waiting" in answer.text
    assert "save never" in answer.text
    assert too_wide(answer.text) == []


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


def test_a_damaged_journal_hides_no_other_line(talk, home):
    talk.say(TUESDAY, "Yes.")
    capture(talk)
    (journal,) = (home / ".local/state/memdir/stores").glob("*/captures/journal")
    journal.write_bytes(b"\xff\xfe not json\n" + journal.read_bytes() + b'{"id": "half')
    found = memdir("status", "--json").json
    assert (found["received"], found["saved"], found["balances"]) == (1, 1, True)
    talk.say(OSLO, "Yes.")
    capture(talk)
    found = memdir("status", "--json").json
    assert (found["received"], found["saved"], found["balances"]) == (2, 2, True)


def test_switched_off_hooks_are_said(monkeypatch):
    monkeypatch.setenv("MEMDIR_HOOKS", "false")
    monkeypatch.setenv("MEMDIR_CAPTURE", "false")
    found = memdir("status", "--json").json
    assert (found["hooks"], found["capture"]["enabled"]) == ("off", False)
