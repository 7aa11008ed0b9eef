"""Relative dates (M3), said on Monday 2026-03-02: resolved when certain, else reported."""

import re
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdir.text.dates import make_absolute

MONDAY = date(2026, 3, 2)

RESOLVED = [
    ("merge freeze after Thursday", "merge freeze after 2026-03-05"),  # seed 004
    ("today", "2026-03-02"),
    ("due today, as of today", "due 2026-03-02, as of 2026-03-02"),
    ("as today, it works today", "as of 2026-03-02, it works as of 2026-03-02"),
    ("Today only admins may", "As of 2026-03-02 only admins may"),
    ("Yesterday we agreed.", "2026-03-01 we agreed."),
    ("(tomorrow)", "(2026-03-03)"),
    ("the day after tomorrow", "2026-03-04"),
    ("Day before yesterday", "2026-02-28"),
    ("3 days ago", "2026-02-27"),
    ("one day ago", "2026-03-01"),
    ("Two weeks ago", "2026-02-16"),
    ("ten days ago", "2026-02-20"),
    ("ships in 3 days", "ships on 2026-03-05"),
    ("In two weeks we freeze", "On 2026-03-16 we freeze"),
    ("five days from now", "2026-03-07"),
    ("by Friday", "by 2026-03-06"),
    ("on sunday", "on 2026-03-08"),
    ("this Thursday", "2026-03-05"),
    ("by this coming Thursday", "by 2026-03-05"),
    ("until Wednesday 17:00", "until 2026-03-04 17:00"),
    ("from Tuesday on", "from 2026-03-03 on"),
    ("starting Thursday, all PRs", "starting 2026-03-05, all PRs"),
    ("starts Thursday", "starts 2026-03-05"),
    ("due Fri.", "due 2026-03-06."),
    ("before Thurs", "before 2026-03-05"),
    ("freeze after\n  Thursday", "freeze after\n  2026-03-05"),
    ("will be merged on Thursday", "will be merged on 2026-03-05"),
    ("needed by Friday", "needed by 2026-03-06"),
    ("on Thursday may be too late", "on 2026-03-05 may be too late"),
    ("**today** and _by_ tomorrow", "**2026-03-02** and _by_ 2026-03-03"),
    ("`today` is today", "`today` is 2026-03-02"),
    ("```\ntoday\n```\ntoday\n", "```\ntoday\n```\n2026-03-02\n"),
    ("```today``` is today", "```today``` is 2026-03-02"),
    ("a ` alone, today", "a ` alone, 2026-03-02"),
]

REPORTED = [
    ("Ask Thursday", ["Thursday"]),
    ("since Thursday", ["Thursday"]),
    ("last Thursday", ["last Thursday"]),  # hostile CL07
    ("on next Thursday", ["next Thursday"]),
    ("next sprint", ["next sprint"]),
    ("next week, last month", ["next week", "last month"]),
    ("next\nquarter, last year", ["next quarter", "last year"]),
    ("this week", ["this week"]),
    ("recently", ["recently"]),
    ("soon", ["soon"]),
    ("the other day", ["the other day"]),
    ("by the end of the month", ["the end of the month"]),
    ("end of week, end of this quarter", ["end of week", "end of this quarter"]),
    ("If the build is red by Friday, revert", ["by Friday"]),
    ("Unless Ana is back by Friday", ["by Friday"]),
    ("today's build", ["today's"]),
    ("Thursday’s release", ["Thursday’s"]),
    ("on Monday", ["on Monday"]),  # today is one
    ("merged on Thursday", ["on Thursday"]),
    ("was closed until Friday", ["until Friday"]),
    ("tokens expire in 30 days", ["in 30 days"]),
    ("finished in 3 days", ["in 3 days"]),
    ("more than 3 days ago", ["3 days ago"]),
    ("2-3 weeks ago", ["2-3 weeks ago"]),
    ("in 3 to 4 days", ["in 3 to 4 days"]),
    ("1.5 weeks ago", ["1.5 weeks ago"]),
    ("in 5 working days", ["in 5 working days"]),
    ("3 months ago", ["3 months ago"]),
    ("a few days ago", ["a few days ago"]),
    ("a week ago", ["a week ago"]),
    ("9999 weeks ago, soon, soon", ["soon"]),
]

UNTOUCHED = [
    "every Thursday",
    "each Monday and Thursday",
    "every other Friday",
    "on Thursdays",
    "the Thursday standup",
    "before Thursday standup",
    "Thursday meeting",
    "Monday to Friday",
    "from Mon-Fri",
    "Black Friday",
    "nowadays",
    "as soon as possible",
    "too soon",
    "from now on",
    "the most recently used one",
    "2026-03-05 (Thursday)",
    "on Thursday, March 5",
    "on Thursday 2026-03-05",
    "today (2026-03-02)",
    'when I say "today" or “next week”',
    "`git log --since='3 days ago'`",
    "https://x.test/today?on=thursday",
    "[[next week]]",
    "today.md, logs/today, run_today, yesterday-report, --since=yesterday, @today",
    "~~~\nby Friday\n~~~",
    "- ```py\n  due = today\n  ```",
    "```\nnever closed: today",
    "The Sat and Mon of the week",
    "Never deploy on Fridays, nobody is there on Saturday",
    "Nobody is there on Saturday",
    "Always merge by Friday",
    "We usually ship on Thursday",
    "Standup is on Tuesday at 10.",
    "The weekly sync happens on Thursday",
    "Do today what you could do tomorrow.",
    "twice in one day",
    "the last Friday of the month",
    "delete logs older than last month",
    "Run journalctl --since yesterday first",
    "Text:\n\n    date -d tomorrow\n",
    "- item\n\n      date -d tomorrow\n",
    "> Ship by Friday, they said.",
    'Ana said "ship on Friday" and left',
    "in 3 places, next step, last resort, the other",
    "",
]


@pytest.mark.parametrize(("said", "written"), RESOLVED)
def test_a_certain_date_is_written_out(said, written):
    assert make_absolute(said, MONDAY) == (written, ())


@pytest.mark.parametrize(("said", "phrases"), REPORTED)
def test_an_uncertain_date_is_reported_not_guessed(said, phrases):
    text, unresolved = make_absolute(said, MONDAY)
    assert list(unresolved) == phrases
    assert text == said or said.startswith("9999")


@pytest.mark.parametrize("said", UNTOUCHED)
def test_what_is_no_date_stays(said):
    assert make_absolute(said, MONDAY) == (said, ())


STILL = [  # what a text that is not fresh says of one day for sure
    ("Yesterday we decided on uv.", "2026-03-01 we decided on uv."),
    ("It broke yesterday when Ana merged.", "It broke 2026-03-01 when Ana merged."),
    ("Yesterday we removed every mock.", "2026-03-01 we removed every mock."),
    ("Broken since yesterday", "Broken since 2026-03-01"),
    ("Ana left 3 days ago", "Ana left 2026-02-27"),
    ("Decided today: no mocks", "Decided 2026-03-02: no mocks"),
    ("Merge freeze after Thursday", "Merge freeze after 2026-03-05"),
    ("We never tested it. Due by Friday.", "We never tested it. Due by 2026-03-06."),
]
NO_MORE = [  # what a fresh text may mean as one day, and an old one need not
    "We ship on Friday.",
    "due tomorrow at the latest",
    "It works today.",
    "Ask Ana by Friday.",
    "in two weeks",
]


@pytest.mark.parametrize(("said", "written"), STILL)
def test_events_and_deadlines_of_an_older_text_are_written_out(said, written):
    assert make_absolute(said, MONDAY, events=True) == (written, ())


@pytest.mark.parametrize("said", NO_MORE)
def test_what_may_be_a_habit_stays_in_an_older_text_and_is_reported(said):
    text, unresolved = make_absolute(said, MONDAY, events=True)
    assert (text, len(unresolved)) == (said, 1)
    assert make_absolute(said, MONDAY)[0] != said


@pytest.mark.parametrize("day", [date(1, 1, 1), date(9999, 12, 31)])
def test_a_date_outside_the_calendar_is_reported(day):
    text, unresolved = make_absolute("9999 weeks ago or in 9999 weeks", day)
    assert len(unresolved) == 1
    assert unresolved[0] in text


PIECES = [said for said, _ in RESOLVED] + [said for said, _ in REPORTED] + UNTOUCHED
PIECES += [
    "in",
    "on",
    "after",
    "this",
    "the day",
    "from now",
    "was",
    "ago",
    "`",
    "```\n",
    "\n",
    "'",
]


@settings(max_examples=500)
@given(
    st.lists(st.sampled_from(PIECES), max_size=2),
    st.sampled_from([" ", ", ", "\n", ""]),
    st.dates(date(2000, 1, 1), date(2100, 1, 1)),
)
def test_a_second_time_changes_nothing(pieces, glue, day):
    once, _ = make_absolute(glue.join(pieces), day)
    assert make_absolute(once, day)[0] == once


@given(st.text(), st.dates())
def test_any_text_is_taken_and_only_dates_are_new(text, day):
    written, unresolved = make_absolute(text, day)
    assert isinstance(unresolved, tuple)
    if not re.search(r"day|week|tomorrow", text, re.IGNORECASE):
        assert written == text


@pytest.mark.parametrize(
    "piece",
    ["after Thursday ", "in 3 ", "1 ", " ", "\n", "`", "`` ` ", "[[", "```\n", "the day after "],
)
def test_a_long_text_is_read_to_its_end(piece):
    """A search that is not linear would not come back from this."""
    text, _ = make_absolute(
        "~~~\n~~~\nYesterday we met.\n\n" + piece * (250_000 // len(piece)), MONDAY
    )
    assert "2026-03-01 we met." in text
