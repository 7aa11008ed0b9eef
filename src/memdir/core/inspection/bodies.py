"""The body of a memory: dates that mean nothing later, too much text, links to nothing."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator

from memdir.core.finding import Finding
from memdir.core.inspection.page import Page, command
from memdir.core.outline import Lookup
from memdir.core.pointer import WIKILINK, read_pointers
from memdir.core.relative_dates import make_absolute

MAX_LINES = 200
LONGEST_LINE = 2_000  # characters that are looked at
# A line that names a day says from when it counts.
_DATED = re.compile(r"\b(?:19|20)\d\d[-/.]\d{1,2}\b|\b(?:19|20)\d\d\b")
_DAY = datetime.date(2026, 1, 7)  # any day: only whether there is something to resolve counts
# Without one of these there is no phrase; far cheaper to look for than all phrases.
_HINT = re.compile(
    r"day|week|month|year|ago\b|tomorrow|quarter|sprint|iteration|milestone|night|\bEO[DWMQ]\b"
    r"|\b(?:mon|tue|wed|thu|fri|sat|sun)",
    re.IGNORECASE,
)
# Said of habits and of the present as often as of a day.
_LOOSE = (
    *("recently", "soon", "night", "monday", "tuesday", "wednesday", "thursday", "friday"),
    *("saturday", "sunday"),
)
# "Decided today" is an event; "works today" and "as today" only mean at present.
_EVENT = re.compile(
    r"\b(?:decided|agreed|found|learned|discovered|shipped|released|merged|fixed|broke|said|told|met"
    r"|changed|added|removed|deployed|started|finished)\b[^.;:!?]{0,30}\btoday\b"
    r"|\btoday[ ,]{1,2}(?:we|i|the user|they)\b",
    re.IGNORECASE,
)
# "The last Friday of the month", "older than last month", "twice in one day": said of any day.
_ANY_BEFORE = re.compile(
    r"\b(?:than|the|every|each|any|over|under|least|most|once|twice|times|per|takes?|took|lasts?"
    r"|expires?|within)\s$",
    re.IGNORECASE,
)
_ANY_AFTER = re.compile(r"\s{1,2}of\s(?:the|each|every|an?|any)\b", re.IGNORECASE)
_TICKET = re.compile(r"[A-Z][A-Z0-9]{1,9}-\d{1,7}|#?\d{1,7}")  # another tool's name for a task


def inspect_body(page: Page, lookup: Lookup) -> Iterator[Finding]:
    """What a reader of the body will stumble over."""
    if page.length > MAX_LINES:
        message = f"{page.length:,} lines; an agent is shown {MAX_LINES}"
        yield Finding("too-long", page.path, message, "memdir restructure --dry-run")
    for number, line in page.prose():
        phrase = relative_date(line[:LONGEST_LINE])
        if phrase:
            message = f"{phrase!r} means another day with every day that passes"
            yield Finding("relative-date", page.path, message, command("edit", page.path), number)
    yield from _inspect_links(page, lookup)


def relative_date(line: str) -> str:
    """The first phrase that needs the day it was written on; empty where there is none."""
    if not _HINT.search(line) or _DATED.search(line):
        return ""
    changed, unsure = make_absolute(line, _DAY)
    for phrase in unsure:
        words = phrase.lower().removesuffix("'s").removesuffix("’s").split()
        if _means_any(line, phrase):
            continue
        if words[0] in ("last", "next") or not ({"end", "today"} & {*words} or words[-1] in _LOOSE):
            return phrase
    phrase = _replaced(line, changed) if changed != line else ""
    return "" if "today" in phrase.lower() and not _EVENT.search(line) else phrase


def _means_any(line: str, phrase: str) -> bool:
    """Is it said of any such day, not of one? Of a phrase said twice, the first tells."""
    start = line.find(phrase)
    end = start + len(phrase)
    before = line[max(start - 20, 0) : max(start, 0)]
    return bool(_ANY_BEFORE.search(before) or _ANY_AFTER.match(line, end))


def _replaced(old: str, new: str) -> str:
    """The words of a line that were written out as a date."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    start = old.rfind(" ", 0, start) + 1
    end, other = len(old), len(new)
    while end > start and other > start and old[end - 1] == new[other - 1]:
        end, other = end - 1, other - 1
    return " ".join(old[start:end].split())


def _inspect_links(page: Page, lookup: Lookup) -> Iterator[Finding]:
    """`[[links]]` that lead to no memory."""
    if "[[" not in page.document.body:
        return
    seen: set[str] = set()
    for number, line in page.prose():
        found = read_pointers(line[:LONGEST_LINE], number) if "[[" in line else []
        for target in [pointer.target for pointer in found if pointer.form == WIKILINK]:
            passed = target in seen or _TICKET.fullmatch(target)
            if not passed and not lookup.find(target, WIKILINK):
                seen.add(target)
                message = f"[[{target}]] leads to no memory of this store"
                yield Finding("broken-link", page.path, message, command("edit", page.path), number)
