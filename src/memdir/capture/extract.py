"""Extract: drafts from past sessions are saved, held, proposed for a page, or left out."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace

from memdir.capture import route
from memdir.capture.capture import choose_captured_drafts
from memdir.capture.inbox import held_draft_id, open_inbox
from memdir.capture.plan import BY_AGENT, SETTLED, find_requests_agent_saved
from memdir.capture.plan import LATER as FORGOTTEN_LATER
from memdir.capture.progress import Progress, restore_value
from memdir.capture.sessions import PastSession, find_sessions_to_extract
from memdir.capture.signals import (
    REMEMBER,
    STANDING,
    Catch,
    forgets_draft,
    notice_requests,
    order_captured_requests,
    rests_on_request,
)
from memdir.clients.conversation import PERSON, Cursor, NewMessages, Session
from memdir.errors import BadInput, MemdirError
from memdir.format.draft import SKIPPED, Change, Draft, Wishes
from memdir.hot.place import store_key
from memdir.store import state
from memdir.store.save import follow_in_index, save_draft_to_store
from memdir.store.writer import App, Done, store_state_folder

VERB = "extract"
# Outcomes of an item; the next run finds LEFT items again.
SAVE, HOLD, PROPOSE, LEAVE_OUT, LEFT = "saved", "held", "proposed", "skipped", "left"
LATER = "a later session"


@dataclass(frozen=True)
class Item:
    routed: route.Routed
    session: Session
    outcome: str = ""
    name: str = ""
    reason: str = ""


@dataclass
class Extraction:
    batch: str
    root: str = ""  # of the project
    sessions: Sequence[Session] = ()  # read, newest first
    items: list[Item] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    done: list[Done] = field(default_factory=list)
    patches: list[route.Patch] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    waiting: dict[str, str] = field(default_factory=dict)
    tokens: int = 0
    before: dict[str, int] = field(default_factory=dict)
    after: dict[str, int] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)


def extract_past_sessions(
    app: App,
    sessions: Sequence[str] = (),
    last: int = 0,
    *,
    model: bool = False,
    yes: bool = False,
) -> Extraction:
    """`sessions`: only these; `model`: it may be asked; `yes`: save without a request."""
    options = app.config.options
    if model and not (options.capture_model or options.model):
        raise BadInput("no model is set", next="set model.name in config.toml or MEMDIR_MODEL")
    place, forgotten = route.open_capture_place(app), list[str]()
    made = Extraction(f"{VERB}-{int(app.now())}", place.root)
    chosen = find_sessions_to_extract(app, sessions, last)
    for past in chosen:  # the newest first: the last word counts
        made.items += _take(past, place, model, yes, forgotten, made)
    made.sessions = [past.session for past in chosen]
    before, made.before = _stored(app)
    _settle(place, made)
    after, made.after = _stored(app)
    if not app.dry_run:
        made.lost = sorted((before | {change.path for change in made.changes}) - after)  # none
    return made


def _stored(app: App) -> tuple[set[str], dict[str, int]]:
    paths = set(app.store.files() if app.store.exists() else ())
    return paths, {"memories": len(paths), "held": open_inbox(app).count()}


def _take(
    past: PastSession,
    place: route.Place,
    model: bool,
    yes: bool,
    forgotten: list[str],
    made: Extraction,
) -> list[Item]:
    """Reads one session, last messages first; an unreadable one is reported and skipped.

    `forgotten`: what later messages asked to forget.
    """
    app, session = place.app, past.session
    try:
        new = past.reader.read(session.path, Cursor())
    except MemdirError as error:
        made.remarks.append(f"session {session.id}: {error.message}")
        return []
    if new.cut:
        made.remarks.append(f"session {session.id} is long: its oldest part was left out")
    elsewhere = route.why_session_is_elsewhere(app, past.project, session.cwd or new.cwd)
    catches = _catches(app, session, new, model and not elsewhere, made)
    used = {catch.origin.message for catch in catches}
    signals = notice_requests([message for message in new.said if message.id in used])
    requests = [signal for signal in signals if signal.kind == REMEMBER]
    saved = find_requests_agent_saved(app, new.said, catches)
    when = order_captured_requests(catches, new.said)
    items = []
    for number in sorted(range(len(catches)), key=lambda number: when[number], reverse=True):
        catch, reason = catches[number], elsewhere
        if not elsewhere:
            forgotten += [catch.forget] if catch.forget and not catch.hold else []
            asked = any(rests_on_request(catch, signal) for signal in requests)
            reason = f"{BY_AGENT} ({saved[number]})" if number in saved else ""
            if catch.draft and any(forgets_draft(wish, catch.draft) for wish in forgotten):
                reason = reason or FORGOTTEN_LATER
            reason = reason or catch.refuse or route.why_not_capture_again(catch, place.undone)
        if reason:
            routed = route.Routed(route.SKIP, catch, reason)
        else:
            routed = _route(catch, place, asked, yes)
        if routed.to != route.SKIP and (draft := routed.catch.draft):
            text, origin = f"{draft.description}\n{draft.body}", catch.origin
            place.known.add(route.Text(LATER, text, origin.session, origin.message))
        items.append(Item(routed, session))
    return items


def _catches(
    app: App, session: Session, new: NewMessages, model: bool, made: Extraction
) -> Sequence[Catch]:
    progress = Progress(session.id)
    if not model:
        return choose_captured_drafts(app, new, progress, session.client, "").catches
    # Drafts of a session are cached: a second run costs nothing and gives the same result.
    folder, name = os.path.join(store_state_folder(app.config), "extracts"), store_key(session.id)
    try:
        value = state.read_state_json(folder, name, dict) or {}
        if (value.get("session"), value.get("cursor")) == (session.id, new.cursor.id):
            return tuple(restore_value(Catch, item) for item in value["catches"])
    except (OSError, *state.DAMAGE):
        pass  # the model is asked again
    # After a failure or a spent budget, the model is not asked about further sessions.
    waits = next(iter(made.waiting.values()), "")
    choice = choose_captured_drafts(app, new, progress, session.client, None, waits)
    made.tokens += choice.tokens
    if choice.later:
        made.waiting[session.id] = choice.later
    elif choice.tokens or (choice.catches and not choice.reason):
        catches = [asdict(catch) for catch in choice.catches]
        value = {"session": session.id, "cursor": new.cursor.id, "catches": catches}
        with state.state_errors(folder, "what the model made cannot be kept"):
            state.replace_state_json(folder, name, value)
    return choice.catches


def _route(catch: Catch, place: route.Place, asked: bool, yes: bool) -> route.Routed:
    routed = route.route_extracted_draft(catch, place.known, place.rules, asked)
    if routed.to in route.PROPOSED and (draft := routed.catch.draft):
        page = _page(place, routed)
        if route.page_has_draft(page, draft, place.rules):
            return route.Routed(route.SKIP, catch, f"{page.path} says it already")
        if page.problem:
            hold = f"a page should say it, but {page.problem}"
            return route.Routed(route.MEMORY, replace(catch, hold=hold), hold)
    # `endswith`, because the reason why no model was asked may come first.
    noticed = routed.catch.hold.endswith((route.NOT_ASKED, STANDING))
    if yes and noticed and catch.origin.who == PERSON:
        return replace(routed, catch=replace(routed.catch, hold=""))
    return routed


def _page(place: route.Place, routed: route.Routed) -> route.Page:
    if routed.to == route.CLAUDE_MD:
        return place.claude_md
    return route.read_capture_page(place.root, route.DECISIONS, "# Decisions")


def _settle(place: route.Place, made: Extraction) -> None:
    to_save, settled, proposals = [], [], []
    for item in sorted(made.items, key=lambda item: route.rank_of_routed_draft(item.routed)):
        routed, draft = item.routed, item.routed.catch.draft
        if routed.to in route.STORED and draft and not routed.catch.hold:
            to_save.append((item, draft))
        elif routed.to in route.STORED:
            settled.append(_hold(place.app, item, routed.catch.hold))
        elif routed.to in route.PROPOSED and draft:
            page = _page(place, routed)
            proposals.append((page, draft))
            settled.append(replace(item, outcome=PROPOSE, name=page.path, reason=routed.reason))
        else:
            settled.append(replace(item, outcome=LEAVE_OUT, reason=routed.reason))
    settled += _save(place.app, to_save, made) if to_save else []
    made.patches = route.propose_capture_patches(place.root, place.rules, proposals)
    made.items = sorted(settled, key=lambda item: route.rank_of_routed_draft(item.routed))


def _save(app: App, items: Sequence[tuple[Item, Draft]], made: Extraction) -> list[Item]:
    """Save all in one change; near-duplicates wait for a person."""
    with app.changing(VERB) as desk:
        for _, draft in items:
            try:
                desk.changes.append(save_draft_to_store(draft, desk.store, app.rules(), Wishes()))
            except BadInput as error:  # does not stop the others
                desk.changes.append(Change(SKIPPED, draft.name, "", reason=error.message))
        names = [change.name for change in desk.changes if change.changed]
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        desk.cause = replace(desk.cause, batch=made.batch, name=names[0] + more if names else "")
        if names:
            indexed = follow_in_index(desk.store, app.rules())
            desk.remarks += indexed.remarks([change.path for change in desk.changes])
    changes = desk.changes
    made.done.append(desk.done)
    made.remarks += desk.done.remarks
    made.remarks += [f"{item.name}: {remark}" for item in changes for remark in item.remarks]
    settled = []
    for (item, _), change in zip(items, changes, strict=True):
        if change.changed or change.hash:
            how = (SAVE, item.routed.reason) if change.changed else (LEAVE_OUT, change.reason)
            settled.append(replace(item, outcome=how[0], name=change.path, reason=how[1]))
        else:
            settled.append(_hold(app, item, change.reason))
    made.changes += [change for change in changes if change.changed]
    return settled


def _hold(app: App, item: Item, reason: str) -> Item:
    catch, inbox = replace(item.routed.catch, hold=reason), open_inbox(app)
    item = replace(item, routed=replace(item.routed, catch=catch), outcome=HOLD, reason=reason)
    if inbox.was_settled(held_draft_id(catch)):
        return replace(item, outcome=LEAVE_OUT, reason=SETTLED)
    if app.dry_run:
        return item
    try:
        return replace(item, name=inbox.hold(catch, reason, app.now()).id)
    except BadInput as error:  # the inbox is full
        return replace(item, outcome=LEFT, reason=error.message)
