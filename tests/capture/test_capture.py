"""Capture from end to end without a model: cursor, plan, journal, and what it saves."""

import calendar
import json
import os
import time

import pytest

from memdir.capture import plan, review
from memdir.capture.capture import (
    CUT,
    LOST,
    NOT_YET,
    NOTHING_NEW,
    capture,
    open_capture_states,
)
from memdir.capture.inbox import open_inbox
from memdir.capture.plan import Request, capture_report_lines
from memdir.capture.progress import HELD, REFUSED, SAVED, Captures, Journal
from memdir.care.status import collect_status
from memdir.store import changes
from tests.helpers.conversing import NOTICED, OSLO, TUESDAY, WHEN, Conversation
from tests.helpers.opened import Opened, memory, tree
from tests.helpers.tables import toml_cases as cases


class Talking(Opened):
    """A store, and a conversation in its project."""

    def __init__(self, top, **options: object) -> None:
        super().__init__(top, **options)
        path = self.home / ".claude/projects/-project/s1.jsonl"
        self.talk = Conversation(path, str(self.project))
        self.say = self.talk.say

    def capture(self, dry_run: bool = False, **more: object):
        return capture(self.app(dry_run=dry_run), Request(str(self.talk.path), "s1", **more))

    def memories(self) -> list[str]:
        files = self.files() if self.root.exists() else {}
        return sorted(path for path in files if path.endswith(".md") and path != "MEMORY.md")

    def counts(self) -> tuple[int, int, int, int, int]:
        account = collect_status(self.app()).account
        assert account.balances
        decided = account.saved, account.refused, account.held
        return account.received, *decided, len(account.waiting)


def names(outcome, what: str = SAVED) -> list[str]:
    return [entry.name for entry in outcome.of(what)]


@pytest.fixture
def opened(tmp_path):
    return Talking(tmp_path)


def test_what_a_person_asked_to_remember_is_saved_with_its_origin(opened):
    opened.say(TUESDAY, "I will.")
    outcome = opened.capture()
    assert names(outcome) == ["we-deploy-only-on-tuesdays"]
    text = opened.read("we-deploy-only-on-tuesdays.md")
    assert text.endswith("\n\nwe deploy only on Tuesdays.\n")
    for line in ("source: capture", "session: s1", "message: s1-1", "said_by: person"):
        assert line in text
    assert "we-deploy-only-on-tuesdays.md" in opened.index
    line = "memdir: saved 1 memory (we-deploy-only-on-tuesdays)"
    assert capture_report_lines(outcome) == [line]
    assert opened.counts() == (1, 1, 0, 0, 0)


def test_a_lost_cursor_takes_all_and_saves_nothing_twice(opened):
    opened.say(TUESDAY, "I will.")
    opened.capture()
    before = opened.memories()
    opened.talk.path.write_text("")
    opened.talk.count = 50  # compacted: other records, the same words
    opened.say(TUESDAY, "I will.", "Thanks.", "You are welcome.")
    (refused,) = opened.capture().of(REFUSED)
    assert (opened.memories(), "nearly the same" in refused.reason) == (before, True)
    assert opened.counts() == (2, 1, 1, 0, 0)


DOCKER = "Remember that tests need Docker to run."
BOTH = f"{TUESDAY} {DOCKER}"


@cases("capture")
def test_each_request_is_settled_by_itself_beside_what_the_agent_saved(opened, wrote, saved):
    opened.say(BOTH)
    for name, text in wrote.items():
        opened.write(f"{name}.md", text)
        opened.talk.wrote(str(opened.root / f"{name}.md"))
    outcome = opened.capture()
    assert sorted(names(outcome)) == saved
    assert {item.reason.partition(" (")[0] for item in outcome.of(REFUSED)} <= {plan.BY_AGENT}
    assert opened.counts() == (2, len(saved), 2 - len(saved), 0, 0)


def test_a_memory_saved_by_a_command_in_the_same_turn_is_not_saved_again(opened):
    opened.say(TUESDAY, "I will.")
    path = opened.write("deploy-day.md", memory("deploy-day", body="Deploys: only on Tuesdays."))
    when = calendar.timegm(time.strptime(WHEN, "%Y-%m-%dT%H:%M:%SZ"))
    os.utime(path, (when + 5, when + 5))
    assert [item.reason for item in opened.capture().of(REFUSED)] == [
        "the agent saved it itself (deploy-day.md)"
    ]


def test_a_request_is_settled_at_once_and_a_rule_every_third_turn(tmp_path):
    opened = Talking(tmp_path, capture_every=3)
    opened.say(TUESDAY, "Yes.", NOTICED, "Yes.")
    assert names(opened.capture(ends=False)) == ["we-deploy-only-on-tuesdays"]
    second = opened.capture(ends=False)
    assert (second.decided, second.reason) == ((), NOT_YET)
    third = opened.capture(ends=False)
    assert (third.of(SAVED), len(third.of(HELD))) == ([], 1)
    assert opened.counts() == (2, 1, 0, 1, 0)


def test_after_an_undo_a_copy_of_the_conversation_does_not_claim_to_save(opened, tmp_path):
    opened.say(TUESDAY, "I will.")
    opened.capture()
    review.undo_and_hold_again(opened.app())
    copy = opened.talk.path.with_name("copy.jsonl")
    copy.write_bytes(opened.talk.path.read_bytes())
    outcome = capture(opened.app(), Request(str(copy), "copy"))
    assert (outcome.of(SAVED), opened.memories()) == ([], [])
    assert outcome.reason.startswith("it was saved before and undone (")


def test_a_rule_for_later_is_held(opened):
    opened.say("Write the tests.", "I will mock the database.", NOTICED, "Understood.")
    outcome = opened.capture()
    assert (outcome.of(SAVED), len(outcome.of(HELD)), opened.memories()) == ([], 1, [])
    assert len(open_inbox(opened.app()).list()) == 1
    assert capture_report_lines(outcome) == [
        'memdir: held for your review (memdir review): "Never mock the database in tests."'
    ]
    assert opened.counts() == (1, 0, 0, 1, 0)


def test_a_dry_run_writes_nothing(opened):
    opened.say(TUESDAY, "I will.")
    before = tree(opened.home)
    assert names(opened.capture(dry_run=True)) == ["we-deploy-only-on-tuesdays"]
    assert tree(opened.home) == before


# What a person wants forgotten


def test_the_one_memory_that_is_meant_is_retired_and_can_be_restored(opened):
    opened.save("The staging cluster is in Oslo.", "staging-cluster")
    opened.save("Lunch is at noon.", "lunch")
    opened.say("Forget the memory about the staging cluster in Oslo.", "Done.")
    outcome = opened.capture()
    assert capture_report_lines(outcome) == ["memdir: retired 1 memory (staging-cluster)"]
    assert opened.memories() == ["lunch.md"]
    changes.restore_memories(opened.app(), ["staging-cluster"])
    assert opened.memories() == ["lunch.md", "staging-cluster.md"]


def test_where_it_is_not_clear_what_is_meant_a_person_decides(opened):
    opened.save("The staging cluster is in Oslo.", "staging-oslo")
    opened.save("The staging cluster is in Bergen.", "staging-bergen")
    opened.say("Forget the memory about the staging cluster.", "Which one?")
    (held,) = opened.capture().of(HELD)
    assert opened.memories() == ["staging-bergen.md", "staging-oslo.md"]
    assert "staging-oslo.md" in held.reason and "staging-bergen.md" in held.reason


PELICAN = "Remember: the staging cluster is called pelican."
FORGET = "Forget what I said about the pelican cluster."
AGAIN = "Remember: the pelican cluster is in Oslo now."
CALLED, NOW = "staging-cluster-called-pelican.md", "pelican-cluster-oslo.md"


@pytest.mark.parametrize(
    ("texts", "before", "after"),
    [
        ((PELICAN, "Yes.", FORGET, "Done."), [], []),
        ((f"{PELICAN} {FORGET}",), [], []),
        ((PELICAN, "Yes.", FORGET, "Done.", PELICAN, "Yes."), [], [CALLED]),
        ((FORGET, "Done.", AGAIN, "Yes."), ["pelican"], [NOW]),
        ((f"{FORGET} {AGAIN}",), ["pelican"], [NOW]),
    ],
)
def test_the_last_word_counts_where_something_is_said_and_forgotten(opened, texts, before, after):
    for name in before:
        opened.save("The staging cluster is called pelican.", name)
    opened.say(*texts)
    opened.capture()
    assert (opened.memories(), opened.counts()[-1]) == (after, 0)


# Killed on the way


class Killed(BaseException):
    """No error that anybody may catch."""


def kill_before(fatal: int, monkeypatch) -> None:
    """Whatever a run does to the disk is a step; it is killed before one of them."""
    left = [fatal]

    def watched(original):
        def called(*arguments, **named):
            left[0] -= 1
            if left[0] < 0:
                raise Killed
            return original(*arguments, **named)

        return called

    for holder in (Captures, Journal, plan):
        for name in {"announce", "keep", "finish", "add", "save_memory", "retire_memories"} & {
            *vars(holder)
        }:
            monkeypatch.setattr(holder, name, watched(getattr(holder, name)))


def test_a_run_that_was_killed_anywhere_is_repeated_and_saves_nothing_twice(tmp_path, monkeypatch):
    steps, killed = 0, True
    while killed:
        opened = Talking(tmp_path / str(steps))
        opened.save("The old wiki lives in Confluence.", "old-wiki")
        opened.say(TUESDAY, "Yes.", OSLO, "Yes.", "Forget the memory about the old wiki.", "Done.")
        with monkeypatch.context() as patched:
            kill_before(steps, patched)
            try:
                opened.capture()
                killed = False
            except Killed:
                steps += 1
        opened.capture()
        saved = ["staging-cluster-oslo.md", "we-deploy-only-on-tuesdays.md"]
        assert opened.memories() == saved, steps
        assert all(path in opened.index for path in saved), steps
        assert opened.counts() == (3, 3, 0, 0, 0), steps
        assert open_capture_states(opened.app()).plan() is None
        assert opened.capture().reason == NOTHING_NEW
    assert steps == 11  # plan, received, 3 x (memory, decision), nothing dropped, cursor, plan gone


def test_a_spoilt_cursor_loses_no_new_wish_and_keeps_the_accounts(opened):
    opened.say(TUESDAY, "I will.")
    opened.capture()
    for file in (opened.state / "captures/sessions").iterdir():
        file.write_bytes(b"garbage")
    opened.say("Remember that I prefer tabs over spaces, because of Ana.", "Yes.")
    opened.capture()
    assert len(opened.memories()) == 2
    assert opened.counts() == (2, 2, 0, 0, 0)


def test_a_plan_never_holds_a_secret(opened, monkeypatch):
    plans = []
    monkeypatch.setattr(Captures, "announce", lambda self, plan: plans.append(repr(plan)))
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    opened.say(f"Remember that the deploy token is {token}.", "No.")
    assert "secret" in opened.capture().of(REFUSED)[0].reason
    assert plans and token not in "".join(plans)
    assert opened.memories() == []


def test_a_lost_place_and_a_long_conversation_are_told(opened, monkeypatch):
    opened.say(TUESDAY, "I will.")
    assert opened.capture().remarks == ()
    other = {"type": "user", "uuid": "n1", "message": {"role": "user", "content": "Thanks."}}
    opened.talk.path.write_text(json.dumps(other) + "\n")
    assert opened.capture().remarks == (LOST,)
    assert LOST in collect_status(opened.app()).last_trouble
    monkeypatch.setattr("memdir.clients.transcripts.WINDOW", 300)
    opened.say("Hello. " * 60, "Hi.")
    assert CUT in opened.capture().remarks
