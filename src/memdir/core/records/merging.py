"""An update: what it may change of a record, and what it may not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from memdir.core import dates
from memdir.core.records import errors, fields
from memdir.core.records.checking import demand
from memdir.core.records.errors import RecordError
from memdir.core.records.fields import Record, is_newer
from memdir.core.records.repairing import cap_changes, repair
from memdir.core.records.tokens import tokens

IMMUTABLE = ("created_at", "schema_version", "category")
# Only the actions for it change where a record stands in its life.
LIFECYCLE = ("record_status", *fields.OPTIONAL_KEYS)
WAY_BACK = {fields.RETIRED: "restore", fields.ARCHIVED: "unarchive"}


def merge(
    old: Record, new: Record, now: float, exists: Callable[[str], bool]
) -> tuple[Record, list[str]]:
    """The updated record and remarks about it; what `new` does not mention stays as it was."""
    _may_update(old, new)
    old = repair(old, now)[0]
    merged, remarks = repair(_filled(old, new), now, cap=False)
    _keep_immutable(old, merged)
    _keep_tags(_listed(old, "tags"), merged.get("tags"))
    _keep_files(_listed(old, "related_files"), merged.get("related_files"), exists)
    before = _listed(old, "changes")
    added = _new_changes(before, merged.get("changes"))
    merged["id"] = old.get("id", merged.get("id"))  # a rename gives the new one
    stamp = dates.iso_time(max(now, dates.parse_time(str(old.get("updated_at"))) or now))
    merged["changes"] = [*before, *added, *_automatic(old, merged, added, stamp)]
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


def _may_update(old: Record, new: Record) -> None:
    if is_newer(old):
        version = str(old.get("schema_version"))[:20]
        raise RecordError(
            errors.ACTION_CODES["update"],
            "the record was written by a newer version and is only read",
            facts=(("schema_version", version),),
            fix="update memdir",
        )
    status = old.get("record_status", fields.ACTIVE)
    wanted = new.get("record_status")
    if wanted is not None and wanted != status:
        raise _refusal(
            "record_status",
            "an update does not change where a record stands in its life",
            f"use --action {WAY_BACK.get(status, 'delete or archive')}",
        )
    if status != fields.ACTIVE:
        way = WAY_BACK.get(status, "restore")
        raise RecordError(
            errors.ACTION_CODES["update"],
            f"the record is {status}; an update does not bring it back",
            facts=(("record_status", str(status)[:20]),),
            fix=f"--action {way} first, then update",
        )


def _listed(old: Record, key: str) -> list[Any]:
    """A list of the old record; one that is broken protects nothing, and may be corrected."""
    value = old.get(key)
    return value if isinstance(value, list) else []


def _filled(old: Record, new: Record) -> Record:
    """Silence is no removal: a list is emptied by `[]`, a text by an empty one."""
    whole = old | {key: value for key, value in new.items() if value is not None}
    content = new.get("content")
    if isinstance(content, dict) and isinstance(old.get("content"), dict):
        said = {key: value for key, value in content.items() if value is not None}
        whole["content"] = old["content"] | said
    return whole


def _refusal(field: str, rule: str, fix: str, *facts: tuple[str, str]) -> RecordError:
    return RecordError(errors.MERGE, f"{field}: {rule}", facts=(("field", field), *facts), fix=fix)


def _keep_immutable(old: Record, merged: Record) -> None:
    for key in (*IMMUTABLE, *LIFECYCLE):
        before, after = old.get(key), merged.get(key)
        if before != after:
            rule = "cannot change" if key in IMMUTABLE else "is set by the system"
            facts = (("old", str(before)[:60]), ("new", str(after)[:60]))
            raise _refusal(key, rule, f"leave {key} as it is", *facts)


def _keep_tags(old: list[str], new: object) -> None:
    """They only grow below the maximum; at it, one goes for one that comes."""
    if not isinstance(new, list) or new == old:
        return  # no list at all is found by the check
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
    lost = [path for path in old if path not in new and exists(path)]
    if lost:
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


def _automatic(
    old: Record, merged: Record, added: list[object], stamp: str
) -> list[dict[str, object]]:
    """An entry for each single value that changed and that no new entry names."""
    named = {
        str(one.get("field", "")).removeprefix("content.") for one in added if isinstance(one, dict)
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


def _scalars(record: Record) -> Mapping[str, object]:
    """Each field that holds one value, by its name in a change."""
    found: dict[str, object] = {key: record.get(key) for key in ("title", "confidence")}
    content = record.get("content")
    for field in fields.CONTENT.get(str(record.get("category")), ()):
        if field.kind in fields.SCALARS and isinstance(content, dict) and field.name in content:
            found[f"content.{field.name}"] = content[field.name]
    return found
