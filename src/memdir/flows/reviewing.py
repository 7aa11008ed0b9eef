"""What waits for a person's yes: look, approve, rewrite, reject, put back what was rejected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memdir.adapters.inbox import open_inbox
from memdir.app import App, Done, day_of
from memdir.core import drafting, secrets
from memdir.core.draft import RESTORED, SKIPPED, Change, Draft, Wishes
from memdir.core.errors import MemdirError, Missing
from memdir.core.finding import Finding
from memdir.core.held import APPROVED, REJECTED, REVIEWED_KEY, Held, find_id, reason_of
from memdir.core.memory import Memory
from memdir.core.origin import signed
from memdir.core.scope import RECORDS
from memdir.flows.changing import rebuild_index, retire, save
from memdir.flows.reading import find_all
from memdir.flows.records.holding import approve_record

FORGET = "forget: "


@dataclass(frozen=True)
class Settled:
    """What became of one draft; `done` is what it changed, empty where it was rejected."""

    held: Held
    how: str  # approved, rejected, restored, or empty where it still waits
    done: Done


def look(app: App) -> tuple[list[Held], list[Finding]]:
    """What waits, the oldest first, and what of it nobody can read; each file is read once."""
    return open_inbox(app).look()


def find_held(app: App, ids: Sequence[str], every: bool = False) -> list[Held]:
    """These drafts, all or none; or every one that waits and can be read."""
    inbox = open_inbox(app)
    if every:
        return inbox.list()
    found = [inbox.read(id) for id in ids]
    return list({held.id: held for held in found}.values())


def preview(app: App, held: Held, wishes: Wishes) -> Done:
    """What approving it would change, refusals and all; nothing is written."""
    dry = replace(app, dry_run=True)
    try:
        return _carry_out(dry, held, wishes)
    except MemdirError as error:
        return _not_done(held, error)


def approve(app: App, chosen: Sequence[Held], wishes: Wishes) -> list[Settled]:
    """save (or retire), then out of the inbox: killed in between, the next approval sees it there.

    What is refused or in conflict goes on waiting; one draft never stops the others.
    """
    app = replace(app, batch=app.batch or f"review-{int(app.now())}")
    found = []
    for held in chosen:
        try:
            done = _carry_out(app, held, wishes)
        except MemdirError as error:
            done = _not_done(held, error)
        stands = all(change.changed or change.hash for change in done.changes)
        if stands and not app.dry_run:
            open_inbox(app).settle(held.id, APPROVED, title(held), app.now())
        found.append(Settled(held, APPROVED if stands else "", done))
    return found


def reject(app: App, chosen: Sequence[Held]) -> list[Settled]:
    """Out of the inbox; for some days it can be put back, and it is not asked again."""
    for held in chosen if not app.dry_run else ():
        open_inbox(app).settle(held.id, REJECTED, title(held), app.now())
    return [Settled(held, REJECTED, Done((), dry_run=app.dry_run)) for held in chosen]


def find_rejected(app: App, ids: Sequence[str], every: bool = False) -> list[Held]:
    """What was rejected and can still be put back: these, all or none; or every one of them."""
    kept = open_inbox(app).rejected(app.now())
    if every:
        return kept
    by_id = {held.id: held for held in kept}
    found = {text: find_id(text, list(by_id)) for text in ids}
    for text in (text for text, id in found.items() if not id):
        next = "memdir review list --rejected shows them"
        raise Missing(f"no draft {text[:40]!r} was rejected of late", next=next)
    return [by_id[id] for id in dict.fromkeys(found.values())]


def restore(app: App, chosen: Sequence[Held]) -> list[Settled]:
    """Back into the inbox, where they wait as they did."""
    for held in chosen if not app.dry_run else ():
        open_inbox(app).reopen(held.id)
    return [Settled(held, RESTORED, Done((), dry_run=app.dry_run)) for held in chosen]


def rewrite(app: App, held: Held, draft: Draft) -> Held:
    """Other words for a draft, or the name of what is to be put away; the id stays."""
    if held.catch.draft is None:
        catch = replace(held.catch, forget=find_all(app.store, [draft.name])[0].path)
    else:
        if app.config.layout != RECORDS:  # a record is checked when it is approved
            drafting.check(draft, app.rules())
        catch = replace(held.catch, draft=draft)
    changed = replace(held, catch=catch)
    if not app.dry_run:
        open_inbox(app).change(changed)
    return changed


def title(held: Held) -> str:
    """A draft in one line, nothing from a secret on."""
    draft = held.catch.draft
    if draft is None:
        return drafting.first_sentence(FORGET + held.catch.forget)
    return drafting.first_sentence(draft.description or draft.body)


def said(held: Held) -> str:
    """All that a draft says as one line, nothing from a secret on."""
    draft = held.catch.draft
    why = f" Why: {draft.why}" if draft and draft.why else ""
    text = FORGET + held.catch.forget if draft is None else draft.body + why
    shown = " ".join(secrets.before_secrets(text).split())
    return shown or drafting.UNSAID


def _carry_out(app: App, held: Held, wishes: Wishes) -> Done:
    catch = held.catch
    if app.config.layout == RECORDS:
        return approve_record(app, held)
    if catch.draft is None:
        return _put_away(app, held)
    there = _approved_before(app, held.id)
    if there is not None:
        reason = "it was saved before, and only waited to be taken off the list"
        indexed = rebuild_index(app)  # killed, the approval may have left it without its pointer
        return replace(indexed, changes=(Change(SKIPPED, there.name, there.path, held.id, reason),))
    draft = signed(catch.draft, catch.origin)
    draft = replace(
        draft,
        day=draft.day or day_of(held.time),  # `tomorrow` counts from the day it was said
        extra=(*draft.extra, (REVIEWED_KEY, held.id)),
    )
    return save(app, draft, wishes, reason=reason_of(held.id))


def _put_away(app: App, held: Held) -> Done:
    """Only what is called by its name: which memory was meant, a person says."""
    try:
        return retire(app, [held.catch.forget], reason=reason_of(held.id))
    except Missing:
        raise Missing(
            "it is not clear which memory is meant",
            next=f"say it: memdir review edit {held.id} --name NAME",
        ) from None


def _approved_before(app: App, id: str) -> Memory | None:
    """The memory that an approval wrote before it was killed."""
    for memory in app.store.scan().memories:
        if memory.values.get(REVIEWED_KEY) == id:
            return memory
    return None


def _not_done(held: Held, error: MemdirError) -> Done:
    draft = held.catch.draft
    reason = f"{error.message}. Next: {error.next}" if error.next else error.message
    return Done((Change(SKIPPED, draft.name if draft else held.catch.forget, "", reason=reason),))
