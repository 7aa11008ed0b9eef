"""What an extraction found is saved, held, proposed or left out, each thing with its reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from memdir.adapters.inbox import open_inbox
from memdir.app import App, Desk, Done
from memdir.core.draft import SKIPPED, Change, Draft, Wishes
from memdir.core.errors import BadInput
from memdir.core.held import id_of
from memdir.core.routing import PROPOSED, STORED, Routed, nearly_same, rank
from memdir.core.transcript import Session
from memdir.flows.extracting.places import Place
from memdir.flows.extracting.proposing import Patch, page_for, propose
from memdir.steps.index import index
from memdir.steps.save import save

VERB = "extract"
# What became of a thing; what is left was not done, and is found again by the next run.
SAVE, HOLD, PROPOSE, LEAVE_OUT, LEFT = "saved", "held", "proposed", "skipped", "left"


@dataclass(frozen=True)
class Item:
    """One thing that was found; `name` is its path, or its id in the review."""

    routed: Routed
    session: Session
    store: str = ""
    root: str = ""
    outcome: str = ""
    name: str = ""
    reason: str = ""


@dataclass
class Extraction:
    """What came of it. `waiting` are sessions that a model has still to see, each with why."""

    batch: str
    sessions: Sequence[Session] = ()  # that were looked at, the newest first
    items: list[Item] = field(default_factory=list)
    changes: list[tuple[str, Change]] = field(default_factory=list)  # with their stores
    done: list[Done] = field(default_factory=list)
    patches: list[Patch] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    waiting: dict[str, str] = field(default_factory=dict)
    tokens: int = 0
    before: dict[str, int] = field(default_factory=dict)
    after: dict[str, int] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)


def settle(place: Place, items: Sequence[Item], made: Extraction) -> list[Item]:
    """The things of one project, values first, and what became of each."""
    own = sorted(items, key=lambda one: rank(one.routed))
    to_save = [one for one in own if one.routed.to in STORED and not one.routed.catch.hold]
    saved = _save(place, to_save, made) if to_save else []
    settled = []
    for one in own:
        if one in to_save:
            settled.append(saved[to_save.index(one)])
        elif one.routed.to in STORED:
            settled.append(_hold(place.app, one, one.routed.catch.hold))
        elif one.routed.to in PROPOSED:
            page = page_for(place, one.routed).path
            settled.append(replace(one, outcome=PROPOSE, name=page, reason=one.routed.reason))
        else:
            settled.append(replace(one, outcome=LEAVE_OUT, reason=one.routed.reason))
    made.patches += propose(place, [one.routed for one in settled if one.outcome == PROPOSE])
    return settled


def _save(place: Place, items: Sequence[Item], made: Extraction) -> list[Item]:
    """All of them in one change; what says nearly the same as another memory waits for a person."""
    app, changes = place.app, list[Change]()

    def act(desk: Desk) -> list[Change]:
        kept: list[tuple[Draft, str]] = []
        for one in items:
            changes.append(_save_one(one, desk, place, kept))
        names = [change.name for change in changes if change.changed]
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        desk.cause = replace(desk.cause, batch=made.batch, name=names[0] + more if names else "")
        if names:
            indexed = index(desk.store, app.rules())
            desk.remarks += indexed.remarks([change.path for change in changes])
        return changes

    done = app.change(VERB, act, lambda done: None)
    made.done.append(done)
    made.remarks += [*done.remarks, *_remarks(changes)]
    settled = []
    for one, change in zip(items, changes, strict=True):
        if change.changed:
            made.changes.append((app.store.root, change))
            told = replace(one, outcome=SAVE, name=change.path, reason=one.routed.reason)
        elif change.hash:
            told = replace(one, outcome=LEAVE_OUT, name=change.path, reason=change.reason)
        else:
            told = _hold(app, one, change.reason)
        settled.append(told)
    return settled


def _remarks(changes: Sequence[Change]) -> list[str]:
    """What the person should know of the memories, each remark once."""
    told = dict.fromkeys(remark for change in changes for remark in change.remarks)
    return [
        f"{', '.join(change.name for change in changes if remark in change.remarks)}: {remark}"
        for remark in told
    ]


def _save_one(one: Item, desk: Desk, place: Place, kept: list[tuple[Draft, str]]) -> Change:
    """One of them, unless it says nearly what another of this run does: that one was said later."""
    draft = one.routed.catch.draft
    assert draft is not None  # what has none is never routed to a store
    for other, name in kept:
        if not draft.name and nearly_same(draft, other):
            return Change(SKIPPED, "", "", reason=f"{name}, said later, says nearly the same")
    try:
        change = save(draft, desk.store, place.app.rules(), Wishes())
    except BadInput as error:  # this one cannot be taken; the others can
        return Change(SKIPPED, draft.name, "", reason=error.message)
    kept += [(draft, change.name)] if change.changed else []
    return change


def _hold(app: App, one: Item, reason: str) -> Item:
    catch, inbox = replace(one.routed.catch, hold=reason), open_inbox(app)
    one = replace(one, routed=replace(one.routed, catch=catch), outcome=HOLD, reason=reason)
    if inbox.was_settled(id_of(catch)):
        return replace(one, outcome=LEAVE_OUT, reason="a review has settled it already")
    if app.dry_run:
        return one
    try:
        return replace(one, name=inbox.hold(catch, reason, app.now()).id)
    except BadInput as error:  # the inbox is full
        return replace(one, outcome=LEFT, reason=error.message)


def stored_paths(app: App) -> set[str]:
    """The memories that a store has."""
    return set(app.store.files()) if app.store.exists() else set()


def figures(places: Sequence[Place]) -> dict[str, int]:
    """What the stores hold, and what waits."""
    return {
        "memories": sum(len(stored_paths(place.app)) for place in places),
        "held": sum(open_inbox(place.app).count() for place in places),
    }


def find_lost(places: Sequence[Place], stood: dict[str, set[str]], made: Extraction) -> list[str]:
    """Memories that are no longer there, and things that went nowhere: always none."""
    gone = []
    for place in places:
        root = place.app.store.root
        new = {change.path for store, change in made.changes if store == root}
        gone += [f"{root}/{path}" for path in (stood[root] | new) - stored_paths(place.app)]
    nowhere = [one.routed.catch.origin.quote for one in made.items if not one.outcome]
    return sorted(gone) + nowhere
