"""Times and ages: read leniently, written one way, the same in every time zone."""

from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.hot.safe import age_days, age_words, parse_time
from tests.helpers.tables import cases

DAY = 86_400
NEW_YEAR = 1_767_225_600  # 2026-01-01T00:00:00Z


@cases("text", "seconds")
def test_a_time_is_read(text, seconds):
    assert parse_time(text) == seconds


@cases("text", ids=lambda text: text[:30])
def test_what_is_no_time_is_none(text):
    assert parse_time(text) is None


@given(st.datetimes(timezones=st.just(UTC)))
def test_reading_agrees_with_the_standard_library(moment):
    read = parse_time(moment.isoformat())
    assert read == pytest.approx(moment.timestamp(), abs=1e-3)


@cases("seconds", "days", "words")
def test_age_is_said_in_whole_days(seconds, days, words):
    assert age_days(NEW_YEAR, NEW_YEAR + seconds) == days
    assert age_words(days) == words
