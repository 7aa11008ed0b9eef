"""Whether words about a day tell of one point in time, or of a habit, a rule, a quotation."""

import re
from collections.abc import Iterator

from memdir.core.patterns import pattern

REACH = 120  # characters of a sentence looked at on either side; keeps the whole linear

_FENCE = pattern(r"[ \t]*(?:>[ \t]?)*(?:[-*+][ \t]+|\d{1,9}[.)][ \t]+)?(`{3,}+(?!.*`)|~{3,})")
_ITEM = pattern(r"[ \t]{0,40}(?:[-*+]|\d{1,9}[.)])[ \t]{1,8}")
CODE_INDENT = 4  # columns; behind a blank line that is code
_TAB = 4

# A sentence ends at its mark, at a blank line, and where an item, heading or row begins.
_ENDS = pattern(r"[.!?;](?=[\s\"')*_]|$)|\n[ \t]*(?=\n|[-*+|>#][ \t]?|\d{1,9}[.)][ \t])")
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_STANDING = pattern(
    r"\b(?:always|never|every|each|usually|normally|typically|generally|often|sometimes|regularly"
    rf"|weekly|daily|nightly|rarely|seldom|{_WEEKDAY}s|weekdays|weekends"
    rf"|only[ \n](?:[^.;,:!?\n]{{1,40}}[ \n])?on[ \n]{_WEEKDAY}"
    r"|(?:nobody|no one|everybody|everyone)[ \n](?:is|works|answers|reads|deploys))\b",
    re.IGNORECASE,
)
_MEETING = pattern(
    r"\b(?:stand-?ups?|meetings?|syncs?|calls?|retros?|retrospectives?|plannings?|office hours)\b"
    r"[^.;:,!?\n]{0,40}\b(?:is|are|happens?|takes? place|runs?|starts?)\b[^.;:,!?\n]{0,20}$",
    re.IGNORECASE,
)
_CONDITION = pattern(r"\b(?:if|unless|whenever|when|in case|as long as)\b", re.IGNORECASE)
_PROVERB = pattern(
    r"^\W{0,9}(?:do|don['’]?t|never|leave|live|think|plan|fix|ship|write|make|put)\b", re.IGNORECASE
)
_PAST = pattern(
    r"\b(?:since|was|were|had|did|said|told|met|broke|broken|went|ran|sent|made|took|came|got|saw"
    r"|left|found|lost|built|wrote|gave|began|chose|kept|held"
    r"|(?!need|feed|seed|speed|exceed|proceed|embed|indeed|schedul|plann|expect|requir)"
    r"[a-z]{2,20}ed)\b",
    re.IGNORECASE,
)
_DEADLINE = pattern(
    r"\b(?:freez\w{1,3}|frozen|deadlines?|due|releases?|launch\w{0,4}|cut-?off|go-?live|ships?"
    r"|blocked|closed|code ?freeze|merge window|migration)\b",
    re.IGNORECASE,
)
_OPTION = pattern(r"(?:^|\s)--?[A-Za-z][\w-]{0,30}[ =]$")


def standing(text: str, start: int, end: int) -> bool:
    """Does the sentence around this place tell a habit, a rule that holds on any such day?"""
    before, after = _sentence(text, start, end)
    whole = f"{before}{text[start:end]}{after}"
    if _MEETING.search(before) or _OPTION.search(before):
        return True
    low = whole.lower()
    if "today" in low and "tomorrow" in low and _PROVERB.search(whole):
        return True
    return bool(_STANDING.search(whole)) and not _happened(text[start:end], whole)


def conditional(text: str, start: int, end: int) -> bool:
    """Does it hang on a condition? Then nobody knows which day is meant."""
    before, after = _sentence(text, start, end)
    found = _CONDITION.search(f"{before}{after}")
    if not found:
        return False
    # "broke yesterday when Ana merged" tells of a day, "if it broke yesterday" does not.
    leads = not before[: found.start()].strip("\n -*+>#0123456789.") and found.end() <= len(before)
    whole = f"{before}{text[start:end]}{after}"
    return leads or found[0].lower() != "when" or not _happened(text[start:end], whole)


def past(text: str, start: int, end: int) -> bool:
    """Does the sentence tell what happened?"""
    before, after = _sentence(text, start, end)
    return bool(_PAST.search(f"{before} {after}"))


def deadline(text: str, start: int, end: int) -> bool:
    """Does the sentence tell of something that ends or begins on a day?"""
    before, after = _sentence(text, start, end)
    return bool(_DEADLINE.search(f"{before}{text[start:end]}{after}"))


def _happened(phrase: str, whole: str) -> bool:
    words = phrase.lower()
    return ("yesterday" in words or words.endswith("ago")) and bool(_PAST.search(whole))


def _sentence(text: str, start: int, end: int) -> tuple[str, str]:
    """What stands in front of a place and behind it in its sentence."""
    before = text[max(0, start - REACH) : start]
    cuts = [found.end() for found in _ENDS.finditer(before)]
    before = before[cuts[-1] :] if cuts else before
    after = text[end : end + REACH]
    stop = _ENDS.search(after)
    return before, after[: stop.start()] if stop else after


def blocks(text: str) -> Iterator[tuple[str, bool]]:
    """Runs of lines, each with whether it is code or a quotation."""
    lines: list[str] = []
    fence, kind = "", False
    inner = 0  # the column where the text of the list item above begins
    blank = True  # is the line above blank, or code?
    for line in text.splitlines(keepends=True):
        found = _FENCE.match(line)
        if fence:
            lines.append(line)
            if found and found[1].startswith(fence) and not line[found.end() :].strip():
                yield "".join(lines), True
                lines, fence, kind, blank = [], "", False, False
            continue
        if found:
            yield "".join(lines), kind
            lines, fence = [line], found[1]
            continue
        aside = _is_aside(line, inner, blank, kind)
        if aside != kind and line.strip():
            yield "".join(lines), kind
            lines, kind = [], aside
        lines.append(line)
        blank = not line.strip() or aside
        inner = _inner(line, inner)
    yield "".join(lines), kind or bool(fence)


def _is_aside(line: str, inner: int, blank: bool, kind: bool) -> bool:
    """A block quote, or code by its indent."""
    body = line.lstrip(" \t")
    if not body.strip():
        return kind
    return body.startswith(">") or (blank and _column(line) >= inner + CODE_INDENT)


def _inner(line: str, inner: int) -> int:
    if not line.strip():
        return inner
    item = _ITEM.match(line)
    if item and _column(line) < inner + CODE_INDENT:
        return len(item[0].expandtabs(_TAB))
    return min(inner, _column(line))


def _column(line: str) -> int:
    start = line[: len(line) - len(line.lstrip(" \t"))]
    return len(start[:REACH].expandtabs(_TAB))
