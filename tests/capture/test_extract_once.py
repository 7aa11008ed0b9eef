"""What extraction leaves alone: what was undone, settled, taken back later, or said twice."""

import subprocess

import pytest

from memdir.capture import review
from memdir.capture.capture import capture
from memdir.capture.extract import HOLD, LEAVE_OUT, SAVE
from memdir.capture.inbox import open_inbox
from memdir.capture.plan import Request
from memdir.capture.review import approve, reject
from memdir.capture.route import KNOWLEDGE, SKIP
from memdir.format.draft import Draft, Wishes
from memdir.store import changes, look
from tests.helpers.conversing import PERSON
from tests.helpers.past_sessions import NO_MOCKS, OSLO, TUESDAY, Sessions, found
from tests.helpers.toml_cases import cases

ZUSTAND = "Remember to add to the decision log: Zustand, because Redux is too heavy."


@pytest.fixture
def past(tmp_path):
    return Sessions(tmp_path)


def test_what_was_undone_is_not_learned_again(past):
    past.session(OSLO, "Noted.", TUESDAY)
    past.extract()
    review.undo(past.app())
    made = past.extract()
    assert (past.memories(), past.held(), made.changes) == ({}, [], [])
    assert {one.outcome for one in made.items} == {LEAVE_OUT}
    assert all("undone (2026-03-02)" in one.reason for one in made.items)


def test_what_capture_saved_and_somebody_undid_is_not_learned_by_extract(past):
    talk = past.session(OSLO)
    capture(past.app(), Request(str(talk.path)))
    assert len(past.memories()) == 1
    review.undo(past.app())
    past.extract()
    assert (past.memories(), past.held()) == ({}, [])


def test_what_extract_saved_and_somebody_undid_is_not_learned_by_capture(past):
    talk = past.session(OSLO)
    past.extract()
    review.undo(past.app())
    outcome = capture(past.app(), Request(str(talk.path)))
    assert past.memories() == {}
    assert [(one.what, one.reason) for one in outcome.decided] == [
        ("refused", "it was saved before and undone (2026-03-02)")
    ]
    talk.say(TUESDAY)
    capture(past.app(), Request(str(talk.path)))
    assert len(past.memories()) == 1


def test_what_is_said_again_after_the_undo_is_learned(past):
    past.session(OSLO)
    past.extract()
    review.undo(past.app())
    past.session().record(PERSON, OSLO, timestamp="2026-03-02T15:00:00Z")
    past.extract()
    assert len(past.memories()) == 1


def test_an_undo_that_was_undone_counts_for_nothing(past):
    past.session(OSLO)
    past.extract()
    review.undo(past.app())
    review.undo(past.app(), look.log(past.app())[0].id)
    (one,) = past.extract().items
    assert one.reason == "the-staging-cluster-is-in-oslo.md says it already"


def test_an_undo_of_what_a_person_saved_keeps_nothing_away(past):
    changes.save(past.app(), Draft("The staging cluster is in Oslo."), Wishes())
    review.undo(past.app())
    past.session(OSLO)
    past.extract()
    assert len(past.memories()) == 1


def test_an_undone_approval_waits_and_is_not_found_twice(past):
    past.session(NO_MOCKS)
    past.extract()
    approve(past.app(), open_inbox(past.app()).list(), Wishes())
    review.undo(past.app())
    past.extract()
    assert (len(past.held()), past.memories()) == (1, {})


@pytest.mark.parametrize("settle", [reject, lambda app, held: approve(app, held, Wishes())])
def test_a_dry_run_knows_what_a_review_has_settled(past, settle):
    past.session(NO_MOCKS)
    past.extract()
    settle(past.app(), open_inbox(past.app()).list())
    dry, real = (past.extract(dry_run=dry) for dry in (True, False))
    assert [one.outcome for one in dry.items] == [one.outcome for one in real.items] == [LEAVE_OUT]


@pytest.mark.parametrize(
    "wish", ["Forget about zustand, we go with jotai.", "Forget what I said about Zustand."]
)
def test_a_decision_that_was_to_be_forgotten_later_is_not_proposed(past, wish):
    past.session(ZUSTAND)
    past.session(wish)
    made = past.extract()
    assert made.patches == []
    assert {one.routed.to for one in made.items} == {SKIP}
    (forgotten,) = [one.routed.catch.forget for one in made.items if one.routed.catch.forget]
    assert forgotten.lower() == "zustand"


def test_a_wish_to_forget_before_the_decision_stops_nothing(past):
    past.session("Forget about zustand, we go with jotai.")
    past.session(ZUSTAND)
    assert KNOWLEDGE in {one.routed.to for one in past.extract().items}


def test_a_wish_in_one_project_takes_back_nothing_of_another(past):
    past.session("Remember that the pelican cluster needs a VPN.")
    past.session("Please forget about the pelican cluster.", cwd=past.bakery)
    past.extract(every=True)
    assert len(past.memories()) == 1


@cases("capture")
def test_of_two_that_say_nearly_the_same_one_is_saved_and_one_waits(past, first, second):
    past.session(first)
    past.session(second)
    made = past.extract()
    assert len(past.memories()) == 1
    assert [outcome for _, outcome, _ in found(made)] == [SAVE, HOLD]
    assert "said later, says nearly the same" in made.items[-1].reason
    assert past.extract().changes == []
    assert len(past.held()) == 1


def test_two_things_that_only_look_alike_are_both_saved(past):
    past.session(OSLO)
    past.session("Please remember: the staging cluster is in Bergen.")
    past.extract()
    assert len(past.memories()) == 2


# Where one stands


@pytest.fixture
def parent(past):
    """The directory above the projects; it is no repository."""
    return past.shop.parent


def test_from_a_directory_above_the_projects_only_its_own_sessions_count(past, parent):
    past.session(OSLO)
    past.session(TUESDAY, cwd=past.bakery)
    past.session("Remember that invoices are numbered per country.", cwd=parent)
    made = past.extract(parent)
    assert len(made.sessions) == 1
    assert (past.memories(), past.memories(past.bakery)) == ({}, {})
    assert len(past.memories(parent)) == 1


def test_a_plain_directory_below_another_one_is_its_own(past, parent):
    (parent / "docs").mkdir()
    past.session(OSLO, cwd=parent / "docs")
    assert list(past.extract(parent).sessions) == []
    past.extract(parent / "docs")
    assert len(past.memories(parent / "docs")) == 1


def test_a_store_that_was_named_gets_only_what_is_about_this_project(past, tmp_path):
    inner = past.shop / "vendor"
    inner.mkdir()
    subprocess.run(["git", "init", "--quiet"], cwd=inner, check=True)
    past.session(OSLO)
    past.session(TUESDAY, cwd=inner)
    made = past.extract(dir=str(tmp_path / "named"))
    assert [path.name for path in (tmp_path / "named").glob("the-*.md")]
    assert (past.memories(), past.memories(inner)) == ({}, {})
    (left,) = [one for one in made.items if one.outcome == LEAVE_OUT]
    assert "--dir names another store" in left.reason
