"""Relative dates (M3), said on Monday 2026-03-02: resolved when certain, else reported."""

import re
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdir.text.dates import make_dates_absolute
from tests.helpers.tables import table

MONDAY = date(2026, 3, 2)

RESOLVED = table("text", "resolved")

REPORTED = table("text", "reported")

UNTOUCHED = table("text", "untouched")


@pytest.mark.parametrize(("said", "written"), RESOLVED)
def test_a_certain_date_is_written_out(said, written):
    assert make_dates_absolute(said, MONDAY) == (written, ())


@pytest.mark.parametrize(("said", "phrases"), REPORTED)
def test_an_uncertain_date_is_reported_not_guessed(said, phrases):
    text, unresolved = make_dates_absolute(said, MONDAY)
    assert list(unresolved) == phrases
    assert text == said or said.startswith("9999")


@pytest.mark.parametrize("said", UNTOUCHED)
def test_what_is_no_date_stays(said):
    assert make_dates_absolute(said, MONDAY) == (said, ())


STILL = table("text", "still")
NO_MORE = table("text", "no_more")


@pytest.mark.parametrize(("said", "written"), STILL)
def test_events_and_deadlines_of_an_older_text_are_written_out(said, written):
    assert make_dates_absolute(said, MONDAY, events=True) == (written, ())


@pytest.mark.parametrize("said", NO_MORE)
def test_what_may_be_a_habit_stays_in_an_older_text_and_is_reported(said):
    text, unresolved = make_dates_absolute(said, MONDAY, events=True)
    assert (text, len(unresolved)) == (said, 1)
    assert make_dates_absolute(said, MONDAY)[0] != said


PIECES = [said for said, _ in RESOLVED] + [said for said, _ in REPORTED] + UNTOUCHED
PIECES += ["in", "on", "after", "this", "the day", "from now", "was", "ago", "`", "```\n", "'"]


@settings(max_examples=500)
@given(
    st.lists(st.sampled_from(PIECES), max_size=2),
    st.sampled_from([" ", ", ", "\n", ""]),
    st.dates(date(2000, 1, 1), date(2100, 1, 1)),
)
def test_a_second_time_changes_nothing(pieces, glue, day):
    once, _ = make_dates_absolute(glue.join(pieces), day)
    assert make_dates_absolute(once, day)[0] == once


@given(st.text(), st.dates())
def test_any_text_is_taken_and_only_dates_are_new(text, day):
    written, unresolved = make_dates_absolute(text, day)
    assert isinstance(unresolved, tuple)
    if not re.search(r"day|week|tomorrow", text, re.IGNORECASE):
        assert written == text


@pytest.mark.parametrize(
    "piece",
    ["after Thursday ", "in 3 ", "1 ", " ", "\n", "`", "`` ` ", "[[", "```\n", "the day after "],
)
def test_a_long_text_is_read_to_its_end(piece):
    """A search that is not linear would not come back from this."""
    text, _ = make_dates_absolute(
        "~~~\n~~~\nYesterday we met.\n\n" + piece * (250_000 // len(piece)), MONDAY
    )
    assert "2026-03-01 we met." in text
