"""Extraction with a model: within the budget, each session once, trusted no more than without."""

import json

import pytest

from memdir.capture.extract import HOLD, SAVE
from memdir.capture.route import MEMORY
from tests.helpers.past_sessions import NO_MOCKS, OSLO, Sessions, found

REAL = {
    "name": "real-database",
    "type": "feedback",
    "description": "Tests use a real database",
    "body": "Don't mock the database in tests.",
    "why": "The mocked ones hid a broken migration.",
    "quote": "don't mock the database in tests",
}
OSLO_DRAFT = {
    "name": "staging-move",
    "type": "project",
    "description": "When the cluster was moved",
    "body": "It was moved there in the spring of last year.",
    "quote": "it was moved there in the spring",
}


@pytest.fixture
def past(tmp_path):
    return Sessions(tmp_path)


def script(past, *lines):
    """The model answers this, in this order, in each run anew."""
    path = past.home / "answers.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    past.options["MEMDIR_MODEL"] = f"scripted:{path}"


def answer(*drafts, tokens=100):
    drafted = {"drafts": list(drafts)}
    return {"answer": drafted, "input_tokens": tokens, "output_tokens": 10}


def test_what_a_model_drafts_is_held_unless_a_person_asked_for_it(past):
    past.session(NO_MOCKS)
    script(past, answer(REAL))
    made = past.extract(model=True)
    assert [(to, outcome) for to, outcome, _ in found(made)] == [(MEMORY, HOLD)]
    assert (made.tokens, past.memories()) == (110, {})
    past.session(OSLO, "Noted.", "It was moved there in the spring of last year.")
    script(past, answer(OSLO_DRAFT))
    made = past.extract(model=True, last=1)
    assert [outcome for _, outcome, _ in found(made)] == [SAVE, HOLD]
    assert list(past.memories()) == ["staging-cluster-oslo.md"]


def test_the_model_is_asked_about_a_session_once(past):
    past.session(NO_MOCKS)
    script(past, answer(REAL))
    past.extract(model=True)
    script(past, answer({**REAL, "body": "Something else entirely about the tests."}))
    again = past.extract(model=True)
    assert (again.tokens, len(past.held())) == (0, 1)


def test_over_the_budget_the_rest_waits_and_what_was_asked_for_is_saved(past):
    past.session(NO_MOCKS)
    past.session(NO_MOCKS.replace("database", "clock"), "Right.", OSLO)
    script(past, answer(REAL))
    past.options["MEMDIR_DAY_TOKENS"] = "10"
    made = past.extract(model=True)
    assert (made.tokens, len(made.waiting)) == (0, 2)
    assert list(past.memories()) == ["staging-cluster-oslo.md"]
    assert past.held() == []
