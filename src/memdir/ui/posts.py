"""What each form does; every act ends in a banner on the page that it came from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from starlette.responses import RedirectResponse, Response

from memdir.capture.review import find_rejected_drafts, restore_rejected_drafts
from memdir.errors import BadInput, Conflict, MemdirError
from memdir.format.draft import ANYWAY, Draft, Revision, Wishes
from memdir.format.names import check_memory_name
from memdir.format.type_guess import guess_memory_type
from memdir.hot.memory import PINNED_KEYS, TYPE_KEYS, UNKNOWN, Document, decode, read_header
from memdir.hot.place import RECORDS
from memdir.store import changes
from memdir.ui import acts
from memdir.ui.acts import Outcome
from memdir.ui.decisions import MEMORY
from memdir.ui.page import path_key
from memdir.ui.routes import Handler, Visit, path_of_key
from memdir.ui.views import diff_of_edit, memory, need
from memdir.ui.workspace import Spot

BACK = ("", "waiting", "memories", "shelf", "changes", "restructure")


def back_of(visit: Visit) -> str:
    place = visit.form.get("back", "")
    return place if place in BACK else ""


def fields_of(visit: Visit, *names: str) -> dict[str, str]:
    """The form, with its path as it is on disk."""
    need(visit.form, *names)
    form = dict(visit.form)
    if "path" in form:
        form["path"] = path_of_key(form["path"])
    return form


def act(run: Callable[[Visit], Outcome]) -> Handler:
    def answer(visit: Visit) -> Response:
        if visit.spot.scope == RECORDS and run not in (undo, undo_notice):
            hint = "memdir records --help lists the commands"
            raise BadInput("records are changed from the command line", next=hint)
        return visit.done(run(visit), back_of(visit))

    return answer


def retire(visit: Visit) -> Outcome:
    return acts.retire(visit.app, fields_of(visit, "path", "version"))


def confirm(visit: Visit) -> Outcome:
    return acts.confirm(visit.app, fields_of(visit, "path", "version"))


def restore(visit: Visit) -> Outcome:
    return acts.restore(visit.app, fields_of(visit, "path"))


def undo(visit: Visit) -> Outcome:
    return acts.undo(visit.app, fields_of(visit, "change"))


def undo_notice(visit: Visit) -> Outcome:
    """Takes back what the banner tells of; once."""
    outcome = visit.ui.notices.get(fields_of(visit, "notice")["notice"])
    if outcome is None or outcome.take_back is None:
        hint = "What changed, on the overview, has every change with its undo"
        raise BadInput("this cannot be taken back from here any more", next=hint)
    result = outcome.take_back()
    visit.ui.notices[visit.form["notice"]] = replace(outcome, take_back=None)
    return result


def share(visit: Visit) -> Outcome:
    form = fields_of(visit, "path", "version", "to")
    if form["to"] not in ("team", "local"):
        raise BadInput("choose team or local", next="load the page again")
    spot = visit.spot
    target = visit.open_scope(Spot(spot.title, spot.project, spot.dir, form["to"]))
    return acts.share(visit.app, target, form)


def restructure(visit: Visit) -> Outcome:
    return acts.restructure(visit.app, fields_of(visit, "version"))


def approve(visit: Visit) -> Outcome:
    form = fields_of(visit, "id", "version")
    if form.get("kind") == MEMORY:
        return acts.decide(visit.others, form, accept=True)
    return acts.approve(visit.app, form)


def reject(visit: Visit) -> Outcome:
    form = fields_of(visit, "id", "version")
    if form.get("kind") == MEMORY:
        return acts.decide(visit.others, form, accept=False)
    return acts.reject(visit.app, form)


def reopen(visit: Visit) -> Outcome:
    app, id = visit.app, fields_of(visit, "id")["id"]
    restore_rejected_drafts(app, find_rejected_drafts(app, [id]))
    return Outcome("The draft waits again.")


def edit_draft(visit: Visit) -> Outcome:
    return acts.edit_draft(visit.app, fields_of(visit, "id", "version"))


def audit(visit: Visit) -> Response:
    """The audit goes on while its page is looked at."""
    visit.ui.audits.start(visit.app, deep="deep" in visit.form)
    return RedirectResponse(visit.url() + "#look", 303)


def remember(visit: Visit) -> Response:
    """A new memory, as `memdir remember` saves it."""
    form = fields_of(visit, "body")
    name = form.get("name", "").strip()
    if name and visit.app.store.facts(check_memory_name(name) + ".md") is not None:
        raise BadInput(f"{name} is there already", next="choose another name, or edit that one")
    guess = guess_memory_type(form["body"]).type
    draft = Draft(
        form["body"],
        type=guess if form.get("type", UNKNOWN) == UNKNOWN else form["type"],
        name=name,
        description=form.get("description", "").strip(),
    )
    wishes = Wishes("anyway" in form, offered=(ANYWAY,))
    done = changes.save_memory(visit.app, draft, wishes)
    outcome = acts.outcome(visit.app, done, f"Saved as {done.changes[0].path}.")
    return visit.done(outcome, "memories")


def save(visit: Visit) -> Response:
    """Saves an edited memory, or shows what would change."""
    form = fields_of(visit, "path", "version", "body")
    app, path = visit.app, form["path"]
    visit.request.scope["query_string"] = f"path={path_key(path_key(path))}".encode()
    document = read_header(decode(app.store.view(path)))
    revision = _revision(form, document)
    is_preview = "preview" in form
    shown = {"typed": form, "version": form["version"]}
    try:
        wanted = replace(app, dry_run=is_preview)
        done = acts.save_edit(wanted, path, form["version"], revision, "secret" in form)
    except Conflict:
        raise
    except MemdirError as error:
        return memory(visit, **shown, problems=[error])
    outcome = acts.outcome(app, done, f"Saved: {path}.")
    if outcome.refused and not any(change.hash for change in done.changes):
        error = BadInput("; ".join(outcome.details), next="change the text, or leave it as it is")
        return memory(visit, **shown, problems=[error])
    if is_preview:
        return memory(visit, **shown, preview=diff_of_edit(done))
    return visit.done(outcome, "memory", path=path_key(path))


def _revision(form: dict[str, str], document: Document) -> Revision:
    """Only what was changed: a field that stands as it was is left alone."""
    was = {key: document.values.get(key, "").strip() for key in ("name", "description")}
    was["type"] = document.get(*TYPE_KEYS).strip().lower()
    fields = [
        (key, form[key].strip()) for key in was if form.get(key, was[key]).strip() != was[key]
    ]
    pinned = document.get(*PINNED_KEYS).lower() in ("true", "yes", "1")
    if ("pinned" in form) != pinned:
        fields.append(("pinned", str(not pinned).lower()))
    old = document.body.replace("\r\n", "\n")
    new = form["body"] if old == document.body else form["body"].replace("\n", "\r\n")
    is_same = old.strip("\n") == form["body"].strip("\n")
    return Revision("", tuple(fields), None if is_same else new)


POSTS: dict[str, Handler] = {
    "save": save,
    "remember": remember,
    "audit": audit,
    "retire": act(retire),
    "confirm": act(confirm),
    "restore": act(restore),
    "undo": act(undo),
    "undo-notice": act(undo_notice),
    "share": act(share),
    "restructure": act(restructure),
    "approve": act(approve),
    "reject": act(reject),
    "reopen": act(reopen),
    "edit-draft": act(edit_draft),
}
