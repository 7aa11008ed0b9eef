"""Where a record stands in its life: active, retired, archived, and the ways between them."""

from __future__ import annotations

from memdir.core import dates
from memdir.core.records import errors, fields
from memdir.core.records.errors import RecordError
from memdir.core.records.fields import ACTIVE, ARCHIVED, RETIRED, Record, is_newer
from memdir.core.records.repairing import cap_changes

ANTI_RESURRECTION_SECONDS = 24 * 3600
# The seed's word for an action: from where, to where. Retired records may be archived, which
# is what becomes of them after the grace period.
WAYS: dict[str, tuple[tuple[str, ...], str]] = {
    "delete": ((ACTIVE,), RETIRED),
    "archive": ((ACTIVE, RETIRED), ARCHIVED),
    "restore": ((RETIRED,), ACTIVE),
    "unarchive": ((ARCHIVED,), ACTIVE),
}
_STAMPS = {RETIRED: ("retired_at", "retired_reason"), ARCHIVED: ("archived_at", "archived_reason")}
_DID = {
    "delete": "Retired",
    "archive": "Archived",
    "restore": "Restored",
    "unarchive": "Unarchived",
}
_INSTEAD = {ACTIVE: "delete or archive", RETIRED: "restore", ARCHIVED: "unarchive"}
# What makes two records the same to somebody who creates one twice.
_SUBSTANCE = ("category", "title", "tags", "related_files", "confidence", "content")


def status_of(record: Record) -> str:
    """Active, retired or archived; older records say nothing and are active."""
    return str(record.get("record_status") or ACTIVE)


def turn(record: Record, action: str, reason: str, now: float) -> tuple[Record, list[str]]:
    """The record after `delete`, `archive`, `restore` or `unarchive`; unchanged if it is there."""
    sources, target = WAYS[action]
    status = status_of(record)
    if is_newer(record):
        raise _refusal(
            action, status, "was written by a newer version and is only read", "update memdir"
        )
    if status == target:
        return record, [f"already {target}"]
    if status not in sources:
        raise _refusal(action, status, f"is {status}", f"use --action {_INSTEAD[status]}")
    turned = dict(record)
    stamp = dates.iso_time(now)
    if target == ACTIVE:
        for key in fields.OPTIONAL_KEYS:
            turned.pop(key, None)
    else:
        at, why = _STAMPS[target]
        turned |= {at: stamp, why: reason}
    turned["record_status"] = target
    turned["updated_at"] = max(stamp, str(record.get("updated_at", "")))
    entry = {
        "date": stamp,
        "summary": f"{_DID[action]}: {reason}"[: fields.MAX_SUMMARY] if reason else _DID[action],
        "field": "record_status",
        "old_value": status,
        "new_value": target,
    }
    changes = record.get("changes")
    turned["changes"] = [*(changes if isinstance(changes, list) else []), entry]
    remarks: list[str] = []
    cap_changes(turned, remarks)
    return turned, remarks


def may_create(existing: Record, new: Record, now: float, path: str = "") -> bool:
    """May `new` stand where `existing` lies? False: it is the same already, nothing to do."""
    status = status_of(existing)
    if status == ACTIVE and _substance(existing) == _substance(new):
        return False
    if status != RETIRED:
        raise RecordError(
            errors.OVERWRITE,
            f"there is a record already ({status}); a create does not overwrite it",
            facts=(("record_status", status),),
            fix="update it, or choose another title",
            path=path,
        )
    since = dates.parse_time(str(existing.get("retired_at") or existing.get("updated_at") or ""))
    # A clock that was set back makes the retirement lie ahead: that counts as just now.
    if since is None or now - since < ANTI_RESURRECTION_SECONDS:
        raise RecordError(
            errors.ANTI_RESURRECTION,
            "a record of this name was retired less than 24 hours ago",
            facts=(("retired_at", str(existing.get("retired_at") or "unknown")),),
            fix="choose another title, wait 24 hours, or restore the record and update it",
            path=path,
        )
    return True


def _substance(record: Record) -> list[object]:
    return [record.get(key) for key in _SUBSTANCE]


def _refusal(action: str, status: str, what: str, fix: str) -> RecordError:
    facts = (("action", action), ("record_status", status[:20]))
    return RecordError(errors.ACTION_CODES[action], f"the record {what}", facts=facts, fix=fix)
