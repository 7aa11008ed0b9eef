"""Consolidation: orient → gather → consolidate → prune and index; one batch, one undo.

Orient: audit and verify, before the lock is taken. Gather: what the logs say to remember, memories
that the code or CLAUDE.md contradicts. Then everything a restructuring does. Nothing is deleted.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memdir.adapters.inbox import open_inbox
from memdir.flows.opening_repo import open_repo
from memdir.adapters.committed import commit_times
from memdir.adapters.dreams import Dreams
from memdir.adapters.wrappers.dry_run import DryRun, DryShelf
from memdir.app import CLAUDE_MD, App, Desk, Done, state_folder
from memdir.core.audit import Audit
from memdir.core.capturing import Catch
from memdir.core.draft import SKIPPED, Change, Draft, Wishes
from memdir.core.drafting import Rules
from memdir.core.dreaming import CONTRADICTS, Disputed, State, find_disputed, not_yet, too_few
from memdir.core.errors import BadInput, Busy, Conflict, MemdirError, Missing
from memdir.core.frontmatter import decode
from memdir.core.memory import Memory, read_memory
from memdir.core.pointer import read_pointers
from memdir.core.ports import Shelf, Store
from memdir.core.restructuring import checklist
from memdir.core.restructuring.ideas import Ideas
from memdir.core.restructuring.merging import MERGED_KEY
from memdir.core.restructuring.planning import Plan, plan
from memdir.core.restructuring.work import Accounted, begin
from memdir.core.transcript import Session
from memdir.flows.auditing import Wish, audit, find_lost
from memdir.flows.dating import clocks
from memdir.flows.log_gathering import Gathered, gather_logs
from memdir.flows.restructuring import ask_for_ideas, look
from memdir.steps.annotate import annotate
from memdir.steps.consolidate import consolidate
from memdir.steps.gather import gather
from memdir.steps.index import index
from memdir.steps.retire import retire
from memdir.steps.save import save

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
    before: checklist.Figures
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
    disputed = _disputed(app)
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


def _disputed(app: App) -> tuple[Disputed, ...]:
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
    committed = commit_times(checkout, [CLAUDE_MD]).times
    if CLAUDE_MD in committed:
        return committed[CLAUDE_MD]
    try:
        return os.stat(os.path.join(checkout, CLAUDE_MD)).st_mtime
    except OSError:
        return None


def _consolidate(
    app: App, desk: Desk, oriented: Oriented, ideas: Ideas
) -> tuple[list[Change], Run]:
    """First on paper: what a plan refuses must not be half done."""
    rules = app.rules()
    paper, shelf = DryRun(desk.store), DryShelf(desk.shelf)
    _save_and_mark(paper, rules, oriented)
    before = checklist.count(begin(look(desk.store, {}))) if paper.written else None
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
            done.append(replace(retire(path, store, shelf, rules.now), reason=reason))
    if done:
        index(store, rules)
    return done


def _worked_on(memory: Memory) -> bool:
    """Made of several things, or of a part of one: its age is not that of all it says."""
    return any(key in memory.values for key in WORKED_ON)


def _saved(draft: Draft, store: Store, rules: Rules) -> Change:
    try:
        return save(draft, store, rules, Wishes())
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
