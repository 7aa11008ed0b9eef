"""Capture with a model: failures, budgets and kills cost time, never a memory and never a token."""

import json

import pytest

from memdir.capture.capture import NO_SIGNAL, NOTHING_NEW, capture, find_uncaptured_sessions
from memdir.capture.inbox import open_inbox
from memdir.capture.plan import Request
from memdir.capture.progress import HELD, MAX_FAILURES, SAVED
from memdir.capture.sessions import capture_reader
from memdir.care.status import collect_status
from memdir.models.ledger import Ledger, Limits, ledger_day
from memdir.models.model import Usage
from tests.capture.test_capture import Killed, Talking, kill_before, names
from tests.helpers.conversing import NOTICED, OSLO, Conversation
from tests.helpers.opened import DAY
from tests.helpers.tables import toml_cases as cases

DRAFT = {
    "name": "real-database-in-tests",
    "type": "feedback",
    "description": "Tests use a real database",
    "body": "Do not mock the database in tests.",
    "why": "The mocked ones hid a broken migration.",
    "quote": "Never mock the database in tests.",
}
ANSWER = {"answer": {"drafts": [DRAFT]}, "input_tokens": 900, "output_tokens": 90}
DOWN = {"fails": "unavailable"}


class Asking(Talking):
    """A store whose model answers from a file."""

    def __init__(self, top, **options: object) -> None:
        self.script = top / "answers.jsonl"
        super().__init__(top, model=f"scripted:{self.script}", **options)

    def answers(self, *lines: dict[str, object]) -> None:
        self.script.write_text("".join(json.dumps(line) + "\n" for line in lines))

    @property
    def ledger(self) -> Ledger:
        return Ledger(str(self.home / ".local/state/memdir"), lambda: self.now)


@pytest.fixture
def opened(tmp_path):
    asking = Asking(tmp_path)
    asking.answers(ANSWER)
    return asking


def test_a_model_drafts_and_the_ledger_says_what_came_of_it(opened):
    opened.say("Write tests.", "I will mock the database.", NOTICED, "Understood.")
    outcome = opened.capture()
    assert names(outcome) == ["real-database-in-tests"]
    assert outcome.tokens == 990
    assert "The mocked ones hid a broken migration." in opened.read("real-database-in-tests.md")
    (call,) = opened.ledger.calls()
    assert (call.purpose, call.session, call.usage.total) == ("capture", "s1", 990)
    assert "real-database-in-tests" in call.produced


def test_without_a_signal_nobody_is_asked(opened):
    opened.say("What does this do?", "It adds two numbers.")
    assert opened.capture().reason == NO_SIGNAL
    assert opened.ledger.calls() == []


def test_a_model_reads_a_conversation_once_when_it_ends(opened):
    turn = Request(str(opened.talk.path), "s1", ends=False)
    opened.say("Please write the tests against a real database.", "I will.")
    assert capture(opened.app(), turn).decided == ()
    opened.say(OSLO, "Noted.")
    outcome = capture(opened.app(), turn)
    assert names(outcome) == ["staging-cluster-oslo"]
    assert capture(opened.app(), turn).decided == ()
    assert opened.ledger.calls() == []
    quote = "write the tests against a real database"
    opened.answers({"answer": {"drafts": [{**DRAFT, "quote": quote, "body": quote, "why": ""}]}})
    (killed,) = find_uncaptured_sessions(opened.app(), [], 20)  # should nobody say that it ended
    outcome = capture(opened.app(), killed)
    assert len(opened.ledger.calls()) == 1
    assert opened.memories() == ["real-database-in-tests.md", "staging-cluster-oslo.md"]
    assert opened.capture().reason == NOTHING_NEW
    assert opened.counts()[-1] == 0


def test_after_an_error_what_was_asked_for_is_saved_and_the_rest_is_done_later(opened):
    opened.say(OSLO, "Noted.", NOTICED, "Understood.")
    opened.answers(DOWN)
    first = opened.capture()
    assert (len(first.of(SAVED)), first.waiting, first.after > opened.now) == (1, 1, True)
    assert opened.counts() == (2, 1, 0, 0, 1)
    assert (opened.capture().waiting, len(opened.ledger.calls())) == (1, 1)  # not asked too early
    opened.now = first.after + 1
    again = {**DRAFT, "name": "oslo", "body": "The staging cluster is in Oslo.", "why": ""}
    again |= {"description": "Where staging runs", "quote": "the staging cluster is in Oslo"}
    opened.answers({"answer": {"drafts": [again, DRAFT]}})
    assert names(opened.capture()) == ["real-database-in-tests"]  # and nothing twice
    assert opened.memories() == ["real-database-in-tests.md", "staging-cluster-oslo.md"]
    assert opened.counts() == (2, 2, 0, 0, 0)


BLUE = "Remember that the staging database is called blue."
ANNA = "Also remember that releases are cut on Tuesdays by Anna."


@cases("capture")
def test_a_request_is_kept_as_it_was_said_whatever_the_model_makes_of_it(opened, draft):
    opened.say(f"{BLUE} {ANNA} There is a lot more to say about both of them.", "Yes.")
    opened.answers({"answer": {"drafts": [{**DRAFT, **draft, "why": ""}]}})
    opened.capture()
    texts = [opened.read(path).partition("---\n\n")[2] for path in opened.memories()]
    assert sorted(texts) == [f"{ANNA[19:]}\n", f"{BLUE[14:]}\n"]


def test_over_budget_no_call_is_made_and_the_next_day_it_is_done(tmp_path):
    opened = Asking(tmp_path, day_tokens=20_000)
    opened.answers(ANSWER)
    call = opened.ledger.reserve("select", "m", "", Usage(19_990, 0), Limits(99_999, 99_999))
    opened.say(OSLO, "Noted.", NOTICED, "Understood.")
    first = opened.capture()
    assert len(first.of(SAVED)) == 1
    assert first.waiting == 1
    assert [one.id for one in opened.ledger.calls()] == [call.id]
    assert ledger_day(first.after) > ledger_day(opened.now)
    opened.now = first.after + 1
    assert len(opened.capture().of(SAVED)) == 1
    assert opened.counts() == (2, 2, 0, 0, 0)


def test_a_model_that_never_answers_is_done_without_in_the_end(opened):
    opened.say("Write tests.", "I will mock it.", NOTICED, "Understood.")
    opened.answers(DOWN)
    for _ in range(MAX_FAILURES):
        outcome = opened.capture()
        assert outcome.waiting == 1
        opened.now = outcome.after + 1
    outcome = opened.capture()
    assert len(outcome.of(HELD)) == 1
    assert opened.counts() == (1, 0, 0, 1, 0)


def test_a_killed_run_does_not_ask_the_model_twice(opened, monkeypatch):
    opened.say("Write tests.", "I will mock it.", NOTICED, "Understood.")
    with monkeypatch.context() as patched:
        kill_before(3, patched)
        with pytest.raises(Killed):
            opened.capture()
    opened.script.unlink()
    opened.capture()
    assert opened.memories() == ["real-database-in-tests.md"]
    assert len(opened.ledger.calls()) == 1
    assert opened.counts() == (1, 1, 0, 0, 0)


# answers that cannot be used


def drafted(body: str) -> tuple[str, object]:
    return body[:8], {"answer": {"drafts": [{**DRAFT, "body": body}]}}


@cases("capture", drafted("half \ud800 of one"), drafted(f"The key is ghp_{'a1B2' * 9}"))
def test_a_bad_answer_lost_what_the_user_said_in_silence(opened, bad):
    opened.say(OSLO, "Noted.", NOTICED, "Understood.")
    opened.answers(bad)
    outcome = opened.capture()
    assert len(outcome.of(SAVED)) == 1  # what was asked for
    (held,) = outcome.of(HELD)
    assert held.reason.startswith("the model's answer could not be used: ")
    (waits,) = open_inbox(opened.app()).list()
    assert "mock the database" in waits.catch.draft.body
    assert "the model's answer could not be used" in collect_status(opened.app()).last_trouble
    assert opened.counts() == (2, 1, 0, 1, 0)


def test_a_model_that_broke_off_lost_what_it_had_not_come_to(opened):
    second = "Always use Postgres instead of MySQL for the billing service."
    opened.save("Old rule.", "old")
    opened.say("Write.", "I mock.", NOTICED, "Understood.", second, "Yes.")
    opened.answers({"answer": {"read": ["old"], "drafts": [DRAFT]}}, DOWN)
    outcome = opened.capture()
    assert names(outcome) == ["real-database-in-tests"]
    assert len(outcome.of(HELD)) == 1
    assert opened.counts() == (2, 1, 0, 1, 0)


def test_a_turn_in_which_the_agent_saved_something_is_not_shown_to_the_model(opened):
    opened.say("Please write the tests against a real database.", "I will.")
    opened.talk.wrote(str(opened.root / "real-database.md"))
    assert opened.capture().decided == ()
    assert opened.ledger.calls() == []


def test_a_run_without_room_did_not_say_why_no_model_was_asked(tmp_path):
    opened = Asking(tmp_path, run_tokens=500)
    opened.answers(ANSWER)
    opened.say(NOTICED, "Understood.")
    (held,) = opened.capture().of(HELD)
    assert "this run has 500 of 500 left" in held.reason
    assert "budget.run_tokens" in held.reason
    assert opened.ledger.calls() == []


# what waits


def test_a_raised_limit_changed_nothing_until_midnight(tmp_path):
    opened = Asking(tmp_path, day_tokens=100)
    opened.answers(ANSWER)
    opened.say("Write tests.", "I mock.", NOTICED, "Understood.")
    assert opened.capture().waiting == 1
    assert find_uncaptured_sessions(opened.app(), [], 20) == []
    assert opened.capture().waiting == 1
    opened.options["MEMDIR_DAY_TOKENS"] = "100000"
    (request,) = find_uncaptured_sessions(
        opened.app(), [], 20
    )  # what the next session start makes up for
    assert len(capture(opened.app(), request).of(SAVED)) == 1
    assert find_uncaptured_sessions(opened.app(), [], 20) == []
    assert opened.counts() == (1, 1, 0, 0, 0)


def test_a_transcript_elsewhere_is_not_made_up_for_unasked(opened, tmp_path):
    opened.answers(DOWN)
    talk = Conversation(tmp_path / "elsewhere/s2.jsonl").say(NOTICED, "Understood.")
    request = Request(str(talk.path), "s2")
    capture(opened.app(), request, capture_reader(opened.app(), "claude-code", str(talk.path)))
    opened.now += DAY
    assert find_uncaptured_sessions(opened.app(), [], 20) == []
    assert opened.counts() == (1, 0, 0, 0, 1)
