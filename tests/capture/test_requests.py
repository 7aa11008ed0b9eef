"""Requests to remember or to forget, language by language, and nothing else."""

import datetime
import tomllib
from pathlib import Path

import pytest

from memdir.capture import signals
from memdir.clients.conversation import AGENT, PERSON, TOOL, Message
from memdir.format.draft import Draft
from tests.helpers.tables import toml_cases as cases

DATA = Path(__file__).parents[1] / "data/requests.toml"
ROWS = [
    pytest.param(row, id=f"{language}-{row['says'][:40]}")
    for language, rows in tomllib.loads(DATA.read_text(encoding="utf-8")).items()
    for row in rows
]
SUNDAY = datetime.datetime(2026, 3, 1, 12).timestamp()


def made(text: str, before: str = "", time: float = 0.0):
    said = [Message("a", AGENT, before, time), Message("b", PERSON, text, time)]
    return signals.draft_requests(
        signals.notice_requests(said), said, signals.Origin("claude-code", "s1")
    )


@pytest.mark.parametrize("row", ROWS)
def test_a_request_is_kept_in_the_words_of_the_person_and_nothing_else_is(row):
    row = dict(row)
    items = made(row.pop("says"))
    found = {
        "forgets" if item.forget else "holds" if item.hold else "keeps": item.forget
        or item.draft.body
        for item in items
    }
    assert found == row


@cases("capture")
def test_days_that_no_rule_resolves_are_anchored_to_the_day_they_were_said_on(text, kept):
    (item,) = made(text, time=SUNDAY)
    assert item.draft.body == kept


def test_remember_this_after_the_agents_words_is_held_as_the_agents():
    (item,) = made("Remember this.", before="The build needs Node 20.")
    assert (item.draft.body, item.hold) == ("The build needs Node 20.", signals.FROM_AGENT)


def test_what_an_agent_or_a_tool_says_asks_for_nothing():
    text = "Remember that we deploy only on Tuesdays."
    assert signals.notice_requests([Message("a", AGENT, text), Message("b", TOOL, text)]) == []


@cases("capture")
def test_the_type_of_a_memory_follows_from_how_it_begins(text, type):
    (item,) = made(text)
    assert item.draft.type == type


@pytest.mark.parametrize("text", ["/memdir:remember we use pnpm", "!git log", "<bash-input>x"])
def test_a_command_is_no_request(text):
    assert made(text) == []


@cases("capture")
def test_a_wish_is_cut_to_what_is_meant(wish, means):
    assert signals.captured_topic_to_forget(wish) == means


@cases("capture")
def test_a_later_wish_takes_back_what_it_clearly_names(body, wish):
    assert signals.forgets_draft(signals.captured_topic_to_forget(wish), Draft(body))


@cases("capture")
def test_a_wish_that_may_mean_anything_takes_nothing_back(body, wish):
    assert not signals.forgets_draft(signals.captured_topic_to_forget(wish), Draft(body))
