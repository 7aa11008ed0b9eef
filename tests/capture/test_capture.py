"""Capture from end to end without a model: cursor, plan, journal, and what it saves."""

import json

import pytest

from memdir.capture import plan
from memdir.capture.capture import (
    CUT,
    LOST,
    NOT_YET,
    NOTHING_NEW,
    WROTE,
    capture,
    open_captures,
)
from memdir.capture.inbox import open_inbox
from memdir.capture.plan import Request, report_line
from memdir.capture.progress import HELD, REFUSED, SAVED, Captures, Journal
from memdir.care.status import read_status
from memdir.store import changes
from tests.helpers.conversing import NOTICED, OSLO, TUESDAY, Conversation
from tests.helpers.opened import Opened


@pytest.fixture
def opened(tmp_path):
    return Opened(tmp_path)


@pytest.fixture
def talk(opened):
    return Conversation(opened.home / ".claude/projects/-project/s1.jsonl", str(opened.project))


def asked(talk: Conversation, **more) -> Request:
    return Request(str(talk.path), talk.session, **more)


def names(outcome, what: str = SAVED) -> list[str]:
    return [one.name for one in outcome.of(what)]


def memories(opened: Opened) -> list[str]:
    files = opened.files() if opened.root.exists() else {}
    return sorted(path for path in files if path.endswith(".md") and path != "MEMORY.md")


def balanced(opened: Opened, **counts: int) -> None:
    account = read_status(opened.app()).account
    assert account.balances
    found = {what: getattr(account, what) for what in ("received", "saved", "refused", "held")}
    assert {**found, "waiting": len(account.waiting)} == {**found, "waiting": 0, **counts}


def test_what_a_person_asked_to_remember_is_saved_with_its_origin(opened, talk):
    talk.say(TUESDAY, "I will.")
    outcome = capture(opened.app(), asked(talk))
    assert names(outcome) == ["we-deploy-only-on-tuesdays"]
    text = opened.read("we-deploy-only-on-tuesdays.md")
    assert text.endswith("\n\nwe deploy only on Tuesdays.\n")
    for line in ("source: capture", "session: s1", "message: s1-1", "said_by: person"):
        assert line in text
    assert "we-deploy-only-on-tuesdays.md" in opened.index
    assert report_line(outcome.decided) == "memdir: saved 1 memory (we-deploy-only-on-tuesdays)"
    balanced(opened, received=1, saved=1)


def test_a_lost_cursor_takes_all_and_saves_nothing_twice(opened, talk):
    talk.say(TUESDAY, "I will.")
    capture(opened.app(), asked(talk))
    before = memories(opened)
    talk.path.write_text("")
    talk.count = 50  # compacted: other records, the same words
    talk.say(TUESDAY, "I will.", "Thanks.", "You are welcome.")
    again = capture(opened.app(), asked(talk))
    assert memories(opened) == before
    assert len(again.of(REFUSED)) == 1
    assert "nearly the same" in again.of(REFUSED)[0].reason
    balanced(opened, received=2, saved=1, refused=1)


def test_where_the_agent_wrote_memories_itself_the_turn_is_skipped(opened, talk):
    talk.say(TUESDAY).wrote(str(opened.root / "tuesday.md"))
    assert capture(opened.app(), asked(talk)).reason == WROTE
    assert open_captures(opened.app()).load("s1").cursor.id == "s1-3"
    talk.say(OSLO)
    assert len(names(capture(opened.app(), asked(talk)))) == 1


def test_every_third_turn_and_at_an_end_in_any_case(tmp_path):
    opened = Opened(tmp_path, capture_every=3)
    talk = Conversation(opened.home / ".claude/projects/-project/s1.jsonl")
    talk.say(TUESDAY, "Yes.")
    for _ in range(2):
        outcome = capture(opened.app(), asked(talk, ends=False))
        assert outcome.reason == NOT_YET
    assert len(names(capture(opened.app(), asked(talk, ends=False)))) == 1
    talk.say(OSLO, "Yes.")
    assert capture(opened.app(), asked(talk, ends=False)).reason == NOT_YET
    assert len(names(capture(opened.app(), asked(talk, ends=True)))) == 1


def test_a_rule_for_later_is_held(opened, talk):
    talk.say("Write the tests.", "I will mock the database.", NOTICED, "Understood.")
    outcome = capture(opened.app(), asked(talk))
    assert outcome.of(SAVED) == []
    assert len(outcome.of(HELD)) == len(open_inbox(opened.app()).list()) > 0
    assert memories(opened) == [] if opened.root.exists() else True
    assert report_line(outcome.decided).endswith("held (memdir review)")
    balanced(opened, held=len(outcome.of(HELD)))


def test_a_dry_run_writes_nothing(opened, talk):
    talk.say(TUESDAY, "I will.")
    before = _everything(opened)
    outcome = capture(opened.app(dry_run=True), asked(talk))
    assert names(outcome) == ["we-deploy-only-on-tuesdays"]
    assert _everything(opened) == before


# What a person wants forgotten


def test_the_one_memory_that_is_meant_is_retired_and_can_be_restored(opened, talk):
    opened.save("The staging cluster is in Oslo.", "staging-cluster")
    opened.save("Lunch is at noon.", "lunch")
    talk.say("Forget the memory about the staging cluster in Oslo.", "Done.")
    outcome = capture(opened.app(), asked(talk))
    assert names(outcome) == ["staging-cluster"]
    assert outcome.decided[0].reason == "retired"
    assert report_line(outcome.decided) == "memdir: retired 1 memory (staging-cluster)"
    assert memories(opened) == ["lunch.md"]
    changes.restore(opened.app(), ["staging-cluster"])
    assert memories(opened) == ["lunch.md", "staging-cluster.md"]


def test_where_it_is_not_clear_what_is_meant_a_person_decides(opened, talk):
    opened.save("The staging cluster is in Oslo.", "staging-oslo")
    opened.save("The staging cluster is in Bergen.", "staging-bergen")
    talk.say("Forget the memory about the staging cluster.", "Which one?")
    outcome = capture(opened.app(), asked(talk))
    assert memories(opened) == ["staging-bergen.md", "staging-oslo.md"]
    (held,) = outcome.of(HELD)
    assert "staging-oslo.md" in held.reason
    assert "staging-bergen.md" in held.reason


# Killed on the way


class Killed(BaseException):
    """No error that anybody may catch."""


class Steps:
    """Counts what a run does to the disk and kills it before one of the steps."""

    def __init__(self, monkeypatch, fatal: int) -> None:
        self.count, self.fatal = 0, fatal
        for holder, names in (
            (Captures, ("announce", "keep", "finish")),
            (Journal, ("add",)),
            (plan, ("save", "retire")),
        ):
            for name in names:
                monkeypatch.setattr(holder, name, self.watched(getattr(holder, name)))

    def watched(self, original):
        def called(*arguments, **named):
            self.count += 1
            if self.count == self.fatal:
                raise Killed
            return original(*arguments, **named)

        return called


STEPS = 11  # plan, received, 3 x (memory, decision), nothing dropped, cursor, plan gone


@pytest.mark.parametrize("fatal", range(1, STEPS + 1))
def test_a_run_that_was_killed_is_repeated_and_saves_nothing_twice(
    opened, talk, monkeypatch, fatal
):
    opened.save("The old wiki lives in Confluence.", "old-wiki")
    talk.say(TUESDAY, "Yes.", OSLO, "Yes.", "Forget the memory about the old wiki.", "Done.")
    with monkeypatch.context() as patched:
        Steps(patched, fatal)
        with pytest.raises(Killed):
            capture(opened.app(), asked(talk))
    capture(opened.app(), asked(talk))
    assert memories(opened) == [
        "the-staging-cluster-is-in-oslo.md",
        "we-deploy-only-on-tuesdays.md",
    ]
    assert all(path in opened.index for path in memories(opened))
    balanced(opened, received=3, saved=3)
    assert open_captures(opened.app()).plan() is None
    assert capture(opened.app(), asked(talk)).reason == NOTHING_NEW


# Sessions that nobody ended


def test_a_spoilt_cursor_loses_no_new_wish_and_keeps_the_accounts(opened, talk):
    talk.say(TUESDAY, "I will.")
    capture(opened.app(), asked(talk))
    for file in (opened.state / "captures/sessions").iterdir():
        file.write_bytes(b"garbage")
    talk.say("Remember that I prefer tabs over spaces, because of Ana.", "Yes.")
    capture(opened.app(), asked(talk))
    assert any("tabs" in name for name in memories(opened))
    assert len(memories(opened)) == 2
    balanced(opened, received=2, saved=2)


def test_a_plan_never_holds_a_secret(opened, talk, monkeypatch):
    plans = []
    monkeypatch.setattr(Captures, "announce", lambda self, plan: plans.append(repr(plan)))
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    talk.say(f"Remember that the deploy token is {token}.", "No.")
    outcome = capture(opened.app(), asked(talk))
    assert "secret" in outcome.of(REFUSED)[0].reason
    assert plans and token not in "".join(plans)
    assert memories(opened) == []


PELICAN = "Remember: the staging cluster is called pelican."
FORGET = "Forget what I said about the pelican cluster."
AGAIN = "Remember: the pelican cluster is in Oslo now."


@pytest.mark.parametrize("texts", [(PELICAN, "Yes.", FORGET, "Done."), (f"{PELICAN} {FORGET}",)])
def test_what_is_to_be_forgotten_after_it_was_said_is_not_saved(opened, talk, texts):
    talk.say(*texts)
    outcome = capture(opened.app(), asked(talk))
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
    outcome = capture(opened.app(), asked(talk))
    assert memories(opened) == ["the-pelican-cluster-is-in-oslo-now.md"]
    assert len(outcome.of(SAVED)) == 2


def test_what_is_said_again_in_the_end_is_saved(opened, talk):
    talk.say(PELICAN, "Yes.", FORGET, "Done.", PELICAN, "Yes.")
    capture(opened.app(), asked(talk))
    assert memories(opened) == ["the-staging-cluster-is-called-pelican.md"]


def test_a_lost_place_and_a_long_conversation_are_told(opened, talk, monkeypatch):
    talk.say(TUESDAY, "I will.")
    assert capture(opened.app(), asked(talk)).remarks == ()
    lines = talk.path.read_text().splitlines()
    talk.path.write_text("".join(f"{line}\n" for line in lines[:1]))
    other = {"type": "user", "uuid": "n1", "message": {"role": "user", "content": "Thanks."}}
    with talk.path.open("a") as file:
        file.write(json.dumps(other) + "\n")
    assert capture(opened.app(), asked(talk)).remarks == (LOST,)
    assert LOST in read_status(opened.app()).last_trouble
    monkeypatch.setattr("memdir.clients.transcripts.WINDOW", 300)
    talk.say("Hello. " * 60, "Hi.")
    assert CUT in capture(opened.app(), asked(talk)).remarks
