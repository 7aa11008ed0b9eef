"""When records go by their dates: retired ones after their grace, active ones after their time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from memdir.core.dates import DAY, iso_day, parse_time
from memdir.core.records.fields import FOLDERS, RETIRED, Record
from memdir.core.records.settings import RecordSettings
from memdir.core.records.windowing import Retiring, is_active

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
