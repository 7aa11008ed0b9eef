"""What time does to records: the rolling window of summaries, retention, grace period, gc."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from memdir.format import draft
from memdir.format.draft import PURGED, SKIPPED, Change, hash_of
from memdir.hot.memory import stem
from memdir.hot.safe import DAY, inert_line, iso_day, parse_time
from memdir.hot.words import Words, split
from memdir.records import update
from memdir.records.fields import RETIRED, Record, is_active, is_newer, texts_of
from memdir.records.index_md import changing
from memdir.records.memory_config import SESSION_SUMMARY, RecordSettings
from memdir.records.record import (
    collect,
    everything,
    expect,
    read_record,
    sure_settings_of,
    write_record,
)
from memdir.records.refusal import RecordError
from memdir.store.ports import Store
from memdir.store.writer import App, Desk, Done

GUARDED = ("completed", "blockers", "next_actions")  # what must not be lost with a summary
SHARED_WORDS = 0.6  # of an item that another text must hold to say the same
MIN_TITLE_WORDS = 2  # of a title that stands whole in an item
MAX_SHOWN_ITEMS, MAX_ITEM_BYTES = 5, 80  # in a warning
ARCHIVE, PURGE, KEEP = "archive", "purge", "keep"
KINDS = {
    "delete": draft.RETIRED,
    "archive": draft.ARCHIVED,
    "restore": draft.RESTORED,
    "unarchive": draft.RESTORED,
}


class Leaving(NamedTuple):
    """What becomes of a record, and why; the warning is empty where nothing is lost."""

    path: str
    action: str
    reason: str
    warning: str = ""


# The window: the newest summaries stay. Before an old one goes, its open ends are looked for
# elsewhere; what nobody else holds is named. It goes all the same, and can be restored.


def find_surplus(
    records: Mapping[str, Record], settings: RecordSettings, newest: str = ""
) -> list[Leaving]:
    """Which summaries go, oldest first; `newest` was just saved and stays, whatever its date.

    `records` are those of the whole store: the others show what is captured elsewhere.
    """
    limit = settings.types[SESSION_SUMMARY].max_retained
    dated = sorted(
        (path == newest, time, path)
        for path, record in records.items()
        if is_active(record) and record.get("category") == SESSION_SUMMARY
        if (time := _created(record)) is not None
    )
    going = [path for _, _, path in dated[: max(len(dated) - limit, 0)]]
    if not going:
        return []
    words = Words()
    others = [it for path, it in records.items() if path not in going and is_active(it)]
    # By word: a store of thousands is looked through once, not once an item.
    holding: dict[str, list[tuple[frozenset[str], bool]]] = {}
    for text in (text for record in others for text in _texts(words, record)):
        for word in text[0]:
            holding.setdefault(word, []).append(text)
    reason = f"session window: more than max_retained ({limit}) summaries"
    result = []
    for path in going:
        items = _items(records[path])
        alone = [item for item in items if not _is_held(_words_of(words, item), holding)]
        result.append(Leaving(path, "delete", reason, _warn(records[path], path, alone)))
    return result


def _created(record: Record) -> float | None:
    times = [_time(record, key) for key in ("created_at", "updated_at")]
    return next((time for time in times if time is not None), None)


def _time(record: Record, key: str) -> float | None:
    value = record.get(key)
    return parse_time(value) if isinstance(value, str) else None


def _texts(words: Words, record: Record) -> Iterator[tuple[frozenset[str], bool]]:
    """The words of its line in the index, of a summary also each item; True for a title alone."""
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
    """Whole words, and pairs of characters where none are written; not the pieces of names."""
    given = split(text)
    terms = {words[word] for word in given} - {""}
    return frozenset(terms.union(*(words.pairs.get(word, ()) for word in given)))


def _is_held(
    item: frozenset[str], holding: Mapping[str, list[tuple[frozenset[str], bool]]]
) -> bool:
    """Does any other text say it? An item without a word says nothing that could be lost."""
    shared: dict[int, int] = {}
    texts: dict[int, tuple[frozenset[str], bool]] = {}
    for text in (text for word in item for text in holding.get(word, ())):
        shared[id(text)] = shared.get(id(text), 0) + 1
        texts[id(text)] = text
    for key, count in shared.items():
        words, is_title = texts[key]
        whole_title = is_title and count == len(words) >= MIN_TITLE_WORDS
        if whole_title or count >= SHARED_WORDS * len(item):
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


# Dates: retired records go after their grace, active ones after their time.


def find_past_grace(
    records: Mapping[str, Record], settings: RecordSettings, now: float
) -> list[Leaving]:
    """Every retired record whose grace period is over, by path. Archived ones stay for ever."""
    days = settings.grace_period_days
    action = ARCHIVE if settings.archive_retired else PURGE
    result = []
    for path, record in sorted(records.items()):
        if record.get("record_status") != RETIRED:
            continue
        time = _time(record, "retired_at")
        if time is None:
            reason = "nobody can tell when it was retired: retired_at is missing or no date"
            result.append(Leaving(path, KEEP, reason))
        elif now - time >= days * DAY:  # never one of the future
            reason = f"retired {iso_day(time)}, more than grace_period_days ({days}) ago"
            result.append(Leaving(path, action, reason))
    return result


def find_expired(
    records: Mapping[str, Record], settings: RecordSettings, now: float
) -> list[Leaving]:
    """The active records that outlived `retention_days` since they were last written, by path."""
    result = []
    for path, record in sorted(records.items()):
        own = settings.types.get(str(record.get("category")))
        if own is None or not own.retention_days or not is_active(record):
            continue
        times = [_time(record, key) for key in ("created_at", "updated_at")]
        last = max((time for time in times if time is not None), default=now)
        if now - last >= own.retention_days * DAY:
            limit = f"more than retention_days ({own.retention_days}) ago"
            result.append(Leaving(path, "delete", f"last written {iso_day(last)}, {limit}"))
    return result


def turn(path: str, action: str, reason: str, store: Store, now: float, expected: str) -> Change:
    """Retire, archive or bring back one record; one that is there already stays as it is."""
    data = store.read(path)
    expect(data, expected, path)
    record, _ = read_record(data, path)
    new, remarks = update.change_status(record, action, reason, now)
    if new is record:
        return Change(SKIPPED, stem(path), path, hash_of(data), "; ".join(remarks))
    data = write_record(new)
    store.put(path, data)
    return Change(KINDS[action], stem(path), path, hash_of(data), remarks=tuple(remarks))


def window(app: App) -> Done:
    """Keep the newest session summaries, retire the others."""
    with changing(app, "retire") as desk:
        settings, warnings = sure_settings_of(desk.store)
        desk.remarks += [it.message for it in warnings]
        desk.changes += roll(desk, settings, app.now())
    return desk.done


def roll(desk: Desk, settings: RecordSettings, now: float, newest: str = "") -> list[Change]:
    """Retire what the window has no room for; what is captured nowhere else is a remark."""
    records, findings = everything(desk.store)
    desk.remarks += [f"{it.message}; {it.fix}" for it in findings]
    if newest:  # on a dry run it is not on disk
        records |= collect(desk.store, [newest])[0]
    going = find_surplus(records, settings, newest)
    desk.remarks += [it.warning for it in going if it.warning]
    return _turn_each(desk, going, now)


def _turn_each(desk: Desk, going: Iterable[Leaving], now: float) -> list[Change]:
    """Turn these by the reason of each; what must stay as it is stays, and that is a remark."""
    changes = []
    for path, action, reason, _ in going:
        try:
            changes.append(replace(turn(path, action, reason, desk.store, now, ""), reason=reason))
        except RecordError as error:
            desk.remarks.append(f"{path} stays: {error.message}")
    return changes


def tidy(app: App) -> Done:
    """Retire what has expired; archive or purge what was retired before the grace period."""
    with changing(app, "purge") as desk:
        settings, warnings = sure_settings_of(desk.store)
        desk.remarks += [it.message for it in warnings]
        records, findings = everything(desk.store)
        desk.remarks += [f"{it.message}; {it.fix}" for it in findings]
        now = app.now()
        going = find_past_grace(records, settings, now)
        expired = find_expired(records, settings, now)
        desk.plan = [it.path for it in (*expired, *going)]
        desk.changes += _turn_each(desk, expired, now)
        desk.changes += _turn_each(desk, [it for it in going if it.action == ARCHIVE], now)
        for path, action, reason, _ in going:
            if action == PURGE and not is_newer(records[path]):
                desk.store.drop(path)
                desk.changes.append(Change(PURGED, stem(path), path, reason=reason))
            elif action != ARCHIVE:
                why = reason if action == KEEP else "a newer version has written it"
                desk.remarks.append(f"{path} stays: {why}")
    return desk.done
