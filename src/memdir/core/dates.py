"""Times and ages, always UTC: what names no zone is read as UTC, what is written is UTC."""

import time

DAY = 86_400  # seconds
_FIRST = -62_135_596_800  # 0001-01-01T00:00:00Z; other years could not be read back
_LAST = 253_402_300_799  # 9999-12-31T23:59:59Z
_LONGEST = 40  # characters of the longest form we read; more is no time
_MONTH_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def parse_time(text: str) -> float | None:
    """Seconds since 1970 of an ISO 8601 date or date and time; None for anything that is none."""
    text = text.strip()
    if not text or len(text) > _LONGEST or not text.isascii():
        return None
    days = _days(text[:10])
    if days is None:
        return None
    if len(text) == 10:
        return float(days * DAY)
    if text[10] not in "Tt ":
        return None
    clock, offset = _split_zone(text[11:])
    seconds = _clock_seconds(clock)
    shift = _offset_seconds(offset)
    if seconds is None or shift is None:
        return None
    return days * DAY + seconds - shift


def iso_time(seconds: float) -> str:
    """`YYYY-MM-DDTHH:MM:SSZ`, cut to the whole second and to the years 1 to 9999."""
    now = time.gmtime(min(max(seconds, _FIRST), _LAST))
    return f"{now[0]:04d}-{now[1]:02d}-{now[2]:02d}T{now[3]:02d}:{now[4]:02d}:{now[5]:02d}Z"


def iso_day(seconds: float) -> str:
    """The UTC day, `YYYY-MM-DD`."""
    return iso_time(seconds)[:10]


def age_days(then: float, now: float) -> int:
    """Whole days passed, rounded down; negative when `then` is still to come."""
    return int((now - then) // DAY)


def age_words(days: int) -> str:
    """Words, because models do not calculate with dates (seed 004, 6.6)."""
    if days < 0:
        return "in the future"
    if days == 0:
        return "today"
    if days == 1:
        return "yesterday"
    return f"{days} days ago"


def _days(text: str) -> int | None:
    """Days since 1970 of `YYYY-MM-DD` (counted here: `datetime` is too heavy for a hook)."""
    if len(text) != 10 or text[4] != "-" or text[7] != "-":
        return None
    year, month, day = _number(text[:4]), _number(text[5:7]), _number(text[8:])
    if year < 1 or not 1 <= month <= 12:
        return None
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if not 1 <= day <= _MONTH_DAYS[month - 1] + (leap and month == 2):
        return None
    past = year - 1
    before = past * 365 + past // 4 - past // 100 + past // 400
    return before + sum(_MONTH_DAYS[: month - 1]) + (leap and month > 2) + day - 1 + _FIRST // DAY


def _split_zone(text: str) -> tuple[str, str]:
    """The clock and its zone (`Z`, `+01:00`, `` when there is none)."""
    marks = [at for at in map(text.find, "Zz+-") if at >= 0]
    if not marks:
        return text, ""
    at = min(marks)
    return text[:at].rstrip(), text[at:]


def _clock_seconds(text: str) -> float | None:
    """Seconds since midnight of `HH:MM`, `HH:MM:SS` or `HH:MM:SS.fraction`."""
    hour, minute, second, fraction = text[:2], text[3:5], "00", ""
    if len(text) != 5:
        second, fraction = text[6:8], text[9:]
        if len(text) < 8 or text[5] != ":" or len(text) == 9:
            return None
    if text[2:3] != ":" or text[8:9] not in ("", ".", ","):
        return None
    hours, minutes, seconds = _number(hour), _number(minute), _number(second)
    if not (0 <= hours < 24 and 0 <= minutes < 60 and 0 <= seconds < 60):
        return None
    if fraction and not fraction.isdigit():
        return None
    return hours * 3600 + minutes * 60 + seconds + float(f"0.{fraction}0")


def _offset_seconds(text: str) -> int | None:
    """Seconds east of UTC of `Z`, `+HH`, `+HHMM` or `+HH:MM`; no zone is UTC."""
    if text in ("", "Z", "z"):
        return 0
    digits = text[1:].replace(":", "", 1) if text[3:4] == ":" else text[1:]
    hours, minutes = _number(digits[:2]), _number(digits[2:] or "00")
    if text[0] in "Zz" or len(digits) not in (2, 4) or not (0 <= hours < 24 and 0 <= minutes < 60):
        return None
    return (hours * 3600 + minutes * 60) * (-1 if text[0] == "-" else 1)


def _number(text: str) -> int:
    """The number, or -1: `int` alone would also take signs, blanks and underscores."""
    return int(text) if text.isdigit() else -1
