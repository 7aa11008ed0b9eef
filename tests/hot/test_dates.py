"""Times and ages: read leniently, written one way, the same in every time zone."""

import json
from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.hot.safe import DAY, age_days, age_words, iso_time, parse_time

NEW_YEAR = 1_767_225_600  # 2026-01-01T00:00:00Z

READ = [
    ("2026-01-01", NEW_YEAR),
    ("2026-01-01T00:00:00Z", NEW_YEAR),
    ("2026-01-01t00:00:00z", NEW_YEAR),
    ("2026-01-01T00:00:00", NEW_YEAR),  # hostile CL05: no zone is UTC
    ("2026-01-01T00:00", NEW_YEAR),
    ("2026-01-01 00:00:00", NEW_YEAR),
    ("  2026-01-01  ", NEW_YEAR),
    ("2026-01-01T01:00:00+01:00", NEW_YEAR),
    ("2026-01-01 01:00:00 +0100", NEW_YEAR),
    ("2025-12-31T18:30:00-05:30", NEW_YEAR),
    ("2026-01-01T02:00+02", NEW_YEAR),
    ("2026-01-01T00:00:00.5Z", NEW_YEAR + 0.5),
    ("2026-01-01T00:00:00,250Z", NEW_YEAR + 0.25),
    ("1970-01-01", 0),
    ("1969-12-31T23:59:59Z", -1),
    ("2024-02-29", 1_709_164_800),
    ("0001-01-01", -62_135_596_800),
    ("9999-12-31T23:59:59Z", 253_402_300_799),
]

NO_TIME = [
    "",
    "2026-02-30T25:61:00Z",  # hostile CL04
    "last Thursday",  # hostile CL07
    "2026-02-29",
    "1900-02-29",
    "2026-13-01",
    "2026-00-10",
    "2026-01-00",
    "2026-01-32",
    "0000-01-01",
    "2026-1-1",
    "20260101",
    "2026-01-01T",
    "2026-01-01T24:00:00Z",
    "2026-01-01T10:60:00Z",
    "2026-01-01T10:00:60Z",
    "2026-01-01T10:00:00.Z",
    "2026-01-01T10:00:00.1e3Z",
    "2026-01-01T10:00:0Z",
    "2026-01-01T1:00:00Z",
    "2026-01-01T10.00.00Z",
    "2026-01-01T10:00:00+24:00",
    "2026-01-01T10:00:00+01:60",
    "2026-01-01T10:00:00+",
    "2026-01-01T10:00:00ZZ",
    "2026-01-01T10:00:00Z01",
    "2026-01-01X10:00:00Z",
    "+026-01-01",
    "2026-01-0१",
    "２０２６-01-01",
    "2026-01-01T00:00:00." + "0" * 1_000_000,
]


@pytest.mark.parametrize(("text", "seconds"), READ)
def test_a_time_is_read(text, seconds):
    assert parse_time(text) == seconds


@pytest.mark.parametrize("text", NO_TIME, ids=lambda text: text[:30])
def test_what_is_no_time_is_none(text):
    assert parse_time(text) is None


@given(st.datetimes(timezones=st.just(UTC)))
def test_reading_agrees_with_the_standard_library(moment):
    read = parse_time(moment.isoformat())
    assert read == pytest.approx(moment.timestamp(), abs=1e-3)


@given(st.text() | st.from_regex(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?([+-]\d\d:?\d\d|Z)?"))
def test_no_text_raises(text):
    seconds = parse_time(text)
    assert seconds is None or iso_time(seconds)


@pytest.mark.parametrize(
    ("seconds", "days", "words"),
    [
        (0, 0, "today"),
        (DAY - 1, 0, "today"),
        (DAY, 1, "yesterday"),
        (2 * DAY - 1, 1, "yesterday"),
        (2 * DAY, 2, "2 days ago"),
        (47.9 * DAY, 47, "47 days ago"),
        (-1, -1, "in the future"),
        (-3650 * DAY, -3650, "in the future"),  # hostile CL02: a clock ten years ahead
    ],
)
def test_age_is_said_in_whole_days(seconds, days, words):
    assert age_days(NEW_YEAR, NEW_YEAR + seconds) == days
    assert age_words(days) == words


def test_hostile_dates_are_read_or_refused_as_said(shared):
    lines = (shared / "hostile/inputs.jsonl").read_text(encoding="utf-8").split("\n")
    rows = [json.loads(line) for line in lines if line]
    dates = {row["id"]: row for row in rows if row["class"] == "clocks and dates"}
    assert parse_time(dates["CL04"]["value"]) is None
    assert parse_time(dates["CL05"]["value"]) == NEW_YEAR
