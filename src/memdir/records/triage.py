"""What a conversation may hold of each type of record: keyword scores, excerpts, <triage_data>.

Every line with a word of a type is one hit, worth more with a booster near it. A session's summary
is told by how much was done. Linear in the text.
"""

from __future__ import annotations

import json
import os
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, takewhile
from typing import NamedTuple

from memdir.clients.conversation import AGENT, PERSON, TOOL, Cursor, Message
from memdir.errors import Finding, MemdirError
from memdir.hot.safe import BRACKET, ELLIPSIS, clip, inert, inert_line
from memdir.records.contexts import Context, Contexts
from memdir.records.lookup import settings_of
from memdir.records.memory_config import SESSION_SUMMARY, RecordSettings
from memdir.records.spoken import Line, is_message, last_messages, lines_of
from memdir.store import registry
from memdir.store.writer import App
from memdir.text import pattern

BOOSTER_LINES = 4  # in which a booster counts, before and behind
TOOL_USE, DISTINCT_TOOL, EXCHANGE = 0.05, 0.1, 0.02  # what each is worth for a summary
SCORE_DIGITS = 4  # a threshold is met however its parts were added up
PLAIN_CAP, BOOSTED_CAP = 3, 2  # hits that count


class Rule(NamedTuple):
    """How the hits of a type are counted; `weights` are those of plain and boosted ones."""

    primary: tuple[str, ...]
    boosters: tuple[str, ...]
    weights: tuple[float, float]
    denominator: float


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split(", "))


RULES = {
    "decision": Rule(
        _words("decided, chose, selected, went with, picked, settled on, switching to"),
        _words("because, due to, reason, rationale, over, instead of, rather than"),
        (0.3, 0.5),
        1.9,
    ),
    "runbook": Rule(
        _words("error, exception, traceback, stack trace, failed, failure, crash"),
        _words("fixed by, resolved, root cause, solution, workaround, the fix"),
        (0.2, 0.6),
        1.8,
    ),
    "constraint": Rule(
        _words("limitation, api limit, restricted, not supported, quota, rate limit, cannot"),
        _words("discovered, found that, turns out, permanently, enduring, platform"),
        (0.3, 0.5),
        1.9,
    ),
    "tech_debt": Rule(
        _words("todo, deferred, tech debt, technical debt, workaround, hack, will address later"),
        _words("because, for now, temporary, acknowledged, deferring, cost, risk"),
        (0.3, 0.5),
        1.9,
    ),
    "preference": Rule(
        _words("always use, never use, prefer, convention, from now on, standard, established"),
        _words("agreed, going forward, consistently, rule, practice, workflow"),
        (0.35, 0.5),
        2.05,
    ),
}
# Forms that are more than a plural or a hyphen. Each starts with a letter: that is searched fast.
_UNSUPPORTED = r"(?: yet| currently| officially)?[ -]supported"
FORMS = {
    "todo": ("to-?do",),
    "workaround": ("work-?around",),
    "stack trace": ("stack[ -]?trace",),
    "cannot": ("can ?not",),
    "not supported": (
        *(f"{word}{_UNSUPPORTED}" for word in ("not", "isn't", "aren't", "wasn't", "weren't")),
        "unsupported",
    ),
}
_GAP = r"[ \t-]{1,3}"
_HISSES = ("s", "x", "z", "ch", "sh")
_VERBS = "do does did is are was were has have had ca could wo would should must need ai"
_NEGATIONS = frozenset(
    (
        *("not", "never", "nor", "neither", "nobody", "nothing", "none", "no", "cannot"),
        *("without", "hardly", "zero", "0"),
        *(verb + end for verb in _VERBS.split() for end in ("n't", "nt")),
    )
)
# What may stand between a negation and its word: "haven't really decided", "not sure we chose".
_MAY_STAND_BETWEEN = (
    "a an the any of all one single more other new further be been being get got have had has "
    "yet ever even just fully really actually finally formally officially already still quite "
    "exactly necessarily explicitly currently strictly longer known think believe know sure "
    "remember recall seem want if whether that we i you they us them to going"
)
_BETWEEN = frozenset(_MAY_STAND_BETWEEN.split())
_NEGATION_WORDS = 5  # before a word in which it is negated
_NEGATION_CHARACTERS = 80
_QUOTES = "*_\"'(["  # around a word of a sentence
_NOTHING = pattern(r"[:=]?[ \t]{0,3}(?:0|none|nothing|zero)\b(?![.%]?\d)", re.ASCII)
_END = r"(?!\w|[-.]\w)"  # `error-free` and `error.log` are other words


class Activity(NamedTuple):
    """How much was done; an exchange is a message of the person that the agent answered."""

    tool_uses: int
    tools: tuple[str, ...]
    exchanges: int


class Score(NamedTuple):
    """What a conversation holds of a type; `hits` are numbers of lines, `boosted` some of them."""

    type: str
    score: float
    threshold: float
    hits: tuple[int, ...] = ()
    boosted: tuple[int, ...] = ()


class Scored(NamedTuple):
    """A conversation that was looked through, with a score of each type that is captured."""

    said: tuple[Message, ...]
    lines: tuple[Line, ...]
    activity: Activity
    scores: tuple[Score, ...]

    @property
    def triggered(self) -> tuple[Score, ...]:
        """Those that reach their threshold."""
        return tuple(it for it in self.scores if it.score >= it.threshold)


def score(said: Sequence[Message], settings: RecordSettings) -> Scored:
    """Look through the end of a conversation for every type that the settings want captured."""
    last = last_messages(said, settings.max_messages)
    spoken = tuple(lines_of(last))
    units = [number for number, line in enumerate(spoken) if line.bare is not None]
    bare = [line.bare for line in spoken if line.bare is not None]
    uses = [it.tool for it in last if it.who == TOOL]
    exchanges, asked = 0, False
    for item in filter(is_message, last):
        exchanges += asked and item.who == AGENT
        asked = item.who == PERSON
    activity = Activity(len(uses), tuple(sorted({*uses} - {""})), exchanges)
    scores = []
    for type in filter(settings.captures, settings.types):
        if type == SESSION_SUMMARY:
            done = activity.tool_uses * TOOL_USE + len(activity.tools) * DISTINCT_TOOL
            value, hits, boosted = done + exchanges * EXCHANGE, list[int](), list[int]()
        else:
            value, hits, boosted = _count(RULES[type], bare)
        lines = [tuple(units[line] for line in some) for some in (hits, boosted)]
        rounded = round(min(value, 1.0), SCORE_DIGITS)
        scores.append(Score(type, rounded, settings.thresholds[type], *lines))
    return Scored(tuple(last), spoken, activity, tuple(scores))


def _count(rule: Rule, lines: list[str]) -> tuple[float, list[int], list[int]]:
    """The score, the lines with a hit, and those of them that are boosted."""
    hits, boosted = list(_lines_with(rule.primary, lines)), []
    near = list(_lines_with(rule.boosters, lines)) if hits else []
    for line in hits:
        first = bisect_left(near, line - BOOSTER_LINES)
        if first < len(near) and near[first] <= line + BOOSTER_LINES:
            boosted.append(line)
    more = min(len(boosted), BOOSTED_CAP)
    plain = min(len(hits) - more, PLAIN_CAP)  # a boosted hit beyond the cap is still a hit
    total = plain * rule.weights[0] + more * rule.weights[1]
    return total / rule.denominator, hits, boosted


def _lines_with(words: tuple[str, ...], lines: list[str]) -> Iterator[int]:
    """The numbers of the lines that have one of these words, each once, in order."""
    text = "\n".join(lines)  # searched at once
    # Only the words that can be there are compiled: that costs most.
    forms = [form for word in words for form in _forms(word, text)]
    if not forms:
        return
    line, end = -1, 0
    for match in re.finditer(f"(?:{'|'.join(forms)}){_END}", text, re.ASCII):
        start = match.start()
        if start < end or not _stands_alone(text, start) or _is_negated(text, *match.span()):
            continue
        while end <= start:
            line, end = line + 1, end + len(lines[line + 1]) + 1
        yield line


def _forms(word: str, text: str) -> list[str]:
    """The word, its plural, its parts with spaces or hyphens between them, if the text has any."""
    plural = "(?:es)?" if word.endswith(_HISSES) else "s?"
    forms = FORMS.get(word) or (word.replace(" ", _GAP),)
    return [form + plural for form in forms if "".join(takewhile(str.isalpha, form)) in text]


def _stands_alone(text: str, start: int) -> bool:
    """Does a word begin here? `x.error` and `non-standard` are other words."""
    before = text[start - 1 : start]
    if before in ("-", ".") and start > 1:
        before = text[start - 2]
    return not (before.isascii() and (before.isalnum() or before == "_"))


def _is_negated(text: str, start: int, end: int) -> bool:
    """ "not decided", "no known limitation", "nobody chose", "yet to be decided", "errors: 0"."""
    if _NOTHING.match(text, end):
        return True
    back = max(start - _NEGATION_CHARACTERS, 0)
    back = max(back, text.rfind("\n", back, start) + 1)
    words = [word.strip(_QUOTES) for word in text[back:start].split()[-_NEGATION_WORDS:]]
    for index in range(len(words) - 1, -1, -1):
        if words[index] in _NEGATIONS or words[index : index + 2] == ["yet", "to"]:
            return True
        if words[index] not in _BETWEEN:  # "no test failed"
            return index > 0 and words[index - 1] == "no" and words[index].isalpha()
    return False


# What a drafting agent is given of a conversation: the lines around the hits, marked as data.

CONTEXT_LINES = 10  # before and behind a hit
MAX_EXCERPT_BYTES = 50 * 1024  # everything included
MAX_LINE_BYTES = 4096
MAX_NAMES_BYTES = 1024  # of tools, and of the files that were written
OPENING, CLOSING = "<transcript_data>", "</transcript_data>"
LEFT_OUT = f"[{ELLIPSIS}]"  # stands where lines were left out
ROLES = {AGENT: "[assistant]", PERSON: "[user]"}  # where nothing that was said can stand
_INDENT = "  "
_OPENERS = "<＜﹤˂ᐸ⟨\u2329\u3008❬❮"
_FORGED = pattern(rf"[{_OPENERS}](?=[\s/\\／∕⁄]{{0,20}}transcript[\s_-]{{0,3}}data)", re.IGNORECASE)


def excerpt(scored: Scored, item: Score, settings: RecordSettings) -> str:
    """The text of a context file for one type that was triggered."""
    description = settings.types[item.type].description
    header = [f"Category: {item.type}", f"Score: {item.score:g}"]
    header += [f"Description: {inert_line(description)}"] if description else []
    wanted: Iterable[int] = _around(item, len(scored.lines))
    if item.type == SESSION_SUMMARY:
        uses, names, exchanges = scored.activity
        tools = inert_line(", ".join(names), MAX_NAMES_BYTES)
        header += [f"Tool uses: {uses}"]
        header += [f"Distinct tools: {len(names)}" + (f" ({tools})" if tools else "")]
        header += [f"Exchanges: {exchanges}"]
        written = dict.fromkeys(path for it in scored.said for path in it.wrote)
        if files := inert_line(", ".join(written), MAX_NAMES_BYTES):
            header += [f"Files written: {files}"]
        wanted = range(len(scored.lines) - 1, -1, -1)
    head = "\n".join([*header, OPENING, ""])
    room = MAX_EXCERPT_BYTES - len(head.encode()) - len(CLOSING) - 1
    chosen: set[int] = set()
    left = room
    for number in wanted:
        if number not in chosen:
            size = len(scored.lines[number].text.encode("utf-8", "replace"))
            left -= min(size, MAX_LINE_BYTES) + len(_INDENT)
            if left < 0:
                break
            chosen.add(number)
    data = _clip_lines(_render_lines(scored.lines, sorted(chosen)), room)
    return f"{head}{data}{CLOSING}\n"


def _around(item: Score, count: int) -> Iterator[int]:
    """The lines around each hit: the boosted ones say most, the newest of them first."""
    plain = sorted(set(item.hits) - set(item.boosted), reverse=True)
    for hit in (*sorted(item.boosted, reverse=True), *plain):
        yield hit
        for step in range(1, CONTEXT_LINES + 1):
            yield from (number for number in (hit - step, hit + step) if 0 <= number < count)


def _render_lines(lines: Sequence[Line], numbers: Sequence[int]) -> list[str]:
    """The lines in order, under the role of who said them, with a mark for each gap."""
    result: list[str] = []
    last = -1
    for _, group in groupby(numbers, key=lambda number: lines[number].message):
        some = list(group)
        gap = some[0] > last + 1
        result += [LEFT_OUT] if gap else []
        result.append(ROLES[lines[some[0]].who])
        for _, piece in groupby(enumerate(some), key=lambda pair: pair[1] - pair[0]):
            run = [number for _, number in piece]
            result += [LEFT_OUT] if run[0] != some[0] else []
            # Made harmless before it is indented: what was one line may become several.
            text = inert("\n".join(lines[number].text for number in run))
            result += [_INDENT + clip(line, MAX_LINE_BYTES) for line in text.split("\n")]
            last = run[-1]
    return result


def _clip_lines(lines: list[str], room: int) -> str:
    """The newest lines that fit; no end of the data can stand among them."""
    text = "\n".join(lines)
    if any(opener in text for opener in _OPENERS):
        text = _FORGED.sub(BRACKET, text)
    kept: list[str] = []
    for line in reversed(text.split("\n")):
        room -= len(line.encode("utf-8", "replace")) + 1
        if room < 0:
            break
        kept.append(line)
    return "".join(f"{line}\n" for line in reversed(kept))


# What triage says: a summary for a person's eyes, and the same as data for a skill.

HEADING = "memdir: this conversation may hold something worth a record:"
CLIENT = "claude_code"


class Triage(NamedTuple):
    """What triggers; the files that hold its contexts, and those that drafts are to get."""

    scored: Scored
    contexts: dict[str, str]
    drafts: dict[str, str]
    findings: list[Finding]
    text: str  # for agents; empty where nothing triggers


def triage_text(
    triggered: Sequence[Score], settings: RecordSettings, contexts: Mapping[str, str]
) -> str:
    """Summary and data; a type whose context could not be written has no file."""
    lines, categories = [HEADING], []
    for item in triggered:
        line = f"- [{item.type.upper()}] score {item.score:.2f}, threshold {item.threshold:.2f}"
        description = settings.types[item.type].description
        lines.append(f"{line}: {description}" if description else line)
        category = {"category": item.type, "score": item.score, "description": description}
        if item.type in contexts:
            category["context_file"] = contexts[item.type]
        categories.append(category)
    parallel = settings.parallel._asdict()
    data = json.dumps({"categories": categories, "parallel_config": parallel}, indent=2)
    # A text inside the data could otherwise end it.
    data = data.replace("<", "\\u003c").replace(">", "\\u003e")
    summary = "\n".join(lines)
    return f"{summary}\n\n<triage_data>\n{data}\n</triage_data>\n" if triggered else ""


def triage(
    said: Sequence[Message], settings: RecordSettings, open_context: Callable[[], Context] | None
) -> Triage:
    """Score, put the contexts down, say it; without a place nothing is written."""
    scored = score(said, settings)
    contexts: dict[str, str] = {}
    drafts: dict[str, str] = {}
    findings: list[Finding] = []
    if scored.triggered and open_context is not None:
        context = open_context()
        for item in scored.triggered:
            try:
                contexts[item.type] = context.write(item.type, excerpt(scored, item, settings))
                drafts[item.type] = context.draft_place(item.type)
            except MemdirError as error:  # that type is drafted without, or not at all
                findings.append(Finding("no-context", error.path, error.message, error.next))
    text = triage_text(scored.triggered, settings, contexts)
    return Triage(scored, contexts, drafts, findings, text)


def triage_transcript(app: App, transcript: str, session: str = "", last: str = "") -> Triage:
    """Triage a transcript, wherever it lies; on a dry run no context is written."""
    settings, warnings = settings_of(app.store)
    transcript = os.path.abspath(transcript)
    environ = {**app.config.environ, "CLAUDE_CONFIG_DIR": app.config.claude_dir}
    reader = registry.load("transcripts", CLIENT).open_reader(app.config.home, environ)
    reader.root = os.path.dirname(os.path.realpath(transcript))
    stretch = reader.read(transcript, Cursor(), last)

    def open_context() -> Context:
        private = Contexts(app.config.state_dir)
        private.prune(app.now())
        return private.open(session or stretch.session)

    result = triage(stretch.said, settings, None if app.dry_run else open_context)
    return result._replace(findings=[*warnings, *result.findings])
