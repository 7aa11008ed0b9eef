"""Audit of a store: the score of every memory with its reasons, and all findings."""

from __future__ import annotations

import datetime
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from memdir.audit import ages, inspect
from memdir.audit.ages import Tally
from memdir.claims import claim
from memdir.claims.claim import Judged
from memdir.errors import Finding, MemdirError
from memdir.format import index
from memdir.format.index import Survey, cut_index
from memdir.format.outline import Lookup
from memdir.hot import safe, types
from memdir.hot.layout import Scan
from memdir.hot.memory import MAX_CHARACTERS, Memory, decode, utf16_units
from memdir.recall.answer import render_session_section
from memdir.store.git import find_git_ignored_in_store
from memdir.store.save import Targets
from memdir.store.writer import App, history_day, is_store_for_others
from memdir.text.terminal import plural

if TYPE_CHECKING:
    from memdir.claims.urls import Reply

CHARACTERS_PER_TOKEN = 4
MAX_FINDINGS = 20  # of a kind; the rest is a number
# The URL exists, but needs a login or is busy.
_CLOSED = {401: "wants a login", 403: "wants a login", 407: "wants a login", 429: "is busy"}
OK = 200
ACTIONS = ("prune", "review", "keep")
ADVICE = (ages.RETIRE, ages.FIX, ages.LOOK, ages.KEEP)
NOT_COUNTED = "the score is that of its age alone: audit --deep counts the stale claims"

Verdicts = Mapping[str, Sequence[Judged]]


def estimate_audit_tokens(characters: int) -> int:
    return math.ceil(characters / CHARACTERS_PER_TOKEN)


@dataclass(frozen=True)
class Audited:
    """One memory: `action` is the band of its score, `advice` what to do and `reasons` why."""

    path: str
    type: str
    age_days: int
    score: int
    action: str
    advice: str
    tokens: int
    claims: Tally
    reasons: tuple[str, ...]
    store: str = ""

    def __repr__(self) -> str:
        return f"<{self.advice}: {': '.join(filter(None, (self.path, '; '.join(self.reasons))))}>"


@dataclass(frozen=True)
class Load:
    """Tokens of the index, of the rest of a session's start, and of all memory files together."""

    index: int = 0
    prompt: int = 0
    memories: int = 0

    @property
    def total(self) -> int:
        return self.index + self.prompt


@dataclass(frozen=True)
class Audit:
    """A store as an audit sees it; `remarks` say what could not be looked at."""

    memories: tuple[Audited, ...] = ()
    findings: tuple[Finding, ...] = ()
    tokens: Load = Load()
    remarks: tuple[str, ...] = ()
    finding_counts: Mapping[str, int] = field(default_factory=dict)  # of each kind, all of them
    store: str = ""

    @property
    def actions(self) -> dict[str, int]:
        """How many memories to keep, review and prune by their score."""
        return {name: sum(name == item.action for item in self.memories) for name in ACTIONS}

    @property
    def advice(self) -> dict[str, int]:
        """How many to keep, look at, fix and retire."""
        return {name: sum(name == item.advice for item in self.memories) for name in ADVICE}

    def __repr__(self) -> str:
        parts = [f"{number} {name}" for name, number in self.advice.items() if number]
        return f"<Audit: {', '.join([*parts, f'{sum(self.finding_counts.values())} findings'])}>"


def audit(
    app: App, *, deep: bool = False, online: bool = False, brief: bool = False, every: bool = False
) -> Audit:
    """Reads everything once and writes nothing; an unreadable file does not hide the others.

    A `brief` one has scores and tokens only; with `every` no kind of finding is cut short.
    """
    store, scan = app.store, app.store.scan()
    dated, undated = ages.find_age_starts(app, scan.memories)
    verdicts, unverified = _verify(app, deep, online)
    shared = [memory.path for memory in scan.memories] if is_store_for_others(app) else []
    ignored = find_git_ignored_in_store(store.root, shared)
    findings = [*app.config.findings, *scan.findings]
    texts: dict[str, str] = {}
    for memory in scan.memories:
        try:
            texts[memory.path] = decode(store.view(memory.path))
        except MemdirError as error:
            findings.append(Finding("unreadable", memory.path, error.message, error.next))
    survey, lines = _survey_index(app, scan, findings)
    # Of UTF-16 there is nothing to say but that it is no UTF-8, which the scan has said.
    garbled = {finding.path for finding in scan.findings if finding.kind == "not-utf-8"}
    clear = {path for path in texts if path not in garbled or "\0" not in texts[path]}
    shown = [memory for memory in scan.memories if memory.path in clear and not brief]
    pages = [inspect.Page(memory, texts[memory.path]) for memory in shown]
    names = {memory.name: memory.path for memory in scan.memories}
    lookup = Lookup([*store.files(), store.index_path], names)
    for page in pages:
        pointers = survey.pointers.get(page.path)
        entry = lines[pointers[0].line - 1 : pointers[0].line] if pointers else []
        findings += _inspect_page(page, entry[0] if entry else "", lookup)
    for path in texts:
        findings += _stale_claims(path, verdicts.get(path, ()))
    clocks = {path: dated.get(path, 0.0) for path in texts}
    findings += inspect.audit_similar_pairs({page.path: page.text for page in pages}, clocks)
    findings += inspect.audit_ignored_files(ignored, [page.path for page in pages])
    known = {} if deep else ages.find_known_stale_claims(app, scan.memories)
    audited = []
    for memory in scan.memories:
        days = safe.age_days(dated.get(memory.path, memory.clock), app.now())
        judged = verdicts.get(memory.path, ())
        text, stale = texts.get(memory.path), known.get(memory.path, ())
        row = score_memory(memory, text, days, judged, stale, history_day(app.now()))
        audited.append(replace(row, store=store.root))
    audited.sort(key=lambda memory: (-memory.score, memory.path))
    costs = Load(
        estimate_audit_tokens(min(survey.characters, MAX_CHARACTERS)),
        estimate_audit_tokens(_prompt_characters(app)),
        sum(memory.tokens for memory in audited),
    )
    remarks = [*undated, *unverified]
    if not store.exists():
        remarks.append(f"there is no store at {store.root} yet")
    if not app.history.on:
        remarks.append("the history is switched off: outside edits and undo are not known")
    distinct = tuple(dict.fromkeys(findings))
    counts = Counter(finding.kind for finding in distinct)
    shown_findings = distinct if every else tuple(_cap(distinct))
    return Audit(tuple(audited), shown_findings, costs, tuple(remarks), counts, store.root)


def _inspect_page(page: inspect.Page, entry: str, lookup: Lookup) -> Iterator[Finding]:
    """`entry` is its line of the index."""
    yield from inspect.audit_header(page, entry)
    yield from inspect.audit_body(page, lookup)
    yield from inspect.audit_safety(page)
    edit = inspect.audit_command("edit", page.path)
    yield from inspect.audit_conflict_marks(page.path, page.text.split("\n"), edit)


def _cap(findings: Sequence[Finding]) -> Iterator[Finding]:
    """The first of each kind, and how many more there are."""
    kinds: dict[str, list[Finding]] = {}
    for finding in findings:
        kinds.setdefault(finding.kind, []).append(finding)
    for kind, found in kinds.items():
        yield from found[:MAX_FINDINGS]
        if len(found) > MAX_FINDINGS:
            message = f"{len(found) - MAX_FINDINGS:,} more of this kind"
            yield Finding(kind, "", message, "memdir audit --all")


def find_prune_candidates(result: Audit, every: bool = False) -> list[Audited]:
    """Those advised to retire; with `every` also those to look at or to fix."""
    unwanted = (ages.KEEP,) if every else (ages.KEEP, ages.LOOK, ages.FIX)
    return [memory for memory in result.memories if memory.advice not in unwanted]


def _survey_index(app: App, scan: Scan, findings: list[Finding]) -> tuple[Survey, list[str]]:
    names = {memory.name: memory.path for memory in scan.memories}
    store, path = app.store, app.store.index_path
    try:
        data = store.index()
        text = decode(data or b"")
        survey = index.survey_pointers(text, store.files(), names, Targets(store).lost)
    except MemdirError as error:
        findings.append(Finding("unreadable", path, error.message, error.next))
        return Survey(), []
    lines = text.split("\n")
    findings += inspect.audit_index(survey, path, lines, data is not None)
    findings += inspect.audit_conflict_marks(
        path, lines, f"edit {path}: keep what holds, take out the marks"
    )
    if data is None and app.config.options.index and scan.memories:
        there = plural(len(scan.memories), "memory", "memories")
        message = f"there is no {path}, so nothing tells an agent of the {there} here"
        findings.append(Finding("no-index", path, message, inspect.REBUILD))
    return survey, lines


def _distinct(judged: Sequence[Judged]) -> list[Judged]:
    """Keeps each claim's first occurrence: a description often repeats the body."""
    first = {(verdict.claim.kind, verdict.claim.text): verdict for verdict in reversed(judged)}
    return [*first.values()][::-1]


def _stale_claims(path: str, judged: Sequence[Judged]) -> Iterator[Finding]:
    for verdict in _distinct(judged):
        if verdict.verdict == claim.STALE:
            span = verdict.claim
            message = f"{span.kind} {span.text} is stale: {verdict.reason}"
            yield Finding(
                "stale-claim", path, message, inspect.audit_command("edit", path), span.line
            )


def score_memory(
    memory: Memory,
    text: str | None,
    days: int,
    judged: Sequence[Judged],
    known: Sequence[str],
    today: datetime.date,
) -> Audited:
    """Its row of an audit; `known` are stale claims of an earlier check, where none is made now."""
    judged = _distinct(judged)
    kind = ages.type_to_audit_by(memory)
    half_life = types.get(kind).half_life_days
    aged = ages.score_staleness(days, half_life)
    counts = [verdict.verdict for verdict in judged]
    stale = counts.count(claim.STALE)
    unasked = sum(
        each.verdict == claim.UNKNOWN and (_is_open_url(each) or each.reason == claim.NOWHERE)
        for each in judged
    )
    claims = Tally(counts.count(claim.TRUE) + stale, stale, counts.count(claim.UNKNOWN), unasked)
    claims = claims if judged else Tally(len(known), len(known))
    word, because = ages.advise_on_memory(memory, text or memory.head, aged, claims, today)
    reasons = []
    if word != ages.KEEP or aged >= ages.REVIEW:
        reasons.append(f"{safe.age_words(days)}; half-life of {kind}: {half_life} days")
    for kind, first in ages.find_stale_claim_kinds(judged).items():
        many = sum(each.claim.kind == kind and each.verdict == claim.STALE for each in judged)
        more = f" and {many - 1} more" if many > 1 else ""
        points = f" (+{ages.MODIFIERS[kind]})" if kind in ages.MODIFIERS else ""
        reasons.append(f"{kind} {first.claim.text}{more}: {first.reason or 'stale'}{points}")
    score = ages.raise_staleness_score(aged, judged)
    return Audited(
        path=memory.path,
        type=memory.type,
        age_days=days,
        score=score,
        action=ages.choose_audit_action(score),
        advice=word,
        tokens=estimate_audit_tokens(memory.size if text is None else len(text)),
        claims=claims,
        reasons=(*reasons, *[NOT_COUNTED][: len(known)], *known, *because),
    )


def _verify(app: App, deep: bool, online: bool) -> tuple[Verdicts, list[str]]:
    if not deep and not online:
        return {}, []
    # Compiling its patterns would slow a plain audit.
    from memdir.claims.verify import keep_verdicts, verify_memories

    checked = verify_memories(app)
    keep_verdicts(app, checked.memories)  # so that `list` and `show` know them too
    judged: Verdicts = checked.memories
    remarks = list(checked.remarks)
    if not deep:
        judged = {path: [*filter(_is_open_url, verdicts)] for path, verdicts in judged.items()}
        remarks = []
    if online:
        judged, remark = request_audited_urls(judged, private=app.config.options.private_urls)
        return judged, [*remarks, remark]
    count = sum(_is_open_url(verdict) for verdicts in judged.values() for verdict in verdicts)
    if count:
        remarks.append(f"URLs: {count} not checked (offline); --online asks them")
    return judged, remarks


def request_audited_urls(verdicts: Verdicts, *, private: bool = False) -> tuple[Verdicts, str]:
    """Replaces the verdicts on URLs, and returns how many URLs were requested."""
    from memdir.claims.urls import check_claimed_urls

    open_urls = (each for judged in verdicts.values() for each in filter(_is_open_url, judged))
    asked = list(dict.fromkeys(verdict.claim.text for verdict in open_urls))
    replies = check_claimed_urls(asked, private=private)
    renewed = {
        path: [_by_reply(each, replies) if _is_open_url(each) else each for each in judged]
        for path, judged in verdicts.items()
    }
    refused = sum(reply.refused for reply in replies.values()) + len(asked) - len(replies)
    answered = sum(reply.status > 0 for reply in replies.values())
    remark = f"URLs: {len(asked) - refused} asked, {answered} answered"
    return renewed, remark + (f", {refused} not asked" if refused else "")


def _is_open_url(verdict: Judged) -> bool:
    return verdict.claim.kind == claim.URL and verdict.verdict != claim.NOT_A_CLAIM


def _by_reply(verdict: Judged, replies: Mapping[str, Reply]) -> Judged:
    reply = replies.get(verdict.claim.text)
    if reply is None:
        return replace(verdict, verdict=claim.UNKNOWN, reason="not checked: there are too many")
    if not reply.status or reply.status in _CLOSED:
        reason = _CLOSED.get(reply.status, reply.reason)
        return replace(verdict, verdict=claim.UNKNOWN, reason=reason)
    renewed = claim.TRUE if reply.status == OK else claim.STALE
    return replace(verdict, verdict=renewed, reason=f"answers {reply.status}")


def _prompt_characters(app: App) -> int:
    try:
        whole = render_session_section([("project", app)])
        loaded = cut_index(decode(app.store.index() or b""))
    except MemdirError:
        return 0  # an index that cannot be read is a finding
    return max(utf16_units(whole) - min(loaded.characters, MAX_CHARACTERS), 0)
