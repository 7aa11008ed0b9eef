"""Held drafts: a yes saves them once, whatever happens; without one they reach nobody."""

import os
import signal
import sys

import pytest

from memdir.capture import review
from memdir.capture.inbox import open_inbox
from memdir.capture.signals import Catch, Origin
from memdir.errors import Missing
from memdir.format.draft import Draft, Wishes
from memdir.store import look
from tests.helpers.opened import DAY, NOON, Opened

ORIGIN = Origin("claude-code", "s1", "m1", "tool", "WebFetch", "the pelican job …")
BODY = "The pelican job restarts the staging cluster every morning."
CHANGES = ("os.rename", "os.remove", "os.mkdir", "os.truncate")  # events of the interpreter
WRITING = os.O_WRONLY | os.O_RDWR


@pytest.fixture
def opened(tmp_path) -> Opened:
    return Opened(tmp_path)


def hold(opened: Opened, body: str = BODY, **more: object):
    draft = Draft(body, type="project", **more)
    return open_inbox(opened.app()).hold(Catch(ORIGIN, draft), "from a tool", opened.now)


def approve(opened: Opened, *ids: str, anyway: bool = False, dry_run: bool = False):
    app = opened.app(dry_run=dry_run)
    return review.approve_held_drafts(
        app, review.find_held_drafts(app, ids, not ids), Wishes(anyway)
    )


def test_tomorrow_counts_from_the_day_it_was_said(opened):
    held = hold(opened, "The freeze of the pelican branch begins tomorrow.")
    opened.now = NOON + 30 * DAY
    (settled,) = approve(opened, held.id)
    assert "2026-03-03" in opened.read(settled.done.changes[0].path)


def test_one_that_is_refused_does_not_stop_the_others(opened):
    hold(opened, "No such version.", name="absent", expected="0" * 64)
    hold(opened, BODY)
    assert sorted(one.how for one in approve(opened)) == ["", "approved"]
    assert len(open_inbox(opened.app()).list()) == 1


def test_what_the_store_says_already_needs_a_second_yes(opened):
    opened.save(BODY, "pelican")
    held = hold(opened)
    (settled,) = approve(opened, held.id)
    assert settled.how == "" and "says nearly the same" in settled.done.changes[0].reason
    (settled,) = approve(opened, held.id, anyway=True)
    assert settled.how == "approved"


def test_a_wish_to_forget_puts_the_memory_away_once_it_is_clear_which(opened):
    opened.save(BODY, "pelican")
    wish = Catch(ORIGIN, forget="that thing about the birds")
    held = open_inbox(opened.app()).hold(wish, "from a tool", NOON)
    (settled,) = approve(opened, held.id)
    assert settled.how == "" and f"edit {held.id} --name NAME" in settled.done.changes[0].reason
    with pytest.raises(Missing):
        review.rewrite_held_draft(opened.app(), held, Draft("", name="penguin"))
    review.rewrite_held_draft(opened.app(), held, Draft("", name="pelican"))
    (settled,) = approve(opened, held.id)
    assert [one.kind for one in settled.done.changes] == ["retired"]
    assert "pelican.md" not in opened.files()
    assert [one.path for one in look.list_restorable_on_store_shelf(opened.app())] == ["pelican.md"]


def killed_after(calls: int, opened: Opened) -> bool:
    """Approve everything in a child that is killed at its n-th step on the disk."""
    child = os.fork()
    if child == 0:
        left = [calls]

        def count(event: str, arguments: tuple[object, ...]) -> None:
            if event in CHANGES or (event == "open" and int(arguments[2]) & WRITING):
                left[0] -= 1
                if left[0] < 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(count)
        approve(opened)
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def test_an_approval_that_is_killed_anywhere_saves_once_and_loses_nothing(tmp_path):
    calls, killed = 0, True
    while killed:
        opened = Opened(tmp_path / str(calls))
        hold(opened)
        killed = killed_after(calls, opened)
        approve(opened)  # the person says yes again to what is still there
        bodies = [path for path in opened.files() if path.endswith(".md") and path != "MEMORY.md"]
        assert len(bodies) == 1, calls
        assert open_inbox(opened.app()).list() == [] and open_inbox(opened.app()).look()[1] == [], (
            calls
        )
        assert opened.index.count("\n") == 1, calls
        calls += 3
    assert calls > 20
