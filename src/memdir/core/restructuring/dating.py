"""Relative dates made absolute by the date of the memory they stand in."""

from __future__ import annotations

import datetime
import re

from memdir.core import dates, frontmatter
from memdir.core.memory import CREATED_KEYS, MODIFIED_KEYS
from memdir.core.relative_dates import make_absolute
from memdir.core.restructuring.bodies import heading_text, headings
from memdir.core.restructuring.work import DATED, Page, Work

SOME_DAY = datetime.date(2000, 1, 3)  # to see whether there is anything to write out
# "## Session 2026-03-04": what stands below was written on that day.
_SESSION = re.compile(
    r"(?:(?:session|log|diary|journal|meeting|notes?|entry)\b[^0-9]{0,30})?"
    r"(?P<day>(?:19|20)\d\d-\d\d-\d\d)\b[^0-9]{0,60}",
    re.IGNORECASE,
)
_ISO_DAY = re.compile(r"\b(?:19|20)\d\d-\d\d-\d\d\b")
UNKNOWN_DAY = "metadata.day_unknown"  # relative dates in there count from no day that we know


def write_dates(work: Work) -> None:
    """What surely happened on a day; habits, rules and whatever is unsure keep their words."""
    unknown: list[str] = []
    unsure: list[str] = []
    for path in sorted(work.pages):
        page = work.pages[path]
        day = day_of(page)
        document = page.document
        body, left = make_absolute(document.body, day or SOME_DAY, events=True)
        said = document.get("description")
        description, _ = make_absolute(said, day or SOME_DAY, events=True)
        if left and make_absolute(body, day or SOME_DAY)[0] != body:
            unsure.append(path)
        if (body, description) == (document.body, said):
            continue
        if day is None:
            unknown.append(path)
            continue
        _account(work, path, document.body, body, day)
        text = page.text[: len(page.text) - len(document.body)] + body
        if description != said:
            work.account(path, f"description: {said}", f"dates by {day}: {description}")
            text = frontmatter.edit(frontmatter.read(text), "description", description).text
        work.write(path, text)
        work.say(DATED, path, f"dates written out, counted from {day}")
    if unknown:
        what = _named(unknown)
        work.remarks.append(f"relative dates stay in {what}: nobody knows the day they count from")
    if unsure:
        what = _named(unsure)
        work.remarks.append(f"words like Friday or today stay in {what}: a habit, or one day?")


def _named(paths: list[str]) -> str:
    more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
    return ", ".join(paths[:3]) + more


def mark_unknown(work: Work) -> None:
    """Say in a file that we rewrite, and whose day nobody knows, that its time is no date."""
    for path, page in work.pages.items():
        if page == work.given.pages.get(path) or page.dated or day_of(page):
            continue
        document = page.document
        if UNKNOWN_DAY in document.values or document.lines is None:
            continue
        if make_absolute(page.text, SOME_DAY, events=True)[0] != page.text:
            text = frontmatter.edit(document, UNKNOWN_DAY, "true").text
            work.pages[path] = Page(text, page.clock, page.dated)


def day_of(page: Page) -> datetime.date | None:
    """The one day on which a memory was written, where that is certain."""
    document = page.document
    told = [dates.parse_time(document.get(*keys)) for keys in (CREATED_KEYS, MODIFIED_KEYS)]
    days = {dates.iso_day(moment) for moment in told if moment is not None}
    if not days and page.dated and UNKNOWN_DAY not in document.values:
        days = {dates.iso_day(page.clock)}
    days = days or _session_days(document.body)
    return datetime.date.fromisoformat(days.pop()) if len(days) == 1 else None


def _session_days(body: str) -> set[str]:
    """The day that the headings name, where all of the text stands below one such heading."""
    lines = body.split("\n")
    told = [heading_text(lines[at]) for at, _ in headings(lines)]
    named = {day for text in told for day in _ISO_DAY.findall(text)}
    first = _SESSION.fullmatch(told[0]) if told else None
    if first is None or named != {first["day"]} or dates.parse_time(first["day"]) is None:
        return set()
    return named


def _account(work: Work, path: str, old: str, new: str, day: datetime.date) -> None:
    """Each line that changed, with the line it is now; a phrase may run over a line's end."""
    before, after = old.split("\n"), new.split("\n")
    if len(before) != len(after):
        kept = set(after)
        for line in before:
            if line not in kept:
                work.account(path, line, f"dates by {day}")
        return
    for was, now in zip(before, after, strict=True):
        if was != now:
            work.account(path, was, f"dates by {day}: {now.strip()}")
