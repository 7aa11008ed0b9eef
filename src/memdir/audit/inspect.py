"""Findings of an audit."""

from __future__ import annotations

import datetime
import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from memdir.audit.disagree import find_disagreements
from memdir.errors import Finding
from memdir.format.index import Survey
from memdir.format.outline import Lookup
from memdir.format.pointer import WIKILINK, parse_pointers
from memdir.hot import memory as memory_module
from memdir.hot import types
from memdir.hot.memory import INDEX, POINTER_AIM, SOURCE_KEYS, TYPE_KEYS, Document, Memory, stem
from memdir.hot.safe import inert, make_visible
from memdir.text.dates import make_dates_absolute
from memdir.text.markdown import CODE, COMMENT, OPEN, markdown_layers
from memdir.text.secrets import find_secrets
from memdir.text.similar import find_similar_texts

MAX_CHARACTERS = 262_144  # of a memory; a longer one is only reported as too long


class Page:
    """Text of one memory; `lines` are those of the body, `first` is the number of the first."""

    __slots__ = ("document", "first", "lines", "memory", "text")

    def __init__(self, memory: Memory, text: str) -> None:
        self.memory = memory
        self.text = text
        self.document: Document = memory_module.read_header(text[:MAX_CHARACTERS])
        self.first = 1 + text[: len(text[:MAX_CHARACTERS]) - len(self.document.body)].count("\n")
        self.lines = [line.rstrip("\r") for line in self.document.body.split("\n")]

    @property
    def path(self) -> str:
        return self.memory.path

    @property
    def length(self) -> int:
        return self.text.count("\n") + (not self.text.endswith("\n") and bool(self.text))

    def finding(self, kind: str, message: str, line: int, verb: str = "edit") -> Finding:
        return Finding(kind, self.path, message, audit_command(verb, self.path), line)

    def prose(self) -> Iterator[tuple[int, str]]:
        for number, (layer, line) in enumerate(markdown_layers(self.lines), self.first):
            if layer not in (CODE, OPEN, COMMENT):
                yield number, line


def audit_command(verb: str, path: str, *more: str) -> str:
    # A path that starts with a dash would be taken for an option.
    dashes = ["--"] if path.startswith("-") else []
    return shlex.join(["memdir", verb, *more, *dashes, path])


MAX_LINES = 200
LONGEST_LINE = 2_000  # characters; the rest of a line is not inspected
# A line that names a day is not relative.
_DATED = re.compile(r"\b(?:19|20)\d\d[-/.]\d{1,2}\b|\b(?:19|20)\d\d\b")
_DAY = datetime.date(2026, 1, 7)  # any day will do
# Cheap test: every phrase contains one of these.
_HINT = re.compile(
    r"day|week|month|year|ago\b|tomorrow|quarter|sprint|iteration|milestone|night|\bEO[DWMQ]\b"
    r"|\b(?:mon|tue|wed|thu|fri|sat|sun)",
    re.IGNORECASE,
)
_NEAR = ("last ", "next ", "in ")
_TICKET = re.compile(r"[A-Z][A-Z0-9]{1,9}-\d{1,7}|#?\d{1,7}")  # task id of another tool


def audit_body(page: Page, lookup: Lookup) -> Iterator[Finding]:
    if page.length > MAX_LINES:
        message = f"{page.length:,} lines; an agent is shown {MAX_LINES}"
        yield Finding("too-long", page.path, message, "memdir restructure --dry-run")
    for number, line in page.prose():
        if line_has_relative_date(line[:LONGEST_LINE]):
            message = "a relative date; write which day is meant"
            yield page.finding("relative-date", message, number)
    yield from _inspect_links(page, lookup)


def line_has_relative_date(line: str) -> bool:
    """True if the line makes sense only with the day it was written; naming a day is fine."""
    if not _HINT.search(line) or _DATED.search(line):
        return False
    changed, unsure = make_dates_absolute(line, _DAY, events=True)
    return changed != line or any(phrase.lower().startswith(_NEAR) for phrase in unsure)


def _inspect_links(page: Page, lookup: Lookup) -> Iterator[Finding]:
    if "[[" not in page.document.body:
        return
    seen: set[str] = set()
    for number, line in page.prose():
        pointers = parse_pointers(line[:LONGEST_LINE], number) if "[[" in line else []
        for target in [pointer.target for pointer in pointers if pointer.form == WIKILINK]:
            passed = target in seen or _TICKET.fullmatch(target)
            if not passed and not lookup.find(target, WIKILINK):
                seen.add(target)
                message = f"[[{target}]] leads to no memory of this store"
                yield page.finding("broken-link", message, number)


SHOWN_TYPE_CHARACTERS = 40


def audit_header(page: Page, pointer_line: str = "") -> Iterator[Finding]:
    if page.path == INDEX:
        return  # the only memory of a store needs none
    if page.document.lines is None:
        if not page.document.problems:  # else the scan has reported an unclosed header
            message = "it has no header: no name, type or description"
            yield Finding("no-header", page.path, message, "memdir restructure --dry-run", 1)
        return
    yield from _inspect_type(page)
    for found in find_disagreements(page.text, pointer_line):
        yield page.finding(*found)


def _inspect_type(page: Page) -> Iterator[Finding]:
    stated = page.document.get(*TYPE_KEYS).strip().lower()
    known = ", ".join(types.names())
    if not stated:
        yield page.finding("no-type", f"its header names no type; there are {known}", 1)
    elif stated not in types.names():
        line = 2 + min(page.document.starts.get(key, 0) for key in TYPE_KEYS)
        message = f"no type is called {stated[:SHOWN_TYPE_CHARACTERS]!r}; there are {known}"
        yield page.finding("unknown-type", message, line)
    else:
        # Some clients start a file's name with its type.
        named = stem(page.path).partition("_")[0].lower()
        if named in types.names() and named not in (stated, stem(page.path).lower()):
            message = f"its file is called {named}_…, its header says {stated}"
            fix = audit_command("edit", page.path, "--type", named)
            yield Finding("type-differs", page.path, message, fix, 1)


def audit_ignored_files(ignored: Collection[str], files: Collection[str]) -> Iterator[Finding]:
    if files and set(files) <= set(ignored):
        message = f"git ignores all {len(files):,} memories here: nobody else gets them"
        yield Finding("git-ignored", "", message, "git check-ignore -v on one of them says why")
        return
    for path in sorted(set(ignored) & set(files)):
        message = "git ignores it: others who have this repository do not get it"
        yield Finding("git-ignored", path, message, "git check-ignore -v on it says why")


START, END = "<<<<<<< ", ">>>>>>> "  # followed by the name of the side


def audit_conflict_marks(path: str, lines: Sequence[str], fix: str) -> Iterator[Finding]:
    start = 0
    for number, line in enumerate(lines, 1):
        if line.startswith(START):
            start = number
        elif start and line.startswith(END):
            message = f"a merge was left undecided here, up to line {number}"
            yield Finding("conflict", path, message, fix, start)
            start = 0


RESTRUCTURE = "memdir restructure --dry-run"


def audit_similar_pairs(texts: Mapping[str, str], clocks: Mapping[str, float]) -> Iterator[Finding]:
    """Each pair once, surest first, at the poorer or older of the two."""
    for pair in find_similar_texts(texts):
        path = pair.choose_poorer(clocks) or pair.first
        message = f"says the same as {pair.other(path)}: {pair.explain()}"
        yield Finding("near-duplicate", path, message, RESTRUCTURE)


SAYS_NOTHING = 20  # characters
REBUILD = "memdir index --rebuild"


def audit_index(
    survey: Survey, path: str, lines: Sequence[str], indexed: bool
) -> Iterator[Finding]:
    max_lines, max_characters = memory_module.MAX_LINES, memory_module.MAX_CHARACTERS
    if survey.lines > max_lines or survey.characters > max_characters:
        size = f"{survey.lines:,} lines, {survey.characters:,} characters"
        limit = f"an agent sees {max_lines} lines, {max_characters:,} characters"
        yield Finding("index-too-long", path, f"the index has {size}; {limit}", RESTRUCTURE)
    for first, last in _runs(survey.inline):
        line = lines[first - 1]
        leads = len(line) < SAYS_NOTHING or line.rstrip(" *_").endswith(":")
        if last == first and leads:
            continue  # introduces the list below it
        where = f"line {first} is" if first == last else f"lines {first} to {last} are"
        message = f"{where} content; every session pays for it, a memory would be read when needed"
        yield Finding("inline-content", path, message, RESTRUCTURE, first)
    for number in survey.overlong:
        message = f"the pointer has more than {POINTER_AIM} characters"
        yield Finding("long-pointer", path, message, RESTRUCTURE, number)
    for pointer in survey.dangling:
        message = f"it points at {pointer.target}, which is not there"
        fix = "memdir index --check" if pointer in survey.by_hand else REBUILD
        yield Finding("dangling-pointer", path, message, fix, pointer.line)
    for pointer in survey.no_memories:
        message = f"it points at {pointer.target}, which is no memory"
        yield Finding("no-memory", path, message, "memdir index --check", pointer.line)
    for pointer in survey.duplicates:
        message = f"{pointer.target} has an entry above already"
        yield Finding("repeated-pointer", path, message, RESTRUCTURE, pointer.line)
    for orphan in survey.orphans if indexed else ():
        message = "no pointer of the index leads here, so an agent may never open it"
        yield Finding("orphan", orphan, message, REBUILD)


def _runs(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Consecutive numbers as (first, last)."""
    first = last = 0
    for number in numbers:
        if first and number != last + 1:
            yield first, last
            first = 0
        first, last = first or number, number
    if first:
        yield first, last


MAX_FINDINGS = 5  # of a kind per memory
# Sources other than the user.
_OUTSIDE = re.compile(r"https?:|\b(?:web|url|fetch|tool|e?mail|issue|comment|import)\b", re.I)
_GAP = r"[\s*_`\"']{1,4}"
_BEFORE = rf"(?:(?:all|any|every|the|your|my|of|these|those){_GAP}){{0,3}}"
_EARLIER = r"(?:previous|prior|earlier|above|preceding|existing|other|system)"
_RULES = r"(?:instructions?|prompts?|rules?|messages?|guidelines?|directions?|context)"
# Orders to disregard instructions, which no real memory contains.
_ORDER = re.compile(
    rf"\b(?:ignore|disregard|forget|override|bypass){_GAP}{_BEFORE}{_EARLIER}{_GAP}{_RULES}\b"
    rf"|\b(?:do{_GAP}not|don['’]t|never|without){_GAP}(?:tell|telling|inform|informing|alert"
    rf"|mention(?:ing)?{_GAP}(?:this|it){_GAP}to){_GAP}(?:the{_GAP})?(?:user|human|developer)\b"
    rf"|\byou{_GAP}are{_GAP}now{_GAP}(?:an?|the|in|free|unrestricted|DAN)\b"
    rf"|\bnew{_GAP}system{_GAP}prompt\b|\b(?:developer|god|jailbreak){_GAP}mode{_GAP}(?:on|enabled)\b",
    re.IGNORECASE,
)
# In text from outside any order is suspicious: feedback comes from the user.
_IMPERATIVE = re.compile(
    rf"\b(?:you{_GAP}(?:must|should|have{_GAP}to|need{_GAP}to)|(?:please|always|immediately|now)"
    rf"{_GAP}(?:run|execute|install|send|upload|post|download|open|call|delete|remove))\b"
    r"|\b(?:curl|wget)\b[^|\n]{1,300}\|\s{0,3}(?:sudo\s)?(?:ba|z)?sh\b",
    re.IGNORECASE,
)
# A text about such orders quotes them and says so.
_ABOUT = re.compile(
    r"\b(?:inject\w*|attack\w*|payloads?|phrases?|strings?|tests?|tested|examples?|detect\w*"
    r"|refuses?|rejects?|jailbreaks?|patterns?|fixtures?|such as|like)\b",
    re.IGNORECASE,
)
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "„": "“", "`": "`"}
_TO_CLOSE = 20  # characters after an order; a longer quotation may contain another
# `<system-reminder>` alone in backticks is a name; followed by text it is a frame.
_NAMED_TAG = re.compile(r"`{1,2} ?</?[\w:-]{1,40}>? ?`{1,2}")


def audit_safety(page: Page, outside: bool = False) -> Iterator[Finding]:
    """`outside`: somebody else wrote it, whatever its header says."""
    text = page.text[:MAX_CHARACTERS]
    for secret in find_secrets(text):
        # The history keeps the old version, so the secret itself must be replaced.
        message = f"what looks like a secret ({secret.rule}) stands here; renew it where it is used"
        yield page.finding("secret", message, secret.line)
    yield from islice(_inspect_hidden(page, text), MAX_FINDINGS)
    yield from islice(_inspect_orders(page, outside), MAX_FINDINGS)


def _inspect_hidden(page: Page, text: str) -> Iterator[Finding]:
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        line = line.removesuffix("\r")
        shown = make_visible(line)
        if shown == line or any("\udc80" <= char <= "\udcff" for char in line):
            continue  # surrogates: the scan has reported that it is not UTF-8
        hidden = next((char for char in line if char not in shown), "")
        label = f"U+{ord(hidden):04X}" if hidden else "characters out of place"
        message = f"hidden characters ({label}): an agent reads them, a person does not see them"
        yield page.finding("hidden-characters", message, number, "show")


def _inspect_orders(page: Page, outside: bool) -> Iterator[Finding]:
    outside = outside or bool(_OUTSIDE.search(page.document.get(*SOURCE_KEYS)[:200]))
    whole = make_visible(page.document.body)
    if not outside and not _ORDER.search(whole) and inert(whole) == whole:
        return  # fast path for nearly every memory
    for number, line in page.prose():
        seen = make_visible(line[:2_000])
        match = _ORDER.search(seen) or (_IMPERATIVE.search(seen) if outside else None)
        if match and not outside and _is_quoted(seen, match):
            match = None
        seen = _NAMED_TAG.sub("", seen)
        if match:
            message = f"it gives an agent orders: {' '.join(match[0].split())[:60]!r}"
            yield page.finding("orders", message, number, "show")
        elif inert(seen) != seen:
            message = "it imitates the marks by which a client tells its own words from the rest"
            yield page.finding("forged-frame", message, number, "show")


def _is_quoted(line: str, match: re.Match[str]) -> bool:
    closing = _QUOTES.get(line[match.start() - 1 : match.start()] or " ", "")
    end = line.find(closing, match.end(), match.end() + _TO_CLOSE) if closing else -1
    rest = f"{line[: match.start()]} {line[end:]}"
    return end >= 0 and bool(_ABOUT.search(rest)) and not _ORDER.search(rest)
