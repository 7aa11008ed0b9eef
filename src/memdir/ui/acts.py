"""What a form may do: each act calls what the command line calls, and says how to take it back.

An act is made on the version that the page has shown. If the store has another one by then, nothing
is written and both are shown.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from memdir.capture.inbox import APPROVED
from memdir.capture.review import undo_and_hold_again
from memdir.errors import BadInput, Conflict, MemdirError
from memdir.format.draft import Draft, Revision, Wishes, content_hash
from memdir.hot.layout import Around
from memdir.share.share import share_memories
from memdir.store import changes
from memdir.store.accept import Source
from memdir.store.ports import ARCHIVE, TRASH
from memdir.store.writer import App, Done
from memdir.ui import decisions
from memdir.upkeep.restructure import Plan, restructure_store

MAX_VERSIONS = 50  # of the history, to find the one that a page has shown
Fields = Mapping[str, str]


@dataclass(frozen=True)
class Outcome:
    """What happened, in words; `take_back` undoes it and says so."""

    message: str
    details: tuple[str, ...] = ()
    take_back: Callable[[], Outcome] | None = None
    refused: bool = False


class AsShown(Around):
    """A store in which one memory must be as the page has shown it."""

    def __init__(self, app: App, path: str, version: str) -> None:
        super().__init__(app.store)
        self.app, self.path, self.version = app, path, version

    def read(self, path: str) -> bytes:
        data = self.inside.read(path)
        if path == self.path and content_hash(data) != self.version:
            raise Conflict(
                f"{path} was changed since this page was made; nothing was written",
                path=path,
                next="look at the present text, then decide again",
                ours=find_version(self.app, path, self.version),
                theirs=data,
            )
        return data


def find_version(app: App, path: str, version: str) -> bytes:
    """The bytes that a page has shown, if the history has them."""
    try:
        for logged in islice(app.history.log(), MAX_VERSIONS) if app.history.begun else ():
            data = app.history.content(logged.id, path)
            if data is not None and content_hash(data) == version:
                return data
    except MemdirError:
        pass  # the present text is shown anyway
    return b""


def new_batch() -> str:
    return f"ui-{secrets.token_hex(6)}"


def save_edit(app: App, path: str, version: str, given: Revision, secret: bool) -> Done:
    revision = replace(given, expected=version)
    return changes.edit_memory(app, path, revision, Wishes(secret=secret))


def _as_shown(app: App, form: Fields) -> tuple[App, str]:
    path = form["path"]
    return replace(app, store=AsShown(app, path, form["version"])), path


def retire(app: App, form: Fields) -> Outcome:
    app, path = _as_shown(app, form)
    room = ARCHIVE if form.get("room") == ARCHIVE else TRASH
    done = changes.retire_memories(app, [path], room, form.get("reason", ""))
    where = "in the archive" if room == ARCHIVE else "in the trash"
    return outcome(app, done, f"{path} is {where}.")


def confirm(app: App, form: Fields) -> Outcome:
    app, path = _as_shown(app, form)
    done = changes.touch_memories(app, [path])
    return outcome(app, done, f"{path} still holds: its age starts again.")


def restore(app: App, form: Fields) -> Outcome:
    done = changes.restore_memories(app, [form["path"]])
    return outcome(app, done, f"{form['path']} is back.")


def undo(app: App, form: Fields) -> Outcome:
    return _undone(app, change=form["change"])


def _undone(app: App, change: str = "", batch: str = "") -> Outcome:
    done = undo_and_hold_again(app, change, batch)
    files = tuple(f"{it.path} {it.reason or 'is as it was before'}" for it in done.changes)
    took_back = done.undone[0].cause if done.undone else None
    name = f"{took_back.verb} {took_back.name}".strip() if took_back else "the change"
    return Outcome(f"Taken back: {name}.", (*files, *done.remarks), _taker(app))


def share(source: App, target: App, form: Fields) -> Outcome:
    shown, path = _as_shown(source, form)
    done = share_memories(shown, target, [path])
    return outcome(target, done, f"{path} is in the scope {target.config.scope} now.")


def restructure(app: App, form: Fields) -> Outcome:
    """The plan is made again; it must be the one that was shown."""
    plan, _ = restructure_store(replace(app, dry_run=True))
    if plan_version(plan) != form["version"]:
        raise BadInput(
            "the store was changed since this plan was made; nothing was written",
            next="look at the new plan",
        )
    plan, done = restructure_store(app)
    batch = plan.batch

    def take_back() -> Outcome:
        return _undone(replace(app, batch=new_batch()), batch=batch)

    message = f"Restructured: {plan.title}." if done.changes else "There was nothing to do."
    return Outcome(message, done.remarks, take_back if done.changes else None)


def plan_version(plan: Plan) -> str:
    words = repr((sorted(plan.texts.items()), plan.gone, plan.index))
    return content_hash(words.encode("utf-8", "surrogatepass"))


def approve(app: App, form: Fields) -> Outcome:
    settled = decisions.approve_draft(app, form["id"], form["version"], "anyway" in form)
    if settled.how != APPROVED:
        reason = settled.done.changes[0].reason if settled.done.changes else "it still waits"
        return Outcome("Nothing was saved; the draft still waits.", (reason,), refused=True)
    return outcome(app, settled.done, "Approved: agents may be told this from now on.")


def edit_draft(app: App, form: Fields) -> Outcome:
    draft = Draft(
        form.get("body", ""),
        type=form.get("type", "unknown"),
        name=form.get("name", "").strip(),
        description=form.get("description", "").strip(),
    )
    decisions.rewrite_draft(app, form["id"], form["version"], draft)
    return Outcome("The draft is changed; it still waits.")


def reject(app: App, form: Fields) -> Outcome:
    take_back = decisions.reject_draft(app, form["id"], form["version"])
    return Outcome(
        "Rejected. It can be put back for 30 days.", take_back=lambda: Outcome(take_back())
    )


def decide(others: Sequence[Source], form: Fields, accept: bool) -> Outcome:
    take_back = decisions.decide_on_memory(others, form["id"], accept)
    word = "Accepted: agents may be told this from now on." if accept else "Rejected."
    return Outcome(word, take_back=lambda: Outcome(take_back()))


def outcome(app: App, done: Done, message: str) -> Outcome:
    refused = [change for change in done.changes if not change.changed]
    if done.changes and len(refused) == len(done.changes):
        reasons = tuple(change.reason for change in refused)
        return Outcome("Nothing was written.", (*reasons, *done.remarks), refused=True)
    return Outcome(message, done.remarks, _taker(app))


def _taker(app: App) -> Callable[[], Outcome] | None:
    """Takes back what was done under this batch; without a history nothing can be."""
    if not app.history.on or not app.batch:
        return None
    plain = app
    while isinstance(plain.store, AsShown):
        plain = replace(plain, store=plain.store.inside)

    def take_back() -> Outcome:
        return _undone(replace(plain, batch=new_batch()), batch=app.batch)

    return take_back
