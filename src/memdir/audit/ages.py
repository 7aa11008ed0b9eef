"""Age scores of memories: 0 is fresh, 100 worn out. A score labels a memory and never hides it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from memdir.errors import Finding, MemdirError
from memdir.hot import safe, types
from memdir.hot.memory import CREATED_KEYS, MODIFIED_KEYS, VERIFIED_KEYS, Memory, decode, stem
from memdir.hot.verdicts import Verdicts
from memdir.store import ports
from memdir.store.accept import unaccepted_paths
from memdir.store.writer import App, history_day, store_cache_folder

if TYPE_CHECKING:
    from memdir.claims.claim import Judged

MAX_POINTS = 100
REVIEW = 50  # points, reached after one half-life
PRUNE = 75  # points, reached after two half-lives
MODIFIERS = {"path": 20, "symbol": 30, "url": 10, "branch": 15}  # points per stale kind of claim
MAX_CHANGES = 1_000  # newest changes read; older memories are old in any case
# Changes that bring back an older text.
_BROUGHT_BACK = (ports.BEGIN, ports.UNDO, "restore", "import")


def score_staleness(age_days: float, half_life_days: float) -> int:
    """Exponential decay from 0 (fresh) to 100; a memory dated in the future is fresh."""
    if age_days <= 0:
        return 0
    # A power of 2 is exact for whole half-lives, where the bands begin.
    return int(100 * (1 - 2.0 ** (-age_days / half_life_days)))


def type_to_judge_by(memory: Memory) -> str:
    """Its type, or where the header has none, the one that its file is named after.

    Of 235 memories of public repositories that have both, 233 agree.
    """
    name = stem(memory.path).replace("-", "_")
    named = (kind for kind in types.names() if name == kind or name.startswith(f"{kind}_"))
    return memory.type if memory.kind else next(named, memory.type)


def choose_audit_action(score: int) -> str:
    if score < REVIEW:
        return "keep"
    return "review" if score < PRUNE else "prune"


def find_stale_claim_kinds(judged: Iterable[Judged]) -> dict[str, Judged]:
    """First stale claim per kind, heaviest first: one renamed folder must count only once."""
    first: dict[str, Judged] = {}
    for item in judged:
        if item.verdict == "stale":
            first.setdefault(item.claim.kind, item)
    return dict(sorted(first.items(), key=lambda pair: -MODIFIERS.get(pair[0], 0)))


def raise_staleness_score(score: int, judged: Iterable[Judged]) -> int:
    return min(
        score + sum(MODIFIERS.get(kind, 0) for kind in find_stale_claim_kinds(judged)), MAX_POINTS
    )


class Moments(NamedTuple):
    """Times known from outside the header; None if unknown."""

    edited: float | None = None  # last outside edit in the history
    kept: float | None = None  # when the history got the present version
    committed: float | None = None  # when the surrounding repository got it


def find_age_start(memory: Memory, moments: Moments = Moments()) -> float:  # noqa: B008
    """Header dates or a newer outside edit, else git, history or mtime (a clone resets it)."""
    stated = [safe.parse_time(memory.get(keys)) for keys in (VERIFIED_KEYS, MODIFIED_KEYS)]
    known = [moment for moment in stated if moment is not None]
    created = None if known else safe.parse_time(memory.get(CREATED_KEYS))
    known += [] if created is None else [created]
    if known and moments.edited is not None:
        # An edit that came with a pull dates from its commit, not from when it was noticed.
        seen = [moment for moment in (moments.edited, moments.committed) if moment is not None]
        known.append(min(seen))
    if known:
        return max(known)
    if moments.committed is not None:
        return moments.committed
    return memory.mtime if moments.kept is None else moments.kept


def find_age_starts(
    app: App, memories: Sequence[Memory]
) -> tuple[dict[str, float], tuple[str, ...]]:
    edited, kept = _read_history(app)
    dates = (*VERIFIED_KEYS, *MODIFIED_KEYS, *CREATED_KEYS)
    unsure = [item.path for item in memories if item.path in edited or not item.get(dates)]
    committed, remark = dict[str, float](), ""
    if unsure:
        from memdir.store.git import commit_times_of_memories  # subprocess, which most stores spare

        committed, remark = commit_times_of_memories(app.store.root, unsure)
    moments = {
        path: Moments(edited.get(path), kept.get(path), committed.get(path))
        for path in (memory.path for memory in memories)
    }
    starts = {item.path: find_age_start(item, moments[item.path]) for item in memories}
    return starts, (remark,) if remark else ()


def _read_history(app: App) -> tuple[dict[str, float], dict[str, float]]:
    """Per path: time of the newest outside edit, and of the newest version by any actor."""
    edited: dict[str, float] = {}
    kept: dict[str, float] = {}
    undone: set[str] = set()
    try:
        for logged in islice(app.history.log(), MAX_CHANGES) if app.history.begun else ():
            if logged.id in undone:
                continue
            undone.update(logged.cause.undoes)
            if logged.cause.verb in _BROUGHT_BACK:
                continue
            for change, path in logged.paths:
                if change != ports.GONE:
                    kept.setdefault(path, logged.time)
                if change == ports.MODIFIED and logged.cause.verb == ports.OUTSIDE:
                    edited.setdefault(path, logged.time)
    except MemdirError:
        pass  # doctor reports a damaged history; mtimes still work
    return edited, kept


@dataclass(frozen=True)
class Listed:
    """`action` is the band of the age score, `stale` counts claims that no longer hold."""

    memory: Memory
    age_days: int
    score: int
    action: str
    clock: float = 0.0
    stale: int = 0
    advice: str = ""
    scope: str = ""
    store: str = ""
    accepted: bool = True  # False for a memory of others that no agent is told

    @property
    def path(self) -> str:
        return self.memory.path

    @property
    def name(self) -> str:
        return self.memory.name

    @property
    def type(self) -> str:
        return self.memory.type

    @property
    def description(self) -> str:
        return self.memory.description

    @property
    def modified(self) -> float:
        """The time its age counts from, in seconds since 1970."""
        return self.clock

    @property
    def pinned(self) -> bool:
        return self.memory.pinned

    @property
    def bytes(self) -> int:
        return self.memory.size

    def __repr__(self) -> str:
        return f"<{self.scope}: {self.path}: {self.description}>"


def find_known_stale_claims(app: App, memories: Iterable[Memory]) -> dict[str, list[str]]:
    """By path, as the last check of the code left it; nothing is checked now."""
    if not app.config.code:
        return {}
    return Verdicts(store_cache_folder(app.config), app.config.code).find_stale(memories)


def list_memory_ages(app: App) -> tuple[list[Listed], list[Finding]]:
    """Most recently confirmed first, ties by path; also remarks on files that cannot be read."""
    from memdir.audit.advice import Tally, advise_on_memory

    scan, now = app.store.scan(), app.now()
    clocks = find_age_starts(app, scan.memories)[0]
    known = find_known_stale_claims(app, scan.memories)
    waiting, place = unaccepted_paths(app), (str(app.config.scope), app.store.root)
    listed = []
    for memory in scan.memories:
        clock = clocks.get(memory.path, memory.clock)
        days = safe.age_days(clock, now)
        points = score_staleness(days, types.get(type_to_judge_by(memory)).half_life_days)
        stale = len(known.get(memory.path, ()))
        try:
            text = decode(app.store.view(memory.path))
        except MemdirError:
            text = memory.head
        advice, _ = advise_on_memory(memory, text, points, Tally(stale, stale), history_day(now))
        action = choose_audit_action(points)
        accepted = memory.path not in waiting
        row = Listed(memory, days, points, action, clock, stale, advice, *place, accepted)
        listed.append(row)
    return sorted(listed, key=lambda item: (-item.clock, item.memory.path)), scan.findings
