"""Rules for updates of a record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from memdir.hot import safe
from memdir.records import fields, refusal
from memdir.records.fields import ACTIVE, ARCHIVED, RETIRED, Record, is_newer, status_of
from memdir.records.match import tokens
from memdir.records.refusal import ACTION_CODES, RecordError
from memdir.records.validate import cap_changes, repair_record, require_valid

IMMUTABLE = ("created_at", "schema_version", "category")
WAY_BACK = {RETIRED: "restore", ARCHIVED: "unarchive"}


def merge_update(
    old: Record, new: Record, now: float, exists: Callable[[str], bool]
) -> tuple[Record, list[str]]:
    status, wanted = status_of(old), new.get("record_status")
    refuse_newer(old, "update")
    if wanted is not None and wanted != status:
        rule = "an update does not change where a record stands in its life"
        raise _refusal("record_status", rule, f"use --action {way_back(old)}")
    if status != ACTIVE:
        raise RecordError(
            ACTION_CODES["update"],
            f"the record is {status}; an update does not bring it back",
            facts=(("record_status", status[:20]),),
            fix=f"--action {way_back(old)} first, then update",
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
            rule = "cannot change" if key in IMMUTABLE else "is set by the system"
            facts = (("old", str(before)[:60]), ("new", str(after)[:60]))
            raise _refusal(key, rule, f"leave {key} as it is", *facts)
    _keep_tags(as_list(old.get("tags")), merged.get("tags"))
    files = merged.get("related_files")
    kept = files if isinstance(files, list) else as_list(old.get("related_files"))
    lost = [it for it in as_list(old.get("related_files")) if it not in kept and exists(it)]
    if lost:
        names = ", ".join(lost)
        rule = "a file that exists stays listed"
        raise _refusal("related_files", rule, f"keep {names[:120]}", ("removed", names))
    before = as_list(old.get("changes"))
    added = _new_changes(before, merged.get("changes"))
    merged["id"] = old.get("id", merged.get("id"))  # a rename sets the new id
    stamp = safe.iso_time(max(now, safe.parse_time(str(old.get("updated_at"))) or now))
    merged["changes"] = [*before, *added, *_automatic_changes(old, merged, added, stamp)]
    cap_changes(merged, remarks)
    times = old["times_updated"]
    merged["times_updated"] = times + 1 if isinstance(times, int) and times >= 0 else 1
    merged["updated_at"] = stamp
    return require_valid(merged, str(old.get("category", ""))), remarks


def must_rename(old_title: str, new_title: str) -> bool:
    """True if more than half of the words change, counted on the longer title."""
    before, after = tokens(old_title), tokens(new_title)
    longer = max(len(before), len(after))
    if not longer:
        return old_title.casefold() != new_title.casefold()
    return 2 * (longer - len(before & after)) > longer


def refuse_newer(record: Record, action: str) -> None:
    if is_newer(record):
        version = (("schema_version", str(record.get("schema_version"))[:20]),)
        message = "the record was written by a newer version and is only read"
        raise RecordError(ACTION_CODES[action], message, facts=version, fix="update memdir")


def way_back(record: Record) -> str:
    return WAY_BACK.get(status_of(record), "delete or archive")


def as_list(value: object) -> list[Any]:
    """A broken list protects nothing, and may be corrected."""
    return value if isinstance(value, list) else []


def _refusal(field: str, rule: str, fix: str, *facts: tuple[str, str]) -> RecordError:
    return RecordError(refusal.MERGE, f"{field}: {rule}", facts=(("field", field), *facts), fix=fix)


def _keep_tags(old: list[str], new: object) -> None:
    """Below the maximum tags are only added; at it, each new tag may replace one."""
    if not isinstance(new, list):
        return  # the check refuses it
    gone = [tag for tag in old if tag not in new]
    came = [tag for tag in new if tag not in old]
    room = max(0, len(old) + len(came) - fields.MAX_TAGS)
    if len(gone) > room:
        rule = f"tags only grow below {fields.MAX_TAGS}; then one goes for one that comes"
        removed = ", ".join(gone)
        raise _refusal("tags", rule, f"keep {removed[:120]}", ("removed", removed))


def _new_changes(old: list[object], new: object) -> list[object]:
    """The appended entries; the oldest may be dropped to keep to the maximum."""
    if not isinstance(new, list):
        raise _refusal("changes", "must be a list", "append one entry {date, summary}")
    for dropped in range(len(old) + 1):
        kept = len(old) - dropped
        added = len(new) - kept
        if added >= 0 and new[:kept] == old[dropped:]:
            if dropped and (dropped > len(old) + added - fields.MAX_CHANGES or not kept):
                break
            if not added:
                rule = "an update needs at least one new entry"
                fix = "append one entry {date, summary} that says what changed and why"
                raise _refusal("changes", rule, fix)
            return new[kept:]
    rule = "earlier entries stay as they are"
    raise _refusal("changes", rule, "keep them in front, append the new one")


def _automatic_changes(
    old: Record, merged: Record, added: list[object], stamp: str
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


def _scalars(record: Record) -> dict[str, object]:
    values: dict[str, object] = {key: record.get(key) for key in ("title", "confidence")}
    content = record.get("content")
    for field in fields.fields_of(record):
        if isinstance(content, dict) and field.kind in fields.SCALARS and field.name in content:
            values[f"content.{field.name}"] = content[field.name]
    return values
