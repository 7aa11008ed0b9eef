"""The life of a record: retired, archived, brought back; session window, retention, gc."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from memdir.errors import Finding
from memdir.format import draft
from memdir.format.draft import PURGED, SKIPPED, Change, hash_of
from memdir.hot.memory import stem
from memdir.hot.safe import DAY, inert_line, iso_day, iso_time, parse_time
from memdir.hot.words import Words, split_words
from memdir.records import fields, index_md
from memdir.records.fields import ACTIVE, ARCHIVED, RETIRED, Record, is_active, is_newer, texts_of
from memdir.records.memory_config import SESSION_SUMMARY, RecordSettings
from memdir.records.record import (
    check_version,
    collect_records,
    read_all_records,
    read_index,
    read_record,
    settings_of,
    sure_settings_of,
    write_record,
)
from memdir.records.refusal import ACTION_CODES, RecordError
from memdir.records.update import as_list, refuse_newer, way_back
from memdir.records.validate import cap_changes
from memdir.store.ports import Store
from memdir.store.writer import App, Desk, Done

GUARDED = ("completed", "blockers", "next_actions")  # reported if lost with a summary
SHARED_WORDS = 0.6  # of an item's words in another text, to count as the same
MIN_TITLE_WORDS = 2  # of a title contained in an item
MAX_SHOWN_ITEMS, MAX_ITEM_BYTES = 5, 80  # in a warning
DELETE, ARCHIVE, PURGE, KEEP = "delete", "archive", "purge", "keep"


class Way(NamedTuple):
    sources: tuple[str, ...]
    target: str
    verb: str
    kind: str


# By the seed's names. Retired records may be archived, as gc does after the grace period.
WAYS = {
    DELETE: Way((ACTIVE,), RETIRED, "Retired", draft.RETIRED),
    ARCHIVE: Way((ACTIVE, RETIRED), ARCHIVED, "Archived", draft.ARCHIVED),
    "restore": Way((RETIRED,), ACTIVE, "Restored", draft.RESTORED),
    "unarchive": Way((ARCHIVED,), ACTIVE, "Unarchived", draft.RESTORED),
}


class Leaving(NamedTuple):
    path: str
    action: str
    reason: str
    warning: str = ""


class Overview(NamedTuple):
    health: dict[str, object]
    settings: RecordSettings
    findings: tuple[Finding, ...]
    due: dict[str, int]


def change_status(record: Record, action: str, reason: str, now: float) -> tuple[Record, list[str]]:
    """Unchanged if the record has that status already."""
    sources, target, verb, _ = WAYS[action]
    status = fields.status_of(record)
    refuse_newer(record, action)
    if status == target:
        return record, [f"already {target}"]
    if status not in sources:
        facts = (("action", action), ("record_status", status[:20]))
        fix = f"use --action {way_back(record)}"
        raise RecordError(ACTION_CODES[action], f"the record is {status}", facts=facts, fix=fix)
    changed, stamp = dict(record), iso_time(now)
    if target == ACTIVE:
        for key in fields.OPTIONAL_KEYS:
            changed.pop(key, None)
    else:
        changed |= {f"{target}_at": stamp, f"{target}_reason": reason}
    changed["record_status"] = target
    changed["updated_at"] = max(stamp, str(record.get("updated_at", "")))
    entry = {
        "date": stamp,
        "summary": f"{verb}: {reason}"[: fields.MAX_SUMMARY_CHARACTERS] if reason else verb,
        "field": "record_status",
        "old_value": status,
        "new_value": target,
    }
    changed["changes"] = [*as_list(record.get("changes")), entry]
    remarks: list[str] = []
    cap_changes(changed, remarks)
    return changed, remarks


def turn_record(
    path: str, action: str, reason: str, store: Store, now: float, expected: str
) -> Change:
    data = store.read(path)
    check_version(data, expected, path)
    record, _ = read_record(data, path)
    new, remarks = change_status(record, action, reason, now)
    if new is record:
        return Change(SKIPPED, stem(path), path, hash_of(data), "; ".join(remarks))
    data = write_record(new)
    store.put(path, data)
    return Change(WAYS[action].kind, stem(path), path, hash_of(data), remarks=tuple(remarks))


# The window keeps the newest summaries. An old one is retired even if some of its items are in no
# other record; a warning names them, and it can be restored.


def find_surplus(
    records: Mapping[str, Record], settings: RecordSettings, newest: str = ""
) -> list[Leaving]:
    """The summaries to retire, oldest first; `newest` was just saved and stays.

    `records` is the whole store: the others show what is captured elsewhere.
    """
    limit = settings.types[SESSION_SUMMARY].max_retained
    dated = sorted(
        (path == newest, times[0], path)
        for path, record in records.items()
        if is_active(record) and record.get("category") == SESSION_SUMMARY
        if (times := _times(record, "created_at", "updated_at"))
    )
    going = [path for _, _, path in dated[: max(len(dated) - limit, 0)]]
    if not going:
        return []
    words = Words()
    # Index by word, so that a large store is read once and not once per item.
    holding: dict[str, list[tuple[frozenset[str], bool]]] = {}
    for path, record in records.items():
        for text in _texts(words, record) if path not in going and is_active(record) else ():
            for word in text[0]:
                holding.setdefault(word, []).append(text)
    reason = f"session window: more than max_retained ({limit}) summaries"
    result = []
    for path in going:
        items = _items(records[path])
        alone = [item for item in items if not _is_held(_words_of(words, item), holding)]
        result.append(Leaving(path, DELETE, reason, _warn(records[path], path, alone)))
    return result


def _times(record: Record, *keys: str) -> list[float]:
    moments = [parse_time(value) for key in keys if isinstance(value := record.get(key), str)]
    return [moment for moment in moments if moment is not None]


def _texts(words: Words, record: Record) -> Iterator[tuple[frozenset[str], bool]]:
    title = str(record.get("title") or "")
    yield _words_of(words, title), True
    yield _words_of(words, " ".join([title, *texts_of(record.get("tags"))])), False
    if record.get("category") == SESSION_SUMMARY:
        for item in _items(record):
            yield _words_of(words, item), False


def _items(record: Record) -> list[str]:
    content = record.get("content")
    lists = [content.get(key) for key in GUARDED] if isinstance(content, dict) else []
    return list(dict.fromkeys(it for items in lists for it in texts_of(items) if it.strip()))


def _words_of(words: Words, text: str) -> frozenset[str]:
    given = split_words(text)
    terms = {words[word] for word in given} - {""}
    return frozenset(terms.union(*(words.pairs.get(word, ()) for word in given)))


def _is_held(
    item: frozenset[str], holding: Mapping[str, list[tuple[frozenset[str], bool]]]
) -> bool:
    """True if another text says it; an item without a word has nothing to lose."""
    for words, is_title in {text for word in item for text in holding.get(word, ())}:
        shared = len(words & item)
        whole_title = is_title and shared == len(words) >= MIN_TITLE_WORDS
        if whole_title or shared >= SHARED_WORDS * len(item):
            return True
    return not item


def _warn(record: Record, path: str, alone: list[str]) -> str:
    if not alone:
        return ""
    shown = "; ".join(f'"{inert_line(it, MAX_ITEM_BYTES)}"' for it in alone[:MAX_SHOWN_ITEMS])
    more = f" and {len(alone) - MAX_SHOWN_ITEMS} more" if len(alone) > MAX_SHOWN_ITEMS else ""
    name = inert_line(str(record.get("id") or path), MAX_ITEM_BYTES)
    return (
        f"session {name} is retired, and nothing else holds: {shown}{more}. "
        "Save what is still needed; the session itself can be restored."
    )


def roll_window(app: App) -> Done:
    with index_md.change_records(app, "retire") as desk:
        settings, warnings = sure_settings_of(desk.store)
        desk.remarks += [it.message for it in warnings]
        desk.changes += roll(desk, settings, app.now())
    return desk.done


def roll(desk: Desk, settings: RecordSettings, now: float, newest: str = "") -> list[Change]:
    records = _everything(desk)
    if newest:  # not on disk in a dry run
        records |= collect_records(desk.store, [newest])[0]
    going = find_surplus(records, settings, newest)
    desk.remarks += [it.warning for it in going if it.warning]
    return _turn_each(desk, going, now)


def _everything(desk: Desk) -> dict[str, Record]:
    records, findings = read_all_records(desk.store)
    desk.remarks += [f"{it.message}; {it.fix}" for it in findings]
    return records


def _turn_each(desk: Desk, going: Iterable[Leaving], now: float) -> list[Change]:
    changes = []
    for path, action, reason, _ in going:
        try:
            changes.append(
                replace(turn_record(path, action, reason, desk.store, now, ""), reason=reason)
            )
        except RecordError as error:
            desk.remarks.append(f"{path} stays: {error.message}")
    return changes


def find_past_grace(
    records: Mapping[str, Record], settings: RecordSettings, now: float
) -> list[Leaving]:
    days = settings.grace_period_days
    result = []
    for path, record in sorted(records.items()):
        if record.get("record_status") != RETIRED:
            continue
        times = _times(record, "retired_at")
        if not times:
            reason = "nobody can tell when it was retired: retired_at is missing or no date"
            result.append(Leaving(path, KEEP, reason))
        elif now - times[0] >= days * DAY:  # never with a future date
            reason = f"retired {iso_day(times[0])}, more than grace_period_days ({days}) ago"
            action = ARCHIVE if settings.archive_retired else PURGE
            result.append(Leaving(path, action, reason))
    return result


def find_expired(
    records: Mapping[str, Record], settings: RecordSettings, now: float
) -> list[Leaving]:
    result = []
    for path, record in sorted(records.items()):
        own = settings.types.get(str(record.get("category")))
        if own is None or not own.retention_days or not is_active(record):
            continue
        last = max(_times(record, "created_at", "updated_at"), default=now)
        if now - last >= own.retention_days * DAY:
            limit = f"more than retention_days ({own.retention_days}) ago"
            result.append(Leaving(path, DELETE, f"last written {iso_day(last)}, {limit}"))
    return result


def collect_garbage(app: App) -> Done:
    with index_md.change_records(app, "purge") as desk:
        settings, warnings = sure_settings_of(desk.store)
        desk.remarks += [it.message for it in warnings]
        records, now = _everything(desk), app.now()
        going = find_past_grace(records, settings, now)
        expired = find_expired(records, settings, now)
        desk.plan = [it.path for it in (*expired, *going)]
        archived = [it for it in going if it.action == ARCHIVE]
        desk.changes += _turn_each(desk, (*expired, *archived), now)
        for path, action, reason, _ in going:
            if action == PURGE and not is_newer(records[path]):
                desk.store.drop(path)
                desk.changes.append(Change(PURGED, stem(path), path, reason=reason))
            elif action != ARCHIVE:
                why = reason if action == KEEP else "a newer version has written it"
                desk.remarks.append(f"{path} stays: {why}")
    return desk.done


def summarize_store(app: App) -> Overview:
    settings, warnings = settings_of(app.store)
    records, broken = read_all_records(app.store)
    now = app.now()
    past_grace = find_past_grace(records, settings, now)
    due = {
        "window": len(find_surplus(records, settings)),
        "retention": len(find_expired(records, settings, now)),
        "gc": sum(it.action != KEEP for it in past_grace),
    }
    health = index_md.report_health(read_index(app.store), records.items(), now)
    return Overview(health, settings, (*warnings, *broken), due)
