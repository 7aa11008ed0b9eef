"""What each form does: what the command of that name does, and how to take it back.

An act is made on the version that its page has shown. If the store has another one by then, nothing
is written and both are shown. Every act ends in a banner.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Any

from starlette.responses import RedirectResponse, Response

from memdir.capture import review
from memdir.capture.inbox import APPROVED, Held
from memdir.errors import BadInput, Conflict, MemdirError
from memdir.format.draft import ANYWAY, Draft, Revision, Wishes, content_hash
from memdir.format.names import check_memory_name
from memdir.format.type_guess import guess_memory_type
from memdir.hot.acceptance import ACCEPTED, REJECTED
from memdir.hot.layout import Around
from memdir.hot.memory import PINNED_KEYS, TYPE_KEYS, UNKNOWN, Document, decode, read_header
from memdir.hot.place import RECORDS
from memdir.share.share import share_memories
from memdir.store import changes
from memdir.store.accept import Waiting, keep_decision
from memdir.store.ports import ARCHIVE, OUTSIDE, TRASH
from memdir.store.writer import App, Done
from memdir.ui.page import form_key
from memdir.ui.routes import Handler, Outcome, Visit, find_undecided, form_path, new_ui_batch
from memdir.ui.views import memory_page, page_diffs, plan_version
from memdir.upkeep.restructure import restructure_store

MAX_VERSIONS = 50  # of the history, to find the one that a page has shown
BACK = ("waiting", "memories", "shelf", "changes", "restructure", "findings")


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
                ours=_find_version(self.app, path, self.version),
                theirs=data,
            )
        return data


def _find_version(app: App, path: str, version: str) -> bytes:
    """The bytes that a page has shown, if the history has them."""
    with suppress(MemdirError):  # the present text is shown anyway
        for logged in islice(app.history.log(), MAX_VERSIONS) if app.history.begun else ():
            data = app.history.content(logged.id, path)
            if data is not None and content_hash(data) == version:
                return data
    return b""


def _fields(visit: Visit, *names: str) -> dict[str, str]:
    """The form, with its path as it is on disk."""
    empty = [name for name in ("change", "notice", "id") if visit.form.get(name) == ""]
    if missing := [name for name in names if name not in visit.form or name in empty]:
        raise BadInput(f"the form lacks {', '.join(missing)}", next="load the page again")
    form = dict(visit.form)
    return form | {"path": form_path(form.get("path", ""))}


def _as_shown(visit: Visit) -> tuple[App, str, dict[str, str]]:
    form = _fields(visit, "path", "version")
    store = AsShown(visit.app, form["path"], form["version"])
    return replace(visit.app, store=store), form["path"], form


def _outcome(app: App, done: Done, message: str) -> Outcome:
    """What was done under the batch of this request is taken back as one."""
    refused = [change for change in done.changes if not change.changed]
    if done.changes and len(refused) == len(done.changes):
        reasons = tuple(change.reason for change in refused)
        return Outcome("Nothing was written.", (*reasons, *done.remarks), refused=True)
    return Outcome(message, done.remarks, _taker(app, app.batch))


def _taker(app: App, batch: str) -> Callable[[], Outcome] | None:
    return (lambda: _undo(app, batch=batch)) if app.history.on else None


def _undo(app: App, change: str = "", batch: str = "") -> Outcome:
    app = replace(app, batch=new_ui_batch())
    done = review.undo_and_hold_again(app, change, batch)
    files = [f"{it.path} {it.reason or 'is as it was before'}" for it in done.changes]
    name = "the change"
    if done.undone:
        cause = done.undone[0]
        is_outside = cause.verb == OUTSIDE
        name = "what was changed outside memdir" if is_outside else f"{cause.verb} {cause.name}"
    return Outcome(f"Taken back: {name.strip()}.", (*files, *done.remarks), _taker(app, app.batch))


def post_undo(visit: Visit) -> Outcome:
    return _undo(visit.app, change=_fields(visit, "change")["change"])


def post_undo_notice(visit: Visit) -> Outcome:
    """Takes back what the banner tells of; once."""
    id = _fields(visit, "notice")["notice"]
    outcome = visit.ui.notices.get(id)
    if outcome is None or outcome.take_back is None:
        hint = "What changed, on the overview, has every change with its undo"
        raise BadInput("this cannot be taken back from here any more", next=hint)
    result = outcome.take_back()
    visit.ui.notices[id] = replace(outcome, take_back=None)
    return result


UNDOS = (post_undo, post_undo_notice)  # also of records


def post_retire(visit: Visit) -> Outcome:
    app, path, form = _as_shown(visit)
    room = ARCHIVE if form.get("room") == ARCHIVE else TRASH
    done = changes.retire_memories(app, [path], room, form.get("reason", ""))
    return _outcome(visit.app, done, f"{path} is in the {room}.")


def post_confirm(visit: Visit) -> Outcome:
    app, path, _ = _as_shown(visit)
    done = changes.touch_memories(app, [path])
    return _outcome(visit.app, done, f"{path} still holds: its age starts again.")


def post_restore(visit: Visit) -> Outcome:
    path = _fields(visit, "path")["path"]
    return _outcome(visit.app, changes.restore_memories(visit.app, [path]), f"{path} is back.")


def post_share(visit: Visit) -> Outcome:
    source, path, form = _as_shown(visit)
    if form.get("to") not in ("team", "local"):
        raise BadInput("choose team or local", next="load the page again")
    target = visit.open_scope(replace(visit.spot, scope=form["to"]))
    done = share_memories(source, target, [path])
    return _outcome(target, done, f"{path} is in the scope {target.config.scope} now.")


def post_restructure(visit: Visit) -> Outcome:
    """The plan is made again; it must be the one that was shown."""
    shown = _fields(visit, "version")["version"]
    plan, _ = restructure_store(replace(visit.app, dry_run=True))
    if plan_version(plan) != shown:
        message = "the store was changed since this plan was made; nothing was written"
        raise BadInput(message, next="look at the new plan")
    plan, done = restructure_store(visit.app)
    return Outcome(f"Restructured: {plan.title}.", done.remarks, _taker(visit.app, plan.batch))


def _chosen(visit: Visit) -> tuple[App, Any, dict[str, str]]:
    """What is decided on, as its page has shown it: a held draft, or a memory of others."""
    form = _fields(visit, "id", "version")
    undecided = visit.undecided(visit.last_census)
    return *find_undecided(undecided, form["id"], form["version"]), form


def post_approve(visit: Visit) -> Outcome:
    app, thing, form = _chosen(visit)
    if not isinstance(thing, Held):
        return _decide(app, thing, ACCEPTED)
    wishes = Wishes("anyway" in form, offered=(ANYWAY,))
    settled = review.approve_held_drafts(app, [thing], wishes)[0]
    if settled.how != APPROVED:
        reasons = tuple(change.reason for change in settled.done.changes)
        return Outcome("Nothing was saved; the draft still waits.", reasons, refused=True)
    return _outcome(app, settled.done, "Approved: agents may be told this from now on.")


def post_reject(visit: Visit) -> Outcome:
    app, thing, _ = _chosen(visit)
    if not isinstance(thing, Held):
        return _decide(app, thing, REJECTED)
    review.reject_held_drafts(app, [thing])
    message = "Rejected. It can be put back for 30 days."
    return Outcome(message, take_back=lambda: _reopen(app, thing.id))


def post_reopen(visit: Visit) -> Outcome:
    return _reopen(visit.app, _fields(visit, "id")["id"])


def _reopen(app: App, id: str) -> Outcome:
    review.restore_rejected_drafts(app, review.find_rejected_drafts(app, [id]))
    return Outcome("The draft waits again.")


def _decide(app: App, item: Waiting, decision: str) -> Outcome:
    """On a memory that others wrote; its id changes with its text."""

    def take_back() -> Outcome:
        keep_decision(app, [item], "")
        return Outcome(f"{item.memory.path} waits again.")

    keep_decision(app, [item], decision)
    told = "agents may be told this" if decision == ACCEPTED else "no agent is told this"
    return Outcome(f"{decision.capitalize()}: {told} from now on.", take_back=take_back)


def post_edit_draft(visit: Visit) -> Outcome:
    app, held, form = _chosen(visit)
    if not isinstance(held, Held):
        raise BadInput("only a draft is edited here", next="accept or reject it")
    draft = held.catch.draft or Draft("")
    body = form.get("body", draft.body)
    if draft.body != body:  # reason and use were drawn from the old text
        draft = replace(draft, body=body, why="", how="")
    given: Any = {key: form[key].strip() for key in ("name", "description", "type") if key in form}
    review.rewrite_held_draft(app, held, replace(draft, **given))
    return Outcome("The draft is changed; it still waits.")


def _act(run: Callable[[Visit], Outcome]) -> Handler:
    def answer(visit: Visit) -> Response:
        if visit.spot.scope == RECORDS and run not in UNDOS:
            hint = "memdir records --help lists the commands"
            raise BadInput("records are changed from the command line", next=hint)
        back = visit.form.get("back", "")
        return visit.done(run(visit), back if back in BACK else "")

    return answer


def post_audit(visit: Visit) -> Response:
    """The audit goes on while its page is looked at."""
    visit.ui.audits.start(visit.app)
    return RedirectResponse(visit.url() + "#look", 303)


def post_remember(visit: Visit) -> Response:
    """A new memory, as `memdir remember` saves it."""
    form = _fields(visit, "body")
    name = form.get("name", "").strip()
    if name and visit.app.store.facts(check_memory_name(name) + ".md") is not None:
        raise BadInput(f"{name} is there already", next="choose another name, or edit that one")
    draft = Draft(form["body"], type=guess_memory_type(form["body"]).type, name=name)
    done = changes.save_memory(visit.app, draft, Wishes("anyway" in form, offered=(ANYWAY,)))
    message = f"Saved as {done.changes[0].path}."
    return visit.done(_outcome(visit.app, done, message), "memories")


def post_save(visit: Visit) -> Response:
    """Saves an edited memory, or shows what would change; a refusal keeps what was typed."""
    form = _fields(visit, "path", "version", "name", "type", "description", "body")
    path, is_preview = form["path"], "preview" in form
    app = replace(visit.app, dry_run=is_preview)
    revision = _revision(form, read_header(decode(app.store.view(path))))
    shown: dict[str, Any] = {"asked": path, "typed": form, "version": form["version"]}
    try:
        done = changes.edit_memory(app, path, revision, Wishes())
    except Conflict:
        raise
    except MemdirError as error:
        return memory_page(visit, **shown, problems=[error])
    outcome = _outcome(app, done, f"Saved: {path}.")
    if outcome.refused and not any(change.hash for change in done.changes):
        refusal = BadInput("; ".join(outcome.details), next="change the text, or leave it as it is")
        return memory_page(visit, **shown, problems=[refusal])
    if is_preview:
        return memory_page(visit, **shown, preview=page_diffs(done.diff))
    return visit.done(outcome, "memory", path=form_key(path))


def _revision(form: dict[str, str], document: Document) -> Revision:
    """Only what was changed: a field that stands as it was is left alone."""
    was = {key: document.values.get(key, "").strip() for key in ("name", "description")}
    was["type"] = document.get(*TYPE_KEYS).strip().lower() or UNKNOWN
    now = {key: form[key].strip() for key in was}
    fields = [(key, now[key]) for key in was if now[key] != was[key]]
    pinned = document.get(*PINNED_KEYS).lower() in ("true", "yes", "1")
    if ("pinned" in form) != pinned:
        fields.append(("pinned", str(not pinned).lower()))
    is_same = document.body.strip("\n") == form["body"].strip("\n")
    return Revision("", tuple(fields), None if is_same else form["body"], form["version"])


ACTS = (
    *(post_approve, post_confirm, post_edit_draft, post_reject, post_reopen, post_restore),
    *(post_restructure, post_retire, post_share, *UNDOS),
)
POSTS: dict[str, Handler] = {"save": post_save, "remember": post_remember, "audit": post_audit} | {
    run.__name__.removeprefix("post_").replace("_", "-"): _act(run) for run in ACTS
}
