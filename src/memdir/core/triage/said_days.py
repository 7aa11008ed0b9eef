"""Days that somebody named by the day they spoke on, written out where they can be computed.

English words are replaced, as the writer replaces the ones it is sure of; in other languages the
date is put behind them, which needs no grammar.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta

from memdir.core import habits
from memdir.core.triage.day_words import Tongue, tongues

MOST = 2_000  # characters that are looked at
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)
_CUE = r"(?P<cue>(?:by|on|in|at|until|till|before|after|from|since|starting|due|of|to|for)\s+)?"
_UNIT = "(?:week|month|quarter|year)"
_ENGLISH = re.compile(
    rf"""
    \b(?:
      {_CUE}(?:
        (?P<way>next|last)\s+(?P<day>(?:mon|tues|wednes|thurs|fri|satur|sun)day)
      | (?:the\s+)?end\s+of\s+(?:(?:the|this)\s+)?(?P<end>day|week|month|quarter|year)
      | (?:the\s+)?end\s+of\s+(?:the\s+)?next\s+(?P<late>{_UNIT})
      | (?P<short>(?-i:EO[DWMQY]))
      | (?:(?<=by\ )|(?<=on\ )|(?<=until\ )|(?<=till\ )|(?<=before\ )|(?<=after\ ))
        the\s+(?P<ordinal>\d{{1,2}})(?:st|nd|rd|th)(?=[.,;:!)]|$|\ (?:and|so|but|because)\b)
      | (?P<which>next|last|this)\s+(?P<unit>{_UNIT})
      )
    ) (?![\w'’-]) (?!\s+(?:after|of)\b)
    """,
    re.IGNORECASE | re.VERBOSE,
)
_ISO = re.compile(r"\d{4}-\d\d(?:-\d\d)?")
_WITH_YEAR = re.compile(r"(?i)[^\W\d_]{3,12},? (?:de )?20\d\d\b|\bQ[1-4] 20\d\d\b")
_QUOTED = re.compile(r"`[^`\n]{0,300}`|\"[^\"\n]{0,400}\"|“[^“”\n]{0,400}”|„[^„“”\n]{0,400}[“”]")
_MORNING = re.compile(
    r"(?i)\b(?:guten|am|jeden) morgen\b|\b(?:(?:por|de|en) la|esta|cada) mañana\b"
)
_SATURDAY = timedelta(days=5)
_SHORT = {"D": "day", "W": "week", "M": "month", "Q": "quarter", "Y": "year"}


def written_out(text: str, day: date) -> tuple[str, str]:
    """The text with its days as dates, and what of it is left to look for others in."""
    if len(text) > MOST:
        return text, text
    rest = text
    try:
        for form, resolve in _readers(text):
            text, rest = _replaced(text, rest, form, resolve, day)
    except OverflowError:  # before year 1 or after 9999
        return text, text
    return text, rest


def without_dates(text: str) -> str:
    """The text without what is no day that must be told: dates, quotations, mornings."""
    for dated in (_QUOTED, _WITH_YEAR, _ISO, _MORNING):
        text = dated.sub(" ", text)
    return text


def is_habit(text: str) -> bool:
    """It holds on any such day: `never deploy on Friday`."""
    return habits.standing(text, 0, 0) or any(one.habit.search(text) for one in tongues(text))


def anchor(text: str, day: date) -> str:
    """The text with the day it was said on, in its own language."""
    form = next((one.said for one in tongues(text)), " (said on {})")
    end = "。" if text.endswith("。") else "."
    return text.rstrip(".。") + form.format(day.isoformat()) + end


Resolve = Callable[[re.Match[str], date], str]


def _readers(text: str) -> list[tuple[re.Pattern[str], Resolve]]:
    known = tongues(text)
    return [(one.form, _behind(one)) for one in known] if known else [(_ENGLISH, _english)]


def _replaced(
    text: str, rest: str, form: re.Pattern[str], resolve: Resolve, day: date
) -> tuple[str, str]:
    """Both texts with what the form finds resolved; a quotation is left as it is."""
    quoted = [match.span() for match in _QUOTED.finditer(text)]
    parts, left, at = [], [], 0
    for match in form.finditer(text):
        inside = any(start <= match.start() < end for start, end in quoted)
        found = "" if inside or _of_any_day(match) else resolve(match, day)
        if found:
            parts += [text[at : match.start()], found]
            left.append(text[at : match.start()])
            at = match.end()
    return "".join((*parts, text[at:])), " ".join((*left, text[at:])) if at else rest


def _of_any_day(match: re.Match[str]) -> bool:
    return habits.standing(match.string, match.start(), match.end()) or habits.conditional(
        match.string, match.start(), match.end()
    )


def _english(match: re.Match[str], day: date) -> str:
    """`by next Friday` as `by Friday 2026-03-06`; both days where people mean either."""
    cue = match["cue"] or ""
    if match["ordinal"]:
        found = _of_month(day, int(match["ordinal"]))
        return f"{cue}{found.isoformat()}" if found else ""
    if match["way"]:
        name = match["day"].capitalize()
        near, far = _weekday(day, _DAYS.index(name), match["way"].lower() == "last")
        either = f" or {far.isoformat()}" if far != near else ""
        told = f"{cue or _on(match)}{name} {near.isoformat()}{either}"
    elif match["unit"]:
        shift = {"next": 1, "last": -1, "this": 0}[match["which"].lower()]
        named = _span(match["unit"].lower(), day, shift)
        told = f"{cue}{named}" if cue.lower().strip() not in ("", "on") else f"in {named}"
    else:
        unit = match["end"] or match["late"] or _SHORT[(match["short"] or "")[-1:]]
        named = _span(unit.lower(), day, int(bool(match["late"])))
        late = f"the end of {named}"
        if unit.lower() == "week":
            late = f"the weekend of {(_monday(day, bool(match['late'])) + _SATURDAY).isoformat()}"
        told = f"{cue or ('by ' if unit.lower() == 'week' else 'at ')}{late}"
    return told[0].upper() + told[1:] if match[0][0].isupper() and match["cue"] is None else told


def _on(match: re.Match[str]) -> str:
    """`our next Friday demo` needs no `on`."""
    return "" if match.string[: match.start()].rstrip().endswith((" the", " our")) else "on "


def _span(unit: str, day: date, shift: int) -> str:
    if unit == "day":
        return (day + timedelta(days=shift)).isoformat()
    if unit == "week":
        return f"the week of {_monday(day, shift).isoformat()}"
    if unit == "month":
        year, month = _month(day, shift)
        return f"{_MONTHS[month - 1]} {year}"
    if unit == "quarter":
        year, month = _month(day, 3 * shift)
        return f"Q{(month + 2) // 3} {year}"
    return str(day.year + shift)


def _behind(tongue: Tongue) -> Resolve:
    """The words of a language as they stand, and the date behind them."""

    def resolve(match: re.Match[str], day: date) -> str:
        found = _date(tongue, match, day)
        return f"{match[0]}{tongue.beside[0]}{found}{tongue.beside[1]}" if found else ""

    return resolve


def _date(tongue: Tongue, match: re.Match[str], day: date) -> str:
    kind, phrase = match.lastgroup or "", match[0].lower()
    if tongue.habit.search(match.string) or (tongue.past.search(match.string) and kind == "coming"):
        return ""
    if kind in ("coming", "next", "last", "following"):
        return _weekdays(kind, tongue.weekday(phrase), day, tongue.either)
    if kind in ("fixed", "ahead", "ago"):
        days = tongue.days(phrase)
        return "" if days is None else (day + timedelta(days=days)).isoformat()
    shift = tongue.shift(phrase)
    if kind == "week":
        monday = _monday(day, shift)
        return f"{monday.isoformat()} – {(monday + timedelta(days=6)).isoformat()}"
    year, month = _month(day, shift * {"quarter": 3, "year": 12}.get(kind, 1))
    if kind == "quarter":
        return f"Q{(month + 2) // 3} {year}"
    if kind in ("month", "year"):
        return f"{year}-{month:02d}" if kind == "month" else str(year)
    return _last_of(year, month).isoformat()


def _weekdays(kind: str, weekday: int, day: date, either: bool) -> str:
    if weekday < 0:
        return ""
    if kind == "following":  # of the week after this one, by the language's own words
        return (_monday(day, 1) + timedelta(days=weekday)).isoformat()
    near, far = _weekday(day, weekday, kind == "last")
    if kind == "next" and either and near != far:
        return f"{near.isoformat()} / {far.isoformat()}"
    return "" if kind == "coming" and day.weekday() == weekday else near.isoformat()


def _weekday(day: date, weekday: int, back: bool) -> tuple[date, date]:
    """The nearest such day, and the one of the next (or last) week where that is another."""
    way = -1 if back else 1
    distance = (way * (weekday - day.weekday())) % 7 or 7
    near = day + timedelta(days=way * distance)
    same_week = _monday(near, 0) == _monday(day, 0)
    return near, near + timedelta(days=7 * way) if same_week else near


def _monday(day: date, weeks: int) -> date:
    return day + timedelta(days=7 * weeks - day.weekday())


def _month(day: date, months: int) -> tuple[int, int]:
    at = day.year * 12 + day.month - 1 + months
    if not 12 <= at < 12 * 9999:
        raise OverflowError
    return at // 12, at % 12 + 1


def _of_month(day: date, number: int) -> date | None:
    """The next day of that number; None where the month has none."""
    year, month = _month(day, int(number <= day.day))
    return date(year, month, number) if 1 <= number <= _last_of(year, month).day else None


def _last_of(year: int, month: int) -> date:
    following = date(year + month // 12, month % 12 + 1, 1)
    return following - timedelta(days=1)
