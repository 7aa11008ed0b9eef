"""Extract: what past sessions teach is saved, held, proposed for a page, or left out."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace

from memdir.capture.agent import without_secrets
from memdir.capture.choice import choose
from memdir.capture.drafts import STANDING
from memdir.capture.forget import meant, order, taken_back
from memdir.capture.inbox import id_of, open_inbox
from memdir.capture.origin import untrusted
from memdir.capture.page_patches import Patch, page_for, propose, standing_on
from memdir.capture.past_sessions import Chosen, PastSession, find_sessions
from memdir.capture.progress import Progress, restore
from memdir.capture.route import (
    CLAUDE_MD,
    MEMORY,
    NOT_ASKED,
    PROPOSED,
    SKIP,
    STORED,
    Place,
    Places,
    Routed,
    Text,
    nearly_same,
    rank,
    route,
)
from memdir.capture.signals import Catch, Signal, masked, notice
from memdir.clients.conversation import PERSON, Cursor, NewMessages, Session
from memdir.errors import BadInput, MemdirError
from memdir.format.draft import SKIPPED, Change, Draft, Wishes
from memdir.hot import safe
from memdir.hot.place import is_below, store_key
from memdir.store import state
from memdir.store.keep_index import index
from memdir.store.save import write_draft
from memdir.store.writer import App, Desk, Done, state_folder
from memdir.text import similar

VERB = "extract"
# What became of a thing; what is left was not done, and is found again by the next run.
SAVE, HOLD, PROPOSE, LEAVE_OUT, LEFT = "saved", "held", "proposed", "skipped", "left"
LATER = "a later session"
LEFT_OUT = "a secret was left out of it"
MAX_FILE_BYTES = 4 * 1024 * 1024


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


def extract(
    app: App, chosen: Chosen, progress: Callable[[int, int], None] | None = None
) -> Extraction:
    """find → read → notice → route → save · hold · propose"""
    options = app.config.options
    if chosen.model and not (options.capture_model or options.model):
        raise BadInput("no model is set", next="set model.name in config.toml or MEMDIR_MODEL")
    made = Extraction(f"{VERB}-{int(app.now())}")
    places, later = Places(app), dict[str, list[str]]()
    sessions = find_sessions(app, chosen)
    for number, past in enumerate(sessions, 1):  # what was said last counts
        if progress:
            progress(number, len(sessions))
        made.items += _take(past, places, chosen, later, made)
    made.sessions = [past.session for past in sessions]
    opened = list(places.opened.values())
    stood = {place.app.store.root: _stored(place) for place in opened}
    made.before = _figures(opened)
    _settle(opened, made)
    made.after = _figures(opened)
    made.lost = [] if app.dry_run else _find_lost(opened, stood, made)
    return made


def _take(
    past: PastSession,
    places: Places,
    chosen: Chosen,
    later: dict[str, list[str]],
    made: Extraction,
) -> list[Item]:
    """One session, what was said last first; one that cannot be read is told and hides no other.

    `later` is, by store, what later words wanted forgotten.
    """
    session = past.session
    try:
        stretch = past.reader.read(session.path, Cursor())
    except MemdirError as error:
        made.remarks.append(f"session {session.id}: {error.message}")
        return []
    if stretch.cut:
        made.remarks.append(f"session {session.id} is long: its oldest part was left out")
    place = places.find(past.project, session.cwd or stretch.cwd)
    if isinstance(place, str):
        catches = _catches(places.app, session, stretch, False, made)
        return [
            Item(Routed(SKIP, catch, place), session, outcome=LEAVE_OUT, reason=place)
            for catch in catches
        ]
    catches = _catches(place.app, session, stretch, chosen.model, made)
    used = {catch.origin.message for catch in catches}
    signals = notice([message for message in stretch.said if message.id in used])
    when = order(catches, stretch.said)
    forgotten = later.setdefault(place.app.store.root, [])
    items = []
    for number in sorted(range(len(catches)), key=lambda number: when[number], reverse=True):
        catch = catches[number]
        if catch.forget:
            catch = replace(catch, forget=meant(catch.forget))
            forgotten += [] if catch.hold else [catch.forget]
        kind = _kind(catch, signals)
        routed = _route(catch, kind, stretch, place, forgotten, chosen.yes)
        if routed.to != SKIP and routed.catch.draft:
            draft, origin = routed.catch.draft, routed.catch.origin
            said = f"{draft.description}\n{draft.body}"
            place.known.add(Text(LATER, said, origin.session, origin.message))
        items.append(Item(routed, session, place.app.store.root, place.root))
    return items


def _catches(
    app: App, session: Session, stretch: NewMessages, model: bool, made: Extraction
) -> Sequence[Catch]:
    """A model's, as long as there is budget, and each session once; else requests alone."""
    progress = Progress(session.id)
    if not model:
        return choose(app, stretch, progress, session.client, "").catches
    # What a model made of a session is kept: asked again, it costs nothing and says the same.
    folder = os.path.join(state_folder(app.config), "extracts")
    known = _load(folder, session.id, stretch.cursor)
    if known is not None:
        return known
    # A model that failed once, or may cost no more, is not asked about the next session either.
    waits = next(iter(made.waiting.values()), "")
    choice = choose(app, stretch, progress, session.client, None, waits=waits)
    made.tokens += choice.tokens
    if choice.left:
        made.waiting[session.id] = choice.reason
    elif choice.tokens or (choice.catches and not choice.reason):
        safe_catches = [asdict(_without_secrets(catch)) for catch in choice.catches]
        value = {"session": session.id, "cursor": stretch.cursor.id, "catches": safe_catches}
        with state.explained(folder, "what the model made cannot be kept"):
            state.replace_json(folder, store_key(session.id), value)
    return choice.catches


def _load(folder: str, session: str, cursor: Cursor) -> tuple[Catch, ...] | None:
    """What was made of the session as far as it went then; None: the model is asked again."""
    try:
        value = state.read_json(folder, store_key(session), dict, MAX_FILE_BYTES) or {}
        if (value["session"], value["cursor"]) == (session, cursor.id):
            return tuple(restore(Catch, item) for item in value["catches"])
    except (OSError, *state.DAMAGE):
        return None
    return None


def _without_secrets(catch: Catch) -> Catch:
    """A person sees first what was left out of what would be saved at once."""
    if catch.draft is None:
        return replace(catch, forget=masked(catch.forget))
    draft = without_secrets(catch.draft)
    hold = catch.hold or ("" if draft.body == catch.draft.body else LEFT_OUT)
    return replace(catch, draft=draft, hold=hold)


def _kind(catch: Catch, signals: Sequence[Signal]) -> str:
    """The kind of request that this comes from: of several, the one most like it."""
    body = similar.words(catch.draft.body if catch.draft else catch.forget)
    near = [signal for signal in signals if signal.said.id == catch.origin.message]
    best = max(near, key=lambda signal: len(body & similar.words(signal.quote)), default=None)
    return best.kind if best else ""


def _route(
    catch: Catch, kind: str, stretch: NewMessages, place: Place, forgotten: Sequence[str], yes: bool
) -> Routed:
    if reason := _reason_to_skip(catch, stretch, place, forgotten):
        return Routed(SKIP, catch, reason)
    routed = route(catch, place.known, place.rules, kind)
    meant_for = replace(routed, to=CLAUDE_MD) if routed.to == SKIP else routed
    if routed.to in (*PROPOSED, SKIP) and (page := standing_on(place, meant_for)):
        return Routed(SKIP, catch, f"{page} says it already")
    if routed.to in PROPOSED and (problem := page_for(place, routed).problem):
        hold = f"a page should say it, but {problem}"
        return Routed(MEMORY, replace(catch, hold=hold), hold)
    # Also where a model should have seen to it, and could not.
    noticed = routed.catch.hold.endswith((NOT_ASKED, STANDING))
    if yes and noticed and not untrusted(catch.origin):
        return replace(routed, catch=replace(routed.catch, hold=""))
    return routed


def _reason_to_skip(
    catch: Catch, stretch: NewMessages, place: Place, forgotten: Sequence[str]
) -> str:
    if catch.refuse:
        return catch.refuse
    if catch.draft and any(taken_back(catch.draft, wish) for wish in forgotten):
        return "it was to be forgotten later on"
    message = catch.origin.message
    said = max((item.time for item in stretch.said if item.id == message), default=0.0)
    for when, known in place.undone:
        if said <= when and known.where(catch):
            return f"it was saved before and undone ({safe.iso_day(when)})"
    # Did the agent of the session write it down right after these words?
    store = place.app.config.store
    heard = False
    for item in stretch.said:
        if item.who == PERSON and item.text:
            heard = item.id == message
        for path in item.wrote if heard else ():
            if any(
                is_below(os.path.normpath(path), root) for root in (store, os.path.realpath(store))
            ):
                return f"the agent wrote it down then ({os.path.basename(path)})"
    return ""


def _settle(places: Sequence[Place], made: Extraction) -> None:
    """Store by store; where one cannot be written, the others still are."""
    settled = [item for item in made.items if not item.store]
    for place in places:
        own = [item for item in made.items if item.store == place.app.store.root]
        try:
            settled += _settle_store(place, own, made)
        except MemdirError as error:
            if len(places) == 1:
                raise
            settled += [replace(item, outcome=LEFT, reason=error.message) for item in own]
    made.items = sorted(settled, key=lambda item: rank(item.routed))


def _settle_store(place: Place, items: Sequence[Item], made: Extraction) -> list[Item]:
    """The things of one project, values first, and what became of each."""
    own = sorted(items, key=lambda item: rank(item.routed))
    to_save = [item for item in own if item.routed.to in STORED and not item.routed.catch.hold]
    saved = iter(_save(place, to_save, made) if to_save else ())
    settled = []
    for item in own:
        routed = item.routed
        if routed.to in STORED and not routed.catch.hold:
            settled.append(next(saved))
        elif routed.to in STORED:
            settled.append(_hold(place.app, item, routed.catch.hold))
        elif routed.to in PROPOSED:
            page = page_for(place, routed).path
            settled.append(replace(item, outcome=PROPOSE, name=page, reason=routed.reason))
        else:
            settled.append(replace(item, outcome=LEAVE_OUT, reason=routed.reason))
    made.patches += propose(place, [item.routed for item in settled if item.outcome == PROPOSE])
    return settled


def _save(place: Place, items: Sequence[Item], made: Extraction) -> list[Item]:
    """All of them in one change; what says nearly the same as another memory waits for a person."""
    app = place.app
    kept: list[tuple[Draft, str]] = []
    with app.changing(VERB) as desk:
        desk.changes += [_save_draft(item.routed.catch.draft, desk, place, kept) for item in items]
        names = [change.name for change in desk.changes if change.changed]
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        desk.cause = replace(desk.cause, batch=made.batch, name=names[0] + more if names else "")
        if names:
            indexed = index(desk.store, app.rules())
            desk.remarks += indexed.remarks([change.path for change in desk.changes])
    changes = desk.changes
    made.done.append(desk.done)
    made.remarks += desk.done.remarks
    for remark in dict.fromkeys(remark for change in changes for remark in change.remarks):
        about = ", ".join(change.name for change in changes if remark in change.remarks)
        made.remarks.append(f"{about}: {remark}")
    settled = []
    for item, change in zip(items, changes, strict=True):
        if change.changed:
            made.changes.append((app.store.root, change))
            reason = item.routed.reason
            settled.append(replace(item, outcome=SAVE, name=change.path, reason=reason))
        elif change.hash:
            reason = change.reason
            settled.append(replace(item, outcome=LEAVE_OUT, name=change.path, reason=reason))
        else:
            settled.append(_hold(app, item, change.reason))
    return settled


def _save_draft(
    draft: Draft | None, desk: Desk, place: Place, kept: list[tuple[Draft, str]]
) -> Change:
    """Unless it says nearly what another of this run does: that one was said later."""
    assert draft is not None  # what has none is never routed to a store
    for other, name in kept:
        if not draft.name and nearly_same(draft, other):
            return Change(SKIPPED, "", "", reason=f"{name}, said later, says nearly the same")
    try:
        change = write_draft(draft, desk.store, place.app.rules(), Wishes())
    except BadInput as error:  # this one cannot be taken; the others can
        return Change(SKIPPED, draft.name, "", reason=error.message)
    kept += [(draft, change.name)] if change.changed else []
    return change


def _hold(app: App, item: Item, reason: str) -> Item:
    catch, inbox = replace(item.routed.catch, hold=reason), open_inbox(app)
    item = replace(item, routed=replace(item.routed, catch=catch), outcome=HOLD, reason=reason)
    if inbox.was_settled(id_of(catch)):
        return replace(item, outcome=LEAVE_OUT, reason="a review has settled it already")
    if app.dry_run:
        return item
    try:
        return replace(item, name=inbox.hold(catch, reason, app.now()).id)
    except BadInput as error:  # the inbox is full
        return replace(item, outcome=LEFT, reason=error.message)


def _stored(place: Place) -> set[str]:
    store = place.app.store
    return set(store.files()) if store.exists() else set()


def _figures(places: Sequence[Place]) -> dict[str, int]:
    return {
        "memories": sum(len(_stored(place)) for place in places),
        "held": sum(open_inbox(place.app).count() for place in places),
    }


def _find_lost(places: Sequence[Place], stood: dict[str, set[str]], made: Extraction) -> list[str]:
    """Memories that are no longer there, and things that went nowhere: always none."""
    gone = []
    for place in places:
        root = place.app.store.root
        new = {change.path for store, change in made.changes if store == root}
        gone += [f"{root}/{path}" for path in (stood[root] | new) - _stored(place)]
    nowhere = [item.routed.catch.origin.quote for item in made.items if not item.outcome]
    return sorted(gone) + nowhere
