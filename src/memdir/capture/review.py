"""Review of held drafts: approve, rewrite, reject; an undone approval waits again."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from memdir.capture.inbox import (
    APPROVAL,
    APPROVED,
    FORGET,
    HELD_LINE,
    REJECTED,
    REVIEWED_KEY,
    Held,
    complete_held_id,
    held_id_in_reason,
    held_title,
    open_inbox,
    sign_captured_draft,
)
from memdir.errors import MemdirError, Missing
from memdir.format import draft as draft_module
from memdir.format.draft import RESTORED, SKIPPED, UNDONE, Change, Draft, Wishes
from memdir.hot.memory import stem
from memdir.hot.place import RECORDS
from memdir.hot.run import leave_hook_report, take_hook_report
from memdir.records.write import approve_record
from memdir.store import changes, ports
from memdir.store.look import readable_store_log
from memdir.store.ports import Logged
from memdir.store.save import find_in_store
from memdir.store.state import DAMAGE, read_state_json, remove_state, replace_state_json
from memdir.store.writer import App, Done, history_day, store_state_folder
from memdir.text import secrets

UNANSWERED = "undo-unanswered"  # the changes of an undo, until its answer was given
CUT_OFF = (
    "an undo that was cut off had taken this back; nothing more is taken back now. "
    "For one more: memdir undo"
)


def undo_and_hold_again(
    app: App, change: str = "", batch: str = "", since: float | None = None
) -> Done:
    """For callers whose return is the answer."""
    done = undo_until_answered(app, change, batch, since)
    note_undo_answered(app)
    return done


def undo_until_answered(
    app: App, change: str = "", batch: str = "", since: float | None = None
) -> Done:
    """Drafts whose approval is undone wait for a review again.

    Killed before its answer, an undo of the newest change is answered by the next one, which takes
    back no more: `note_undo_answered` ends that.
    """
    explicit = bool(change or batch or since is not None)
    with app.changing(ports.UNDO) as desk:
        unseen = app.history.unseen(app.store) if app.dry_run and not explicit else None
        if not app.dry_run:
            # Record changes by others first, so that they can be undone.
            app.history.catch_up(app.store)
        if unseen:
            desk.remarks.append("this takes back what others did since the last change")
            desk.changes += changes.put_back_memories(app, desk, unseen)
        elif not explicit and (unanswered := _find_unanswered_undo(app)):
            undo, desk.undone[:] = unanswered
            for kind, path in undo.paths:
                reason = "gone again" if kind == ports.GONE else ""
                desk.changes.append(Change(UNDONE, stem(path), path, reason=reason))
            desk.remarks.append(CUT_OFF)
        else:
            log = readable_store_log(app, since)
            chosen = ports.changes_to_undo(log, change, batch, since, app.now())
            if not explicit and not app.dry_run:
                ids = [logged.id for logged in chosen]
                with suppress(OSError):  # then a killed undo is not told from an answered one
                    replace_state_json(store_state_folder(app.config), UNANSWERED, ids)
            desk.changes += changes.undo_these_changes(app, desk, chosen, explicit)
        desk.remarks += _reopen_drafts(app, desk.undone)
    return desk.done


def note_undo_answered(app: App) -> None:
    """The person knows what was taken back, so the next undo takes back one more."""
    with suppress(OSError):
        if not app.dry_run:
            remove_state(store_state_folder(app.config), UNANSWERED)


def _find_unanswered_undo(app: App) -> tuple[Logged, list[Logged]] | None:
    """The newest change and what it undoes, if it is an undo whose answer was never given."""
    try:
        ids = set(read_state_json(store_state_folder(app.config), UNANSWERED, list) or ())
    except (OSError, *DAMAGE):
        return None
    log = readable_store_log(app) if ids else iter(())
    newest = next(log, None)
    if newest is None or set(newest.undoes) != ids:
        return None
    found = (logged for logged in log if logged.id in ids)
    return newest, list(itertools.islice(found, len(ids)))


def _reopen_drafts(app: App, undone: Sequence[Logged]) -> list[str]:
    remarks = []
    would = "would wait" if app.dry_run else "waits"
    for id in filter(None, (held_id_in_reason(logged.reason) for logged in undone)):
        # It may wait already, or was approved too long ago.
        with suppress(MemdirError):
            if not app.dry_run:
                open_inbox(app).reopen(id)
            remarks.append(f"the draft {id} {would} for a review again: memdir review")
    return remarks


SHORTEST_SESSION = 4  # characters of its id


@dataclass(frozen=True)
class Settled:
    held: Held
    how: str  # approved, rejected, restored, or empty if it still waits
    done: Done


def find_held_drafts(app: App, ids: Sequence[str], every: bool = False) -> list[Held]:
    """These drafts, all or none; with `every`, all readable ones. A session means all of its."""
    inbox = open_inbox(app)
    drafts = inbox.list() if every else []
    for id in ids:
        try:
            drafts.append(inbox.read(id))
        except Missing:
            of_session = [it for it in inbox.list() if it.catch.origin.session.startswith(id)]
            if len(id) < SHORTEST_SESSION or not of_session:
                raise
            drafts += of_session
    return list({held.id: held for held in drafts}.values())


def preview_held_draft(app: App, held: Held, wishes: Wishes) -> Done:
    return _try(replace(app, dry_run=True), held, wishes)


def approve_held_drafts(app: App, chosen: Sequence[Held], wishes: Wishes) -> list[Settled]:
    """Save, then remove from the inbox: after a kill the draft is still there.

    A refused or conflicting draft goes on waiting and does not stop the others.
    """
    app = replace(app, batch=app.batch or f"review-{int(app.now())}")
    results = []
    for held in chosen:
        done = _try(app, held, wishes)
        stands = all(change.changed or change.hash for change in done.changes)
        if stands and not app.dry_run:
            open_inbox(app).settle(held.id, APPROVED, held_title(held.catch), app.now())
        results.append(Settled(held, APPROVED if stands else "", done))
    if not app.dry_run:
        _withdraw_report(app)
    return results


def reject_held_drafts(app: App, chosen: Sequence[Held]) -> list[Settled]:
    """A rejected draft can be restored for some days, and is not proposed again."""
    if not app.dry_run:
        for held in chosen:
            open_inbox(app).settle(held.id, REJECTED, held_title(held.catch), app.now())
        _withdraw_report(app)
    return [Settled(held, REJECTED, Done((), dry_run=app.dry_run)) for held in chosen]


def _withdraw_report(app: App) -> None:
    """The line about held drafts that nobody was told yet is no longer true."""
    config = app.config
    report = take_hook_report(config.state_dir, config.checkout)
    for line in report.splitlines():
        if not line.startswith(HELD_LINE):
            leave_hook_report(config.state_dir, config.checkout, line)


def find_rejected_drafts(app: App, ids: Sequence[str], every: bool = False) -> list[Held]:
    """These drafts, all or none; with `every`, all that can be restored."""
    kept = open_inbox(app).rejected(app.now())
    if every:
        return kept
    by_id = {held.id: held for held in kept}
    wanted = {text: complete_held_id(text, list(by_id)) for text in ids}
    for text in (text for text, id in wanted.items() if not id):
        next = "memdir review list --rejected shows them"
        raise Missing(f"no draft {text[:40]!r} was rejected of late", next=next)
    return [by_id[id] for id in dict.fromkeys(wanted.values())]


def restore_rejected_drafts(app: App, chosen: Sequence[Held]) -> list[Settled]:
    for held in chosen if not app.dry_run else ():
        open_inbox(app).reopen(held.id)
    return [Settled(held, RESTORED, Done((), dry_run=app.dry_run)) for held in chosen]


def rewrite_held_draft(app: App, held: Held, draft: Draft) -> Held:
    if held.catch.draft is None:
        catch = replace(held.catch, forget=find_in_store(app.store, [draft.name])[0].path)
    else:
        if app.config.layout != RECORDS:  # a record is checked when it is approved
            draft_module.check_draft_format(draft, app.rules())
        catch = replace(held.catch, draft=draft)
    changed = replace(held, catch=catch)
    if not app.dry_run:
        open_inbox(app).change(changed)
    return changed


def held_draft_text(held: Held) -> str:
    draft = held.catch.draft
    why = f" Why: {draft.why}" if draft and draft.why else ""
    text = FORGET + held.catch.forget if draft is None else draft.body + why
    shown = " ".join(secrets.text_before_secrets(text).split())
    return shown or draft_module.UNSAID


def _try(app: App, held: Held, wishes: Wishes) -> Done:
    try:
        return _carry_out(app, held, wishes)
    except MemdirError as error:
        draft = held.catch.draft
        reason = f"{error.message}. Next: {error.next}" if error.next else error.message
        name = draft.name if draft else held.catch.forget
        return Done((Change(SKIPPED, name, "", reason=reason),))


def _carry_out(app: App, held: Held, wishes: Wishes) -> Done:
    catch = held.catch
    if app.config.layout == RECORDS:
        return approve_record(app, held)
    if catch.draft is None:
        try:
            return changes.retire_memories(app, [catch.forget], reason=APPROVAL + held.id)
        except Missing:
            next = f"say it: memdir review edit {held.id} --name NAME"
            raise Missing("it is not clear which memory is meant", next=next) from None
    for memory in app.store.scan().memories:
        if memory.values.get(REVIEWED_KEY) == held.id:  # written by an approval that was killed
            reason = "it was saved before, and only waited to be taken off the list"
            change = Change(SKIPPED, memory.name, memory.path, held.id, reason)
            indexed = changes.rebuild_memory_index(app)  # the pointer may be missing
            return replace(indexed, changes=(change,))
    draft = sign_captured_draft(catch.draft, catch.origin)
    extra = (*draft.extra, (REVIEWED_KEY, held.id))
    day = draft.day or history_day(held.time)  # `tomorrow` counts from the day it was said
    draft = replace(draft, day=day, extra=extra)
    return changes.save_memory(app, draft, wishes, reason=APPROVAL + held.id)
