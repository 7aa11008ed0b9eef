"""What changes a record: create, update, and the ways between active, retired and archived."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from memdir.app import App, Desk, Done, Told
from memdir.core import dates
from memdir.core.draft import Change
from memdir.core.errors import Missing
from memdir.core.records import errors, fields
from memdir.core.records.errors import RecordError
from memdir.core.records.fields import Record
from memdir.core.records.merging import WAY_BACK
from memdir.core.records.record import read_record
from memdir.core.records.retention import refusal
from memdir.core.records.settings import SESSION_SUMMARY, RecordSettings
from memdir.core.records.slug import slug_for
from memdir.core.records.status import WAYS, status_of
from memdir.core.scope import below
from memdir.flows.ignoring import ignored
from memdir.flows.records.guarding import refuse_secrets
from memdir.flows.records.indexing import healed, indexed
from memdir.flows.records.placing import (
    find_record,
    paths_of,
    settings_of,
    sure_settings_of,
    target_path,
)
from memdir.flows.records.tidying import roll
from memdir.steps.amend import amend
from memdir.steps.collect import collect
from memdir.steps.put_down import put_down
from memdir.steps.turn import turn

CREATE, UPDATE = "create", "update"
VERBS = {"delete": "retire", "unarchive": "restore"}  # what the history calls them


@dataclass(frozen=True)
class Wanted:
    """One action as somebody wants it; `expected` is the hash of the version they have read."""

    action: str
    type: str = ""
    target: str = ""
    draft: Record = field(default_factory=dict)
    expected: str = ""
    reason: str = ""


def _untold(done: Done) -> None:
    """For callers that only want the answer."""


def write(app: App, wanted: Wanted, told: Told = _untold) -> Done:
    """put_down, amend or turn → enlist; after a session summary, the window is rolled"""
    if wanted.action == UPDATE and not wanted.expected:
        raise RecordError(
            errors.INPUT,
            "an update needs the hash of the version that was read",
            fix="read the record and give --hash: its MD5 or SHA-256",
            path=wanted.target,
        )

    def act(desk: Desk) -> list[Change]:
        desk.cause = replace(desk.cause, reason=wanted.reason)
        changes = carry_out(app, desk, wanted)
        indexed(desk, changes)
        desk.remarks += ignored(app, [one.path for one in changes if one.changed])
        return changes

    return app.change(VERBS.get(wanted.action, wanted.action), healed(act), told)


def change_status(
    app: App, names: Sequence[str], action: str, reason: str, told: Told = _untold
) -> Done:
    """turn, each → enlist; without an action, each comes back from where it was put"""

    def act(desk: Desk) -> list[Change]:
        desk.cause = replace(desk.cause, reason=reason)
        paths = list(dict.fromkeys(find_record(name, desk.store) for name in names))
        desk.plan, changes = paths, list[Change]()
        for path in paths:
            how = action or _way_back(desk, path)
            changes += carry_out(app, desk, Wanted(how, target=path, reason=reason))
        return indexed(desk, changes)

    return app.change(VERBS.get(action, action or "restore"), healed(act), told)


def _way_back(desk: Desk, path: str) -> str:
    return WAY_BACK.get(status_of(_standing(desk, path)), "restore")


def carry_out(app: App, desk: Desk, wanted: Wanted) -> list[Change]:
    """One action under the lock; the index is for the caller to bring in step."""
    if wanted.action == CREATE:
        return _create(app, desk, wanted)
    path = find_record(wanted.target, desk.store)
    _of_type(path, wanted.type)
    if wanted.action == UPDATE:
        refuse_secrets(wanted.draft, _standing(desk, path))
        draft = _dated(wanted.draft, app.now())
        exists = _exists_below(app.config.checkout)
        return [amend(path, draft, desk.store, app.now(), wanted.expected, exists)]
    if WAYS[wanted.action][1] == fields.ACTIVE:
        _refuse_full(desk, fields.type_at(path), settings_of(desk.store)[0], wanted.action, path)
    return [turn(path, wanted.action, wanted.reason, desk.store, app.now(), wanted.expected)]


def place_of(wanted: Wanted, root: str) -> str:
    """Where a new record is to lie: at its target, or where its title says."""
    type = wanted.type or fields.type_named(wanted.draft.get("category"))
    if wanted.target:
        path = target_path(wanted.target, root)
        _of_type(path, type)
        return path
    if not type:
        message = "nobody says which category it is of"
        raise RecordError(errors.INPUT, message, fix=f"--category: {', '.join(fields.TYPES)}")
    title = wanted.draft.get("title")
    if not isinstance(title, str) or not title.strip():
        raise RecordError(errors.VALIDATION, "title is missing", fix="add title")
    return fields.path_of(type, slug_for(title, type))


def _create(app: App, desk: Desk, wanted: Wanted) -> list[Change]:
    path = place_of(wanted, desk.store.root)
    type = fields.type_at(path)
    # After a session summary others go, by what the settings say.
    settings = (sure_settings_of if type == SESSION_SUMMARY else settings_of)(desk.store)[0]
    if not settings.types[type].enabled:
        raise RecordError(
            errors.ACTION_CODES[CREATE],
            f"the category {type} is switched off",
            fix=f"set categories.{type}.enabled to true in memory-config.json",
            path=path,
        )
    refuse_secrets(wanted.draft, {})
    if not desk.store.exists(path):
        _refuse_full(desk, type, settings, CREATE, path)
    draft = _dated(wanted.draft, app.now())
    if fields.type_named(draft.get("category")) == type:
        draft = draft | {"category": type}  # whatever its case
    change = put_down(draft, path, desk.store, app.now())
    # Also for the same one again: the first time may have been cut off before the window.
    rolled = type == SESSION_SUMMARY
    return [change, *(roll(desk, settings, app.now(), change.path) if rolled else ())]


def _of_type(path: str, type: str) -> None:
    if type and fields.type_at(path) != type:
        raise RecordError(
            errors.PATH,
            f"{path} is no place of a {type}",
            fix=f"a {type} lies in {fields.FOLDERS[type]}/",
            path=path,
        )


def _standing(desk: Desk, path: str) -> Record:
    try:
        return read_record(desk.store.read(path), path)[0]
    except (Missing, RecordError):
        return {}  # whoever wants to change it hears what is wrong with it


def _dated(draft: Record, now: float) -> Record:
    """New entries of the log need no date of their own: they are made now."""
    changes = draft.get("changes")
    if not isinstance(changes, list):
        return draft
    stamp = {"date": dates.iso_time(now)}
    return draft | {"changes": [stamp | one if isinstance(one, dict) else one for one in changes]}


def _refuse_full(desk: Desk, type: str, settings: RecordSettings, action: str, path: str) -> None:
    """The category's maximum; what is active already takes no room."""
    records, _ = collect(desk.store, paths_of(desk.store, type))
    if path in records and status_of(records[path]) == fields.ACTIVE:
        return
    problem, fix = refusal(records.values(), type, settings)
    if problem:
        raise RecordError(errors.ACTION_CODES[action], problem, fix=fix, path=path)


def _exists_below(checkout: str) -> Callable[[str], bool]:
    """Does the project have such a file? What lies elsewhere is no file of it."""

    def exists(path: str) -> bool:
        if "\0" in path:
            return False
        whole = os.path.normpath(os.path.join(checkout, path))
        return below(whole, checkout) and os.path.lexists(whole)

    return exists
