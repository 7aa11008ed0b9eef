"""What capture keeps: plan and progress come back as they were, the journal stays small."""

import datetime
import json

import pytest

from memdir.capture import progress
from memdir.capture.progress import (
    DAMAGED,
    HELD,
    RECEIVED,
    SAVED,
    Captures,
    Entry,
    Item,
    Journal,
    Plan,
    Progress,
)
from memdir.capture.signals import Catch, Origin
from memdir.clients.conversation import Cursor
from memdir.format.draft import Draft
from tests.helpers.tables import toml_cases as cases

DRAFT = Draft(
    "Text \ud800 \u2028 \x00.",
    "feedback",
    "name",
    day=datetime.date(2026, 3, 2),
    expected="abc",
    extra=(("metadata.session", "s1"), ("a", "b")),
)
ORIGIN = Origin("claude-code", "s1", "m1", "person", "", 'quo"te')
PROGRESS = Progress("s1", "claude-code", "/t", Cursor("m2", 99), 120, 2, 1, 5.5, 6.5)
PLAN = Plan(
    "capture-x",
    PROGRESS,
    (Item("x-1", Catch(ORIGIN, DRAFT)), Item("x-2", Catch(ORIGIN, forget="it", hold="h"), "a.md")),
    ("x-3",),
    ("x-4",),
    "reason",
)


@pytest.fixture
def captures(tmp_path):
    return Captures(str(tmp_path))


@pytest.mark.parametrize("session", ["s1", "", "../../etc/passwd", "x" * 500, "ä\ud800\n"])
def test_progress_comes_back_for_any_session(captures, session):
    progress = Progress(**{**vars(PROGRESS), "session": session})
    assert captures.load(session) == Progress(session)
    captures.keep(progress)
    assert captures.load(session) == progress
    assert list(captures.sessions()) == [progress]


DAMAGE = ["", "{", "[]", "null", "{}", '{"session": 5}', "[" * 100_000]
DAMAGE += [f'{{"session": "s1", {part}}}' for part in ('"after": NaN', '"size": 1.5')]


@pytest.mark.parametrize("text", DAMAGE)
def test_damage_is_no_trouble_and_no_plan_is_lost_without_a_trace(captures, tmp_path, text):
    captures.keep(PROGRESS)
    captures.announce(PLAN)
    assert captures.plan() == PLAN
    for path in (tmp_path / "captures").rglob("*"):
        if path.is_file():
            path.write_text(text)
    assert captures.load("s1") == Progress("s1")
    assert list(captures.sessions()) == []
    assert captures.plan() is None
    assert (tmp_path / "captures" / DAMAGED).read_text() == text


def test_the_progress_of_the_first_version_is_read(captures, tmp_path):
    captures.keep(PROGRESS)
    (path,) = (tmp_path / "captures/sessions").iterdir()
    done = [{"message": "m1", "quote": "q", "name": "n"}]
    path.write_text(json.dumps({**json.loads(path.read_text()), "done": done}))
    assert captures.load("s1") == PROGRESS


def entries(count: int, start: int = 0, decision: str = SAVED) -> list[Entry]:
    ids = [f"e{number}" for number in range(start, start + count)]
    return [Entry(id, what, 1.0, "s1", "n") for id in ids for what in (RECEIVED, decision) if what]


def test_the_journal_stays_small_and_its_sums_stay_right(tmp_path, monkeypatch):
    monkeypatch.setattr(progress, "MAX_JOURNAL_BYTES", 4_000)
    monkeypatch.setattr(progress, "KEPT_DECISIONS", 5)
    journal = Journal(str(tmp_path))
    journal.add([Entry("waits", RECEIVED, 1.0)])
    for number in range(300):
        journal.add(entries(1, number, HELD if number % 3 else SAVED))
    account = journal.account()
    assert (account.received, account.saved, account.held) == (301, 100, 200)
    assert [one.id for one in account.waiting] == ["waits"]
    assert account.balances
    assert (tmp_path / "journal").stat().st_size < 5_000
    assert (tmp_path / "journal").stat().st_mode & 0o777 == 0o600


@cases("capture")
def test_a_line_of_the_journal_that_is_none_is_named_and_hides_no_other(tmp_path, line):
    journal = Journal(str(tmp_path))
    journal.add([Entry("a", RECEIVED, 1.0), Entry("a", SAVED, 2.0)])
    with (tmp_path / "journal").open("a") as file:
        file.write(line + "\n")
    journal.add([Entry("c", RECEIVED, 3.0), Entry("c", HELD, 4.0)])
    account = journal.account()
    assert (account.received, account.saved, account.held, account.balances) == (2, 1, 1, True)
    assert journal.read()[2] == [3]
