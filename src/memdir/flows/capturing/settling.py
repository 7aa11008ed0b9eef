"""Carry out the plan of a capture: save, hold or retire each thing, and write down what it became.

A killed run is repeated: what it saved carries the id of the thing in its header, so nothing is
saved twice; what it retired is gone; what it held is there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from memdir.adapters.inbox import open_inbox
from memdir.adapters.captures import Captures
from memdir.adapters.journal import decided
from memdir.app import App
from memdir.core.accounts import HELD, RECEIVED, REFUSED, SAVED, Entry
from memdir.core.draft import RETIRED, Draft, Wishes
from memdir.core.errors import BadInput, Conflict, Missing
from memdir.core.memory import stem
from memdir.core.progress import Item, Plan, Progress
from memdir.flows.changing import rebuild_index, retire, save
from memdir.flows.undone import undone_on

ACTOR = "capture"
MARK = "metadata.capture"  # in the header: the thing that became this memory


def carry_out(app: App, captures: Captures, plan: Plan, again: bool = False) -> list[Entry]:
    """receive → settle each → cursor → the plan is done; what was decided, in order"""
    journal, now = captures.journal, app.now()
    app = replace(app, actor=ACTOR, batch=plan.batch)
    _, before = journal.read()
    known = {one.id for one in before}
    session, why = plan.progress.session, plan.reason
    came = [(item.id, "") for item in plan.items] + [(id, why) for id in plan.waits]
    new = [(id, reason) for id, reason in came if id not in known]
    journal.add([Entry(id, RECEIVED, now, session, "", reason) for id, reason in new])
    settled = decided(before)
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


def try_out(app: App, plan: Plan) -> list[Entry]:
    """What would be decided; nothing is written."""
    return [_settle(app, item, False) for item in plan.items]


def _settle(app: App, item: Item, again: bool) -> Entry:
    catch = item.catch
    entry = Entry(item.id, REFUSED, app.now())
    try:
        if item.refuse:
            return replace(entry, reason=item.refuse)
        if catch.hold:
            return _hold(app, item, entry)
        if catch.draft is not None:
            return _save(app, item, catch.draft, entry, again)
        return _retire(app, item, entry)
    except (BadInput, Conflict, Missing) as error:  # this one cannot be taken; the others can
        return replace(entry, reason=error.message)


def _hold(app: App, item: Item, entry: Entry) -> Entry:
    catch = item.catch
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
    if again:
        for path in _marked(app, item.id):
            return replace(entry, what=SAVED, name=stem(path))
    if day := undone_on(app, item.catch):
        return replace(entry, reason=f"it was saved before and undone ({day})")
    extra = (*(pair for pair in draft.extra if pair[0] != MARK), (MARK, item.id))
    [change, *_] = save(app, replace(draft, extra=extra), Wishes()).changes
    if change.changed:
        return replace(entry, what=SAVED, name=change.name)
    return replace(entry, name=change.name, reason=change.reason)


def _retire(app: App, item: Item, entry: Entry) -> Entry:
    """A path that is gone by now is what was wanted, whoever did it."""
    if app.store.exists(item.target):
        retire(app, [item.target], reason="asked for in a conversation")
    return replace(entry, what=SAVED, name=stem(item.target), reason=RETIRED)


def _marked(app: App, id: str) -> Iterator[str]:
    """The memory that this very thing became."""
    if not app.store.exists():
        return
    for memory in app.store.scan().memories:
        if id in memory.head and memory.values.get(MARK) == id:
            yield memory.path


def _with_names(progress: Progress, items: Sequence[Item], entries: Sequence[Entry]) -> Progress:
    """What was done at once knows the memory it became, so that a model may improve that one."""
    named = {one.id: one.name for one in entries if one.what == SAVED}
    by_message = {item.catch.origin.message: named.get(item.id, "") for item in items}
    done = tuple(
        one if one.name else replace(one, name=by_message.get(one.message, ""))
        for one in progress.done
    )
    return replace(progress, done=done)
