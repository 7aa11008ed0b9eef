"""Relative dates (M3): resolves the unambiguous English ones and reports the others."""

import re
from datetime import date, timedelta
from itertools import groupby

from memdir.text import pattern
from memdir.text.markdown import CODE, OPEN, markdown_layers

REACH_CHARACTERS = 120  # of a sentence read on either side; keeps the search linear
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_FIXED = {"today": 0, "yesterday": -1, "tomorrow": 1}
_FIXED |= {"day after tomorrow": 2, "day before yesterday": -2}

# A space, or a line break as in hard-wrapped Markdown; never the end of a paragraph.
_GAP = r"(?:[ \t]{1,9}|[ \t]{0,9}\r?\n[ \t]{0,20})"
_DAY_NAME = "(?:" + "|".join(_WEEKDAYS) + ")"
_ANY_DAY = f"(?:{_DAY_NAME}|(?-i:Mon|Tues?|Weds?|Thu(?:rs?)?|Fri|Sat|Sun))"
_COUNT = r"(?:\d{1,4}(?:\.\d{1,2})?|" + "|".join(_NUMBERS) + ")"
_SPAN = (
    rf"(?:{_COUNT}[ \t]{{0,2}}(?:-|–|to|or)[ \t]{{0,2}})?{_COUNT}{_GAP}"
    rf"(?:(?:business|working){_GAP})?(?:days?|weeks?|months?|years?)"
)
_PERIOD = r"(?:week|weekend|month|quarter|year|sprint|iteration|milestone)"
_CUE = r"(?:by|on|after|before|until|till|from|starting|starts|due)"
_MEETING = (
    r"(?:stand-?ups?|meetings?|syncs?|calls?|retros?|retrospectives?|plannings?|office hours)"
)
_MONTH = (
    r"(?-i:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    r"|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\b"
)
_DATE = (
    r"(?:\d{4}-\d\d(?:-\d\d)?|\d{1,2}(?:st|nd|rd|th)\b|\d{1,2}[./]\d{1,2}(?:[./]\d{2,4})?"
    rf"|(?:\d{{1,2}}[ ])?{_MONTH}(?:[ ]\d{{1,2}}\b)?)"
)

# Order matters: the longest match comes first.
_PHRASE = pattern(
    rf"""
    (?P<skip> ``[^\n]*?`` | `[^`\n]*` | \[\[[^\[\]\n]{{0,200}}\]\] | \b(?:https?|ftp|file)://\S+
      | "[^"\n]{{1,300}}" | “[^“”\n]{{1,300}}” | «[^«»\n]{{1,300}}»
      | (?<!\w)'[^'\n]{{1,300}}'(?!\w) | ‘[^‘’\n]{{1,300}}’(?!\w) )
  | (?<![\w/@#$=.\\-]) (?=\w) (?:
      (?P<habit>
          (?:from {_GAP})? {_ANY_DAY} [ \t]{{0,2}}(?:to|through|thru|-|–)[ \t]{{0,2}} {_ANY_DAY}
        | (?:the {_GAP})? (?:first|second|third|fourth|last) {_GAP} {_ANY_DAY} {_GAP}
              (?:of|in) {_GAP} (?:the|each|every|a) {_GAP} (?:month|quarter|year|sprint)
        | than {_GAP} (?:last|this|next) {_GAP} {_PERIOD}
        | (?:once|twice|times) {_GAP} in {_GAP} \w+
        | as[ ]soon[ ]as | (?:too|how)[ ]soon | (?:most|least)[ ]recently
        | (?:{_CUE} {_GAP})? {_DAY_NAME} {_GAP} (?: {_MEETING} | demos? | reviews? | releases
              | deploys | mornings | afternoons | evenings | nights )\b
        | (?:{_CUE} {_GAP})? (?:this {_GAP})? (?:{_ANY_DAY} | today | yesterday | tomorrow)
              [ \t,(]{{1,3}}(?:the[ ])?{_DATE} )
    | (?P<ago> {_SPAN} {_GAP} (?: ago | from {_GAP} now(?!{_GAP}on\b) ) )
    | (?P<ahead> in {_GAP} {_SPAN} )
    | (?P<fixed> (?:the {_GAP})? day {_GAP} (?: after {_GAP} tomorrow | before {_GAP} yesterday )
        | today | yesterday | tomorrow ) (?!['’]s\b)
    | (?P<vague>
          (?:last|next) {_GAP} (?:{_ANY_DAY} | {_PERIOD} | night) (?:['’]s)?
        | this {_GAP} {_PERIOD} (?:['’]s)?
        | (?:the {_GAP})? end {_GAP} of {_GAP} (?:(?:the|this|next) {_GAP})?
              (?:day|week|month|quarter|year|sprint)
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
# A sentence ends at punctuation, a blank line, or the start of an item, heading or row.
_ENDS = pattern(r"[.!?;](?=[\s\"')*_]|$)|\n[ \t]*(?=\n|[-*+|>#][ \t]?|\d{1,9}[.)][ \t])")
_ALWAYS = pattern(
    r"\b(?:always|never|every|each|usually|normally|typically|generally|often|sometimes|regularly"
    rf"|weekly|daily|nightly|rarely|seldom|{_DAY_NAME}s|weekdays|weekends"
    rf"|only[ \n](?:[^.;,:!?\n]{{1,40}}[ \n])?on[ \n]{_DAY_NAME}"
    r"|(?:nobody|no one|everybody|everyone)[ \n](?:is|works|answers|reads|deploys))\b",
    re.IGNORECASE,
)
# Before a day: the time of a meeting, an option of a command.
_LEADS_TO_HABIT = pattern(
    rf"\b{_MEETING}\b[^.;:,!?\n]{{0,40}}\b(?:is|are|happens?|takes? place|runs?|starts?)\b"
    r"[^.;:,!?\n]{0,20}$|(?:^|\s)--?[A-Za-z][\w-]{0,30}[ =]$",
    re.IGNORECASE,
)
_CONDITION = pattern(r"\b(?:if|unless|whenever|when|in case|as long as)\b", re.IGNORECASE)
_PAST_FORMS = (
    r"since|was|were|had|did|said|told|met|broke|broken|went|ran|sent|made|took|came|got|saw"
    r"|left|found|lost|built|wrote|gave|began|chose|kept|held"
)
_NOT_PAST = "need|feed|seed|speed|exceed|proceed|embed|indeed|schedul|plann|expect|requir|block"
_PAST = pattern(rf"\b(?:{_PAST_FORMS}|(?!{_NOT_PAST})[a-z]{{2,20}}ed)\b", re.IGNORECASE)
# "was closed until Thursday" and "merged on Thursday" look back, "will be merged on" ahead.
_LOOKS_BACK = pattern(r"\b(?:was|were|had|did)\b[^.,;:!?()]{0,40}$", re.IGNORECASE)
_DONE = pattern(
    rf"(?<!be )(?<!is )(?<!are )\b(?:{_PAST_FORMS}|(?!{_NOT_PAST})[a-z]{{2,}}ed)\s*$", re.IGNORECASE
)
_DEADLINE = pattern(
    r"\b(?:freez\w{1,3}|frozen|deadlines?|due|releases?|launch\w{0,4}|cut-?off|go-?live|ships?"
    r"|blocked|closed|code ?freeze|merge window|migration)\b",
    re.IGNORECASE,
)
# Before a span: "more than 3 days ago"; "expires in 30 days", "done in 3 days".
_COMPARED = pattern(r"\b(?:than|over|under|least|most|nearly|almost)\s*$", re.IGNORECASE)
_DURATION = pattern(
    r"\b(?:expires?|lasts?|takes?|took|done|built|every|once|twice|times?|[a-z]{2,}ed)\s*$", re.I
)
# "works today": a state, not an event.
_STATE = pattern(
    r"\b(?:as|works?|holds?|exists?|suffices?|already|but|does|do|uses?|supports?|reads?|happens?)\s$",
    re.IGNORECASE,
)
_DATED = pattern(_DATE + r"[ \t,(]{1,3}$")


def make_dates_absolute(
    text: str, day: date, *, events: bool = False, anchor: bool = False
) -> tuple[str, tuple[str, ...]]:
    """The text with unambiguous dates resolved, and the phrases that are ambiguous.

    Habits and rules ("never on Friday") stay. `events` is for older texts: only past events and
    clear deadlines are resolved. With `anchor`, "last week" gets the day it counts from.
    """
    unresolved: dict[str, None] = {}

    def replace(match: re.Match[str]) -> str:
        before, after = _sentence_around(match)
        if match["skip"] or match["habit"] or _is_standing(match, before, after):
            return match[0]
        result = _resolve(match, before, after, day)
        if events and not _is_event(match, f"{before} {after}"):
            result = None
        near = match["vague"] and match[0].lower().startswith(("last ", "next ", "this "))
        if anchor and near and not after.lstrip().startswith("(as of "):
            result = f"{match[0]} (as of {day.isoformat()})"
        if result is None:
            unresolved[" ".join(match[0].split())] = None
        return result or match[0]

    lines = text.splitlines(keepends=True)
    layers = markdown_layers([line.rstrip("\r\n") for line in lines])
    pairs = zip([layer for layer, _ in layers], lines, strict=True)
    parts: list[str] = []
    for aside, group in groupby(pairs, key=_is_code_or_quoted):
        part = "".join([line for _, line in group])
        parts.append(part if aside else _PHRASE.sub(replace, part))
    return "".join(parts), tuple(unresolved)


def _is_code_or_quoted(pair: tuple[str, str]) -> bool:
    layer, line = pair
    return layer in (CODE, OPEN) or line.lstrip().startswith(">")


def _sentence_around(match: re.Match[str]) -> tuple[str, str]:
    text, start, end = match.string, match.start(), match.end()
    before = text[max(0, start - REACH_CHARACTERS) : start]
    cuts = [cut.end() for cut in _ENDS.finditer(before)]
    after = text[end : end + REACH_CHARACTERS]
    stop = _ENDS.search(after)
    return before[cuts[-1] :] if cuts else before, after[: stop.start()] if stop else after


def _is_standing(match: re.Match[str], before: str, after: str) -> bool:
    whole = f"{before}{match[0]}{after}"
    if _LEADS_TO_HABIT.search(before) or (match["bare"] and _DATED.search(before)):
        return True
    return bool(_ALWAYS.search(whole)) and not _happened(match[0], whole)


def _happened(phrase: str, whole: str) -> bool:
    return phrase.lower().endswith(("yesterday", "ago")) and bool(_PAST.search(whole))


def _is_event(match: re.Match[str], around: str) -> bool:
    """True if a single day was meant even though the text is old."""
    if match["coming"]:
        cue = (match["cue"] or "").strip().lower()
        return cue != "on" and bool(_DEADLINE.search(f"{match[0]} {around}"))
    words = match[0].lower()
    return words.endswith(("yesterday", "today", "ago")) and bool(_PAST.search(around))


def _resolve(match: re.Match[str], before: str, after: str, day: date) -> str | None:
    words = match[0].lower().split()
    days, lead = None, ""
    condition = _CONDITION.search(f"{before}{after}")
    # "broke yesterday when Ana merged" is about a day, not conditional.
    if condition and (condition[0].lower() != "when" or not _happened(match[0], before + after)):
        return None
    is_state = words == ["today"] and (_STATE.search(before) or after.startswith(" only "))
    if match["fixed"] and not is_state:
        days = _FIXED[" ".join(words).removeprefix("the ")]
    elif match["ago"] and not _COMPARED.search(before):
        days = _count_days(words, back=words[-1] == "ago")
    elif match["ahead"] and not _DURATION.search(before):
        days, lead = _count_days(words[1:]), "On " if match[0][0] == "I" else "on "
    elif match["coming"]:
        both_ways = (match["cue"] or "").strip().lower() in ("on", "after", "before", "from")
        if not _LOOKS_BACK.search(before) and not (both_ways and _DONE.search(before)):
            names = [name[:3] for name in _WEEKDAYS]
            weekday = names.index(match["weekday"].lower()[:3])
            days, lead = (weekday - day.weekday()) % 7 or None, match["cue"] or ""
    try:
        return None if days is None else lead + (day + timedelta(days=days)).isoformat()
    except OverflowError:  # before year 1 or after 9999
        return None


def _count_days(words: list[str], *, back: bool = False) -> int | None:
    """Days in `3 days` or `two weeks`; None for ranges, fractions, working days, months."""
    count, unit = words[0], words[1].rstrip("s")
    if unit not in ("day", "week"):
        return None
    if count in _NUMBERS:
        count = str(_NUMBERS.index(count) + 1)
    if not (count.isascii() and count.isdigit()):
        return None
    return int(count) * (7 if unit == "week" else 1) * (-1 if back else 1)
