"""The plan of one capture: each thing saved, held, refused or retired; survives a kill."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from memdir.capture.choice import Choice
from memdir.capture.forget import taken_back_later
from memdir.capture.inbox import open_inbox
from memdir.capture.progress import (
    HELD,
    RECEIVED,
    REFUSED,
    SAVED,
    Captures,
    Entry,
    Item,
    Plan,
    Progress,
    decisions,
)
from memdir.capture.route import undone_on
from memdir.capture.signals import Catch
from memdir.clients.conversation import NewMessages
from memdir.errors import BadInput, Conflict, MemdirError, Missing
from memdir.format import draft as draft_module
from memdir.format.draft import RETIRED, Draft, Wishes, hash_of
from memdir.hot.memory import stem
from memdir.hot.recall import SURE
from memdir.store.changes import rebuild_index, retire, save
from memdir.store.look import find_all
from memdir.store.writer import App

CLIENT = "claude-code"
ACTOR = "capture"
MARK = "metadata.capture"  # in the header: the thing that became this memory
ID_CHARACTERS = 12
MAX_NAMED = 5  # memories in the line for the user
MAX_CANDIDATES = 3  # that a person is told of
CLEARLY = 1.5  # times the score of the next one: then it is clear which memory is meant
LATER = "it was to be forgotten later on"
BEFORE = "what it takes back was not saved yet"


@dataclass(frozen=True)
class Request:
    """A conversation that should be looked at.

    `last` is a reply that may not be in the file yet; `turns` have ended since the last request;
    `ends`: it is looked at now, however few turns that were.
    """

    transcript: str
    session: str = ""
    client: str = CLIENT
    last: str = ""
    turns: int = 1
    ends: bool = True
    model: str | None = None  # None: the one of the settings; empty: none


@dataclass(frozen=True)
class Outcome:
    """What came of it; after `after` it is worth another try. `things` are by the ids of `decided`.

    `unreadable`: not one line of the transcript is what the client writes. `remarks` are what a
    person should know of how it was read.
    """

    decided: tuple[Entry, ...] = ()
    waiting: int = 0
    tokens: int = 0
    reason: str = ""
    after: float = 0.0
    things: Mapping[str, Catch] = field(default_factory=dict)
    unreadable: bool = False
    remarks: tuple[str, ...] = ()

    def of(self, what: str) -> list[Entry]:
        """What was decided in that way."""
        return [entry for entry in self.decided if entry.what == what]

    @property
    def received(self) -> int:
        """Everything that was decided on, and what still waits."""
        return len(self.decided) + self.waiting


def report(decided: Sequence[Entry]) -> str:
    """One line for the user; empty where nothing happened."""
    done = [entry for entry in decided if entry.what == SAVED]
    parts = []
    for verb, retired in (("saved", False), (RETIRED, True)):
        names = [entry.name for entry in done if (entry.reason == RETIRED) is retired]
        if names:
            noun = "memory" if len(names) == 1 else "memories"
            listed = ", ".join(names[:MAX_NAMED]) + (", …" if len(names) > MAX_NAMED else "")
            parts.append(f"{verb} {len(names)} {noun} ({listed})")
    held = sum(entry.what == HELD for entry in decided)
    parts += [f"{held} held (memdir review)"] if held else []
    return "memdir: " + ", ".join(parts) if parts else ""


def make_plan(
    app: App,
    progress: Progress,
    known: Progress,
    stretch: NewMessages,
    chosen: Choice,
    waiting: Sequence[str],
) -> Plan:
    """Everything of it decided but the saving; the same things have the same ids each time."""
    run = _hash(known.session, known.cursor.id, stretch.said[0].id if stretch.said else "")
    caught = {_id(known.session, catch): catch for catch in chosen.catches}
    if chosen.left:
        # What is done at once has ids of its own: the waiting thing keeps its.
        ids, waits, dropped = [*caught], waiting[:1] or [f"{run}-waits"], waiting[1:]
    else:
        ids = [*waiting, *[*caught][len(waiting) :]]
        waits, dropped = [], waiting[len(caught) :]
    items = [_item(app, id, catch) for id, catch in zip(ids, caught.values(), strict=False)]
    # What was said last counts: of a draft and a later wish to forget it, nothing is left.
    back = taken_back_later([*caught.values()], stretch.said)
    for index, item in enumerate(items):
        if index in back and not item.refuse:
            items[index] = replace(item, refuse=LATER)
        elif index in back.values() and not item.target:
            items[index] = replace(item, refuse=BEFORE)
    reason = chosen.reason or "nothing worth keeping was found in it"
    batch = f"capture-{run}"
    return Plan(batch, progress, tuple(items), tuple(waits), tuple(dropped), reason)


def _id(session: str, catch: Catch) -> str:
    """By what was said and where: a fork of a session, or one read again, has the same messages."""
    origin, draft = catch.origin, catch.draft
    texts = (draft.type, draft.name, draft.body) if draft else ("", "", catch.forget)
    return _hash(origin.client, origin.message or session, *texts)


def _hash(*texts: str) -> str:
    return hash_of("\0".join(texts).encode("utf-8", "backslashreplace"))[:ID_CHARACTERS]


def _item(app: App, id: str, catch: Catch) -> Item:
    """What is to be retired is looked for now: later it would be gone, if a killed run did it."""
    draft = catch.draft
    if catch.refuse:
        return Item(id, catch, refuse=catch.refuse)
    if draft and not catch.hold:
        # Whoever insists on everything still gets a refusal for a secret: no plan may hold it.
        refuse = draft_module.refusal(draft, app.rules(), Wishes(anyway=True))
        bare = Catch(replace(catch.origin, quote=""), Draft("", draft.type))
        return Item(id, bare, refuse=refuse) if refuse else Item(id, catch)
    if draft or not catch.forget or catch.hold:
        return Item(id, catch)
    try:
        return Item(id, catch, find_all(app.store, [catch.forget])[0].path)
    except MemdirError:  # it is no name of a memory
        hits = app.search.find(catch.forget, MAX_CANDIDATES + 1).hits
    sure = [hit for hit in hits if hit.sure >= SURE]
    if sure and (len(sure) == 1 or sure[0].score >= CLEARLY * sure[1].score):
        return Item(id, catch, sure[0].memory.path)
    near = ", ".join(hit.memory.path for hit in hits[:MAX_CANDIDATES])
    said = f"it may mean: {near}" if near else "no memory fits"
    return Item(id, replace(catch, hold=f"it is not clear which memory is meant; {said}"))


def carry_out(app: App, captures: Captures, plan: Plan, again: bool = False) -> list[Entry]:
    """receive → settle each → cursor → the plan is done; what was decided, in order

    A killed run is repeated: what it saved carries the id of the thing in its header, so nothing
    is saved twice; what it retired is gone; what it held is there.
    """
    if app.dry_run:
        return [_settle(app, item, False) for item in plan.items]
    journal, now = captures.journal, app.now()
    app = replace(app, actor=ACTOR, batch=plan.batch)
    before = journal.read()[1]
    known, settled = {entry.id for entry in before}, decisions(before)
    session, why = plan.progress.session, plan.reason
    received = [(item.id, "") for item in plan.items] + [(id, why) for id in plan.waits]
    journal.add(
        [Entry(id, RECEIVED, now, session, "", why) for id, why in received if id not in known]
    )
    done = [settled[item.id] for item in plan.items if item.id in settled]
    for item in plan.items:
        if item.id not in settled:
            entry = replace(_settle(app, item, again), session=session)
            journal.add([entry])
            done.append(entry)
    dropped = [
        Entry(id, REFUSED, now, session, "", why) for id in plan.dropped if id not in settled
    ]
    journal.add(dropped)
    if again and app.store.exists():
        rebuild_index(app)  # the killed run may have saved a memory without its line
    captures.keep(_with_names(plan.progress, plan.items, done))
    captures.finish()
    return done + dropped


def _settle(app: App, item: Item, again: bool) -> Entry:
    catch = item.catch
    entry = Entry(item.id, REFUSED, app.now())
    try:
        if item.refuse:
            return replace(entry, reason=item.refuse)
        if catch.hold:
            return _hold(app, catch, entry)
        if catch.draft is not None:
            return _save(app, item, catch.draft, entry, again)
        # A path that is gone by now is what was wanted, whoever did it.
        if app.store.exists(item.target):
            retire(app, [item.target], reason="asked for in a conversation")
        return replace(entry, what=SAVED, name=stem(item.target), reason=RETIRED)
    except (BadInput, Conflict, Missing) as error:  # this one cannot be taken; the others can
        return replace(entry, reason=error.message)


def _hold(app: App, catch: Catch, entry: Entry) -> Entry:
    name = catch.draft.name if catch.draft else ""
    if not app.dry_run:
        held = open_inbox(app).hold(catch, catch.hold, app.now())
        try:
            open_inbox(app).read(held.id)
        except Missing:
            return replace(entry, name=name, reason="a review has settled it already")
        name = name or held.id
    return replace(entry, what=HELD, name=name, reason=catch.hold)


def _save(app: App, item: Item, draft: Draft, entry: Entry, again: bool) -> Entry:
    if again and app.store.exists():
        for memory in app.store.scan().memories:
            if item.id in memory.head and memory.values.get(MARK) == item.id:
                return replace(entry, what=SAVED, name=stem(memory.path))
    if day := undone_on(app, item.catch):
        return replace(entry, reason=f"it was saved before and undone ({day})")
    extra = (*(pair for pair in draft.extra if pair[0] != MARK), (MARK, item.id))
    [change, *_] = save(app, replace(draft, extra=extra), Wishes()).changes
    if change.changed:
        return replace(entry, what=SAVED, name=change.name)
    return replace(entry, name=change.name, reason=change.reason)


def _with_names(progress: Progress, items: Sequence[Item], entries: Sequence[Entry]) -> Progress:
    """What was done at once knows the memory it became, so that a model may improve that one."""
    named = {entry.id: entry.name for entry in entries if entry.what == SAVED}
    by_message = {item.catch.origin.message: named.get(item.id, "") for item in items}
    done = tuple(
        item if item.name else replace(item, name=by_message.get(item.message, ""))
        for item in progress.done
    )
    return replace(progress, done=done)
