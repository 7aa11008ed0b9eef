"""Relative dates: resolve the sure ones, anchor the rest."""

import re
from collections.abc import Iterator
from datetime import date, timedelta

from memdir.text.patterns import pattern

# Whether words about a day tell of one point in time, or of a habit, a rule, a quotation.

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


# Relative dates made absolute (M3): what is certain is resolved, the rest is reported.

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_FIXED = {
    "today": 0,
    "yesterday": -1,
    "tomorrow": 1,
    "day after tomorrow": 2,
    "day before yesterday": -2,
}
_CONTEXT = 80  # characters looked at on either side of a phrase; keeps the whole linear

# One space, or one line break as in hard-wrapped Markdown; never a paragraph's end.
_GAP = r"(?:[ \t]{1,9}|[ \t]{0,9}\r?\n[ \t]{0,20})"
_DAY_NAME = "(?:" + "|".join(_WEEKDAYS) + ")"
_SHORT = "(?-i:Mon|Tues?|Weds?|Thu(?:rs?)?|Fri|Sat|Sun)"
_ANY_DAY = f"(?:{_DAY_NAME}|{_SHORT})"
_COUNT = r"(?:\d{1,4}(?:\.\d{1,2})?|" + "|".join(_NUMBERS) + ")"
_SPAN = rf"(?:{_COUNT}[ \t]{{0,2}}(?:-|–|to|or)[ \t]{{0,2}})?{_COUNT}"
_UNIT = rf"(?:(?:business|working){_GAP})?(?:days?|weeks?|months?|years?)"
_VAGUE_UNIT = r"(?:week|weekend|month|quarter|year|sprint|iteration|milestone)"
_CUE = r"(?:by|on|after|before|until|till|from|starting|starts|due)"
_HABIT = (
    r"(?:stand-?ups?|meetings?|syncs?|calls?|retros?|retrospectives?|demos?|reviews?|plannings?"
    r"|office hours|releases|deploys|mornings|afternoons|evenings|nights)\b"
)
_MONTH = (
    r"(?-i:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    r"|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\b"
)
_DATE = (
    r"(?:\d{4}-\d\d(?:-\d\d)?|\d{1,2}(?:st|nd|rd|th)\b|\d{1,2}[./]\d{1,2}(?:[./]\d{2,4})?"
    rf"|(?:\d{{1,2}}[ ])?{_MONTH}(?:[ ]\d{{1,2}}\b)?)"
)
_DATE_AFTER = rf"[ \t,(]{{1,3}}(?:the[ ])?{_DATE}"

# Order matters: the longest reading of a place comes first.
_PHRASE = pattern(
    rf"""
    (?P<skip> ``[^\n]*?`` | `[^`\n]*` | \[\[[^\[\]\n]{{0,200}}\]\] | \b(?:https?|ftp|file)://\S+
      | "[^"\n]{{1,300}}" | “[^“”\n]{{1,300}}” | «[^«»\n]{{1,300}}»
      | (?<!\w)'[^'\n]{{1,300}}'(?!\w) | ‘[^‘’\n]{{1,300}}’(?!\w) )
  | (?<![\w/@#$=.\\-]) (?=\w) (?:
      (?P<habit>
          (?:every|each) {_GAP} (?:(?:other|second|single) {_GAP})? {_ANY_DAY}
              (?: [ \t]{{0,2}}(?:,|and|or|&|/)[ \t]{{0,2}} {_ANY_DAY} ){{0,6}}
        | (?:from {_GAP})? {_ANY_DAY} [ \t]{{0,2}}(?:to|through|thru|-|–)[ \t]{{0,2}} {_ANY_DAY}
        | (?:black|good|patch|cyber|easter|bank\ holiday) [ ] {_DAY_NAME}
        | (?:the {_GAP})? (?:first|second|third|fourth|last) {_GAP} {_ANY_DAY} {_GAP}
              (?:of|in) {_GAP} (?:the|each|every|a) {_GAP} (?:month|quarter|year|sprint)
        | (?:older|newer|younger|earlier|later|longer|more|less) {_GAP} than {_GAP}
              (?:last|this|next) {_GAP} {_VAGUE_UNIT}
        | (?:once|twice|times) {_GAP} in {_GAP} (?:a|{_COUNT}) {_GAP} {_UNIT}
        | as[ ]soon[ ]as | (?:too|how)[ ]soon | (?:most|least)[ ]recently
        | (?:{_CUE} {_GAP})? {_DAY_NAME} {_GAP} {_HABIT}
        | (?:{_CUE} {_GAP})? (?:this {_GAP})? {_ANY_DAY} {_DATE_AFTER}
        | (?:today|yesterday|tomorrow) {_DATE_AFTER} )
    | (?P<ago> {_SPAN} {_GAP} {_UNIT} {_GAP} (?: ago | from {_GAP} now(?!{_GAP}on\b) ) )
    | (?P<ahead> in {_GAP} {_SPAN} {_GAP} {_UNIT} )
    | (?P<fixed> (?:the {_GAP})? day {_GAP} (?: after {_GAP} tomorrow | before {_GAP} yesterday )
        | today | yesterday | tomorrow ) (?!['’]s\b)
    | (?P<vague>
          (?:last|next) {_GAP} (?:{_ANY_DAY} | {_VAGUE_UNIT} | night) (?:['’]s)?
        | this {_GAP} {_VAGUE_UNIT} (?:['’]s)?
        | (?:the {_GAP})? end {_GAP} of {_GAP} (?:(?:the|this|next) {_GAP})?
              (?:day|week|month|quarter|year|sprint) | (?-i:EO[DWMQ])
        | (?:today|yesterday|tomorrow)['’]s | the {_GAP} other {_GAP} day | recently | soon
        | an? {_GAP} (?:(?:few|couple) {_GAP} (?:of {_GAP})?)? (?:day|week|month|year)s? {_GAP} ago
        | in {_GAP} a {_GAP} (?:few|couple) {_GAP} (?:of {_GAP})? (?:day|week|month)s )
    | (?P<coming> (?: (?P<cue> {_CUE} {_GAP}) (?:this {_GAP})? (?:coming {_GAP})?
        | this {_GAP} (?:coming {_GAP})? ) (?P<weekday> {_ANY_DAY}) (?!['’]s\b) )
    | (?P<bare> {_DAY_NAME} (?:['’]s)? )
    ) (?! \w | [/@\#=\\] | [-.]\w )
    """,
    re.IGNORECASE | re.VERBOSE,
)
# "was closed until Thursday" and "merged on Thursday" look back, "will be merged on" ahead.
_RELATIVE_DATES_PAST = pattern(r"\b(?:was|were|had|did)\b[^.,;:!?()]{0,40}$", re.IGNORECASE)
_DONE = pattern(
    r"(?<!be )(?<!is )(?<!are )\b(?!need|feed|schedul|plann|expect|requir|block)"
    r"(?:[a-z]{2,}ed|said|told|met|broke|went|ran|sent|made|took|came|got|saw)\s*$",
    re.IGNORECASE,
)
_CUES_BOTH_WAYS = ("on", "after", "before", "from")
_DATED = pattern(_DATE + r"[ \t,(]{1,3}$")
# "expires in 30 days", "done in 3 days": a rule or a duration as likely as a day.
_DURATION = pattern(
    r"\b(?:expires?|lasts?|takes?|took|done|built|every|once|twice|times?|[a-z]{2,}ed)\s*$", re.I
)
# "as today", "works today": a state on that day, not an event of it.
_AS = pattern(r"\bas\s$", re.IGNORECASE)
_STATE = pattern(
    r"\b(?:works?|holds?|exists?|suffices?|already|but|does|do|uses?|supports?|reads?|happens?)\s$",
    re.IGNORECASE,
)
_COMPARED = pattern(r"\b(?:than|over|under|least|most|nearly|almost)\s*$", re.IGNORECASE)


def make_absolute(text: str, day: date, *, events: bool = False) -> tuple[str, tuple[str, ...]]:
    """The text with certain dates written out, and the phrases nobody could be sure about.

    A habit or a rule ("never on Friday") means any such day and stays. With `events`, for a text
    that is not fresh, only what surely happened and clear deadlines are written out.
    """
    unresolved: dict[str, None] = {}

    def replace(match: re.Match[str]) -> str:
        phrase = match[0]
        if match["skip"] or match["habit"] or _quoted(match) or _dated(match):
            return phrase
        place = match.string, match.start(), match.end()
        if standing(*place):
            return phrase
        found = _resolve(match, day)
        if found and (conditional(*place) or (events and not _event(match))):
            found = None
        if found is None:
            unresolved[" ".join(phrase.split())] = None
            return phrase
        return found

    parts = [part if code else _PHRASE.sub(replace, part) for part, code in blocks(text)]
    return "".join(parts), tuple(unresolved)


def _event(match: re.Match[str]) -> bool:
    """Is it sure, long after it was written, that one day was meant?"""
    place = match.string, match.start(), match.end()
    words = match[0].lower()
    if match["coming"]:
        return (match["cue"] or "").strip().lower() != "on" and deadline(*place)
    looks_back = "yesterday" in words or words == "today" or words.endswith("ago")
    return looks_back and not _as_of(match) and past(*place)


def _quoted(match: re.Match[str]) -> bool:
    """Whether the phrase is spoken about (`when I say "today"`), not used."""
    before = match.string[match.start() - 1 : match.start()]
    after = match.string[match.end() : match.end() + 1]
    return bool(before) and before + after in ('""', "''", "“”", "‘’", "«»")


def _dated(match: re.Match[str]) -> bool:
    """Whether a weekday only follows its date: `2026-03-05 (Thursday)`."""
    return bool(match["bare"] and _DATED.search(_before(match)))


def _as_of(match: re.Match[str]) -> str:
    """What "today" needs before its date where it means "at present"."""
    before = _before(match)
    if _AS.search(before):
        return "of "
    lasts = _STATE.search(before) or match.string.startswith(" only ", match.end())
    return ("As of " if match[0][0] == "T" else "as of ") if lasts else ""


def _before(match: re.Match[str]) -> str:
    return match.string[max(0, match.start() - _CONTEXT) : match.start()]


def _looks_back(match: re.Match[str]) -> bool:
    cue, before = (match["cue"] or "").strip().lower(), _before(match)
    return bool(
        _RELATIVE_DATES_PAST.search(before) or (cue in _CUES_BOTH_WAYS and _DONE.search(before))
    )


def _resolve(match: re.Match[str], day: date) -> str | None:
    if match["fixed"]:
        words = " ".join(match["fixed"].lower().split()).removeprefix("the ")
        found = _shifted(day, _FIXED[words])
        return found and (_as_of(match) if words == "today" else "") + found
    if match["ago"]:
        ahead = not match["ago"].lower().endswith("ago")
        span = None if _COMPARED.search(_before(match)) else _span(match["ago"].split())
        return None if span is None else _shifted(day, span if ahead else -span)
    if match["ahead"]:
        preposition, *rest = match["ahead"].split()
        span = None if _DURATION.search(_before(match)) else _span(rest)
        found = None if span is None else _shifted(day, span)
        return found and f"{'On' if preposition == 'In' else 'on'} {found}"
    if match["coming"] and not _looks_back(match):
        distance = (_weekday(match["weekday"]) - day.weekday()) % 7
        found = _shifted(day, distance) if distance else None
        return found and (match["cue"] or "") + found
    return None


def _span(words: list[str]) -> int | None:
    """Days in `3 days` or `two weeks`; None for ranges, fractions, working days, months."""
    count, unit = words[0].lower(), words[1].lower().rstrip("s")
    if unit not in ("day", "week"):
        return None
    if count in _NUMBERS:
        number = _NUMBERS.index(count) + 1
    elif count.isascii() and count.isdigit():
        number = int(count)
    else:
        return None
    return number * (7 if unit == "week" else 1)


def _weekday(name: str) -> int:
    return next(at for at, full in enumerate(_WEEKDAYS) if full.startswith(name.lower()[:3]))


def _shifted(day: date, days: int) -> str | None:
    try:
        return (day + timedelta(days=days)).isoformat()
    except OverflowError:  # before year 1 or after 9999
        return None
