"""Create, update, retire, archive, restore: everything that changes a record."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from memdir.capture.inbox import APPROVAL, Held
from memdir.errors import Missing
from memdir.format.draft import CREATED, SKIPPED, UPDATED, Change, content_hash
from memdir.format.names import memory_slug
from memdir.hot import memory, safe
from memdir.hot.memory import stem
from memdir.hot.place import is_below
from memdir.records import fields
from memdir.records.fields import Field, Record, is_active_record
from memdir.records.folders import change_records
from memdir.records.lifecycle import (
    WAY_BACK,
    WAYS,
    merge_record_update,
    must_rename_record,
    roll_records,
    turn_record,
)
from memdir.records.memory_config import SESSION_SUMMARY, RecordSettings
from memdir.records.record import (
    ACTION_CODES,
    ANTI_RESURRECTION,
    INPUT,
    OVERWRITE,
    PATH,
    SECURITY,
    VALIDATION,
    RecordError,
    check_record_version,
    find_record,
    read_record,
    record_settings,
    require_valid_record,
    target_path_of_record,
    write_record,
)
from memdir.records.validate import repair_record
from memdir.store.changes import remark_git_ignored_in_store
from memdir.store.ports import Store
from memdir.store.writer import App, Desk, Done
from memdir.text.secrets import find_secrets

CREATE, UPDATE = "create", "update"
VERBS = {"delete": "retire", "unarchive": "restore"}  # names in the history
SAME = "the same record is there already"
ANTI_RESURRECTION_SECONDS = 24 * 3600
GROWING = ("tags", "related_files")
FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
# Keys compared to recognize a record that is saved twice.
_SUBSTANCE = ("category", "title", "tags", "related_files", "confidence", "content")


@dataclass(frozen=True)
class Request:
    """`expected` is the hash of the version that the caller read."""

    action: str
    type: str = ""
    target: str = ""
    draft: Record = field(default_factory=dict)
    expected: str = ""
    reason: str = ""


def write_record_request(app: App, request: Request) -> Done:
    if request.action == UPDATE and not request.expected:
        message = "an update needs the hash of the version that was read"
        fix = "read the record and give --hash: its MD5 or SHA-256"
        raise RecordError(INPUT, message, fix=fix, path=request.target)
    with change_records(app, VERBS.get(request.action, request.action), request.reason) as desk:
        desk.changes += apply_record_change(app, desk, request)
    desk.remarks += remark_git_ignored_in_store(app, [it.path for it in desk.changes if it.changed])
    return desk.done


def change_status_of_records(app: App, names: Sequence[str], action: str, reason: str) -> Done:
    """Without an action, each record is restored."""
    with change_records(app, VERBS.get(action, action or "restore"), reason) as desk:
        for path in dict.fromkeys([find_record(name, desk.store) for name in names]):
            how = action
            if not how:
                status = fields.status_of_record(read_record(desk.store.read(path), path)[0])
                how = WAY_BACK.get(status, "restore")
            desk.changes += apply_record_change(app, desk, Request(how, target=path, reason=reason))
    return desk.done


def save_record(app: App, type: str, draft: Record, reason: str) -> Done:
    """Creates a record, or updates the active one that has this title."""
    with change_records(app, "save", reason) as desk:
        request = Request(CREATE, type, draft=draft, reason=reason)
        path = place_of_record(request, desk.store.root)
        try:
            data = desk.store.read(path)
        except Missing:
            data = b""
        old = read_record(data, path)[0] if data else {}
        same = False
        if old and is_active_record(old):
            whole = complete_record_draft(old, draft, reason or "saved again", app.now())
            request = Request(UPDATE, type, path, whole, reason=reason)
            same = _is_same(old, merge_record_update(old, whole, app.now(), _files_of(app))[0])
        if same:
            desk.changes.append(Change(SKIPPED, stem(path), path, content_hash(data), SAME))
        else:
            desk.changes += apply_record_change(app, desk, request)
    return desk.done


def approve_record(app: App, held: Held) -> Done:
    """Saves a held draft as a record."""
    draft = held.catch.draft
    if draft is None:
        raise Missing("this draft holds no record", next=f"memdir review reject {held.id}")
    header = [("description", draft.description), ("type", draft.type)]
    shown = fields.read_rendered_record(memory.write_header(header, draft.body))
    record = {key: value for key, value in shown.items() if value not in ("", None)}
    return save_record(app, draft.type, record, APPROVAL + held.id)


def apply_record_change(app: App, desk: Desk, request: Request) -> list[Change]:
    """Runs under the lock; the caller updates the index."""
    store, now, limit = desk.store, app.now(), app.config.options.max_body_bytes
    draft = request.draft
    if request.action == CREATE:
        path = place_of_record(request, store.root)
        type = fields.record_type_at(path)
        # A session summary retires others, as the settings say.
        settings, _ = record_settings(store, sure=type == SESSION_SUMMARY)
        change = create_record(draft, path, store, now, settings, limit)
        # Even if nothing changed: the first attempt may have been killed before the window.
        rolled = roll_records(desk, settings, now, change.path) if type == SESSION_SUMMARY else []
        return [change, *rolled]
    path = find_record(request.target, store)
    _refuse_other_type(path, request.type)
    if request.action == UPDATE:
        exists = _files_of(app)
        return [amend_record(path, draft, store, now, request.expected, exists, limit)]
    if WAYS[request.action].target == fields.ACTIVE:
        _refuse_full(store, record_settings(store)[0], request.action, path)
    return [turn_record(path, request.action, request.reason, store, now, request.expected)]


def place_of_record(request: Request, root: str) -> str:
    type = request.type or fields.record_type_named(request.draft.get("category"))
    if request.target:
        path = target_path_of_record(request.target, root)
        _refuse_other_type(path, type)
        return path
    if not type:
        fix = f"--category: {', '.join(fields.TYPES)}"
        raise RecordError(INPUT, "the draft names no category", fix=fix)
    title = request.draft.get("title")
    if not isinstance(title, str) or not title.strip():
        raise RecordError(VALIDATION, "title is missing", fix="add title")
    return fields.record_path(type, memory_slug(title, type))


def create_record(
    draft: Record, path: str, store: Store, now: float, settings: RecordSettings, limit: int
) -> Change:
    """An active or archived record is never overwritten."""
    type, stamp = fields.record_type_at(path), safe.iso_time(now)
    if not settings.types[type].enabled:
        fix = f"set categories.{type}.enabled to true in memory-config.json"
        message = f"the category {type} is switched off"
        raise RecordError(ACTION_CODES[CREATE], message, fix=fix, path=path)
    refuse_secret_record(draft, {})
    record: Record = {"category": type}
    record |= {key: value for key, value in draft.items() if key not in fields.OPTIONAL_KEYS}
    if fields.record_type_named(record["category"]) == type:
        record["category"] = type  # normalizes the case
    # A draft cannot set the values that the store decides.
    record |= {"id": stem(path), "created_at": stamp, "updated_at": stamp, "times_updated": 0}
    record |= {"record_status": fields.ACTIVE, "schema_version": fields.SCHEMA_VERSION}
    record, remarks = repair_record({**fields.DEFAULTS, **record}, now)
    require_valid_record(record, type, path)
    _refuse_oversized(record, limit, path)
    try:
        data = store.read(path)
    except Missing:
        _refuse_full(store, settings, CREATE, path)
    else:
        standing = read_record(data, path)[0]
        if (
            is_active_record(standing)
            and not fields.is_record_newer(standing)
            and _is_same(standing, record)
        ):
            return Change(SKIPPED, stem(path), path, content_hash(data), SAME)
        _refuse_overwrite(standing, now, path)
    data = write_record(record)
    store.put(path, data)
    return Change(CREATED, stem(path), path, content_hash(data), remarks=tuple(remarks))


def _is_same(old: Record, new: Record) -> bool:
    return all(old.get(key) == new.get(key) for key in _SUBSTANCE)


def _refuse_overwrite(standing: Record, now: float, path: str) -> None:
    """A create may only replace a record that was retired more than 24 hours ago."""
    status = fields.status_of_record(standing)
    if fields.is_record_newer(standing) or status != fields.RETIRED:
        raise RecordError(
            OVERWRITE,
            f"there is a record already ({status}); a create does not overwrite it",
            facts=(("record_status", status),),
            fix="update it, or choose another title",
            path=path,
        )
    since = safe.parse_time(str(standing.get("retired_at") or standing.get("updated_at") or ""))
    # A retirement in the future (the clock was set back) counts as just now.
    if since is None or now - since < ANTI_RESURRECTION_SECONDS:
        raise RecordError(
            ANTI_RESURRECTION,
            "a record of this name was retired less than 24 hours ago",
            facts=(("retired_at", str(standing.get("retired_at") or "unknown")),),
            fix="choose another title, wait 24 hours, or restore the record and update it",
            path=path,
        )


def amend_record(
    path: str,
    draft: Record,
    store: Store,
    now: float,
    expected: str,
    exists: Callable[[str], bool],
    limit: int,
) -> Change:
    """Updates a record; the file is renamed if most words of its title change.

    `expected` is the hash of the version that was read; `exists` knows the project's files.
    """
    data = store.read(path)
    check_record_version(data, expected, path, write_record(draft))
    old, _ = read_record(data, path)
    refuse_secret_record(draft, old)
    merged, remarks = merge_record_update(old, draft, now, exists)
    _refuse_oversized(merged, limit, path)
    type, title = str(merged["category"]), str(merged["title"])
    place = fields.record_path(type, memory_slug(title, type))
    if place == path or not must_rename_record(str(old.get("title")), title):
        place = path  # keep the name unless it would mislead
    elif store.exists(place):
        remarks.append(f"it keeps its name: {place} is taken")
        place = path
    else:
        remarks.append(f"renamed from {path}: most words of the title changed")
    data = write_record(merged | {"id": stem(path)})
    store.put(path, data)
    if place != path:
        data = _rename(path, place, merged, store)
    return Change(UPDATED, stem(place), place, content_hash(data), remarks=tuple(remarks))


def _rename(path: str, place: str, merged: Record, store: Store) -> bytes:
    """If killed halfway, the record exists under both names; `heal_renamed_records` removes one."""
    data = write_record(merged | {"id": stem(place)})
    store.put(place, data)
    store.drop(path)
    return data


def refuse_secret_record(draft: Record, old: Record) -> None:
    """Records are committed with the code; a secret that the record has already is accepted."""
    known = set(_texts(old))
    for text in _texts(draft):
        for secret in find_secrets(text) if text not in known else ():
            message = f"the draft holds what looks like a secret ({secret.rule})"
            raise RecordError(SECURITY, message, fix="name the place of the secret instead")


def _refuse_oversized(record: Record, limit: int, path: str) -> None:
    """The limit that holds for the text of every memory."""
    size = len(memory.encode(fields.render_record(record | {"changes": []})))
    if size > limit:
        message = f"as a memory it has {size:,} bytes (limit: {limit:,})"
        fix = "shorten it, split it, or point to a file of the repository"
        raise RecordError(VALIDATION, message, fix=fix, path=path)


def _texts(value: object) -> Iterator[str]:
    """Each text on its own: as JSON one may run into its neighbour."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            waiting += [*item.keys(), *item.values()]
        elif isinstance(item, list):
            waiting += item


def _refuse_other_type(path: str, type: str) -> None:
    if type and fields.record_type_at(path) != type:
        message = f"{path} is no place of a {type}"
        fix = f"a {type} lies in {fields.FOLDERS[type]}/"
        raise RecordError(PATH, message, fix=fix, path=path)


def _refuse_full(store: Store, settings: RecordSettings, action: str, path: str) -> None:
    type, limit = fields.record_type_at(path), settings.max_memories_per_category
    active = [it for it in store.files() if fields.record_type_at(it) == type]
    if path in active or len(active) < limit:
        return
    raise RecordError(
        ACTION_CODES[action],
        f"{fields.FOLDERS[type]}/ holds {len(active)} active records, and "
        f"max_memories_per_category is {limit}",
        fix="update a record that says nearly the same, retire one that is no longer needed, or "
        "raise max_memories_per_category in memory-config.json",
        path=path,
    )


def _files_of(app: App) -> Callable[[str], bool]:
    def exists(path: str) -> bool:
        whole = os.path.normpath(os.path.join(app.config.checkout, path))
        return "\0" not in path and is_below(whole, app.config.checkout) and os.path.lexists(whole)

    return exists


def complete_record_draft(old: Record, draft: Record, summary: str, now: float) -> Record:
    """What stands in the lists of the old record stays, and the change is logged."""
    logged = list(_as_list(old.get("changes", [])))
    new = [it for it in _as_list(draft.get("changes", [])) if it not in logged]
    entry = {"date": safe.iso_time(now), "summary": summary[: fields.MAX_SUMMARY_CHARACTERS]}
    more: Record = {"changes": [*logged, *(new or [entry])]}
    for key in GROWING:
        if key in draft:
            both = [*_as_list(old.get(key, [])), *_as_list(draft[key])]
            more[key] = [it for index, it in enumerate(both) if it not in both[:index]]
    return draft | more


def _as_list(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def read_record_fields(given: Record, type: str, values: Sequence[str]) -> Record:
    """The draft with the values of `--set FIELD=TEXT`; a field of a list may be given again."""
    type = type or fields.record_type_named(given.get("category"))
    known = {field.name: field for field in fields.CONTENT.get(type, ())}
    content = given.get("content")
    content = dict(content) if isinstance(content, dict) else {}
    for value in values:
        name, equals, text = value.partition("=")
        name, _, part = name.strip().removeprefix("content.").partition(".")
        if not equals or name not in known:
            names = ", ".join(known) or "give --category first"
            message = f"{value[:60]!r} is no FIELD=TEXT of a {type or 'record'}"
            raise RecordError(INPUT, message, fix=f"fields: {names}")
        content[name] = _field_value(known[name], content.get(name), part, text)
    return given | {"content": content} if content or "content" in given else given


def _field_value(field: Field, before: object, part: str, text: str) -> object:
    earlier = before if isinstance(before, list) else []
    if field.kind == fields.TEXTS:
        return [*earlier, text]
    if field.kind == fields.FLAG:
        return FLAGS.get(text.strip().lower(), text)
    if field.kind == fields.EXAMPLES:
        examples = dict(before) if isinstance(before, dict) else {}
        part = part or "prefer"
        return examples | {part: [*examples.get(part, []), text]}
    if field.kind == fields.ALTERNATIVES:
        option, _, why = text.partition(" -- ")
        return [*earlier, {"option": option.strip(), "rejected_reason": why.strip()}]
    return text
