"""The plan of one capture: each thing gets its id, and what is to be retired its path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memdir.app import App
from memdir.core import drafting
from memdir.core.capturing import Catch
from memdir.core.draft import Draft, Wishes
from memdir.core.errors import MemdirError
from memdir.core.progress import Item, Plan, Progress
from memdir.core.ranking import SURE
from memdir.core.revision import hash_of
from memdir.core.taking_back import taken_back_later
from memdir.core.transcript import Stretch
from memdir.flows.capturing.choosing import Choice
from memdir.flows.reading import find_all

ID_CHARACTERS = 12
NEAR = 3  # candidates that a person is told of
LATER = "it was to be forgotten later on"
BEFORE = "what it takes back was not saved yet"
CLEARLY = 1.5  # times the score of the next one: then it is clear which memory is meant


def make_plan(
    app: App,
    progress: Progress,
    known: Progress,
    stretch: Stretch,
    chosen: Choice,
    waiting: Sequence[str],
) -> Plan:
    """Everything of it decided but the saving; the same things have the same ids each time."""
    first = stretch.said[0].id if stretch.said else ""
    run = _hash(known.session, known.cursor.id, first)
    batch = f"capture-{run}"
    caught = {_id(known.session, catch): catch for catch in chosen.catches}
    back = taken_back_later([*caught.values()], stretch.said)
    if chosen.left:
        # What is done at once has ids of its own: the waiting thing keeps its.
        items = [_item(app, id, catch) for id, catch in caught.items()]
        waits = waiting[:1] or [f"{run}-waits"]
        dropped = waiting[1:]
    else:
        free = [*waiting]
        items = [_item(app, free.pop(0) if free else id, catch) for id, catch in caught.items()]
        waits, dropped = [], free
    items = [_in_order(item, at, back) for at, item in enumerate(items)]
    reason = chosen.reason or "nothing worth keeping was found in it"
    return Plan(batch, progress, tuple(items), tuple(waits), tuple(dropped), reason)


def _in_order(item: Item, at: int, back: dict[int, int]) -> Item:
    """What was said last counts: of a draft and a later wish to forget it, nothing is left."""
    if at in back and not item.refuse:
        return replace(item, refuse=LATER)
    if at in back.values() and not item.target:
        return replace(item, refuse=BEFORE)
    return item


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
        refuse = drafting.refusal(draft, app.rules(), Wishes(anyway=True))
        if refuse:
            bare = Draft("", draft.type)
            return Item(id, Catch(replace(catch.origin, quote=""), bare), refuse=refuse)
    if not catch.forget or catch.hold:
        return Item(id, catch)
    if path := _called(app, catch.forget):
        return Item(id, catch, path)
    hits = app.search.find(catch.forget, NEAR + 1).hits
    sure = [hit for hit in hits if hit.sure >= SURE]
    if sure and (len(sure) == 1 or sure[0].score >= CLEARLY * sure[1].score):
        return Item(id, catch, sure[0].memory.path)
    near = ", ".join(hit.memory.path for hit in hits[:NEAR])
    said = f"it may mean: {near}" if near else "no memory fits"
    return Item(id, replace(catch, hold=f"it is not clear which memory is meant; {said}"))


def _called(app: App, name: str) -> str:
    """The one memory that has that very name; empty where it is no name."""
    try:
        return find_all(app.store, [name])[0].path
    except MemdirError:
        return ""
