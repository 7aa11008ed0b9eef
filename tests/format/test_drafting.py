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
    check,
    check_line,
    complete,
    first_sentence,
    refusal,
    set_reasons,
)
from memdir.hot import types
from tests.helpers.hostile import inputs

MONDAY = datetime.date(2026, 3, 2)
RULES = Rules(now=1_772_452_800.0, day=MONDAY)
SHARED = Rules(now=RULES.now, day=MONDAY, shared=True)
KEY = "AK" + "IA" + "Q3EGRZP7KX2M9TVB"  # put together, so that no scanner trips over this file
TOKEN = "np" + "m_" + "f4kj8lq2wx6vz0rb3ty7up1os5di9ge"

REFUSED = [
    # what is wrong, the message
    (Draft(""), "the text is empty"),
    (Draft(" \n\t\u200b\u3164"), "the text is empty"),
    (Draft("x" * 65_537), "the text has 65,537 bytes (limit: 65,536)"),
    (Draft("é" * 40_000), "the text has 80,000 bytes (limit: 65,536)"),
    (Draft("half \ud83d"), "the text holds half a character (a lone surrogate)"),
    (Draft("x", name="../x"), "name '../x' may hold only a-z, 0-9, - and _"),
    (Draft("x", name="memory"), "name 'memory' is reserved"),
    (Draft("x", type="gossip"), "type 'gossip' is not known"),
    (Draft("x", type="User"), "type 'User' is not known"),
    (Draft("x", description="a\nb"), "description holds a line break or a control character"),
    (Draft("x", description="a\rb"), "description holds a line break or a control character"),
    (Draft("x", description="a\x85b"), "description holds a line break or a control character"),
    (Draft("x", description="a\u2028b"), "description holds a line break or a control character"),
    (Draft("x", description="a\x1b[2J"), "description holds a line break or a control character"),
    (Draft("x", description="a\0"), "description holds a line break or a control character"),
    (Draft("x", description="a\u202eb"), "description holds hidden characters"),
    (Draft("x", description="a\u2067b"), "description holds hidden characters"),
    (Draft("x", description="a\U000e0072"), "description holds hidden characters"),
    (Draft("x", description="\ud83d"), "description holds half a character"),
    (Draft("x", description="d" * 1025), "description has 1,025 characters (limit: 1,024)"),
    (Draft("x", why="a\nb"), "why holds a line break or a control character"),
    (Draft("x", how="a\nb"), "how holds a line break or a control character"),
    (Draft("x", source="a\nb"), "source holds a line break or a control character"),
    (Draft("x", extra=(("team", "a\nb"),)), "team holds a line break or a control character"),
    (Draft("x", extra=(("a\nb", "c"),)), "header key 'a\\nb' cannot be chosen"),
    (Draft("x", extra=(("a: b", "c"),)), "header key 'a: b' cannot be chosen"),
    (Draft("x", extra=(("", "c"),)), "header key '' cannot be chosen"),
    (Draft("x", extra=(("source", "user"),)), "header key 'source' cannot be chosen"),
    (Draft("x", extra=(("metadata.created", "1"),)), "header key 'metadata.created' cannot be"),
    (Draft("x", name=TOKEN), "name looks like a secret (npm-token)"),
    (Draft("x", name=TOKEN.upper().replace("NPM_", "npm_")), "name looks like a secret"),
    (Draft("x", extra=((TOKEN, "1"),)), "a header key looks like a secret (npm-token)"),
    (Draft("x", extra=((f"metadata.{TOKEN}", "1"),)), "a header key looks like a secret"),
    (Draft("x", type=TOKEN), "that type is not known"),
]


@pytest.mark.parametrize(("draft", "message"), REFUSED, ids=[row[1][:50] for row in REFUSED])
def test_a_refusal_names_the_field_and_the_rule(draft, message):
    with pytest.raises(BadInput) as refused:
        check(draft, RULES)
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
    check(draft, RULES)


HOSTILE = [
    *inputs("size and cost", "body"),
    *inputs("hidden and deceiving Unicode", "body", "description"),
    *inputs("tag and frame break-out", "body", "description"),
    *inputs("poisoned instructions", "body"),
]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_hostile_text_is_refused_or_kept_as_it_is(hostile):
    draft = Draft("x", description=hostile.value)
    draft = Draft(hostile.value) if hostile.field == "body" else draft
    if hostile.verdict == "reject" or (hostile.id == "RS05" and len(hostile.value) > 65_536):
        with pytest.raises(BadInput):
            check(draft, RULES)
    else:
        check(draft, RULES)
        refusal(draft, RULES, Wishes())
        given, _ = complete(draft, RULES)
        assert getattr(given, hostile.field) == hostile.value.strip("\n")
        check_line("description", first_sentence(given.body))


# -- secrets -------------------------------------------------------------------------------

PLACES = [
    # the draft, where its secret is said to stand
    (Draft(f"one\n\nthe key is {KEY}"), "line 3"),
    (Draft(KEY), "line 1"),
    (Draft("x", description=KEY), "in description"),
    (Draft("x", why=KEY), "in why"),
    (Draft("x", how=f"use {KEY}"), "in how"),
    (Draft("x", source=KEY), "in source"),
    (Draft("x", extra=(("ticket", KEY),)), "in ticket"),
]


@pytest.mark.parametrize(("draft", "place"), PLACES, ids=[row[1] for row in PLACES])
def test_a_secret_in_any_field_is_named_by_its_rule_and_never_repeated(draft, place):
    reason = refusal(draft, RULES, Wishes(offered=("--allow-secret",)))
    assert f"(aws-access-key, {place})" in reason
    assert "--allow-secret" in reason
    assert KEY not in reason


@pytest.mark.parametrize("draft", [row[0] for row in PLACES])
def test_a_secret_is_kept_only_where_the_user_insists_and_nobody_shares(draft):
    assert refusal(draft, RULES, Wishes(anyway=True)) != ""
    assert refusal(draft, RULES, Wishes(secret=True)) == ""
    for wishes in (Wishes(), Wishes(secret=True), Wishes(anyway=True, secret=True)):
        reason = refusal(draft, SHARED, wishes)
        assert "this scope is shared with others, so it is refused" in reason
        assert KEY not in reason


@pytest.mark.parametrize("hostile", inputs("secrets", "body"))
def test_a_hostile_secret_is_never_repeated(hostile):
    reason = refusal(Draft(hostile.value), SHARED, Wishes(anyway=True, secret=True))
    assert bool(reason) == (hostile.verdict == "private")
    assert hostile.value not in reason
    assert not any(len(word) > 12 and word in reason for word in hostile.value.split())


def test_a_name_that_is_a_secret_is_not_repeated_either():
    for name in (KEY, TOKEN):
        with pytest.raises(BadInput) as refused:
            check(Draft("x", name=name), RULES)
        assert name not in refused.value.message + refused.value.next


# -- dates (M3), Why and How (M2) ----------------------------------------------------------


def test_relative_dates_become_absolute_in_every_field():
    draft = Draft("It broke yesterday.", description="Broken since yesterday", why="Seen today")
    given, told = complete(draft, RULES)
    assert given.body == "It broke 2026-03-01.\n\n**Why:** Seen 2026-03-02"
    assert given.description == "Broken since 2026-03-01"
    assert told == ()


def test_the_day_of_the_conversation_counts_not_the_day_of_the_save():
    given, _ = complete(Draft("Freeze from tomorrow.", day=datetime.date(2025, 12, 31)), RULES)
    assert given.body == "Freeze from 2026-01-01."


def test_a_date_that_cannot_be_resolved_is_reported_not_guessed():
    given, told = complete(Draft("We ship next sprint."), RULES)
    assert given.body == "We ship next sprint."
    assert told == ('"next sprint" will mean nothing later; write the date',)


@pytest.mark.parametrize("hostile", inputs("clocks and dates", "date"))
def test_a_hostile_date_is_kept_with_a_warning(hostile):
    given, told = complete(Draft(f"It failed {hostile.value}."), RULES)
    assert hostile.value in given.body
    assert any(hostile.value in line for line in told)


NEEDS = [
    # type, body, why, how, what is missing
    ("feedback", "Use tabs.", "", "", "Why and How to apply"),
    ("project", "Freeze.", "an audit", "", "How to apply"),
    ("feedback", "Use tabs.\n\n**How to apply:** always", "", "", "Why"),
    ("feedback", "Use tabs.", "taste", "always", ""),
    ("feedback", "Use tabs.\n**why:** taste\n**how to apply:** always", "", "", ""),
    ("user", "Likes tabs.", "", "", ""),
    ("unknown", "Anything.", "", "", ""),
]


@pytest.mark.parametrize(("type", "body", "why", "how", "missing"), NEEDS)
def test_feedback_and_project_want_why_and_how(type, body, why, how, missing):
    _, told = complete(Draft(body, type=type, why=why, how=how), RULES)
    expected = f"a {type} memory without {missing} is hard to apply"
    assert told == ((expected,) if missing else ())


# -- a description for a draft that has none -----------------------------------------------


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Use tabs. Not spaces.", "Use tabs."),
        ("# Title\n\nText", "Text"),
        ("# Only a title\n", "Only a title"),
        ("\n\n- **Bold** item\n", "Bold item"),
        ("Version 1.2 is out", "Version 1.2 is out"),
        ("今日は。 明日も。", "今日は。"),
        ("a\x1b[2Jb\u2028c", "a [2Jb"),
        ("safe\U000e0072\u202e line", "safe line"),
        ("---", "untitled"),
        ("", "untitled"),
        ("word " * 60, "word " * 22 + "word…"),
        ("x" * 300, "x" * (DESCRIPTION_AIM - 1) + "…"),
    ],
)
def test_the_first_sentence_says_what_a_text_is_about(text, line):
    assert first_sentence(text) == line


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_description_from_any_text_breaks_no_rule(text):
    line = first_sentence(text)
    check_line("description", line)
    assert 0 < len(line) <= DESCRIPTION_AIM


def test_a_header_key_tells_what_its_value_is():
    draft = Draft("Some text.", extra=(("password", "Xk29-fq!7Lw"),))
    assert "in password" in refusal(draft, SHARED, Wishes(anyway=True, secret=True))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"The token is {TOKEN}", "The token is"),
        (f"{TOKEN} opens the registry", "something secret"),
        (f"Publishing.\nUse {TOKEN} for it.", "Publishing."),
        ("password: Xk29-fq!7Lw", "password:"),
        (f"{'word ' * 22}{TOKEN}", ("word " * 22).strip()),
    ],
)
def test_the_line_about_a_text_ends_before_a_secret(text, line):
    assert first_sentence(text) == line


W, H = "**Why:** w", "**How to apply:** h"


@pytest.mark.parametrize(
    ("body", "why", "how", "after"),
    [
        ("Rule.", "w", "", f"Rule.\n\n{W}"),
        ("Rule.", "", "h", f"Rule.\n\n{H}"),
        ("Rule.\n", "w", "h", f"Rule.\n\n{W}\n{H}"),
        (f"Rule.\n\n{H}", "w", "", f"Rule.\n\n{W}\n{H}"),
        (f"Rule.\n\n{W}", "", "h", f"Rule.\n\n{W}\n{H}"),
        (f"Rule.\n\n**Why:** old\nand long\n{H}\n\nMore.", "w", "", f"Rule.\n\n{W}\n{H}\n\nMore."),
        (f"Rule.\r\n\r\n{W}\r\n", "w", "h", f"Rule.\n\n{W}\n{H}"),
    ],
)
def test_reasons_take_the_place_of_those_that_stand_there(body, why, how, after):
    assert set_reasons(body, why, how) == after
    assert set_reasons(after, why, how) == after
