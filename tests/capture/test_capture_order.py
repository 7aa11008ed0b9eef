"""What was said last counts; a memory is as old as its words; a session belongs where it began."""

import json
import os

import pytest

from memdir.audit.ages import list_memories
from memdir.capture.capture import CUT, LOST, capture, place_of
from memdir.capture.extract import HOLD, SAVE
from memdir.capture.inbox import open_inbox
from memdir.capture.plan import Request
from memdir.capture.progress import HELD, REFUSED, SAVED
from memdir.care.status import read_status
from memdir.config.config import read_config
from memdir.store.writer import open_app
from tests.helpers.conversing import PERSON, TUESDAY, Conversation
from tests.helpers.opened import NOON, Opened
from tests.helpers.past_sessions import NO_MOCKS, OSLO, Sessions, found

PELICAN = "Remember: the staging cluster is called pelican."
FORGET = "Forget what I said about the pelican cluster."
AGAIN = "Remember: the pelican cluster is in Oslo now."


@pytest.fixture
def opened(tmp_path):
    return Opened(tmp_path)


@pytest.fixture
def talk(opened):
    return Conversation(opened.home / ".claude/projects/-project/s1.jsonl", str(opened.project))


def run(opened: Opened, talk: Conversation, **more):
    return capture(opened.app(), Request(str(talk.path), talk.session, **more))


def memories(opened: Opened) -> list[str]:
    files = opened.files() if opened.root.exists() else {}
    return sorted(path for path in files if path.endswith(".md") and path != "MEMORY.md")


@pytest.mark.parametrize("texts", [(PELICAN, "Yes.", FORGET, "Done."), (f"{PELICAN} {FORGET}",)])
def test_what_is_to_be_forgotten_after_it_was_said_is_not_saved(opened, talk, texts):
    talk.say(*texts)
    outcome = run(opened, talk)
    assert memories(opened) == []
    reasons = [one.reason for one in outcome.of(REFUSED)]
    assert sorted(reasons) == [
        "it was to be forgotten later on",
        "what it takes back was not saved yet",
    ]
    assert outcome.of(HELD) == []
    assert read_status(opened.app()).account.balances


@pytest.mark.parametrize("texts", [(FORGET, "Done.", AGAIN, "Yes."), (f"{FORGET} {AGAIN}",)])
def test_what_is_said_after_something_was_forgotten_is_saved(opened, talk, texts):
    opened.save("The staging cluster is called pelican.", "pelican")
    talk.say(*texts)
    outcome = run(opened, talk)
    assert memories(opened) == ["the-pelican-cluster-is-in-oslo-now.md"]
    assert len(outcome.of(SAVED)) == 2


def test_what_is_said_again_in_the_end_is_saved(opened, talk):
    talk.say(PELICAN, "Yes.", FORGET, "Done.", PELICAN, "Yes.")
    run(opened, talk)
    assert memories(opened) == ["the-staging-cluster-is-called-pelican.md"]


def test_in_a_past_session_the_order_in_one_message_counts_too(tmp_path):
    past = Sessions(tmp_path)
    past.session(f"{FORGET} {AGAIN}", "Yes.")
    past.extract()
    assert list(past.memories()) == ["the-pelican-cluster-is-in-oslo-now.md"]


def test_a_memory_is_as_old_as_its_words(tmp_path):
    past = Sessions(tmp_path)
    talk = past.session()
    talk.record(PERSON, OSLO, timestamp="2026-01-10T09:00:00Z")
    past.extract()
    (text,) = past.memories().values()
    assert "created: 2026-01-10T00:00:00Z" in text
    assert "modified: 2026-01-10T00:00:00Z" in text
    (listed,), _ = list_memories(past.app())
    assert listed.age_days == 51


def test_what_is_captured_on_the_day_it_was_said_is_of_now(opened, talk):
    talk.say(TUESDAY)
    run(opened, talk)
    assert "created: 2026-03-02T12:00:00Z" in opened.read("we-deploy-only-on-tuesdays.md")


def test_words_of_a_day_to_come_are_of_now(opened, talk):
    talk.record(PERSON, TUESDAY, timestamp="2030-01-10T09:00:00Z")
    run(opened, talk)
    assert "created: 2026-03-02T12:00:00Z" in opened.read("we-deploy-only-on-tuesdays.md")


def placed(past: Sessions, cwd):
    config = read_config({"HOME": str(past.home)}, str(cwd))
    return open_app(config, now=lambda: NOON, tell=past.told.append, actor="capture")


def test_where_the_start_is_gone_the_hook_s_own_directory_counts(tmp_path):
    past = Sessions(tmp_path)
    talk = past.session("Hello.", "Hi.", cwd=tmp_path / "gone", folder=past.shop)
    request = Request(str(talk.path), talk.session)
    assert place_of(placed(past, past.bakery), request, str(past.bakery)) == str(past.bakery)
    missing = Request(str(talk.path) + "x", "x")
    assert place_of(placed(past, past.bakery), missing, str(past.bakery)) == str(past.bakery)


def test_a_lost_place_and_a_long_conversation_are_told(opened, talk, monkeypatch):
    talk.say(TUESDAY, "I will.")
    assert run(opened, talk).remarks == ()
    lines = talk.path.read_text().splitlines()
    talk.path.write_text("".join(f"{line}\n" for line in lines[:1]))
    other = {"type": "user", "uuid": "n1", "message": {"role": "user", "content": "Thanks."}}
    with talk.path.open("a") as file:
        file.write(json.dumps(other) + "\n")
    assert run(opened, talk).remarks == (LOST,)
    assert LOST in read_status(opened.app()).last_trouble
    monkeypatch.setattr("memdir.clients.transcripts.WINDOW", 300)
    talk.say("Hello. " * 60, "Hi.")
    assert CUT in run(opened, talk).remarks


def test_yes_saves_what_was_said_although_the_model_s_answer_could_not_be_used(tmp_path):
    past = Sessions(tmp_path)
    script = past.home / "answers.jsonl"
    script.write_text(json.dumps({"text": "hm"}) + "\n")
    past.options["MEMDIR_MODEL"] = f"scripted:{script}"
    past.session(NO_MOCKS)
    held = past.extract(model=True)
    assert [outcome for _, outcome, _ in found(held)] == [HOLD]
    assert held.items[0].reason.startswith("the model's answer could not be used")
    os.remove(open_inbox(past.app()).folder + f"/{held.items[0].name}.json")
    made = past.extract(model=True, yes=True)
    assert [outcome for _, outcome, _ in found(made)] == [SAVE]
