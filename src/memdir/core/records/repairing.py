"""What can be put right without asking; each repair is reported.

Only what has one meaning is repaired. What a draft says wrongly (a negative confidence, an
unknown key, a title that is too long) is for its author to correct.
"""

from __future__ import annotations

import math

from memdir.core import dates
from memdir.core.records import fields, markers
from memdir.core.records.fields import Record, is_newer

_DEFAULTS: tuple[tuple[str, object], ...] = (
    ("related_files", []),
    ("confidence", fields.DEFAULT_CONFIDENCE),
    ("record_status", fields.ACTIVE),  # absent before the fourth version of the plugin
    ("changes", []),
    ("times_updated", 0),
)
_NEEDED_TIMES = ("created_at", "updated_at")
_OTHER_TIMES = {"retired_at", "archived_at"}


def repair(record: Record, now: float | None, *, cap: bool = True) -> tuple[Record, list[str]]:
    """A repaired copy and what was repaired; without a `now` no missing time is made up."""
    if is_newer(record):
        return record, []  # only read: what is wrong by our rules may be right by its own
    fixed = dict(record)
    done: list[str] = []
    _version(fixed, done)
    _nulls(fixed, done)
    for key, value in _DEFAULTS:
        if key not in fixed:
            fixed[key] = list(value) if isinstance(value, list) else value
            done.append(f"{key} was missing: {value if value != [] else 'empty'}")
    _title(fixed, done)
    _tags(fixed, done)
    _confidence(fixed, done)
    _times(fixed, now, done)
    _changes(fixed, now, done)
    if cap:
        cap_changes(fixed, done)
    return fixed, done


def cap_changes(fixed: Record, done: list[str]) -> None:
    """First in, first out: the oldest changes go, and it is said how many."""
    changes = fixed.get("changes")
    if isinstance(changes, list) and len(changes) > fields.MAX_CHANGES:
        fixed["changes"] = changes[-fields.MAX_CHANGES :]
        done.append(f"changes: {len(changes) - fields.MAX_CHANGES} oldest dropped")


def _version(fixed: Record, done: list[str]) -> None:
    if fixed.get("schema_version") != fields.SCHEMA_VERSION:
        fixed["schema_version"] = fields.SCHEMA_VERSION
        done.append(f"schema_version set to {fields.SCHEMA_VERSION}")


def _nulls(fixed: Record, done: list[str]) -> None:
    """Some writers spell out what is not there."""
    content = fixed.get("content")
    if isinstance(content, dict) and None in content.values():
        fixed["content"] = {key: value for key, value in content.items() if value is not None}
        done.append("content: empty (null) fields left out")
    for key in [key for key, value in fixed.items() if value is None]:
        del fixed[key]
        done.append(f"{str(key)[:40]} was null: left out")


def _title(fixed: Record, done: list[str]) -> None:
    title = fixed.get("title")
    if not isinstance(title, str):
        return
    clean = markers.clean_title(title)
    if clean != title:
        fixed["title"] = clean
        blanks = " ".join(title.split()) == clean
        done.append(f"title: {'whitespace' if blanks else 'index markers'} removed")


def _tags(fixed: Record, done: list[str]) -> None:
    tags = fixed.get("tags")
    if isinstance(tags, str):
        fixed["tags"] = markers.split_tags(tags)
        done.append("tags were a text: split into a list")
    elif isinstance(tags, list) and all(isinstance(tag, str) for tag in tags):
        clean = markers.clean_tags(tags)
        if clean != tags:
            fixed["tags"] = clean
            done.append("tags: lower-cased, trimmed, each once")


def _confidence(fixed: Record, done: list[str]) -> None:
    """More than certain is certain; less than nothing has no meaning and is left to be refused."""
    value = fixed.get("confidence")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return
    if value > 1 and math.isfinite(value):
        fixed["confidence"] = 1.0
        done.append("confidence was above 1: 1.0")


def _times(fixed: Record, now: float | None, done: list[str]) -> None:
    if all(_is_time(fixed.get(key)) for key in _NEEDED_TIMES) and not _OTHER_TIMES & fixed.keys():
        return  # as nearly every record: a scan reads thousands
    known = {key: _moment(fixed.get(key)) for key in fields.TIME_KEYS}
    created, updated = known["created_at"], known["updated_at"]
    fallback = {
        "created_at": updated if updated is not None else now,
        "updated_at": created if created is not None else now,
        "retired_at": updated,
        "archived_at": updated,
    }
    for key in fields.TIME_KEYS:
        if key in fields.OPTIONAL_KEYS and key not in fixed:
            continue
        moment = known[key] if known[key] is not None else fallback[key]
        if moment is None or fixed.get(key) == (right := dates.iso_time(moment)):
            continue
        done.append(f"{key} {'rewritten' if known[key] is not None else 'set'}: {right}")
        fixed[key] = right


def _is_time(value: object) -> bool:
    """Surely in the form that we write; False for the last days of a month, which need a look."""
    if not isinstance(value, str) or len(value) != 20 or not value.isascii():
        return False
    year, month, day = value[:4], value[5:7], value[8:10]
    hour, minute, second = value[11:13], value[14:16], value[17:19]
    if value[4] + value[7] + value[10] + value[13] + value[16] + value[19] != "--T::Z":
        return False
    if not (year + month + day + hour + minute + second).isdigit() or year == "0000":
        return False
    if not ("01" <= month <= "12" and "01" <= day <= "28"):
        return False
    return hour < "24" and minute < "60" and second < "60"


def _moment(value: object) -> float | None:
    return dates.parse_time(value) if isinstance(value, str) else None


def _changes(fixed: Record, now: float | None, done: list[str]) -> None:
    changes = fixed.get("changes")
    if not isinstance(changes, list):
        return
    updated = _moment(fixed.get("updated_at"))
    fallback = now if now is not None else updated
    mended = [_change(one, fallback) for one in changes]
    if mended != changes:
        fixed["changes"] = mended
        done.append("changes: dates rewritten, empty (null) fields left out")


def _change(one: object, fallback: float | None) -> object:
    """The quoted values may be null: only the other fields are left out then."""
    if not isinstance(one, dict) or (_is_time(one.get("date")) and None not in one.values()):
        return one
    kept = {
        key: value
        for key, value in one.items()
        if value is not None or key in ("old_value", "new_value")
    }
    moment = _moment(kept.get("date"))
    moment = fallback if moment is None else moment
    if moment is not None:
        kept["date"] = dates.iso_time(moment)
    return kept
