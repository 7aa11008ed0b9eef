"""The sequence and its result."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memdir.audit import staleness
from memdir.audit.ages import clocks
from memdir.audit.inspect import (
    Page,
    command,
    inspect_body,
    inspect_header,
    inspect_ignored,
    inspect_index,
    inspect_marks,
    inspect_no_index,
    inspect_pairs,
    inspect_safety,
)
from memdir.claims import claim
from memdir.claims.claim import Judged
from memdir.errors import Finding, MemdirError
from memdir.format import index
from memdir.format.draft import ARCHIVED, RETIRED, Change
from memdir.format.index import Survey, load
from memdir.format.outline import Lookup
from memdir.hot import memory as memory_module
from memdir.hot import safe, types
from memdir.hot.memory import MAX_CHARACTERS, Memory, decode, utf16_units
from memdir.recall.answer import section
from memdir.store.changes import is_for_others
from memdir.store.commit_times import find_ignored
from memdir.store.keep_index import Targets
from memdir.store.ports import ARCHIVE, TRASH, Scan, Store
from memdir.store.writer import App

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memdir.claims.urls import Reply

# What an audit says: each memory with its score and reasons, the findings, the token load.

CHARACTERS_PER_TOKEN = 4


def tokens(characters: int) -> int:
    """What a text costs a model, as far as its length can tell."""
    return math.ceil(characters / CHARACTERS_PER_TOKEN)


def index_tokens(text: str) -> int:
    """What a session pays for an index: no more of it than a client loads."""
    return tokens(min(load(text).characters, MAX_CHARACTERS))


@dataclass(frozen=True)
class Tally:
    """How many claims a look could answer, how many of these are stale, how many it could not."""

    checked: int = 0
    stale: int = 0
    unknown: int = 0


def distinct(judged: Iterable[Judged]) -> list[Judged]:
    """Each claim once, where it is first said: a description often repeats the body."""
    return list({(one.claim.kind, one.claim.text): one for one in [*judged][::-1]}.values())[::-1]


def tally(judged: Iterable[Judged]) -> Tally:
    """The count of verdicts."""
    verdicts = [one.verdict for one in judged]
    stale = verdicts.count(claim.STALE)
    return Tally(verdicts.count(claim.TRUE) + stale, stale, verdicts.count(claim.UNKNOWN))


@dataclass(frozen=True)
class Audited:
    """One memory: what its age and its claims say of it, and what it costs to read."""

    path: str
    type: str
    age_days: int
    score: int
    action: str
    tokens: int
    claims: Tally = Tally()
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class Load:
    """Tokens: of the index and of all else a session starts with; of the files, if all are read."""

    index: int = 0
    prompt: int = 0
    memories: int = 0

    @property
    def total(self) -> int:
        """What every session pays, whether a memory helps it or not."""
        return self.index + self.prompt


@dataclass(frozen=True)
class Audit:
    """A store as an audit sees it; `remarks` say what could not be looked at."""

    memories: tuple[Audited, ...] = ()
    findings: tuple[Finding, ...] = ()
    load: Load = Load()
    remarks: tuple[str, ...] = ()

    def count(self, action: str) -> int:
        """How many memories it proposes that for."""
        return sum(one.action == action for one in self.memories)


# Audit a store: every memory's score with its reasons, and everything a person should know.

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


def audit_memories(store: Store, now: float, known: Known) -> Audit:
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
            yield memory.path, memory_module.decode(store.view(memory.path))
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
        text = memory_module.decode(data or b"")
        survey = index.survey(text, store.files(), names, Targets(store).lost)
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
    days, half_life = safe.age_days(clock, now), types.get(memory.type).half_life_days
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
        yield f"{safe.age_words(days)}; half-life of {memory.type}: {half_life} days"
    for kind, one in staleness.stale_kinds(judged).items():
        many = sum(other.claim.kind == kind and other.verdict == claim.STALE for other in judged)
        more = f" and {many - 1} more" if many > 1 else ""
        points = staleness.MODIFIERS[kind]
        yield f"{kind} {one.claim.text}{more}: {one.reason or 'stale'} (+{points})"


# What an audit looks at: scan → clocks → (verify → ask the web) → audit; nothing is written.

OFFLINE = "not checked (offline)"
# The address answers, but not to somebody who is not logged in, or not now.
_CLOSED = {401: "wants a login", 403: "wants a login", 407: "wants a login", 429: "is busy"}
OK = 200


@dataclass(frozen=True)
class Wish:
    """How far an audit may look: into the code, and out to the web."""

    deep: bool = False
    online: bool = False
    private: bool = False  # addresses of the user's own network may be asked
    brief: bool = False  # scores and load alone: no text is read


def audit(app: App, wish: Wish = Wish(), say: Callable[[str], None] = lambda _: None) -> Audit:  # noqa: B008
    """scan → clocks → (verify → ask the web) → audit"""
    memories = app.store.scan().memories
    dated, remarks = clocks(app, memories)
    verdicts, unlooked = _verdicts(app, wish, say)
    known = Known(
        clocks=dated,
        verdicts=verdicts,
        ignored=_ignored(app, [one.path for one in memories]),
        prompt=_prompt_characters(app),
        remarks=(*remarks, *unlooked, *_degraded(app)),
        brief=wish.brief,
        indexed=app.config.options.index,
    )
    found = audit_memories(app.store, app.now(), known)
    return replace(found, findings=(*app.config.findings, *found.findings))


def candidates(found: Audit, review: bool = False) -> list[Audited]:
    """The memories that should go, the most worn out first; with `review` also the doubtful."""
    wanted = ("prune", "review") if review else ("prune",)
    return [one for one in found.memories if one.action in wanted]


def find_lost(app: App, changes: Sequence[Change]) -> list[str]:
    """What was put away and is now on no shelf: always nothing, or something is broken."""
    shelved = {one.path for room in (TRASH, ARCHIVE) for one in app.shelf.list(room)}
    away = [change.path for change in changes if change.kind in (RETIRED, ARCHIVED)]
    return [path for path in away if path not in shelved]


def _verdicts(app: App, wish: Wish, say: Callable[[str], None]) -> tuple[Verdicts, list[str]]:
    if not wish.deep and not wish.online:
        return {}, []
    from memdir.claims.verify import verify  # its patterns cost a plain audit too much

    checked = verify(app, say=say)
    judged: Verdicts = checked.memories
    remarks = list(checked.remarks)
    if not wish.deep:
        judged = {path: [one for one in some if _is_open_url(one)] for path, some in judged.items()}
        remarks = []
    if wish.online:
        judged, said = ask_web(judged, private=wish.private)
        return judged, [*remarks, said]
    return judged, [*remarks, *_unasked(judged)]


def ask_web(verdicts: Verdicts, *, private: bool = False) -> tuple[Verdicts, str]:
    """The verdicts with those on URLs renewed, and how many were asked."""
    wanted = [one.claim.text for judged in verdicts.values() for one in judged if _is_open_url(one)]
    unique = list(dict.fromkeys(wanted))
    from memdir.claims import urls

    replies = urls.check_urls(unique, private=private)
    renewed = {
        path: [_by_reply(one, replies) if _is_open_url(one) else one for one in judged]
        for path, judged in verdicts.items()
    }
    refused = sum(reply.refused for reply in replies.values()) + len(unique) - len(replies)
    answered = sum(reply.status > 0 for reply in replies.values())
    said = f"URLs: {len(unique) - refused} asked, {answered} answered"
    return renewed, said + (f", {refused} not asked" if refused else "")


def _is_open_url(one: Judged) -> bool:
    return one.claim.kind == claim.URL and one.verdict != claim.NOT_A_CLAIM


def _by_reply(one: Judged, replies: Mapping[str, Reply]) -> Judged:
    from memdir.claims.urls import MOST

    reply = replies.get(one.claim.text)
    if reply is None:
        return replace(one, verdict=claim.UNKNOWN, reason=f"not checked (more than {MOST})")
    if not reply.status:
        return replace(one, verdict=claim.UNKNOWN, reason=reply.reason)
    if reply.status in _CLOSED:
        return replace(one, verdict=claim.UNKNOWN, reason=_CLOSED[reply.status])
    if reply.status == OK:
        return replace(one, verdict=claim.TRUE, reason=f"answers {OK}")
    return replace(one, verdict=claim.STALE, reason=f"answers {reply.status}")


def _unasked(verdicts: Verdicts) -> list[str]:
    count = sum(_is_open_url(one) for judged in verdicts.values() for one in judged)
    return [f"URLs: {count} {OFFLINE}; --online asks them"] if count else []


def _ignored(app: App, paths: Sequence[str]) -> frozenset[str]:
    """What git leaves out of a store that others are to get."""
    return find_ignored(app.store.root, paths) if is_for_others(app) else frozenset()


def _prompt_characters(app: App) -> int:
    """What a session starts with beside the index."""
    try:
        whole = section([("project", app)])
        index = load(decode(app.store.index() or b""))
    except MemdirError:
        return 0  # an index that cannot be read is a finding
    return max(utf16_units(whole) - min(index.characters, MAX_CHARACTERS), 0)


def _degraded(app: App) -> list[str]:
    """What this audit had to do without, in words."""
    said = []
    if not app.store.exists():
        said.append(f"there is no store at {app.store.root} yet")
    if not app.history.on:
        said.append("the history is switched off: outside edits and undo are not known")
    return said
