"""What an update may change of a record, and the ways between active, retired and archived."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from memdir.hot import safe
from memdir.records import fields, refusal
from memdir.records.fields import ACTIVE, ARCHIVED, RETIRED, Record, is_newer, status_of
from memdir.records.match import tokens
from memdir.records.refusal import ACTION_CODES, RecordError
from memdir.records.validate import cap_changes, demand, repair

ANTI_RESURRECTION_SECONDS = 24 * 3600
IMMUTABLE = ("created_at", "schema_version", "category")
WAY_BACK = {RETIRED: "restore", ARCHIVED: "unarchive"}
# The seed's word for an action: from where, to where, and what the log says. Retired records may
# be archived, which is what becomes of them after the grace period.
WAYS: dict[str, tuple[tuple[str, ...], str, str]] = {
    "delete": ((ACTIVE,), RETIRED, "Retired"),
    "archive": ((ACTIVE, RETIRED), ARCHIVED, "Archived"),
    "restore": ((RETIRED,), ACTIVE, "Restored"),
    "unarchive": ((ARCHIVED,), ACTIVE, "Unarchived"),
}
# What makes two records the same to somebody who creates one twice.
_SUBSTANCE = ("category", "title", "tags", "related_files", "confidence", "content")


def merge(
    old: Record, new: Record, now: float, exists: Callable[[str], bool]
) -> tuple[Record, list[str]]:
    """The updated record and remarks about it; what `new` does not mention stays as it was."""
    _refuse_inactive(old, new)
    old = repair(old, now)[0]
    whole = old | {key: value for key, value in new.items() if value is not None}
    content = new.get("content")
    if isinstance(content, dict) and isinstance(old.get("content"), dict):
        given = {key: value for key, value in content.items() if value is not None}
        whole["content"] = old["content"] | given
    merged, remarks = repair(whole, now, cap=False)
    _keep_immutable(old, merged)
    _keep_tags(_list(old, "tags"), merged.get("tags"))
    _keep_files(_list(old, "related_files"), merged.get("related_files"), exists)
    before = _list(old, "changes")
    added = _new_changes(before, merged.get("changes"))
    merged["id"] = old.get("id", merged.get("id"))  # a rename gives the new one
    stamp = safe.iso_time(max(now, safe.parse_time(str(old.get("updated_at"))) or now))
    merged["changes"] = [*before, *added, *_automatic_changes(old, merged, added, stamp)]
    cap_changes(merged, remarks)
    times = old["times_updated"]
    merged["times_updated"] = times + 1 if isinstance(times, int) and times >= 0 else 1
    merged["updated_at"] = stamp
    return demand(merged, str(old.get("category", ""))), remarks


def must_rename(old_title: str, new_title: str) -> bool:
    """Do more than half of the title's words change? Counted on the longer of both titles."""
    before, after = tokens(old_title), tokens(new_title)
    longer = max(len(before), len(after))
    if not longer:
        return old_title.casefold() != new_title.casefold()
    return 2 * (longer - len(before & after)) > longer


def _refuse_inactive(old: Record, new: Record) -> None:
    if is_newer(old):
        raise RecordError(
            ACTION_CODES["update"],
            "the record was written by a newer version and is only read",
            facts=(("schema_version", str(old.get("schema_version"))[:20]),),
            fix="update memdir",
        )
    status = old.get("record_status", ACTIVE)
    wanted = new.get("record_status")
    if wanted is not None and wanted != status:
        raise _refusal(
            "record_status",
            "an update does not change where a record stands in its life",
            f"use --action {WAY_BACK.get(status, 'delete or archive')}",
        )
    if status != ACTIVE:
        raise RecordError(
            ACTION_CODES["update"],
            f"the record is {status}; an update does not bring it back",
            facts=(("record_status", str(status)[:20]),),
            fix=f"--action {WAY_BACK.get(status, 'restore')} first, then update",
        )


def _list(old: Record, key: str) -> list[Any]:
    """A list of the old record; one that is broken protects nothing, and may be corrected."""
    value = old.get(key)
    return value if isinstance(value, list) else []


def _refusal(field: str, rule: str, fix: str, *facts: tuple[str, str]) -> RecordError:
    return RecordError(refusal.MERGE, f"{field}: {rule}", facts=(("field", field), *facts), fix=fix)


def _keep_immutable(old: Record, merged: Record) -> None:
    for key in (*IMMUTABLE, "record_status", *fields.OPTIONAL_KEYS):
        before, after = old.get(key), merged.get(key)
        if before != after:
            rule = "cannot change" if key in IMMUTABLE else "is set by the system"
            facts = (("old", str(before)[:60]), ("new", str(after)[:60]))
            raise _refusal(key, rule, f"leave {key} as it is", *facts)


def _keep_tags(old: list[str], new: object) -> None:
    """They only grow below the maximum; at it, one goes for one that comes."""
    if not isinstance(new, list) or new == old:
        return  # the check refuses what is no list
    gone = [tag for tag in old if tag not in new]
    came = [tag for tag in new if tag not in old]
    room = max(0, len(old) + len(came) - fields.MAX_TAGS)
    if len(gone) <= room:
        return
    if not came:
        rule = "a tag goes only where another one comes"
    elif not room:
        rule = f"tags only grow below {fields.MAX_TAGS}"
    else:
        rule = f"only {room} of them may go for those that come"
    removed = ", ".join(gone)
    raise _refusal("tags", rule, f"keep {removed[:120]}", ("removed", removed))


def _keep_files(old: list[str], new: object, exists: Callable[[str], bool]) -> None:
    if not isinstance(new, list):
        return
    if lost := [path for path in old if path not in new and exists(path)]:
        names = ", ".join(lost)
        rule = "a file that exists stays listed"
        raise _refusal("related_files", rule, f"keep {names[:120]}", ("removed", names))


def _new_changes(old: list[object], new: object) -> list[object]:
    """What was appended; a writer may have dropped the oldest itself to keep to the maximum."""
    if not isinstance(new, list):
        raise _refusal("changes", "must be a list", "append one entry {date, summary}")
    for dropped in range(len(old) + 1):
        kept = len(old) - dropped
        added = len(new) - kept
        if added >= 0 and new[:kept] == old[dropped:]:
            if dropped and (dropped > len(old) + added - fields.MAX_CHANGES or not kept):
                break
            if not added:
                raise _refusal(
                    "changes",
                    "an update needs at least one new entry",
                    "append one entry {date, summary} that says what changed and why",
                )
            return new[kept:]
    raise _refusal(
        "changes", "earlier entries stay as they are", "keep them in front, append the new one"
    )


def _automatic_changes(
    old: Record, merged: Record, added: list[object], stamp: str
) -> list[dict[str, object]]:
    """An entry for each single value that changed and that no new entry names."""
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
    """Each field that holds one value, by its name in a change."""
    values: dict[str, object] = {key: record.get(key) for key in ("title", "confidence")}
    content = record.get("content")
    for field in fields.fields_of(record):
        if isinstance(content, dict) and field.kind in fields.SCALARS and field.name in content:
            values[f"content.{field.name}"] = content[field.name]
    return values


def change_status(record: Record, action: str, reason: str, now: float) -> tuple[Record, list[str]]:
    """The record after `delete`, `archive`, `restore` or `unarchive`; unchanged if it is there."""
    sources, target, did = WAYS[action]
    status = status_of(record)
    facts = (("action", action), ("record_status", status[:20]))
    if is_newer(record):
        message = "the record was written by a newer version and is only read"
        raise RecordError(ACTION_CODES[action], message, facts=facts, fix="update memdir")
    if status == target:
        return record, [f"already {target}"]
    if status not in sources:
        fix = f"use --action {WAY_BACK.get(status, 'delete or archive')}"
        raise RecordError(ACTION_CODES[action], f"the record is {status}", facts=facts, fix=fix)
    changed = dict(record)
    stamp = safe.iso_time(now)
    if target == ACTIVE:
        for key in fields.OPTIONAL_KEYS:
            changed.pop(key, None)
    else:
        changed |= {f"{target}_at": stamp, f"{target}_reason": reason}
    changed["record_status"] = target
    changed["updated_at"] = max(stamp, str(record.get("updated_at", "")))
    entry = {
        "date": stamp,
        "summary": f"{did}: {reason}"[: fields.MAX_SUMMARY_CHARACTERS] if reason else did,
        "field": "record_status",
        "old_value": status,
        "new_value": target,
    }
    changed["changes"] = [*_list(record, "changes"), entry]
    remarks: list[str] = []
    cap_changes(changed, remarks)
    return changed, remarks


def may_create(existing: Record, new: Record, now: float, path: str = "") -> bool:
    """May `new` stand where `existing` lies? False: it is the same already, nothing to do."""
    status = status_of(existing)
    if status == ACTIVE and all(existing.get(key) == new.get(key) for key in _SUBSTANCE):
        return False
    if status != RETIRED:
        raise RecordError(
            refusal.OVERWRITE,
            f"there is a record already ({status}); a create does not overwrite it",
            facts=(("record_status", status),),
            fix="update it, or choose another title",
            path=path,
        )
    since = safe.parse_time(str(existing.get("retired_at") or existing.get("updated_at") or ""))
    # A clock that was set back makes the retirement lie ahead: that counts as just now.
    if since is None or now - since < ANTI_RESURRECTION_SECONDS:
        raise RecordError(
            refusal.ANTI_RESURRECTION,
            "a record of this name was retired less than 24 hours ago",
            facts=(("retired_at", str(existing.get("retired_at") or "unknown")),),
            fix="choose another title, wait 24 hours, or restore the record and update it",
            path=path,
        )
    return True
