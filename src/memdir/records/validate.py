"""Check a record, and repair what has only one meaning; each repair is reported.

What a draft says wrongly (a negative confidence, an unknown key, a title that is too long) is for
its author to correct.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from memdir.hot import safe
from memdir.records import fields, refusal
from memdir.records.fields import Field, Record, is_newer

ARROW = " -> "  # in an index line between a title and its path
TAGS = "#tags:"  # in front of its tags
MAX_SHOWN_PROBLEMS = 8
_CONTROLS: dict[int, str] = dict.fromkeys((*range(32), *range(127, 160), 0x2028, 0x2029), " ")
_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,79}\Z")
_DEFAULTS: tuple[tuple[str, object], ...] = (
    ("related_files", []),
    ("confidence", fields.DEFAULT_CONFIDENCE),
    ("record_status", fields.ACTIVE),  # absent before the fourth version of the plugin
    ("changes", []),
    ("times_updated", 0),
)


def clean_title(title: str) -> str:
    """One line: no controls, no runs of blanks, no marker that an index line is read by."""
    words = title.translate(_CONTROLS).split()
    # Something stays where a marker stood: what is left must not grow together into another.
    line = " ".join(["→" if word == "->" else word for word in words])
    first, *rest = line.split("#")
    is_marker = [part[: len(TAGS) - 1].lower() == TAGS[1:] for part in rest]
    return first + "".join(
        [
            f"# {part}" if marker else f"#{part}"
            for part, marker in zip(rest, is_marker, strict=True)
        ]
    )


def clean_tags(tags: list[str]) -> list[str]:
    """In small letters, trimmed, without markers, each once; what holds a comma is two."""
    parts = [part for tag in tags for part in tag.split(",")]
    clean = [it if _is_plain(it) else clean_title(it).lower() for it in parts]
    return [tag for tag in dict.fromkeys(clean) if tag]


def _is_plain(tag: str) -> bool:
    return tag.isalnum() and tag.islower() and tag.isascii()


# Repair


def repair(record: Record, now: float | None, *, cap: bool = True) -> tuple[Record, list[str]]:
    """A repaired copy and what was repaired; without a `now` no missing time is made up."""
    if is_newer(record):
        return record, []  # only read: what is wrong by our rules may be right by its own
    fixed = dict(record)
    done: list[str] = []
    if fixed.get("schema_version") != fields.SCHEMA_VERSION:
        fixed["schema_version"] = fields.SCHEMA_VERSION
        done.append(f"schema_version set to {fields.SCHEMA_VERSION}")
    content = fixed.get("content")
    if isinstance(content, dict) and None in content.values():
        fixed["content"] = {key: value for key, value in content.items() if value is not None}
        done.append("content: empty (null) fields left out")
    for key in [key for key, value in fixed.items() if value is None]:
        del fixed[key]
        done.append(f"{str(key)[:40]} was null: left out")
    for key, value in _DEFAULTS:
        if key not in fixed:
            fixed[key] = list(value) if isinstance(value, list) else value
            done.append(f"{key} was missing: {value if value != [] else 'empty'}")
    _repair_title_and_tags(fixed, done)
    confidence = fixed.get("confidence")
    # More than certain is certain; less than nothing has no meaning and is left to be refused.
    if isinstance(confidence, int | float) and confidence > 1 and math.isfinite(confidence):
        fixed["confidence"] = 1.0
        done.append("confidence was above 1: 1.0")
    _repair_times(fixed, now, done)
    _repair_changes(fixed, now, done)
    if cap:
        cap_changes(fixed, done)
    return fixed, done


def cap_changes(fixed: Record, done: list[str]) -> None:
    """First in, first out: the oldest changes go, and it is said how many."""
    changes = fixed.get("changes")
    if isinstance(changes, list) and len(changes) > fields.MAX_CHANGES:
        fixed["changes"] = changes[-fields.MAX_CHANGES :]
        done.append(f"changes: {len(changes) - fields.MAX_CHANGES} oldest dropped")


def _repair_title_and_tags(fixed: Record, done: list[str]) -> None:
    title, tags = fixed.get("title"), fixed.get("tags")
    if isinstance(title, str) and (clean := clean_title(title)) != title:
        fixed["title"] = clean
        blanks = " ".join(title.split()) == clean
        done.append(f"title: {'whitespace' if blanks else 'index markers'} removed")
    if isinstance(tags, str):
        fixed["tags"] = clean_tags([tags.strip().strip("[]").replace(";", ",").replace("\n", ",")])
        done.append("tags were a text: split into a list")
    elif isinstance(tags, list) and _is_texts(tags) and (cleaned := clean_tags(tags)) != tags:
        fixed["tags"] = cleaned
        done.append("tags: lower-cased, trimmed, each once")


def _repair_times(fixed: Record, now: float | None, done: list[str]) -> None:
    put_away = "retired_at" in fixed or "archived_at" in fixed
    if not put_away and _is_time(fixed.get("created_at")) and _is_time(fixed.get("updated_at")):
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
        if moment is None or fixed.get(key) == (right := safe.iso_time(moment)):
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
    in_month = "01" <= month <= "12" and "01" <= day <= "28"
    return in_month and hour < "24" and minute < "60" and second < "60"


def _moment(value: object) -> float | None:
    return safe.parse_time(value) if isinstance(value, str) else None


def _repair_changes(fixed: Record, now: float | None, done: list[str]) -> None:
    """Dates rewritten, nulls left out; but the quoted values may be null."""
    changes = fixed.get("changes")
    if not isinstance(changes, list):
        return
    fallback = now if now is not None else _moment(fixed.get("updated_at"))
    mended: list[object] = []
    for item in changes:
        if isinstance(item, dict) and not (
            _is_time(item.get("date")) and None not in item.values()
        ):
            quoted = ("old_value", "new_value")
            item = {key: it for key, it in item.items() if it is not None or key in quoted}
            moment = _moment(item.get("date"))
            moment = fallback if moment is None else moment
            if moment is not None:
                item["date"] = safe.iso_time(moment)
        mended.append(item)
    if mended != changes:
        fixed["changes"] = mended
        done.append("changes: dates rewritten, empty (null) fields left out")


# Check


class Problem(NamedTuple):
    """A rule that a record breaks: where, which, and what to do."""

    field: str
    rule: str
    fix: str


def check(record: Record, type: str = "") -> list[Problem]:
    """What is wrong with a record of this type (its own where none is given)."""
    if is_newer(record):
        fix = "update memdir; this version only reads the record"
        return [Problem("schema_version", f"is newer than {fields.SCHEMA_VERSION}", fix)]
    extra = [str(key)[:40] for key in record if key not in fields.KEYS]
    problems = [Problem(key, "is no field of a record", "leave it out") for key in extra]
    missing = [key for key in fields.REQUIRED_KEYS if key not in record]
    problems += [Problem(key, "is missing", f"add {key}") for key in missing]
    for key, rule in _RULES.items():
        if key in record and (broken := rule(record[key])):
            problems.append(Problem(key, broken, f"correct {key}"))
    own = record.get("category")
    if type and isinstance(own, str) and own in fields.FOLDERS and own != type:
        broken = f"is {own}, but {type} was asked for"
        problems.append(Problem("category", broken, "correct category"))
    problems += _check_changes(record.get("changes", []))
    known = type or (own if isinstance(own, str) else "")
    return problems + _check_content(record.get("content", {}), known)


def demand(record: Record, type: str = "", path: str = "") -> Record:
    """The record, if it is valid; else a refusal that lists what is not."""
    problems = check(record, type)
    if not problems:
        return record
    facts = [(it.field, it.rule) for it in problems[:MAX_SHOWN_PROBLEMS]]
    if len(problems) > MAX_SHOWN_PROBLEMS:
        facts.append(("more", str(len(problems) - MAX_SHOWN_PROBLEMS)))
    message = f"{problems[0].field} {problems[0].rule}"
    fix = "; ".join(dict.fromkeys(it.fix for it in problems[:3]))
    raise refusal.RecordError(refusal.VALIDATION, message, facts=tuple(facts), fix=fix, path=path)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _one_of(choices: tuple[str, ...], value: object) -> str:
    fits = isinstance(value, str) and value in choices
    return "" if fits else f"must be one of {', '.join(choices)}"


def _check_id(value: object) -> str:
    fits = isinstance(value, str) and _ID.match(value)
    return "" if fits else "must be a slug: a-z, 0-9 and -, at most 80 characters"


def _check_title(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        return "must be a text"
    if len(value) > fields.MAX_TITLE_CHARACTERS:
        return f"has {len(value)} characters, at most {fields.MAX_TITLE_CHARACTERS}"
    if value != clean_title(value):
        return "must be one trimmed line without ` -> `, `#tags:` and control characters"
    return ""


def _check_time(value: object) -> str:
    moment = _moment(value)
    fits = moment is not None and safe.iso_time(moment) == value
    return "" if fits else "must be a time, YYYY-MM-DDTHH:MM:SSZ"


def _check_tags(value: object) -> str:
    if not isinstance(value, list) or not _is_texts(value):
        return "must be a list of texts"
    if not 1 <= len(value) <= fields.MAX_TAGS:
        return f"has {len(value)} tags, must have 1 to {fields.MAX_TAGS}"
    return (
        ""
        if value == clean_tags(value)
        else ("must be lower-case, trimmed, without commas, each once")
    )


def _check_files(value: object) -> str:
    fits = isinstance(value, list) and all(map(_is_text, value))
    return "" if fits else "must be a list of paths"


def _check_confidence(value: object) -> str:
    fits = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
    return "" if fits else "must be a number from 0 to 1"


def _check_count(value: object) -> str:
    fits = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return "" if fits else "must be a whole number from 0"


def _check_string(value: object) -> str:
    return "" if isinstance(value, str) else "must be a text"


_RULES = {
    "schema_version": lambda value: _one_of((fields.SCHEMA_VERSION,), value),
    "category": lambda value: _one_of(fields.TYPES, value),
    "id": _check_id,
    "title": _check_title,
    **dict.fromkeys(fields.TIME_KEYS, _check_time),
    "tags": _check_tags,
    "related_files": _check_files,
    "confidence": _check_confidence,
    "record_status": lambda value: _one_of(fields.STATUSES, value),
    "times_updated": _check_count,
    "retired_reason": _check_string,
    "archived_reason": _check_string,
}


def _check_changes(changes: object) -> list[Problem]:
    if not isinstance(changes, list):
        return [Problem("changes", "must be a list of changes", "correct changes")]
    problems = []
    if len(changes) > fields.MAX_CHANGES:
        rule = f"has more than {fields.MAX_CHANGES} entries"
        problems.append(Problem("changes", rule, "correct changes"))
    for index, change in enumerate(changes[: fields.MAX_CHANGES]):
        if broken := _check_change(change):
            where = f"changes[{index}]"
            problems.append(Problem(where, broken, f"correct {where}"))
    return problems


def _check_change(change: object) -> str:
    if not isinstance(change, dict):
        return "must be an object with date and summary"
    if extra := [str(key)[:40] for key in change if key not in fields.CHANGE_KEYS]:
        return f"has {extra[0]!r}, which no change has"
    if broken := _check_time(change.get("date")):
        return f"date {broken}"
    summary = change.get("summary")
    if not isinstance(summary, str) or not summary.strip():
        return "must have a summary"
    if len(summary) > fields.MAX_SUMMARY_CHARACTERS:
        return f"summary has {len(summary)} characters, at most {fields.MAX_SUMMARY_CHARACTERS}"
    if not isinstance(change.get("field", ""), str):
        return "field must be a text"
    quoted = (change.get("old_value"), change.get("new_value"))
    return "quotes a value that is nested too deep" if any(map(_is_deep, quoted)) else ""


def _is_deep(value: object) -> bool:
    """Looked at level by level: a recursion could be made to fail."""
    level = [value]
    for _ in range(fields.MAX_DEPTH):
        below: list[object] = []
        for item in level:
            if isinstance(item, dict):
                below += item.values()
            elif isinstance(item, list):
                below += item
        if not below:
            return False
        level = below
    return True


def _check_content(content: object, type: str) -> list[Problem]:
    if not isinstance(content, dict):
        return [Problem("content", "must be an object", "correct content")]
    known = fields.CONTENT.get(type, ())
    if not known:
        return []  # the category is wrong, and that has been said
    names = [field.name for field in known]
    problems = [
        Problem(f"content.{str(key)[:40]}", f"is no field of a {type}", f"use {', '.join(names)}")
        for key in content
        if key not in names
    ]
    for field in known:
        where = f"content.{field.name}"
        if field.name not in content:
            if field.required:
                problems.append(Problem(where, "is missing", f"add {where}"))
        elif broken := _check_value(content[field.name], field):
            problems.append(Problem(where, broken, f"correct {where}"))
    return problems


def _check_value(value: object, field: Field) -> str:
    if field.kind == fields.CHOICE:
        return _one_of(field.choices, value)
    if field.kind == fields.FLAG:
        return "" if isinstance(value, bool) else "must be true or false"
    if field.kind == fields.TEXT:
        return "" if _is_text(value) or (value == "" and not field.required) else "must be a text"
    if field.kind == fields.EXAMPLES:
        if not isinstance(value, dict) or not set(value) <= set(fields.EXAMPLE_KEYS):
            return "must be an object with prefer and avoid, nothing else"
        return "must hold lists of texts" if any(map(_check_files, value.values())) else ""
    if not isinstance(value, list):
        return "must be a list"
    if len(value) < field.min_items:
        return f"must have at least {field.min_items} item"
    if field.kind == fields.ALTERNATIVES:
        fits = all(map(_is_alternative, value))
        return "" if fits else "must hold objects with option and rejected_reason, nothing else"
    return "" if all(map(_is_text, value)) else "must hold texts, none of them empty"


def _is_alternative(value: object) -> bool:
    if not isinstance(value, dict) or set(value) != set(fields.ALTERNATIVE_KEYS):
        return False
    return _is_text(value["option"]) and isinstance(value["rejected_reason"], str)
