"""Audit a store: every memory's score with its reasons, and everything a person should know."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from memdir.core import claim, dates, frontmatter, staleness, types
from memdir.core import index as index_text
from memdir.core.audit import Audit, Audited, Load, distinct, tally, tokens
from memdir.core.claim import Judged
from memdir.core.errors import MemdirError
from memdir.core.finding import Finding
from memdir.core.index import Survey
from memdir.core.inspection.bodies import inspect_body
from memdir.core.inspection.headers import inspect_header
from memdir.core.inspection.ignored import inspect_ignored
from memdir.core.inspection.marks import inspect_marks
from memdir.core.inspection.page import Page, command
from memdir.core.inspection.pairs import inspect_pairs
from memdir.core.inspection.pointers import inspect_index, inspect_no_index
from memdir.core.inspection.safety import inspect_safety
from memdir.core.loading import MAX_CHARACTERS
from memdir.core.memory import Memory
from memdir.core.outline import Lookup
from memdir.core.ports import Scan, Store
from memdir.core.targets import Targets

PAIRED = 65_536  # characters of a memory that is compared with others; more is a document
Verdicts = Mapping[str, Sequence[Judged]]


@dataclass(frozen=True)
class Known:
    """What others found out before: the clock of each memory, its verdicts, what git ignores."""

    clocks: Mapping[str, float] = field(default_factory=dict)
    verdicts: Verdicts = field(default_factory=dict)
    ignored: Collection[str] = ()
    prompt: int = 0  # characters beside the index that a session starts with
    remarks: tuple[str, ...] = ()
    brief: bool = False  # no memory's text is inspected
    indexed: bool = True  # memories are to have an index


def audit(store: Store, now: float, known: Known) -> Audit:
    """Look at everything once; what cannot be read is a finding and hides nothing else."""
    scan = store.scan()
    findings = list(scan.findings)
    texts = dict(_texts(store, scan, findings))
    whole = [] if known.brief else scan.memories
    pages = [Page(memory, texts[memory.path]) for memory in whole if memory.path in texts]
    survey, lines = _survey(store, scan, findings, known.indexed)
    lookup = Lookup(
        [*store.files(), store.index_path], {one.name: one.path for one in scan.memories}
    )
    for page in pages:
        findings += inspect_header(page, _pointer_line(survey, lines, page.path))
        findings += inspect_body(page, lookup)
        findings += inspect_safety(page)
        findings += inspect_marks(page.path, page.text.split("\n"), command("edit", page.path))
        findings += _stale_claims(page.path, known.verdicts.get(page.path, ()))
    findings += inspect_pairs({one.path: one.text for one in pages if len(one.text) <= PAIRED})
    findings += inspect_ignored(known.ignored, [page.path for page in pages])
    sizes = {path: len(text) for path, text in texts.items()}
    audited = [_audited(one, sizes.get(one.path, one.size), now, known) for one in scan.memories]
    audited.sort(key=lambda one: (-one.score, one.path))
    load = Load(
        tokens(min(survey.characters, MAX_CHARACTERS)),
        tokens(known.prompt),
        sum(one.tokens for one in audited),
    )
    return Audit(tuple(audited), tuple(dict.fromkeys(findings)), load, known.remarks)


def _texts(store: Store, scan: Scan, findings: list[Finding]) -> Iterator[tuple[str, str]]:
    for memory in scan.memories:
        try:
            yield memory.path, frontmatter.decode(store.view(memory.path))
        except MemdirError as error:
            findings.append(Finding("unreadable", memory.path, error.message, error.next))


def _survey(
    store: Store, scan: Scan, findings: list[Finding], indexed: bool
) -> tuple[Survey, list[str]]:
    """The index, and its lines; one that cannot be read is a finding."""
    names = {memory.name: memory.path for memory in scan.memories}
    path = store.index_path
    try:
        data = store.index()
        text = frontmatter.decode(data or b"")
        survey = index_text.survey(text, store.files(), names, Targets(store).lost)
    except MemdirError as error:
        findings.append(Finding("unreadable", path, error.message, error.next))
        return Survey(), []
    lines = text.split("\n")
    findings += inspect_index(survey, path, lines, data is not None)
    findings += inspect_marks(path, lines, f"edit {path}: keep what holds, take out the marks")
    if data is None and indexed:
        findings += inspect_no_index(path, scan.memories)
    return survey, lines


def _pointer_line(survey: Survey, lines: Sequence[str], path: str) -> str:
    found = survey.pointers.get(path)
    return lines[found[0].line - 1] if found and found[0].line <= len(lines) else ""


def _stale_claims(path: str, judged: Sequence[Judged]) -> Iterator[Finding]:
    for one in distinct(judged):
        if one.verdict == claim.STALE:
            message = f"{one.claim.kind} {one.claim.text} is stale: {one.reason}"
            yield Finding("stale-claim", path, message, command("edit", path), one.claim.line)


def _audited(memory: Memory, characters: int, now: float, known: Known) -> Audited:
    judged = distinct(known.verdicts.get(memory.path, ()))
    clock = known.clocks.get(memory.path, memory.clock)
    days, half_life = dates.age_days(clock, now), types.get(memory.type).half_life_days
    aged = staleness.score(days, half_life)
    score = staleness.raised(aged, judged)
    return Audited(
        path=memory.path,
        type=memory.type,
        age_days=days,
        score=score,
        action=staleness.action(score),
        tokens=tokens(characters),
        claims=tally(judged),
        reasons=tuple(_reasons(memory, days, half_life, aged, judged)),
    )


def _reasons(
    memory: Memory, days: int, half_life: int, aged: int, judged: Sequence[Judged]
) -> Iterator[str]:
    if aged >= staleness.REVIEW or staleness.stale_kinds(judged):
        yield f"{dates.age_words(days)}; half-life of {memory.type}: {half_life} days"
    for kind, one in staleness.stale_kinds(judged).items():
        many = sum(other.claim.kind == kind and other.verdict == claim.STALE for other in judged)
        more = f" and {many - 1} more" if many > 1 else ""
        points = staleness.MODIFIERS[kind]
        yield f"{kind} {one.claim.text}{more}: {one.reason or 'stale'} (+{points})"
