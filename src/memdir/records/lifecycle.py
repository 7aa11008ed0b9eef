"""Status, window, retention, gc."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from memdir.format import draft
from memdir.format.draft import PURGED, SKIPPED, Change, hash_of
from memdir.hot.memory import stem
from memdir.hot.safe import DAY, inert_line, iso_day, parse_time
from memdir.hot.words import Words, split
from memdir.records.fields import ACTIVE, FOLDERS, RETIRED, Record, is_newer
from memdir.records.index_md import healed, indexed
from memdir.records.lookup import collect, everything, sure_settings_of
from memdir.records.memory_config import SESSION_SUMMARY, RecordSettings
from memdir.records.record import expect, read_record, write_record
from memdir.records.refusal import RecordError
from memdir.records.update import turn as turned
from memdir.store.ports import Store
from memdir.store.writer import App, Desk, Done, Told

# The rolling window of session summaries: the newest few stay, the oldest are retired.
#
# Before one goes, its open ends are looked for elsewhere. What nobody else holds is named in a
# warning; it goes all the same, and can be restored until the grace period ends.

GUARDED = ("completed", "blockers", "next_actions")  # what must not be lost with a summary
SHARED = 0.6  # of an item's words that another text must hold to say the same
LEAST = 2  # words of a title that stands whole in an item
SHOWN, LONGEST = 5, 80  # items in a warning; bytes of each


class Retiring(NamedTuple):
    """A record that is to be retired; the warning is empty where nothing is lost."""

    path: str
    reason: str
    warning: str = ""


class _Entry(NamedTuple):
    """The words of one text."""

    words: frozenset[str]
    title: bool  # of a record: it says the same where it stands whole in an item


def plan(
    records: Mapping[str, Record], settings: RecordSettings, newest: str = ""
) -> list[Retiring]:
    """Which summaries go, oldest first; `newest` was just saved and stays, whatever its date.

    `records` are those of the whole store by path: the others show what is captured elsewhere.
    """
    most = settings.types[SESSION_SUMMARY].max_retained
    dated = sorted(
        (path == newest, time, path)
        for path, record in records.items()
        if is_active(record)
        and record.get("category") == SESSION_SUMMARY
        and (time := created(record)) is not None
    )
    going = [path for _, _, path in dated[: max(len(dated) - most, 0)]]
    return list(_retiring(records, going, most))


def is_active(record: Record) -> bool:
    """Older versions wrote no status at all."""
    return record.get("record_status") in (None, ACTIVE)


def created(record: Record) -> float | None:
    """When it was made; None where no date of it can be read."""
    for key in ("created_at", "updated_at"):
        value = record.get(key)
        time = parse_time(value) if isinstance(value, str) else None
        if time is not None:
            return time
    return None


def _retiring(records: Mapping[str, Record], going: list[str], most: int) -> Iterator[Retiring]:
    if not going:
        return
    words = Words()
    gone = set(going)
    entries = [
        entry
        for path, record in records.items()
        if path not in gone and is_active(record)
        for entry in _entries(words, record)
    ]
    # By word: a store of thousands is looked through once, not once an item.
    holding: dict[str, list[_Entry]] = {}
    for entry in entries:
        for word in entry.words:
            holding.setdefault(word, []).append(entry)
    reason = f"session window: more than max_retained ({most}) summaries"
    for path in going:
        record = records[path]
        alone = [item for item in _items(record) if not _is_held(_of(words, item), holding)]
        yield Retiring(path, reason, _warning(record, path, alone))


def _entries(words: Words, record: Record) -> Iterator[_Entry]:
    """What it says: its line of the index; of a summary also each item."""
    tags = record.get("tags")
    title = [record.get("title"), *(tags if isinstance(tags, list) else ())]
    yield _Entry(_of(words, _joined(title[:1])), True)
    yield _Entry(_of(words, _joined(title)), False)
    if record.get("category") == SESSION_SUMMARY:
        for item in _items(record):
            yield _Entry(_of(words, item), False)


def _items(record: Record) -> list[str]:
    content = record.get("content")
    lists = [content.get(key) for key in GUARDED] if isinstance(content, dict) else []
    texts = [one for some in lists if isinstance(some, list) for one in some]
    return list(dict.fromkeys(text for text in texts if isinstance(text, str) and text.strip()))


def _joined(values: Iterable[object]) -> str:
    return " ".join(value for value in values if isinstance(value, str))


def _of(words: Words, text: str) -> frozenset[str]:
    """Whole words, and pairs of characters where none are written; not the pieces of names."""
    given = split(text)
    terms = {words[word] for word in given} - {""}
    return frozenset(terms.union(*(words.pairs.get(word, ()) for word in given)))


def _is_held(item: frozenset[str], holding: Mapping[str, list[_Entry]]) -> bool:
    """Does any other text say it? An item without a word says nothing that could be lost."""
    shared: dict[int, int] = {}
    entries: dict[int, _Entry] = {}
    for word in item:
        for entry in holding.get(word, ()):
            shared[id(entry)] = shared.get(id(entry), 0) + 1
            entries[id(entry)] = entry
    for key, count in shared.items():
        entry = entries[key]
        if count >= SHARED * len(item):
            return True
        if entry.title and count == len(entry.words) >= LEAST:
            return True
    return not item


def _warning(record: Record, path: str, alone: list[str]) -> str:
    if not alone:
        return ""
    shown = "; ".join(f'"{inert_line(item, LONGEST)}"' for item in alone[:SHOWN])
    more = f" and {len(alone) - SHOWN} more" if len(alone) > SHOWN else ""
    name = inert_line(str(record.get("id") or path), LONGEST)
    return (
        f"session {name} is retired, and nothing else holds: {shown}{more}. "
        "Save what is still needed; the session itself can be restored."
    )


# When records go by their dates: retired ones after their grace, active ones after their time.

ARCHIVE, PURGE, KEEP = "archive", "purge", "keep"


class Leaving(NamedTuple):
    """What becomes of a retired record, and why; KEEP where its date cannot be told."""

    path: str
    action: str
    reason: str


def leaving(records: Mapping[str, Record], settings: RecordSettings, now: float) -> list[Leaving]:
    """Every retired record whose grace period is over, by path. Archived ones stay for ever."""
    days = settings.grace_period_days
    action = ARCHIVE if settings.archive_retired else PURGE
    found = []
    for path, record in sorted(records.items()):
        if record.get("record_status") != RETIRED:
            continue
        time = _time(record, "retired_at")
        if time is None:
            reason = "nobody can tell when it was retired: retired_at is missing or no date"
            found.append(Leaving(path, KEEP, reason))
        elif now - time >= days * DAY:  # never one of the future
            reason = f"retired {iso_day(time)}, more than grace_period_days ({days}) ago"
            found.append(Leaving(path, action, reason))
    return found


def expiring(records: Mapping[str, Record], settings: RecordSettings, now: float) -> list[Retiring]:
    """The active records that outlived `retention_days` since they were last written, by path."""
    found = []
    for path, record in sorted(records.items()):
        own = settings.types.get(str(record.get("category")))
        if own is None or not own.retention_days or not is_active(record):
            continue
        times = [_time(record, key) for key in ("created_at", "updated_at")]
        known = [time for time in times if time is not None]
        if known and now - max(known) >= own.retention_days * DAY:
            day = iso_day(max(known))
            reason = f"last written {day}, more than retention_days ({own.retention_days}) ago"
            found.append(Retiring(path, reason))
    return found


def refusal(records: Iterable[Record], type: str, settings: RecordSettings) -> tuple[str, str]:
    """Why no record of this type can be added, and the way out; both empty while there is room."""
    most = settings.max_memories_per_category
    active = sum(is_active(one) and one.get("category") == type for one in records)
    if active < most:
        return "", ""
    return (
        f"{FOLDERS[type]}/ holds {active} active records, and max_memories_per_category is {most}",
        "update a record that says nearly the same, retire one that is no longer needed, or raise "
        "max_memories_per_category in memory-config.json",
    )


def _time(record: Record, key: str) -> float | None:
    value = record.get(key)
    return parse_time(value) if isinstance(value, str) else None


# Turn a record to another status: retired, archived, or active again. Its file stays.

KINDS = {
    "delete": draft.RETIRED,
    "archive": draft.ARCHIVED,
    "restore": draft.RESTORED,
    "unarchive": draft.RESTORED,
}


def turn(path: str, action: str, reason: str, store: Store, now: float, expected: str) -> Change:
    """Carry an action of the seed out; a record that is there already stays as it is."""
    data = store.read(path)
    expect(data, expected, path)
    record, _ = read_record(data, path)
    new, remarks = turned(record, action, reason, now)
    if new is record:
        return Change(SKIPPED, stem(path), path, hash_of(data), "; ".join(remarks))
    data = write_record(new)
    store.put(path, data)
    return Change(KINDS[action], stem(path), path, hash_of(data), remarks=tuple(remarks))


# What time does to records: the rolling window, retention, and what is archived or purged.

RETIRE, TIDYING_ARCHIVE = "delete", "archive"
NEWER = "a newer version has written it"


def _untold(done: Done) -> None:
    """For callers that only want the answer."""


def window(app: App, told: Told = _untold) -> Done:
    """The newest session summaries stay, the others are retired → enlist"""

    def act(desk: Desk) -> list[Change]:
        settings, warnings = sure_settings_of(desk.store)
        desk.remarks += [one.message for one in warnings]
        changes = roll(desk, settings, app.now())
        return indexed(desk, changes)

    return app.change("retire", healed(act), told)


def roll(desk: Desk, settings: RecordSettings, now: float, newest: str = "") -> list[Change]:
    """Retire what the window has no room for; what is captured nowhere else is a remark."""
    records, findings = everything(desk.store)
    desk.remarks += [f"{one.message}; {one.fix}" for one in findings]
    if newest:  # on a dry run it is not on disk
        records |= collect(desk.store, [newest])[0]
    going = plan(records, settings, newest)
    desk.remarks += [one.warning for one in going if one.warning]
    return _turn_each(desk, RETIRE, [(one.path, one.reason) for one in going], now)


def _turn_each(
    desk: Desk, action: str, going: Sequence[tuple[str, str]], now: float
) -> list[Change]:
    """Turn these by the reason of each; what must stay as it is stays, and that is a remark."""
    done = []
    for path, reason in going:
        try:
            change = turn(path, action, reason, desk.store, now, "")
            done.append(replace(change, reason=reason))
        except RecordError as error:
            desk.remarks.append(f"{path} stays: {error.message}")
    return done


def tidy(app: App, told: Told = _untold) -> Done:
    """retention retires, the grace period archives or purges → enlist; archived ones stay"""

    def act(desk: Desk) -> list[Change]:
        settings, warnings = sure_settings_of(desk.store)
        desk.remarks += [one.message for one in warnings]
        records, findings = everything(desk.store)
        desk.remarks += [f"{one.message}; {one.fix}" for one in findings]
        now = app.now()
        going = leaving(records, settings, now)
        expired = expiring(records, settings, now)
        desk.plan = [*(one.path for one in expired), *(one.path for one in going)]
        changes = _turn_each(desk, RETIRE, [(one.path, one.reason) for one in expired], now)
        archived = [(one.path, one.reason) for one in going if one.action == ARCHIVE]
        changes += _turn_each(desk, TIDYING_ARCHIVE, archived, now)
        for one in going:
            if one.action == PURGE and not is_newer(records[one.path]):
                desk.store.drop(one.path)
                changes.append(Change(PURGED, stem(one.path), one.path, reason=one.reason))
            elif one.action != ARCHIVE:
                why = one.reason if one.action == KEEP else NEWER
                desk.remarks.append(f"{one.path} stays: {why}")
        return indexed(desk, changes)

    return app.change("purge", healed(act), told)
