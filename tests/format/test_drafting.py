"""What a draft must be before it is written; every refusal names the field and the rule."""

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.errors import BadInput
from memdir.format.draft import (
    DESCRIPTION_AIM,
    MAX_DESCRIPTION,
    Draft,
    Rules,
    Wishes,
    add_why_and_how,
    check_draft_format,
    check_header_line,
    complete_draft,
    describe_body,
    why_refuse_draft,
)
from memdir.format.names import memory_name
from memdir.hot import types
from tests.helpers.hostile import inputs
from tests.helpers.tables import cases, rows

MONDAY = datetime.date(2026, 3, 2)
RULES = Rules(now=1_772_452_800.0, day=MONDAY)
SHARED = Rules(now=RULES.now, day=MONDAY, shared=True)
KEY = "AK" + "IA" + "Q3EGRZP7KX2M9TVB"  # put together, so that no scanner trips over this file
TOKEN = "np" + "m_" + "f4kj8lq2wx6vz0rb3ty7up1os5di9ge"

REFUSED = rows(globals(), "REFUSED")


@pytest.mark.parametrize(("draft", "message"), REFUSED, ids=[row[1][:50] for row in REFUSED])
def test_a_refusal_names_the_field_and_the_rule(draft, message):
    with pytest.raises(BadInput) as refused:
        check_draft_format(draft, RULES)
    assert refused.value.message.startswith(message)
    assert refused.value.next
    assert refused.value.message.isprintable()


TAKEN = [
    Draft("x"),
    Draft("x" * 65_536),
    Draft("👨‍👩‍👧 and نمی\u200cخواهم"),
    Draft("bytes \udc80 that are not UTF-8"),
    Draft("\u2028separators\u2029"),
    Draft("x", description="tab\tinside, ünïcode, 日本語, 👍"),
    Draft("x", description="d" * MAX_DESCRIPTION),
    Draft("x", extra=(("x-team-key", "keep"), ("metadata.ticket", "A-1"), ("loaded by", "y"))),
    *(Draft("x", type=name) for name in (*types.names(), "unknown")),
]


@pytest.mark.parametrize("draft", TAKEN, ids=repr)
def test_what_breaks_no_rule_is_taken(draft):
    check_draft_format(draft, RULES)


@cases("text", "refused")
def test_what_nobody_would_find_again_is_not_saved_without_a_name(text, refused):
    assert ("too little to be found" in why_refuse_draft(Draft(text), RULES, Wishes())) == refused
    assert why_refuse_draft(Draft(text, name="answer"), RULES, Wishes()) == ""


PLACES = rows(globals(), "PLACES")


@pytest.mark.parametrize(("draft", "place"), PLACES, ids=[row[1] for row in PLACES])
def test_a_secret_in_any_field_is_named_by_its_rule_and_never_repeated(draft, place):
    reason = why_refuse_draft(draft, RULES, Wishes(offered=("--allow-secret",)))
    assert f"(aws-access-key, {place})" in reason
    assert "--allow-secret" in reason
    assert KEY not in reason


@pytest.mark.parametrize("draft", [row[0] for row in PLACES])
def test_a_secret_is_kept_only_where_the_user_insists_and_nobody_shares(draft):
    assert why_refuse_draft(draft, RULES, Wishes(anyway=True)) != ""
    assert why_refuse_draft(draft, RULES, Wishes(secret=True)) == ""
    for wishes in (Wishes(), Wishes(secret=True), Wishes(anyway=True, secret=True)):
        reason = why_refuse_draft(draft, SHARED, wishes)
        assert "this scope is shared with others, so it is refused" in reason
        assert KEY not in reason


@pytest.mark.parametrize("hostile", inputs("secrets", "body"))
def test_a_hostile_secret_is_never_repeated(hostile):
    reason = why_refuse_draft(Draft(hostile.value), SHARED, Wishes(anyway=True, secret=True))
    assert bool(reason) == (hostile.verdict == "private")
    assert hostile.value not in reason
    assert not any(len(word) > 12 and word in reason for word in hostile.value.split())


def test_a_name_that_is_a_secret_is_not_repeated_either():
    for name in (KEY, TOKEN):
        with pytest.raises(BadInput) as refused:
            check_draft_format(Draft("x", name=name), RULES)
        assert name not in refused.value.message + refused.value.next
    assert TOKEN[4:] not in memory_name(f"The token {TOKEN}", "project")


@cases("type", "body", "why", "how", "missing")
def test_feedback_and_project_want_why_and_how(type, body, why, how, missing):
    _, told = complete_draft(Draft(body, type=type, why=why, how=how), RULES)
    expected = f"no {missing} given: agents cannot tell when this {type} memory applies"
    assert told == ((expected,) if missing else ())


@cases("text", "line")
def test_the_first_sentence_says_what_a_text_is_about(text, line):
    assert describe_body(text) == line


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_description_from_any_text_breaks_no_rule(text):
    line = describe_body(text)
    check_header_line("description", line)
    assert 0 < len(line) <= DESCRIPTION_AIM


W, H = "**Why:** w", "**How to apply:** h"


@cases("body", "why", "how", "after")
def test_reasons_take_the_place_of_those_that_stand_there(body, why, how, after):
    assert add_why_and_how(body, why, how) == after
    assert add_why_and_how(after, why, how) == after
