"""`memdir dream`: logs and memories brought together, behind gates; one batch, one undo."""

from __future__ import annotations

import datetime
import math
import os
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from memdir.audit.audit import audit
from memdir.capture import signals
from memdir.capture.inbox import open_inbox, sign_captured_draft
from memdir.capture.route import find_undone_captures
from memdir.capture.signals import Catch
from memdir.claims.verify import open_repo
from memdir.clients.conversation import AGENT, PERSON, Message, Session
from memdir.errors import BadInput, Busy, Conflict, MemdirError, Missing
from memdir.format.draft import (
    DESCRIPTION_AIM,
    SKIPPED,
    Change,
    Draft,
    Rules,
    Wishes,
    content_hash,
    describe_body,
)
from memdir.format.pointer import parse_pointers
from memdir.hot.memory import Memory, decode, encode
from memdir.hot.types import names as known_types
from memdir.store import logs
from memdir.store.changes import retire_memory
from memdir.store.logs import DailyLog, open_daily_log
from memdir.store.ports import Store
from memdir.store.save import follow_in_index, save_draft_to_store
from memdir.store.state import DAMAGE, Lock, read_state_json, replace_state_json, state_errors
from memdir.store.trash import DryShelf, Shelf
from memdir.store.writer import App, Desk, Done, DryRun, store_state_folder
from memdir.upkeep.restructure import (
    Figures,
    Plan,
    apply_restructure,
    count_restructure_figures,
    plan_restructure,
    read_restructured_store,
)
from memdir.upkeep.split import MERGED_KEY
from memdir.upkeep.worksheet import Accounted, Work, line_has_words

VERB = "dream"
WHO = "memdir dream"
PAUSE_SECONDS = 24 * 3600  # between two runs that nobody asked for
THROTTLE_SECONDS = 10 * 60  # between two looks at how many sessions there were
MIN_SESSIONS = 5  # others than the one that asks, since the last run
WORKED_ON = ("metadata.from", "metadata.part_of", MERGED_KEY)  # by a restructuring
POINTED = "it pointed to a memory that was put away"
LOG = "log"  # the client of what a log says
ID_CHARACTERS = 8  # of the hash of an entry
ASKS = "a log asks to forget it; which memory is meant is for you to say"
UNTYPED = "a log says it, without a type; is it for later?"
MIN_ENTRY_WORDS = 4
# What was done, and what comes next: the code and the task list show it.
_PROGRESS = re.compile(
    r"(?:(?:i|we|then|also|just|nothing|still|today|now)\b[ ,]*)*(?:(?!decid|agre|need|indeed)"
    r"[a-z]{2,20}ed\b|ran|wrote|built|made|found|got|saw|took|went|began|sent|read|did|was|were"
    r"|has been|had|much|to-?do|wip|next|fix(?:ing)?|working|starting|continu\w*|the build was)\b",
    re.IGNORECASE,
)
STATE_FILE, LOCK_FILE = "dream.json", "dream.lock"
MAX_STATE_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True)
class State:
    """What earlier runs left behind."""

    done: float = 0.0  # when a run was last finished
    looked: float = 0.0  # when sessions were last counted
    logs: Mapping[str, int] = field(default_factory=dict)  # bytes that were read, by path
    code: str = ""  # commit whose verdict was carried out: the same code does not judge again


@dataclass(frozen=True)
class Gathered:
    """What the logs say to remember, what is only noticed in them, and how far they were read."""

    saved: tuple[Catch, ...] = ()
    held: tuple[Catch, ...] = ()
    seen: Mapping[str, int] = field(default_factory=dict)
    entries: int = 0
    silent: int = 0  # entries that hold nothing to keep
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Oriented:
    """What is known before anything is changed."""

    stale: Mapping[str, tuple[str, ...]]  # path -> what the code says against it
    drifted: Mapping[str, str]  # path -> why it goes
    old: tuple[str, ...]  # worn out by their age alone: for a person to decide
    logs: Gathered
    code: str  # the commit of the repository


@dataclass
class Run:
    """The result of a consolidation."""

    oriented: Oriented
    plan: Plan
    before: Figures
    accounted: list[Accounted]
    done: Done
    batch: str = ""
    held: list[str] = field(default_factory=list)  # ids in the inbox


def load_dream_state(folder: str) -> State:
    """What earlier runs left; what cannot be read is as if there had been none."""

    def parse(data: Any) -> State:
        ends = {str(path): int(end) for path, end in data["logs"].items()}
        state = State(float(data["done"]), float(data["looked"]), ends, str(data["code"]))
        return state if math.isfinite(state.done + state.looked) else State()

    try:
        return read_state_json(folder, STATE_FILE, parse, MAX_STATE_BYTES) or State()
    except (OSError, *DAMAGE):
        return State()


def keep_dream_state(folder: str, state: State) -> None:
    """Written only when a run is finished, so a run that failed was none."""
    with state_errors(os.path.join(folder, STATE_FILE), "the run cannot be written down"):
        replace_state_json(folder, STATE_FILE, {**asdict(state), "logs": dict(state.logs)})


def open_dream_lock(folder: str) -> Lock:
    """One run at a time; the kernel takes the lock from a run that died."""
    return Lock(os.path.join(folder, LOCK_FILE), 0.0, 0.0)


def run_dream(app: App) -> Run:
    if app.dry_run:
        return _run(app)
    lock = open_dream_lock(store_state_folder(app.config))
    with lock.held_if_free(WHO) as handle:
        if handle is None:
            message = f"another run is under way: {lock.holder()}; nothing was changed"
            raise Busy(message, path=lock.path, next="wait until it is done")
        return _run(app)


def run_dream_if_due(
    app: App, sessions: Callable[[], Sequence[Session]], session: str = ""
) -> Run | str:
    """The reason if settings or gates do not allow a run; `session` is the one that asks."""
    if not app.config.options.dream:
        return "dream.enabled is not set"
    folder = store_state_folder(app.config)
    with open_dream_lock(folder).held_if_free(WHO) as handle:
        if handle is None:
            return "another run is under way"
        state, now = load_dream_state(folder), app.now()
        # A clock that was set back counts as none.
        if 0 <= now - state.done < PAUSE_SECONDS:
            return f"the last run was less than {PAUSE_SECONDS // 3600} hours ago"
        if 0 <= now - state.looked < THROTTLE_SECONDS:
            return f"somebody looked less than {THROTTLE_SECONDS // 60} minutes ago"
        keep_dream_state(folder, replace(state, looked=now))
        others = {item.id for item in sessions() if item.modified > state.done} - {session}
        if len(others) < MIN_SESSIONS:
            return f"{len(others)} other sessions since the last run; {MIN_SESSIONS} are needed"
        return _run(app)


def _run(app: App) -> Run:
    folder = store_state_folder(app.config)
    state, now = load_dream_state(folder), app.now()
    oriented = _orient(app, state)
    with app.changing(VERB) as desk:
        result = _consolidate(app, desk, oriented)
        kinds = Counter(change.kind for change in desk.changes)
        name = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
        desk.cause = replace(desk.cause, batch=result.batch, name=name)
        desk.remarks += oriented.logs.remarks
    result.done = desk.done
    if not app.dry_run:
        result.held, refused = _hold(app, oriented.logs.held)
        result.done = replace(desk.done, remarks=(*desk.done.remarks, *refused))
        seen = {**state.logs, **oriented.logs.seen}
        keep_dream_state(folder, State(now, state.looked, seen, oriented.code))
    return result


def _orient(app: App, state: State) -> Oriented:
    """Audit and verify, before the lock is taken."""
    report = audit(app, deep=True, brief=True, every=True)
    stale: dict[str, tuple[str, ...]] = {}
    for finding in report.findings:
        if finding.kind == "stale-claim":
            stale[finding.path] = (*stale.get(finding.path, ()), finding.message)
    gathered = gather_logs_for_dream(app, state.logs)
    code = open_repo(app).state().partition("+")[0]  # the commit: a store may lie in the work tree
    # What is old and wrong goes; what is only old may well be right: a person decides.
    free = {
        memory.path: memory
        for memory in app.store.scan().memories
        if not memory.pinned and memory.path != app.store.index_path
    }
    worn = [item for item in report.memories if item.action == "prune" and item.path in free]
    drifted = {
        item.path: "; ".join(item.reasons)
        for item in worn
        if item.claims.stale and not _is_worked_on(free[item.path])
    }
    if state.done and code == state.code:  # no new reason; and an undo is not done again
        drifted = {}
    old = tuple(item.path for item in worn if item.path not in drifted)
    return Oriented(stale, drifted, old, gathered, code)


def gather_logs_for_dream(app: App, seen: Mapping[str, int]) -> Gathered:
    """`seen` has the bytes of each log that were read before, by path."""
    said: list[Message] = []
    types: dict[str, str] = {}
    ends: dict[str, int] = {}
    remarks: list[str] = []
    config = app.config
    for log in {
        item.root: item for item in (open_daily_log(config), DailyLog(config.store))
    }.values():
        start = os.path.join(log.root, logs.LOGS, "")
        stretches, findings = log.since(
            {path.removeprefix(start): end for path, end in seen.items()}
        )
        remarks += [f"{finding.message}; {finding.fix}" for finding in findings]
        for stretch in stretches:
            ends[start + stretch.path] = stretch.end
            noon = datetime.datetime.combine(stretch.day, datetime.time(12), datetime.UTC)
            for entry in stretch.entries:
                id = f"{stretch.day.isoformat()}-{content_hash(encode(entry.text))[:ID_CHARACTERS]}"
                types[id] = entry.type
                said.append(Message(id, PERSON, entry.text, noon.timestamp()))
    saved, held, heard = [], [], set()
    undone = {text.message for text, _ in find_undone_captures(app)} if said else set()
    asked = _draft(said)
    noticed = {item.origin.message for item in asked}
    rest = [_draft_entry(item) for item in said if item.id not in noticed and _is_lasting(item)]
    for item in [*asked, *signals.refuse_secret_drafts(rest, said)]:
        id, draft = item.origin.message, item.draft
        if item.refuse:
            remarks.append(f"log of {id[:10]}: {item.refuse}")
            continue
        heard.add(id)
        if draft is not None:
            typed = types.get(id, "") in known_types()
            draft = replace(draft, type=types[id]) if typed else draft
            # Whoever gave a line its type meant it to be kept, be it a rule.
            if typed and item.hold in (signals.STANDING, signals.BESIDE, UNTYPED):
                item = replace(item, hold="", origin=replace(item.origin, who=AGENT))
            item = replace(item, draft=sign_captured_draft(draft, item.origin))
        if draft is None or item.hold:
            held.append(replace(item, hold=item.hold or ASKS))
        elif id not in undone:  # what was undone is not learned again from a log that is read anew
            saved.append(item)
    silent = sum(item.id not in heard for item in said)
    return Gathered(tuple(saved), tuple(held), ends, len(said), silent, tuple(remarks))


def _draft(said: Sequence[Message]) -> list[Catch]:
    """Each thing once; what of an entry nobody notices belongs to the first thing it says."""
    noticed: dict[str, list[signals.Signal]] = {}
    for signal in signals.notice_requests(said):
        noticed.setdefault(signal.said.id, []).append(signal)
    result: dict[str, Catch] = {}
    for group in noticed.values():
        rest = group[0].said.text
        for signal in group:
            rest = rest.replace(signal.quote, "", 1).strip()
        for signal in group:
            for catch in signals.draft_requests([signal], said, signals.Origin(client=LOG)):
                key = (catch.forget or (catch.draft.body if catch.draft else "")).lower()
                if key in result and (catch.hold or not result[key].hold):
                    continue
                if catch.draft is not None and line_has_words(rest):
                    body = f"{catch.draft.body}\n\n{rest}"
                    catch = replace(catch, draft=replace(catch.draft, body=body))
                    rest = ""
                result[key] = catch
    return signals.refuse_secret_drafts(result.values(), said)


def _is_lasting(entry: Message) -> bool:
    """Says a line something for later, rather than what was done or what comes next?"""
    first = entry.text.split("\n")[0]
    return len(first.split()) >= MIN_ENTRY_WORDS and not _PROGRESS.match(first)


def _draft_entry(entry: Message) -> Catch:
    """A line of a log that asks for nothing, in its own words."""
    origin = signals.Origin(client=LOG, message=entry.id, who=AGENT)
    short = len(entry.text) <= DESCRIPTION_AIM and "\n" not in entry.text
    description = entry.text if short else describe_body(entry.text)
    day = signals.day_of_message(entry)
    draft = Draft(entry.text, description=description, source=signals.SOURCE, day=day)
    return Catch(origin, draft, hold=UNTYPED)


def _consolidate(app: App, desk: Desk, oriented: Oriented) -> Run:
    """First on paper: what a plan refuses must not be half done. Nothing is deleted."""
    rules = app.rules()
    lines = decode(desk.store.index() or b"").split("\n")
    paper, shelf = DryRun(desk.store), DryShelf(desk.shelf.folder, desk.store)
    _save(paper, rules, oriented)
    away = {change.path for change in _put_away(paper, shelf, rules, oriented)}
    was = desk.store if paper.written else None
    plan = plan_restructure(read_restructured_store(paper, oriented.stale))
    before = (
        count_restructure_figures(Work(read_restructured_store(was, {}))) if was else plan.before
    )
    apply_restructure(plan, paper, shelf, rules.now)
    done, refused = _save(desk.store, rules, oriented)
    done += _put_away(desk.store, desk.shelf, rules, oriented)
    done += apply_restructure(plan, desk.store, desk.shelf, rules.now)
    desk.changes += done
    desk.remarks += refused
    accounted = plan.work.accounted + [
        Accounted(desk.store.index_path, line, POINTED)
        for line in lines
        if any(pointer.target in away for pointer in parse_pointers(line, 1))
    ]
    batch = f"{VERB}-{int(rules.now)}" if done else ""
    return Run(oriented, plan, before, accounted, desk.done, batch)


def _save(store: Store, rules: Rules, oriented: Oriented) -> tuple[list[Change], list[str]]:
    """What the logs say to remember; and what of it was refused, and why."""
    if not oriented.logs.saved:
        return [], []
    # A run that was killed may have saved some of them already.
    known = {memory.values.get("metadata.message") for memory in store.scan().memories}
    changes = []
    for item in oriented.logs.saved:
        if item.draft is None or item.origin.message in known:
            continue
        try:
            changes.append(save_draft_to_store(item.draft, store, rules, Wishes()))
        except (BadInput, Conflict, Missing) as error:
            changes.append(Change(SKIPPED, item.draft.name, "", reason=error.message))
    refused = [f"not saved from a log: {change.reason}" for change in changes if not change.hash]
    return [change for change in changes if change.changed], refused


def _put_away(store: Store, shelf: Shelf, rules: Rules, oriented: Oriented) -> list[Change]:
    """What drifted, into the trash."""
    done = [
        replace(retire_memory(path, store, shelf, rules.now), reason=reason)
        for path, reason in oriented.drifted.items()
        if store.exists(path)
    ]
    if done:
        follow_in_index(store, rules, known=lambda pointer: pointer.target in oriented.drifted)
    return done


def _is_worked_on(memory: Memory) -> bool:
    """Made of several things, or of a part of one: its age is not that of all it says."""
    return any(key in memory.values for key in WORKED_ON)


def _hold(app: App, held: Sequence[Catch]) -> tuple[list[str], list[str]]:
    """The ids of what waits for a person now, and what could not be held, with the reason."""
    ids, refused = [], []
    for catch in held:
        try:
            ids.append(open_inbox(app).hold(catch, catch.hold, app.now()).id)
        except MemdirError as error:
            refused.append(f"not held from a log: {error.message}")
    return ids, refused
