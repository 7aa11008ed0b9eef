"""What may become of a record: updates, retired, archived, brought back; window, retention, gc."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from memdir.errors import Finding
from memdir.format import draft
from memdir.format.draft import PURGED, SKIPPED, Change, content_hash
from memdir.hot.memory import stem
from memdir.hot.safe import DAY, inert_line, iso_day, iso_time, parse_time
from memdir.records import fields, folders
from memdir.records.match import words_of_record
from memdir.records.memory_config import SESSION_SUMMARY, RecordSettings
from memdir.records.record import (
    ACTION_CODES,
    MERGE,
    RecordError,
    check_record_version,
    collect_records,
    read_all_records,
    read_record,
    read_record_index,
    record_settings,
    require_valid_record,
    write_record,
)
from memdir.records.validate import cap_record_changes, repair_record
from memdir.store.ports import Store
from memdir.store.writer import App, Desk, Done

IMMUTABLE = ("created_at", "schema_version", "category")
GUARDED = ("completed", "blockers", "next_actions")  # reported if lost with a summary
SHARED_WORDS = 0.6  # of an item's words in another text, to count as the same
MAX_SHOWN_ITEMS, MAX_ITEM_BYTES = 5, 80  # in a warning
WARNING = "WARNING: "  # of a session that is the only one to say something
DELETE, ARCHIVE, PURGE, KEEP = "delete", "archive", "purge", "keep"
WAY_BACK = {fields.RETIRED: "restore", fields.ARCHIVED: "unarchive"}


class Way(NamedTuple):
    sources: tuple[str, ...]
    target: str
    verb: str
    kind: str


# By the seed's names. Retired records may be archived, as gc does after the grace period.
WAYS = {
    DELETE: Way((fields.ACTIVE,), fields.RETIRED, "Retired", draft.RETIRED),
    ARCHIVE: Way((fields.ACTIVE, fields.RETIRED), fields.ARCHIVED, "Archived", draft.ARCHIVED),
    "restore": Way((fields.RETIRED,), fields.ACTIVE, "Restored", draft.RESTORED),
    "unarchive": Way((fields.ARCHIVED,), fields.ACTIVE, "Unarchived", draft.RESTORED),
}


class Leaving(NamedTuple):
    path: str
    action: str
    reason: str
    warning: str = ""


# Updates


def merge_record_update(
    old: fields.Record, new: fields.Record, now: float, exists: Callable[[str], bool]
) -> tuple[fields.Record, list[str]]:
    _refuse_newer(old, "update")
    status = fields.status_of_record(old)
    if new.get("record_status") not in (None, status):
        rule = "an update does not change where a record stands in its life"
        raise _refusal("record_status", rule, f"use --action {_way_back(old)}")
    if status != fields.ACTIVE:
        raise RecordError(
            ACTION_CODES["update"],
            f"the record is {status}; an update does not bring it back",
            facts=(("record_status", status[:20]),),
            fix=f"--action {_way_back(old)} first, then update",
        )
    old = repair_record(old, now)[0]
    whole = old | {key: value for key, value in new.items() if value is not None}
    content = new.get("content")
    if isinstance(content, dict) and isinstance(old.get("content"), dict):
        given = {key: value for key, value in content.items() if value is not None}
        whole["content"] = old["content"] | given
    merged, remarks = repair_record(whole, now, cap=False)
    for key in (*IMMUTABLE, "record_status", *fields.OPTIONAL_KEYS):
        before, after = old.get(key), merged.get(key)
        if before != after:
            facts = (("old", str(before)[:60]), ("new", str(after)[:60]))
            raise _refusal(key, "an update cannot change it", f"leave {key} as it is", *facts)
    _keep_growing(old, merged, exists)
    log = _as_list(old.get("changes"))
    added = _new_changes(log, merged.get("changes"))
    merged["id"] = old.get("id", merged.get("id"))  # a rename sets the new id
    stamp = iso_time(max(now, parse_time(str(old.get("updated_at"))) or now))
    merged["changes"] = [*log, *added, *_automatic_changes(old, merged, added, stamp)]
    cap_record_changes(merged, remarks)
    times = old["times_updated"]
    merged["times_updated"] = times + 1 if isinstance(times, int) and times >= 0 else 1
    merged["updated_at"] = stamp
    return require_valid_record(merged, str(old.get("category", ""))), remarks


def must_rename_record(old_title: str, new_title: str) -> bool:
    """True if more than half of the words change, counted on the longer title."""
    before, after = words_of_record(old_title), words_of_record(new_title)
    longer = max(len(before), len(after))
    if not longer:
        return old_title.casefold() != new_title.casefold()
    return 2 * (longer - len(before & after)) > longer


def _refuse_newer(record: fields.Record, action: str) -> None:
    if fields.is_record_newer(record):
        version = (("schema_version", str(record.get("schema_version"))[:20]),)
        message = "the record was written by a newer version and is only read"
        raise RecordError(ACTION_CODES[action], message, facts=version, fix="update memdir")


def _way_back(record: fields.Record) -> str:
    return WAY_BACK.get(fields.status_of_record(record), "delete or archive")


def _as_list(value: object) -> list[Any]:
    """A broken list protects nothing, and may be corrected."""
    return value if isinstance(value, list) else []


def _refusal(field: str, rule: str, fix: str, *facts: tuple[str, str]) -> RecordError:
    return RecordError(MERGE, f"{field}: {rule}", facts=(("field", field), *facts), fix=fix)


def _keep_growing(old: fields.Record, merged: fields.Record, exists: Callable[[str], bool]) -> None:
    """Below the maximum tags are only added; at it, each new tag may replace one."""
    for key in ("tags", "related_files"):
        before, after = _as_list(old.get(key)), merged.get(key)
        if not isinstance(after, list):
            continue  # the check refuses it
        lost = [item for item in before if item not in after]
        if key == "tags":
            added = [tag for tag in after if tag not in before]
            room = max(0, len(before) + len(added) - fields.MAX_TAGS)
            rule = f"tags only grow below {fields.MAX_TAGS}; then one goes for one that comes"
        else:
            lost, room = [path for path in lost if exists(path)], 0
            rule = "a file that exists stays listed"
        if len(lost) > room:
            names = ", ".join(map(str, lost))
            raise _refusal(key, rule, f"keep {names[:120]}", ("removed", names))


def _new_changes(old: list[object], new: object) -> list[object]:
    """The appended entries; the oldest may be dropped to keep to the maximum."""
    if not isinstance(new, list):
        raise _refusal("changes", "must be a list", "append one entry {date, summary}")
    whole = new[: len(old)] == old  # then even an entry that says the same again is new
    added = new[len(old) :] if whole else [entry for entry in new if entry not in old]
    surplus = max(len(old) + len(added) - fields.MAX_CHANGES, 0)
    if new not in ([*old, *added], [*old[surplus:], *added]):
        rule = "earlier entries stay as they are"
        raise _refusal("changes", rule, "keep them in front, append the new one")
    if not added:
        rule = "an update needs at least one new entry"
        fix = "append one entry {date, summary} that says what changed and why"
        raise _refusal("changes", rule, fix)
    return added


def _automatic_changes(
    old: fields.Record, merged: fields.Record, added: list[object], stamp: str
) -> list[dict[str, object]]:
    named = {
        str(it.get("field", "")).removeprefix("content.") for it in added if isinstance(it, dict)
    }
    before, after = _scalars(old), _scalars(merged)
    return [
        {
            "date": stamp,
            "summary": f"{field} changed",
            "field": field,
            "old_value": before.get(field),
            "new_value": after.get(field),
        }
        for field in dict.fromkeys((*before, *after))
        if before.get(field) != after.get(field) and field.removeprefix("content.") not in named
    ]


def _scalars(record: fields.Record) -> dict[str, object]:
    values: dict[str, object] = {key: record.get(key) for key in ("title", "confidence")}
    content = record.get("content")
    for field in fields.fields_of_record_type(record):
        if isinstance(content, dict) and field.kind in fields.SCALARS and field.name in content:
            values[f"content.{field.name}"] = content[field.name]
    return values


# Status


def turn_record(
    path: str, action: str, reason: str, store: Store, now: float, expected: str
) -> Change:
    """Skipped if the record has that status already."""
    data = store.read(path)
    check_record_version(data, expected, path)
    record, _ = read_record(data, path)
    _refuse_newer(record, action)
    sources, target, verb, kind = WAYS[action]
    status = fields.status_of_record(record)
    if status == target:
        return Change(SKIPPED, stem(path), path, content_hash(data), f"already {target}")
    if status not in sources:
        facts = (("action", action), ("record_status", status[:20]))
        fix = f"use --action {_way_back(record)}"
        raise RecordError(ACTION_CODES[action], f"the record is {status}", facts=facts, fix=fix)
    stamp = iso_time(now)
    if target == fields.ACTIVE:
        record = {key: it for key, it in record.items() if key not in fields.OPTIONAL_KEYS}
    else:
        record |= {f"{target}_at": stamp, f"{target}_reason": reason}
    record["record_status"] = target
    record["updated_at"] = max(stamp, str(record.get("updated_at", "")))
    entry = {
        "date": stamp,
        "summary": f"{verb}: {reason}"[: fields.MAX_SUMMARY_CHARACTERS] if reason else verb,
        "field": "record_status",
        "old_value": status,
        "new_value": target,
    }
    record["changes"] = [*_as_list(record.get("changes")), entry]
    remarks: list[str] = []
    cap_record_changes(record, remarks)
    data = write_record(record)
    store.put(path, data)
    return Change(kind, stem(path), path, content_hash(data), remarks=tuple(remarks))


# The window keeps the newest summaries. An old one is retired even if some of its items are in no
# other record; a warning names them, and it can be restored.


def find_surplus_records(
    records: Mapping[str, fields.Record], settings: RecordSettings, newest: str = ""
) -> list[Leaving]:
    """The summaries to retire, oldest first; `newest` was just saved and stays.

    `records` is the whole store: the others show what is captured elsewhere.
    """
    limit = settings.types[SESSION_SUMMARY].max_retained
    dated = sorted(
        (path == newest, times[0], path)
        for path, record in records.items()
        if fields.is_active_record(record) and record.get("category") == SESSION_SUMMARY
        if (times := _times(record, "created_at", "updated_at"))
    )
    going = [path for _, _, path in dated[: max(len(dated) - limit, 0)]]
    if not going:
        return []
    staying = [record for path, record in records.items() if path not in going]
    texts = [text for it in staying if fields.is_active_record(it) for text in _texts(it)]
    reason = f"Session rolling window: exceeded max_retained limit ({limit})"
    result = []
    for path in going:
        alone = [it for it in _items(records[path]) if not _is_held(words_of_record(it), texts)]
        shown = "; ".join(f'"{inert_line(it, MAX_ITEM_BYTES)}"' for it in alone[:MAX_SHOWN_ITEMS])
        more = f" and {len(alone) - MAX_SHOWN_ITEMS} more" if len(alone) > MAX_SHOWN_ITEMS else ""
        name = inert_line(str(records[path].get("id") or path), MAX_ITEM_BYTES)
        warning = (
            f"{WARNING}Session {name} contains unique content not captured elsewhere: "
            f"{shown}{more}. Consider saving these before retirement."
        )
        result.append(Leaving(path, DELETE, reason, warning if alone else ""))
    return result


def _times(record: fields.Record, *keys: str) -> list[float]:
    moments = [parse_time(value) for key in keys if isinstance(value := record.get(key), str)]
    return [moment for moment in moments if moment is not None]


def _texts(record: fields.Record) -> Iterator[set[str]]:
    """The words of each text that may say what a summary said."""
    yield words_of_record(
        " ".join([str(record.get("title") or ""), *fields.record_texts(record.get("tags"))])
    )
    if record.get("category") == SESSION_SUMMARY:
        yield from map(words_of_record, _items(record))


def _items(record: fields.Record) -> list[str]:
    content = record.get("content")
    lists = [content.get(key) for key in GUARDED] if isinstance(content, dict) else []
    return list(dict.fromkeys(it for items in lists for it in fields.record_texts(items)))


def _is_held(item: set[str], texts: Iterable[set[str]]) -> bool:
    """True if another text says it; an item without a word has nothing to lose."""
    return not item or any(len(words & item) >= SHARED_WORDS * len(item) for words in texts)


def roll_record_window(app: App) -> Done:
    with folders.change_records(app, "retire") as desk:
        desk.changes += roll_records(desk, _sure_settings(desk), app.now())
    return desk.done


def roll_records(
    desk: Desk, settings: RecordSettings, now: float, newest: str = ""
) -> list[Change]:
    records = _everything(desk)
    if newest:  # not on disk in a dry run
        records |= collect_records(desk.store, [newest])[0]
    return _let_go(desk, find_surplus_records(records, settings, newest), now)


def _sure_settings(desk: Desk) -> RecordSettings:
    settings, warnings = record_settings(desk.store, sure=True)
    desk.remarks += [it.message for it in warnings]
    return settings


def _everything(desk: Desk) -> dict[str, fields.Record]:
    records, findings = read_all_records(desk.store)
    desk.remarks += [f"{it.message}; {it.fix}" for it in findings]
    return records


def _let_go(desk: Desk, leaving: Iterable[Leaving], now: float) -> list[Change]:
    changes = []
    for path, action, reason, warning in leaving:
        desk.remarks += [warning] if warning else []
        if action == KEEP:
            desk.remarks.append(f"{path} stays: {reason}")
        elif action == PURGE:
            desk.store.drop(path)
            changes.append(Change(PURGED, stem(path), path, reason=reason))
        else:
            try:
                change = turn_record(path, action, reason, desk.store, now, "")
                changes.append(replace(change, reason=reason))
            except RecordError as error:
                desk.remarks.append(f"{path} stays: {error.message}")
    return changes


def find_records_past_grace(
    records: Mapping[str, fields.Record], settings: RecordSettings, now: float
) -> list[Leaving]:
    days = settings.grace_period_days
    result = []
    for path, record in sorted(records.items()):
        if record.get("record_status") != fields.RETIRED:
            continue
        times = _times(record, "retired_at")
        if not times:
            reason = "nobody can tell when it was retired: retired_at is missing or no date"
            result.append(Leaving(path, KEEP, reason))
        elif now - times[0] >= days * DAY:  # never with a future date
            reason = f"retired {iso_day(times[0])}, more than grace_period_days ({days}) ago"
            action = ARCHIVE if settings.archive_retired else PURGE
            if fields.is_record_newer(record):
                action, reason = KEEP, "it was written by a newer version of memdir"
            result.append(Leaving(path, action, reason))
    return result


def find_expired_records(
    records: Mapping[str, fields.Record], settings: RecordSettings, now: float
) -> list[Leaving]:
    result = []
    for path, record in sorted(records.items()):
        own = settings.types.get(str(record.get("category")))
        if own is None or not own.retention_days or not fields.is_active_record(record):
            continue
        last = max(_times(record, "created_at", "updated_at"), default=now)
        if now - last >= own.retention_days * DAY:
            limit = f"more than retention_days ({own.retention_days}) ago"
            result.append(Leaving(path, DELETE, f"last written {iso_day(last)}, {limit}"))
    return result


def collect_record_garbage(app: App) -> Done:
    with folders.change_records(app, "purge") as desk:
        settings, records, now = _sure_settings(desk), _everything(desk), app.now()
        going = find_expired_records(records, settings, now)
        going += find_records_past_grace(records, settings, now)
        desk.changes += _let_go(desk, going, now)
    return desk.done


def retire_expired_records(app: App) -> None:
    """What `retention_days` says; the lock is only taken where something is due."""
    settings, records = record_settings(app.store, sure=True)[0], read_all_records(app.store)[0]
    if find_expired_records(records, settings, app.now()):
        with folders.change_records(app, "retire", "retention_days") as desk:
            going = find_expired_records(_everything(desk), _sure_settings(desk), app.now())
            desk.changes += _let_go(desk, going, app.now())


def summarize_records(
    app: App,
) -> tuple[dict[str, object], RecordSettings, list[Finding], dict[str, int]]:
    """What there is, the settings, what is wrong, and how many records are due for what."""
    settings, warnings = record_settings(app.store)
    records, broken = read_all_records(app.store)
    now = app.now()
    due = {
        "window": len(find_surplus_records(records, settings)),
        "retention": len(find_expired_records(records, settings, now)),
        "gc": sum(it.action != KEEP for it in find_records_past_grace(records, settings, now)),
    }
    health = folders.report_record_health(read_record_index(app.store), records.items())
    return health, settings, [*warnings, *broken], due
