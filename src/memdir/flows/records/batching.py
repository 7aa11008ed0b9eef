"""Intents of a model → decided by the table → all of them in one change, or none written.

`prepare` is the same as `commit` on a store that takes every change and writes none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memdir.app import App, Desk, Done
from memdir.core.draft import Change
from memdir.core.errors import MemdirError, Missing
from memdir.core.ports import Store
from memdir.core.records import cud, errors, fields
from memdir.core.records.errors import RecordError
from memdir.core.records.expecting import md5_of
from memdir.core.records.fields import Record
from memdir.core.records.record import read_record
from memdir.core.records.settings import RecordSettings
from memdir.flows.records.indexing import healed, indexed
from memdir.flows.records.intents import Intent
from memdir.flows.records.placing import find_record, paths_of, settings_of
from memdir.flows.records.saving import completed
from memdir.flows.records.writing import CREATE, UPDATE, Wanted, carry_out
from memdir.steps.match import match

DONE, NOTHING, REFUSED = "done", "nothing", "refused"
FROM_TALK = "Updated from a conversation"
OFF = "the category is switched off"


@dataclass(frozen=True)
class Result:
    """What becomes of one intent, and what the mechanics said of it."""

    intent: Intent | None
    outcome: str
    action: str = cud.NOOP
    path: str = ""
    hash: str = ""  # MD5 of the version that is changed
    reason: str = ""
    changes: tuple[Change, ...] = ()
    answer: dict[str, object] | None = None  # of the candidate
    error: RecordError | None = None


def prepare(app: App, intents: Sequence[Intent | RecordError]) -> tuple[list[Result], Done]:
    """decide → try each, writing nothing"""
    return commit(replace(app, dry_run=True), intents)


def commit(app: App, intents: Sequence[Intent | RecordError]) -> tuple[list[Result], Done]:
    """decide → create, update or retire each → enlist; one batch, one undo"""
    results: list[Result] = []

    def act(desk: Desk) -> list[Change]:
        settings, warnings = settings_of(desk.store)
        desk.remarks += [one.message for one in warnings]
        desk.cause = replace(desk.cause, batch=app.batch or f"records-{int(app.now())}")
        results.extend(_settle(app, desk, settings, one) for one in intents)
        changes = [change for one in results for change in one.changes]
        return indexed(desk, changes) if changes else []

    done = app.change("save", healed(act), lambda done: None)
    return results, done


def _settle(app: App, desk: Desk, settings: RecordSettings, intent: Intent | RecordError) -> Result:
    """One intent; a refusal is its outcome and stops no other."""
    if isinstance(intent, RecordError):
        return Result(None, REFUSED, error=intent)
    try:
        return _decided(app, desk, settings, intent)
    except RecordError as error:
        return Result(intent, REFUSED, reason=error.message, error=error)
    except Missing as error:
        refusal = RecordError(errors.READ, error.message, fix=error.next, path=error.path)
        return Result(intent, REFUSED, reason=error.message, error=refusal)


def _decided(app: App, desk: Desk, settings: RecordSettings, intent: Intent) -> Result:
    if intent.blocked or intent.action == cud.NOOP:
        return Result(intent, NOTHING, reason=intent.blocked or "nothing to write")
    if not settings.types[intent.type].enabled:
        return Result(intent, NOTHING, reason=OFF)
    answer = match(_files(desk.store, intent.type), intent.type, _info(intent), intent.event)
    vetoes = answer["vetoes"]
    forbidding = [str(one) for one in vetoes] if isinstance(vetoes, list) else []
    action = cud.resolve(str(answer["structural_cud"]), intent.action, forbidding)
    if action == cud.NOOP:
        return Result(intent, NOTHING, reason=_why(answer, forbidding), answer=answer)
    path, standing = "", b""
    if action != cud.CREATE:
        near = answer["candidate"]
        found = str(near["path"]) if isinstance(near, dict) else ""
        path = find_record(intent.target or found, desk.store)
        standing = desk.store.read(path)
    wanted = _wanted(app, intent, action, path, standing)
    changes = carry_out(app, desk, wanted)
    return Result(
        intent,
        DONE,
        action,
        changes[0].path,
        md5_of(standing) if standing else "",
        changes[0].reason,
        tuple(changes),
        answer,
    )


def _wanted(app: App, intent: Intent, action: str, path: str, standing: bytes) -> Wanted:
    reason = intent.reason or intent.new_info
    if action == cud.CREATE:
        return Wanted(CREATE, intent.type, intent.target, intent.draft, reason=intent.reason)
    if action == cud.RETIRE:
        return Wanted("delete", intent.type, path, expected=intent.expected, reason=reason)
    old, _ = read_record(standing, path)
    draft: Record = completed(old, intent.draft, reason or FROM_TALK, app.now())
    # Who drafted on an older version hears of it; what a model cannot know it need not say.
    system = ("id", "updated_at", "times_updated")
    draft = {key: value for key, value in draft.items() if key not in system}
    return Wanted(UPDATE, intent.type, path, draft, intent.expected, reason)


def _info(intent: Intent) -> str:
    if intent.new_info:
        return intent.new_info
    tags = intent.draft.get("tags")
    words = [intent.draft.get("title", ""), *(tags if isinstance(tags, list) else ())]
    return " ".join(str(word) for word in words) or intent.target


def _why(answer: dict[str, object], vetoes: list[str]) -> str:
    hints = answer["hints"]
    said = vetoes or ([str(one) for one in hints] if isinstance(hints, list) else [])
    return "; ".join(said) or "there is nothing that this could be done with"


def _files(store: Store, type: str) -> list[tuple[str, bytes]]:
    found = []
    made = [path for path in store.files() if fields.type_at(path) == type]  # in this change
    for path in dict.fromkeys((*paths_of(store, type), *made)):
        try:
            found.append((path, store.read(path)))
        except MemdirError:
            continue  # gone, or nobody can read it: no candidate either way
    return found
