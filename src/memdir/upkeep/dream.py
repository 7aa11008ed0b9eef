"""Logs + memories, gated."""

from __future__ import annotations

import datetime
import json
import math
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from memdir.audit.ages import clocks
from memdir.audit.audit import Audit, Wish, audit, find_lost
from memdir.audit.disagree import Contradiction, find_contradictions
from memdir.capture.drafts import catches, refuse_secrets
from memdir.capture.inbox import open_inbox
from memdir.capture.origin import signed
from memdir.capture.route import find_undone
from memdir.capture.signals import Catch, Origin, Signal, notice
from memdir.claims.verify import open_repo
from memdir.clients.conversation import PERSON, Said, Session
from memdir.config.config import Config
from memdir.errors import BadInput, Busy, Conflict, MemdirError, Missing
from memdir.format.draft import SKIPPED, Change, Draft, Rules, Wishes, hash_of
from memdir.format.pointer import read_pointers
from memdir.hot.disk import Disk, failure
from memdir.hot.memory import Memory, decode, encode, read_memory
from memdir.hot.types import names as known_types
from memdir.store import logs
from memdir.store.changes import retire_memory
from memdir.store.commit_times import commit_times
from memdir.store.dry_run import DryRun, DryShelf
from memdir.store.keep_index import index
from memdir.store.lock import Lock
from memdir.store.logs import DailyLog, open_log
from memdir.store.look import gather
from memdir.store.ports import Shelf, Store
from memdir.store.save import annotate, write_draft
from memdir.store.writer import CLAUDE_MD as WRITER_CLAUDE_MD
from memdir.store.writer import App, Desk, Done, state_folder
from memdir.upkeep import proof
from memdir.upkeep.ideas import Ideas
from memdir.upkeep.restructure import Plan, ask_for_ideas, consolidate, look, plan
from memdir.upkeep.split import MERGED_KEY
from memdir.upkeep.worksheet import Accounted, begin

# When a store is due for consolidation, and what of it a CLAUDE.md contradicts.

PAUSE = 24 * 3600  # seconds between two runs that nobody asked for
THROTTLE = 10 * 60  # seconds between two looks at how many sessions there were
SESSIONS = 5  # others than the one that asks, since the last run
CLAUDE_MD = "../CLAUDE.md"  # a path that no memory has
CONTRADICTS = "metadata.contradicts"  # in a header: where CLAUDE.md says otherwise


@dataclass(frozen=True)
class State:
    """What is known of earlier runs: the last one that was done, the last look, logs read so far.

    `logs` has the bytes of each log that were taken into account, `code` is the commit of the
    repository then: what was left in place is not judged again by the same code.
    """

    done: float = 0.0
    looked: float = 0.0
    logs: Mapping[str, int] = field(default_factory=dict)
    code: str = ""


@dataclass(frozen=True)
class Disputed:
    """A memory of which CLAUDE.md says otherwise; `older`: CLAUDE.md was written later."""

    path: str
    line: int
    says: str
    claude_line: int
    claude_says: str
    reason: str
    older: bool

    @property
    def mark(self) -> str:
        """What the header of the memory says about it."""
        return f"CLAUDE.md, line {self.claude_line}"


def not_yet(state: State, now: float) -> str:
    """Why it is too early even to look; empty where it is not. A clock set back counts as none."""
    if 0 <= now - state.done < PAUSE:
        return f"the last run was less than {PAUSE // 3600} hours ago"
    if 0 <= now - state.looked < THROTTLE:
        return f"somebody looked less than {THROTTLE // 60} minutes ago"
    return ""


def too_few(sessions: int) -> str:
    """Why so many sessions are not enough; empty where they are."""
    if sessions >= SESSIONS:
        return ""
    return f"{sessions} other sessions since the last run; {SESSIONS} are needed"


def find_disputed(
    texts: Mapping[str, str], claude_md: str, clocks: Mapping[str, float], written: float | None
) -> list[Disputed]:
    """What CLAUDE.md contradicts; where nobody knows when it was written, nothing is older."""
    if not claude_md.strip():
        return []
    found = []
    for one in find_contradictions({**texts, CLAUDE_MD: claude_md}):
        if CLAUDE_MD in (one.first, one.second):
            found.append(_disputed(one, clocks, written))
    return sorted(found, key=lambda one: one.path)


def _disputed(one: Contradiction, clocks: Mapping[str, float], written: float | None) -> Disputed:
    mine = (one.first, one.first_line, one.first_says)
    theirs = (one.second, one.second_line, one.second_says)
    if one.first == CLAUDE_MD:
        mine, theirs = theirs, mine
    clock = clocks.get(mine[0])
    older = clock is not None and written is not None and clock < written
    return Disputed(*mine, theirs[1], theirs[2], one.reason, older)


# What is kept between two runs of a consolidation: one small file, and a lock of its own.
#
# Whoever dies holding the lock lets go of it: the kernel does. The file is written when a run is
# done, so a run that failed was none.

FILE, LOCK = "dream.json", "dream.lock"
LARGEST_BYTES = 4 * 1024 * 1024
NOTICE_SECONDS = 0.0


class Dreams:
    """The runs of one store, below its state folder."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._disk = Disk(folder)
        self.lock = Lock(os.path.join(folder, LOCK), NOTICE_SECONDS, NOTICE_SECONDS)

    def load(self) -> State:
        """What earlier runs left; what cannot be read is as if there had been none."""
        try:
            told = json.loads(self._disk.read(FILE, LARGEST_BYTES)[0])
            logs = {str(path): int(end) for path, end in told["logs"].items()}
            state = State(float(told["done"]), float(told["looked"]), logs, str(told["code"]))
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return State()
        return state if math.isfinite(state.done + state.looked) else State()

    def keep(self, state: State) -> None:
        """Put it down, durably."""
        data = json.dumps({**asdict(state), "logs": dict(state.logs)}).encode()
        try:
            self._disk.make_root()
            self._disk.put(FILE, data)
        except OSError as error:
            path = os.path.join(self.folder, FILE)
            raise failure(error, path, "the run cannot be written down") from None


# What the logs say since somebody last looked: log → notice → draft.

LOG = "log"  # the client of what a log says
ID_CHARACTERS = 8  # of the hash of an entry
ASKS = "a log asks to forget it; which memory is meant is for you to say"


@dataclass(frozen=True)
class Gathered:
    """What the logs say to remember, what is only noticed in them, and how far they were read.

    `silent` entries hold nothing to keep.
    """

    saved: tuple[Catch, ...] = ()
    held: tuple[Catch, ...] = ()
    seen: Mapping[str, int] = field(default_factory=dict)
    entries: int = 0
    silent: int = 0
    remarks: tuple[str, ...] = ()


def gather_logs(app: App, seen: Mapping[str, int]) -> Gathered:
    """log → notice → draft; `seen` has the bytes of each log that were read before, by path

    What was saved before and undone is not learned again, should a log be read anew.
    """
    said, types, ends, remarks = _read(app.config, seen)
    drafted = _drafted(said)
    found = [_typed(one, types) for one in drafted if not one.refuse]
    refused = [f"log of {one.origin.message[:10]}: {one.refuse}" for one in drafted if one.refuse]
    undone = {one.text.message for one in find_undone(app)} if found else set()
    saved = [one for one in found if one.draft is not None and not one.hold]
    held = [replace(one, hold=one.hold or ASKS) for one in found if one not in saved]
    silent = sum(one.id not in {catch.origin.message for catch in found} for one in said)
    fresh = [one for one in saved if one.origin.message not in undone]
    return Gathered(tuple(fresh), tuple(held), ends, len(said), silent, (*remarks, *refused))


def _read(
    config: Config, seen: Mapping[str, int]
) -> tuple[list[Said], dict[str, str], dict[str, int], list[str]]:
    """The new entries as things that were said, their types, how far it goes, and remarks."""
    said: list[Said] = []
    types: dict[str, str] = {}
    ends: dict[str, int] = {}
    remarks: list[str] = []
    for log in {one.root: one for one in (open_log(config), DailyLog(config.store))}.values():
        start = os.path.join(log.root, logs.LOGS, "")
        mine = {path.removeprefix(start): end for path, end in seen.items()}
        stretches, findings = log.since(mine)
        remarks += [f"{one.message}; {one.fix}" for one in findings]
        for stretch in stretches:
            ends[start + stretch.path] = stretch.end
            noon = datetime.datetime.combine(stretch.day, datetime.time(12), datetime.UTC)
            for entry in stretch.entries:
                id = f"{stretch.day.isoformat()}-{hash_of(encode(entry.text))[:ID_CHARACTERS]}"
                types[id] = entry.type
                said.append(Said(id, PERSON, entry.text, noon.timestamp()))
    return said, types, ends, remarks


def _drafted(said: Sequence[Said]) -> list[Catch]:
    """Each thing once; an entry is kept whole: what nobody notices belongs to what stands before.

    Whoever logs several lines means all of them.
    """
    signals: dict[str, list[Signal]] = {}
    for signal in notice(said):
        signals.setdefault(signal.said.id, []).append(signal)
    found: dict[str, Catch] = {}
    for own in signals.values():
        spans = [_span(signal) for signal in own]
        for signal, rest in zip(own, _rests(own[0].said.text, spans), strict=True):
            for catch in catches([signal], said, Origin(client=LOG)):
                body = catch.draft.body if catch.draft else ""
                key = (catch.forget or body).lower()
                known = found.get(key)
                if known is None or (known.hold and not catch.hold):
                    found[key] = _with_rest(catch, rest)
    return refuse_secrets(found.values(), said)


def _span(signal: Signal) -> tuple[int, int]:
    at = max(0, signal.said.text.find(signal.quote))
    return at, at + len(signal.quote)


def _rests(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[str]:
    """What stands between each span and the next one; before the first, it is the first one's."""
    first = min(start for start, _ in spans)
    for start, end in spans:
        next = min((other for other, _ in spans if other >= end), default=len(text))
        before = text[:first].strip() if start == first else ""
        yield "\n".join(filter(None, (text[end:next].strip(), before)))


def _with_rest(catch: Catch, rest: str) -> Catch:
    """The draft with the other lines of its entry."""
    draft = catch.draft
    if draft is None or not any(map(str.isalnum, rest)):
        return catch
    return replace(catch, draft=replace(draft, body=f"{draft.body}\n\n{rest}"))


def _typed(catch: Catch, types: Mapping[str, str]) -> Catch:
    """The draft, signed, and of the type that its entry says."""
    if catch.draft is None:
        return catch
    type = types.get(catch.origin.message, "")
    draft = replace(catch.draft, type=type) if type in known_types() else catch.draft
    return replace(catch, draft=signed(draft, catch.origin))


# Consolidation: orient → gather → consolidate → prune and index; one batch, one undo.
#
# Orient: audit and verify, before the lock is taken. Gather: what the logs say to remember,
# memories that the code or CLAUDE.md contradicts. Then everything a restructuring does. Nothing
# is deleted.

VERB = "dream"
WORKED_ON = ("metadata.from", "metadata.part_of", MERGED_KEY)  # by a restructuring
POINTED = "it pointed to a memory that was put away"
WHO = "memdir dream"


@dataclass(frozen=True)
class Oriented:
    """What is known before anything is changed."""

    stale: Mapping[str, tuple[str, ...]]  # path -> what the code says against it
    drifted: Mapping[str, str]  # path -> why it goes
    old: tuple[str, ...]  # worn out by their age alone: for a person to decide
    disputed: tuple[Disputed, ...]
    logs: Gathered
    code: str  # its state
    remarks: tuple[str, ...] = ()


@dataclass
class Run:
    """What a consolidation came to; the last one of `plans` is how it ends."""

    oriented: Oriented
    plans: list[Plan]
    before: proof.Figures
    accounted: list[Accounted]
    batch: str = ""
    held: list[str] = field(default_factory=list)  # ids in the inbox
    lost: list[str] = field(default_factory=list)

    @property
    def plan(self) -> Plan:
        """How the store is in the end."""
        return self.plans[-1]


ToldRun = Callable[[Run, Done], None]


def run(app: App, told: ToldRun, *, model: bool = False) -> Run:
    """orient → gather → consolidate → prune and index, one such run of a store at a time"""
    dreams = Dreams(state_folder(app.config))
    if app.dry_run:
        return _run(app, dreams, told, model)
    with dreams.lock.held_if_free(WHO) as free:
        if free is None:
            raise Busy(
                f"another run is under way: {dreams.lock.holder()}; nothing was changed",
                path=dreams.lock.path,
                next="wait until it is done",
            )
        return _run(app, dreams, told, model)


def run_if_due(
    app: App,
    sessions: Callable[[], Sequence[Session]],
    session: str = "",
    told: ToldRun = lambda run, done: None,
) -> str:
    """Run where the settings and the gates allow it; gives the reason where they do not.

    `sessions` is asked only when the time has come; `session` is the one that asks. No model.
    """
    if not app.config.options.dream:
        return "dream.enabled is not set"
    dreams = Dreams(state_folder(app.config))
    with dreams.lock.held_if_free(WHO) as free:
        if free is None:
            return "another run is under way"
        state, now = dreams.load(), app.now()
        if reason := not_yet(state, now):
            return reason
        dreams.keep(replace(state, looked=now))
        others = {one.id for one in sessions() if one.modified > state.done} - {session}
        if reason := too_few(len(others)):
            return reason
        _run(app, dreams, told, model=False)
    return ""


def _run(app: App, dreams: Dreams, told: ToldRun, model: bool) -> Run:
    state, now = dreams.load(), app.now()
    oriented = _orient(app, state)
    ideas = ask_for_ideas(app, VERB) if model else Ideas()
    runs: list[Run] = []

    def act(desk: Desk) -> list[Change]:
        done, made = _consolidate(app, desk, oriented, ideas)
        runs.append(made)
        desk.cause = replace(desk.cause, batch=made.batch, name=_title(done))
        desk.remarks += oriented.remarks
        return done

    def tell(done: Done) -> None:
        made = runs[-1]
        if not app.dry_run:
            made.held, refused = _hold(app, oriented.logs.held)
            done = replace(done, remarks=(*done.remarks, *refused))
            made.lost = find_lost(app, done.changes)
        told(made, done)

    app.change(VERB, act, tell)
    if not app.dry_run:
        logs = {**state.logs, **oriented.logs.seen}
        dreams.keep(State(now, dreams.load().looked, logs, oriented.code))
    return runs[-1]


def _orient(app: App, state: State) -> Oriented:
    found = audit(app, Wish(deep=True))
    stale: dict[str, tuple[str, ...]] = {}
    for one in found.findings:
        if one.kind == "stale-claim":
            stale[one.path] = (*stale.get(one.path, ()), one.message)
    disputed = _dreaming_disputed(app)
    logs = gather_logs(app, state.logs)
    code = open_repo(app).state().partition("+")[0]  # the commit: a store may lie in the work tree
    drifted, old = _worn_out(app, found)
    if state.done and code == state.code:  # no new reason; and an undo is not done again
        drifted, old = {}, (*drifted, *old)
    for dispute in disputed:
        if dispute.older:
            drifted[dispute.path] = f"{dispute.mark} says otherwise, and is newer: {dispute.reason}"
    return Oriented(stale, drifted, old, disputed, logs, code, logs.remarks)


def _worn_out(app: App, found: Audit) -> tuple[dict[str, str], tuple[str, ...]]:
    """What is old and wrong goes; what is only old may well be right: a person decides."""
    memories = app.store.scan().memories
    stays = {one.path for one in memories if one.pinned} | {app.store.index_path}
    worn = [one for one in found.memories if one.action == "prune" and one.path not in stays]
    unsure = {one.path for one in memories if _worked_on(one)}
    wrong = [one for one in worn if one.claims.stale and one.path not in unsure]
    drifted = {one.path: "; ".join(one.reasons) for one in wrong}
    return drifted, tuple(one.path for one in worn if one.path not in drifted)


def _dreaming_disputed(app: App) -> tuple[Disputed, ...]:
    """What CLAUDE.md contradicts; its date is that of its commit, else of the file."""
    claude_md = app.rules().claude_md
    if not claude_md:
        return ()
    memories = app.store.scan().memories
    texts = {path: decode(data) for path, data in gather(app.store, app.store.files())[0]}
    pinned = {one.path for one in memories if one.pinned}
    written = _written(app.config.checkout)
    found = find_disputed(texts, claude_md, clocks(app, memories)[0], written)
    return tuple(replace(one, older=one.older and one.path not in pinned) for one in found)


def _written(checkout: str) -> float | None:
    committed = commit_times(checkout, [WRITER_CLAUDE_MD]).times
    if WRITER_CLAUDE_MD in committed:
        return committed[WRITER_CLAUDE_MD]
    try:
        return os.stat(os.path.join(checkout, WRITER_CLAUDE_MD)).st_mtime
    except OSError:
        return None


def _consolidate(
    app: App, desk: Desk, oriented: Oriented, ideas: Ideas
) -> tuple[list[Change], Run]:
    """First on paper: what a plan refuses must not be half done."""
    rules = app.rules()
    paper, shelf = DryRun(desk.store), DryShelf(desk.shelf)
    _save_and_mark(paper, rules, oriented)
    before = proof.count(begin(look(desk.store, {}))) if paper.written else None
    plans = [plan(look(paper, oriented.stale), ideas)]
    consolidate(plans[0], paper, shelf, rules.now)
    lines = [*_index_lines(desk.store), *_index_lines(paper)]
    if away := _put_away(paper, shelf, rules, oriented):
        plans.append(plan(look(paper, oriented.stale)))
        consolidate(plans[1], paper, shelf, rules.now)
    desk.plan = [*plans[0].texts, *plans[0].gone, *oriented.drifted]
    done, refused = _save_and_mark(desk.store, rules, oriented)
    done += consolidate(plans[0], desk.store, desk.shelf, rules.now)
    done += _put_away(desk.store, desk.shelf, rules, oriented)
    for later in plans[1:]:
        done += consolidate(later, desk.store, desk.shelf, rules.now)
    desk.remarks += refused
    accounted = [one for each in plans for one in each.work.accounted]
    accounted += _pointers(desk.store.index_path, lines, {change.path for change in away})
    batch = f"{VERB}-{int(rules.now)}" if done else ""
    return done, Run(oriented, plans, before or plans[0].before, accounted, batch)


def _title(done: Sequence[Change]) -> str:
    """A run in a few words, for the history."""
    kinds = Counter(change.kind for change in done)
    return ", ".join(f"{number} {kind}" for kind, number in kinds.items())


def _index_lines(store: Store) -> list[str]:
    return decode(store.index() or b"").split("\n")


def _pointers(index_path: str, lines: Sequence[str], away: Collection[str]) -> list[Accounted]:
    """The lines of the index that went with the memories they pointed to."""
    found = dict.fromkeys(
        line for line in lines if any(one.target in away for one in read_pointers(line, 1))
    )
    return [Accounted(index_path, line, POINTED) for line in found]


def _save_and_mark(
    store: Store, rules: Rules, oriented: Oriented
) -> tuple[list[Change], list[str]]:
    """What the logs say to remember, and marks; and what of it was refused, and why."""
    # A run that was killed may have saved some of them already.
    there = {one.values.get("metadata.message") for one in store.scan().memories}
    new = [one for one in oriented.logs.saved if one.origin.message not in there]
    found = [_saved(one.draft, store, rules) for one in new if one.draft is not None]
    for one in oriented.disputed:
        if not one.older and store.exists(one.path):
            said = f"{one.mark} says otherwise, and is older: {one.reason}"
            found.append(annotate(one.path, CONTRADICTS, one.mark, store, said))
    refused = [f"not saved from a log: {one.reason}" for one in found if not one.hash]
    return [change for change in found if change.changed], refused


def _put_away(store: Store, shelf: Shelf, rules: Rules, oriented: Oriented) -> list[Change]:
    """What drifted, into the trash; but not what others were merged into meanwhile."""
    done = []
    for path, reason in oriented.drifted.items():
        if store.exists(path) and not _worked_on(read_memory(path, store.read(path), 0)):
            done.append(replace(retire_memory(path, store, shelf, rules.now), reason=reason))
    if done:
        index(store, rules)
    return done


def _worked_on(memory: Memory) -> bool:
    """Made of several things, or of a part of one: its age is not that of all it says."""
    return any(key in memory.values for key in WORKED_ON)


def _saved(draft: Draft, store: Store, rules: Rules) -> Change:
    try:
        return write_draft(draft, store, rules, Wishes())
    except (BadInput, Conflict, Missing) as error:
        return Change(SKIPPED, draft.name, "", reason=error.message)


def _hold(app: App, catches: Sequence[Catch]) -> tuple[list[str], list[str]]:
    """The ids of what waits for a person now, and what could not be held, with the reason."""
    held, refused = [], []
    for catch in catches:
        try:
            held.append(open_inbox(app).hold(catch, catch.hold, app.now()).id)
        except MemdirError as error:
            refused.append(f"not held from a log: {error.message}")
    return held, refused
