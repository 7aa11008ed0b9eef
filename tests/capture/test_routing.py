"""Where something that a past session taught belongs."""

import datetime

import pytest

from memdir.capture.route import (
    KNOWLEDGE,
    MEMORY,
    SKIP,
    VALUE,
    Known,
    Text,
    captured_draft_line,
    route_extracted_draft,
)
from memdir.capture.signals import Catch, Origin
from memdir.clients.conversation import AGENT, PERSON, TOOL
from memdir.format.draft import Draft, Rules
from tests.helpers.tables import toml_cases as cases

RULES = Rules(now=0.0, day=datetime.date(2026, 3, 2))
NOTHING = Known([])


def caught(body, type="unknown", *, who=PERSON, hold="noticed", tool="", **fields):
    origin = Origin("claude_code", "s1", "m1", who, tool, body[:100])
    return Catch(origin, Draft(body, type, **fields), hold=hold)


def routed(body, type="unknown", *, asked=False, known=NOTHING, rules=RULES, **fields):
    hold = "" if asked else "noticed"
    return route_extracted_draft(caught(body, type, hold=hold, **fields), known, rules, asked)


@cases("capture", ("Background of the billing rewrite. " * 60, "project", KNOWLEDGE))
def test_each_thing_goes_where_it_belongs(body, type, to):
    assert routed(body, type).to == to


@cases("capture")
def test_what_a_person_asked_to_remember_becomes_a_memory_unless_they_named_the_place(
    body, type, to
):
    found = routed(body, type, asked=True)
    assert (found.to, found.catch.hold) == (to, "")


@pytest.mark.parametrize("who", [TOOL, AGENT, ""])
@cases("capture")
def test_what_no_person_said_never_reaches_a_page_and_is_never_saved_at_once(who, body):
    found = routed(body, asked=True, who=who, tool="WebFetch" if who == TOOL else "")
    assert found.to in (VALUE, MEMORY)
    assert found.catch.hold


@cases("capture")
def test_what_a_memory_says_already_is_skipped_and_says_where(text, body):
    found = routed(body, "feedback", known=Known([Text("uv.md", text)]))
    assert (found.to, found.reason) == (SKIP, "uv.md says it already")


def test_the_opposite_of_what_is_known_is_new():
    known = Known([Text("db.md", "Never use the shared database in the integration tests here.")])
    found = routed(
        "Use the shared database in the integration tests here.", "feedback", known=known
    )
    assert found.to == MEMORY


def test_another_wording_from_the_same_message_is_known():
    text = Text("db.md", "Tests use a real database, because mocks hid a migration.", "s1", "m1")
    body = "Tests: a real database instead of mocks."
    assert routed(body, "feedback", known=Known([text])).to == SKIP
    other = Text("db.md", text.text, "s1", "m2")
    assert routed(body, "feedback", known=Known([other])).to != SKIP


@cases("capture")
def test_the_line_for_claude_md_leaves_out_who_it_was_said_to(body, line):
    assert captured_draft_line(Draft(body)) == line
