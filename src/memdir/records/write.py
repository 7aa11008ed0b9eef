"""Create, update, retire, archive, restore."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from memdir.errors import Finding, MemdirError, Missing, Unwritable
from memdir.format.draft import CREATED, SKIPPED, UPDATED, Change, hash_of
from memdir.format.names import slug_for
from memdir.hot import safe
from memdir.hot.memory import stem
from memdir.hot.place import below
from memdir.hot.recall import Hit
from memdir.records import fields, index_md, lifecycle, refusal
from memdir.records import match as match_module
from memdir.records.fields import Field, Record, is_newer
from memdir.records.index_md import healed, indexed
from memdir.records.lifecycle import refusal as lifecycle_refusal
from memdir.records.lifecycle import roll, turn
from memdir.records.lookup import (
    collect,
    everything,
    find_record,
    index_of,
    paths_of,
    settings_of,
    sure_settings_of,
    target_path,
)
from memdir.records.match import match
from memdir.records.memory_config import SESSION_SUMMARY, RecordSettings
from memdir.records.record import expect, read_record, write_record
from memdir.records.refusal import RecordError
from memdir.records.update import WAY_BACK, WAYS, may_create, merge, must_rename, status_of
from memdir.records.validate import demand, repair
from memdir.store.changes import ignored
from memdir.store.ports import Store
from memdir.store.writer import App, Desk, Done, Told
from memdir.text.secrets import find_secrets


def _untold(done: Done) -> None:
    """For callers that only want the answer."""


# What only looks: the record that new information belongs to, search, how the store stands.

OFF = "The category is switched off in memory-config.json: nothing is to be done."


@dataclass(frozen=True)
class Standing:
    """How a store of records stands."""

    health: dict[str, object]
    settings: RecordSettings
    findings: tuple[Finding, ...]
    due: dict[str, int] = field(default_factory=dict)  # what gc and window would do


def candidate(app: App, type: str, new_info: str, lifecycle_event: str = "") -> dict[str, object]:
    """match, with the records of one type; nothing to do for one that is switched off"""
    settings, _ = settings_of(app.store)
    answer = match(_files(app.store, type), type, new_info, lifecycle_event)
    return answer if settings.types[type].enabled else answer | switched_off()


def switched_off() -> dict[str, object]:
    """What the mechanics say of a type that nobody wants."""
    nothing = {"candidate": None, "delete_allowed": False, "hints": [OFF]}
    return nothing | {"pre_action": match_module.NOOP, "structural_cud": match_module.NOOP}


def _files(store: Store, type: str) -> Iterator[tuple[str, bytes]]:
    for path in paths_of(store, type):
        try:
            yield path, store.read(path)
        except MemdirError:
            continue  # gone, or nobody can read it: no candidate either way


def search(
    app: App, query: str, limit: int, type: str = "", put_away: bool = False
) -> list[tuple[str, Record]]:
    """search → the records it found, best first; with `put_away`, also those by their words"""
    records, _ = everything(app.store)
    hits: list[Hit] = list(app.search.find(query, len(records)).hits)
    found = [hit.memory.path for hit in hits if hit.words]
    if put_away:
        words = query.casefold().split()
        found += [
            path
            for path, record in records.items()
            if path not in found and all(word in str(record).casefold() for word in words)
        ]
    wanted = (
        (path, records[path])
        for path in found
        if path in records
        and type in ("", records[path].get("category"))
        and (put_away or status_of(records[path]) == fields.ACTIVE)
    )
    return [one for one, _ in zip(wanted, range(limit), strict=False)]


def standing(app: App) -> Standing:
    """count, and what gc and window would do now"""
    settings, warnings = settings_of(app.store)
    records, broken = everything(app.store)
    now = app.now()
    found = index_md.index_health(index_of(app.store), records.items(), now)
    leaving = lifecycle.leaving(records, settings, now)
    due = {
        "window": len(lifecycle.plan(records, settings)),
        "retention": len(lifecycle.expiring(records, settings, now)),
        "gc": sum(one.action != lifecycle.KEEP for one in leaving),
    }
    return Standing(found, settings, (*warnings, *broken), due)


# Records are committed with the code: a secret must not come in with one.


def refuse_secrets(draft: Record, old: Record) -> None:
    """Refuse what looks like a secret, unless the record says it already."""
    known = set(_texts(old))
    for text in _texts(draft):
        for secret in find_secrets(text) if text not in known else ():
            raise RecordError(
                refusal.SECURITY,
                f"the draft holds what looks like a secret ({secret.rule})",
                fix="name the place of the secret instead",
            )


def _texts(value: object) -> Iterator[str]:
    """Every text in it, each on its own: as JSON one may run into its neighbour."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            waiting += [*one.keys(), *one.values()]
        elif isinstance(one, list):
            waiting += one


# Amend a record that stands, for whoever has read that very version of it.


def amend(
    path: str,
    draft: Record,
    store: Store,
    now: float,
    expected: str,
    exists: Callable[[str], bool],
) -> Change:
    """The update, and where its title is another one now, its file under a new name.

    `expected` is the hash of the version that was read, `exists` knows the project's files.
    """
    data = store.read(path)
    expect(data, expected, path, write_record(draft))
    old, _ = read_record(data, path)
    merged, remarks = merge(old, draft, now, exists)
    place = _place(path, str(old.get("title")), merged, store, remarks)
    merged["id"] = stem(path)
    data = write_record(merged)
    store.put(path, data)
    if place != path:
        data = _rename(path, place, merged, store)
    return Change(UPDATED, stem(place), place, hash_of(data), remarks=tuple(remarks))


def _rename(path: str, place: str, merged: Record, store: Store) -> bytes:
    """Cut off on the way, the same version stands under both names: healing takes one away."""
    data = write_record(merged | {"id": stem(place)})
    try:
        store.put(place, data)
        store.drop(path)
    except MemdirError as error:
        raise Unwritable(
            f"{path} is updated, but not yet renamed to {place}: {error.message}",
            path=error.path,
            next=f"{error.next}; the next change, or memdir records index --rebuild, mends it",
        ) from None
    return data


def _place(path: str, title: str, merged: Record, store: Store, remarks: list[str]) -> str:
    """Where it lies from now on: a name that says something else misleads."""
    new = str(merged["title"])
    if not must_rename(title, new):
        return path
    type = str(merged["category"])
    place = fields.path_of(type, slug_for(new, type))
    if place == path:
        return path
    if store.exists(place):
        remarks.append(f"it keeps its name: {place} is taken")
        return path
    remarks.append(f"renamed from {path}: most words of the title changed")
    return place


# Put a new record down; what stands there and lives is never overwritten.

SAME = "the same record is there already"


def put_down(draft: Record, path: str, store: Store, now: float) -> Change:
    """Create the record at its path; the same one again is no change."""
    record, remarks = _begun(draft, path, now)
    demand(record, fields.type_at(path), path)
    try:
        data = store.read(path)
    except Missing:
        pass
    else:
        standing = read_record(data, path)[0]
        if is_newer(standing):
            message = "a newer version has written what stands there; it is only read"
            raise RecordError(refusal.OVERWRITE, message, fix="choose another title", path=path)
        if not may_create(standing, record, now, path):
            return Change(SKIPPED, stem(path), path, hash_of(data), SAME)
    data = write_record(record)
    store.put(path, data)
    return Change(CREATED, stem(path), path, hash_of(data), remarks=tuple(remarks))


def _begun(draft: Record, path: str, now: float) -> tuple[Record, list[str]]:
    """A draft at the beginning of its life; what the store decides it cannot claim."""
    stamp = safe.iso_time(now)
    ours = {"id": stem(path), "created_at": stamp, "updated_at": stamp}
    ours |= {"record_status": fields.ACTIVE, "schema_version": fields.SCHEMA_VERSION}
    lived = fields.OPTIONAL_KEYS
    said = {key: value for key, value in draft.items() if key not in lived}
    said.setdefault("category", fields.type_at(path))
    said.setdefault("changes", [])
    quiet = {"related_files": [], "confidence": fields.DEFAULT_CONFIDENCE}
    return repair({**quiet, **said, **ours, "times_updated": 0}, now)


# What changes a record: create, update, and the ways between active, retired and archived.

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


def write(app: App, wanted: Wanted, told: Told = _untold) -> Done:
    """put_down, amend or turn → enlist; after a session summary, the window is rolled"""
    if wanted.action == UPDATE and not wanted.expected:
        raise RecordError(
            refusal.INPUT,
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
        raise RecordError(refusal.INPUT, message, fix=f"--category: {', '.join(fields.TYPES)}")
    title = wanted.draft.get("title")
    if not isinstance(title, str) or not title.strip():
        raise RecordError(refusal.VALIDATION, "title is missing", fix="add title")
    return fields.path_of(type, slug_for(title, type))


def _create(app: App, desk: Desk, wanted: Wanted) -> list[Change]:
    path = place_of(wanted, desk.store.root)
    type = fields.type_at(path)
    # After a session summary others go, by what the settings say.
    settings = (sure_settings_of if type == SESSION_SUMMARY else settings_of)(desk.store)[0]
    if not settings.types[type].enabled:
        raise RecordError(
            refusal.ACTION_CODES[CREATE],
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
            refusal.PATH,
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
    stamp = {"date": safe.iso_time(now)}
    return draft | {"changes": [stamp | one if isinstance(one, dict) else one for one in changes]}


def _refuse_full(desk: Desk, type: str, settings: RecordSettings, action: str, path: str) -> None:
    """The category's maximum; what is active already takes no room."""
    records, _ = collect(desk.store, paths_of(desk.store, type))
    if path in records and status_of(records[path]) == fields.ACTIVE:
        return
    problem, fix = lifecycle_refusal(records.values(), type, settings)
    if problem:
        raise RecordError(refusal.ACTION_CODES[action], problem, fix=fix, path=path)


def _exists_below(checkout: str) -> Callable[[str], bool]:
    """Does the project have such a file? What lies elsewhere is no file of it."""

    def exists(path: str) -> bool:
        if "\0" in path:
            return False
        whole = os.path.normpath(os.path.join(checkout, path))
        return below(whole, checkout) and os.path.lexists(whole)

    return exists


# Save a record as a person or an agent says it: created, or changed where it stands.

SAID = "saved again"
YES, NO = ("true", "yes", "1"), ("false", "no", "0")
_GROWING = ("tags", "related_files")


def save_record(app: App, type: str, draft: Record, reason: str, told: Told = _untold) -> Done:
    """look → create or update → enlist; what lies close is a remark"""

    def act(desk: Desk) -> list[Change]:
        desk.cause = replace(desk.cause, reason=reason)
        wanted = Wanted(CREATE, type, draft=draft, reason=reason)
        path = place_of(wanted, desk.store.root)
        old = _active(desk, path)
        if old is None:
            desk.remarks += _close(desk, path, draft)
        elif not _news(old, draft, app.now()):
            data = desk.store.read(path)
            return indexed(desk, [Change(SKIPPED, stem(path), path, hash_of(data), SAME)])
        else:
            whole = completed(old, draft, reason or SAID, app.now())
            wanted = Wanted(UPDATE, type, path, whole, reason=reason)
        return indexed(desk, carry_out(app, desk, wanted))

    return app.change("save", healed(act), told)


def read_fields(given: Record, type: str, values: Sequence[str]) -> Record:
    """A draft with `FIELD=TEXT` pairs in its content, each as its field wants it."""
    of = type or fields.type_named(given.get("category"))
    known = {field.name: field for field in fields.CONTENT.get(of, ())}
    content = given.get("content")
    content = dict(content) if isinstance(content, dict) else {}
    for value in values:
        name, mark, text = value.partition("=")
        name = name.strip().removeprefix("content.")
        top = name.partition(".")[0]
        if not mark or top not in known:
            names = ", ".join(known) or "give --category first"
            message = f"{value[:60]!r} is no FIELD=TEXT of a {of or 'record'}"
            raise RecordError(refusal.INPUT, message, fix=f"fields: {names}")
        _put(content, known[top], name.partition(".")[2], text)
    return given | {"content": content} if content or "content" in given else given


def _put(content: Record, field: Field, part: str, text: str) -> None:
    if field.kind == fields.TEXTS:
        content[field.name] = [*content.get(field.name, []), text]
    elif field.kind == fields.FLAG:
        plain = text.strip().lower()
        content[field.name] = True if plain in YES else False if plain in NO else text
    elif field.kind == fields.EXAMPLES:
        held = dict(content.get(field.name, {}))
        held[part or "prefer"] = [*held.get(part or "prefer", []), text]
        content[field.name] = held
    elif field.kind == fields.ALTERNATIVES:
        option, _, why = text.partition(" -- ")
        one = {"option": option.strip(), "rejected_reason": why.strip()}
        content[field.name] = [*content.get(field.name, []), one]
    else:
        content[field.name] = text


def _active(desk: Desk, path: str) -> Record | None:
    try:
        record, _ = read_record(desk.store.read(path), path)
    except Missing:
        return None
    return record if status_of(record) == fields.ACTIVE else None


def completed(old: Record, draft: Record, summary: str, now: float) -> Record:
    """A draft of an update with what must not be lost: earlier changes, tags and files."""
    logged = list(_listed(old.get("changes", [])))
    said = [one for one in _listed(draft.get("changes", [])) if one not in logged]
    stamp = safe.iso_time(now)
    entry = {"date": stamp, "summary": summary[: fields.MAX_SUMMARY]}
    more: Record = {"changes": [*logged, *(said or [entry])]}
    for key in _GROWING:
        if key in draft:
            both = [*_listed(old.get(key, [])), *_listed(draft[key])]
            more[key] = [one for at, one in enumerate(both) if one not in both[:at]]
    return draft | more


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _news(old: Record, draft: Record, now: float) -> bool:
    """Does the draft say anything that the record does not?"""
    said = repair({**old, **draft}, now)[0]
    if any(said.get(key) != old.get(key) for key in ("title", "confidence")):
        return True
    if any(one not in old[key] for key in _GROWING for one in _listed(said.get(key))):
        return True
    content, standing = draft.get("content"), old.get("content")
    if not isinstance(content, dict) or not isinstance(standing, dict):
        return content is not None
    return any(standing.get(key) != value for key, value in content.items())


def _close(desk: Desk, path: str, draft: Record) -> list[str]:
    """The record that may say the same under another title."""
    tags = draft.get("tags")
    words = [str(draft.get("title", "")), *(map(str, tags) if isinstance(tags, list) else ())]
    records, _ = collect(desk.store, desk.store.files())
    answer = match_module.candidate(records.items(), fields.type_at(path), " ".join(words))
    near = answer["candidate"]
    if not isinstance(near, dict):
        return []
    return [f"{near['path']} is close to it: memdir show {stem(str(near['path']))}"]
