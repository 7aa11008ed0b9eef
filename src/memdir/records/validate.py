"""Check and repair."""

from __future__ import annotations

import math
import re

from memdir.hot import safe
from memdir.records import fields, refusal
from memdir.records.fields import Field, Record, is_newer

# Titles and tags without the signs that give an index line its form. Light: no `re`.

ARROW = " -> "  # between a title and its path
TAGS = "#tags:"  # in front of the tags
_CONTROLS: dict[int, str] = dict.fromkeys((*range(32), *range(127, 160), 0x2028, 0x2029), " ")


def clean_title(title: str) -> str:
    """One line: no controls, no runs of blanks, no marker that an index line is read by."""
    return _clean(title)


def clean_tag(tag: str) -> str:
    """In small letters, trimmed, without commas and markers; may leave nothing."""
    if tag.isalnum() and tag.islower() and tag.isascii():
        return tag
    return _clean(tag.replace(",", " ")).lower()


def clean_tags(tags: list[str]) -> list[str]:
    """Each tag once, in the order given; what holds a comma is two."""
    parts = [part for tag in tags for part in tag.split(",")]
    return [tag for tag in dict.fromkeys(map(clean_tag, parts)) if tag]


def split_tags(text: str) -> list[str]:
    """The tags in a text that should have been a list."""
    return clean_tags([text.strip().strip("[]").replace(";", ",").replace("\n", ",")])


def _clean(text: str) -> str:
    words = text.translate(_CONTROLS).split()
    # Something stays where a marker stood: what is left must not grow together into another.
    line = " ".join(["→" if word == "->" else word for word in words])
    first, *rest = line.split("#")
    return first + "".join([f"# {part}" if _is_marker(part) else f"#{part}" for part in rest])


def _is_marker(part: str) -> bool:
    return part[:5].lower() == TAGS[1:]


# What can be put right without asking; each repair is reported.
#
# Only what has one meaning is repaired. What a draft says wrongly (a negative confidence, an
# unknown key, a title that is too long) is for its author to correct.

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
    _repairing_title(fixed, done)
    _repairing_tags(fixed, done)
    _repairing_confidence(fixed, done)
    _times(fixed, now, done)
    _repairing_changes(fixed, now, done)
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


def _repairing_title(fixed: Record, done: list[str]) -> None:
    title = fixed.get("title")
    if not isinstance(title, str):
        return
    clean = clean_title(title)
    if clean != title:
        fixed["title"] = clean
        blanks = " ".join(title.split()) == clean
        done.append(f"title: {'whitespace' if blanks else 'index markers'} removed")


def _repairing_tags(fixed: Record, done: list[str]) -> None:
    tags = fixed.get("tags")
    if isinstance(tags, str):
        fixed["tags"] = split_tags(tags)
        done.append("tags were a text: split into a list")
    elif isinstance(tags, list) and all(isinstance(tag, str) for tag in tags):
        clean = clean_tags(tags)
        if clean != tags:
            fixed["tags"] = clean
            done.append("tags: lower-cased, trimmed, each once")


def _repairing_confidence(fixed: Record, done: list[str]) -> None:
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
    if not ("01" <= month <= "12" and "01" <= day <= "28"):
        return False
    return hour < "24" and minute < "60" and second < "60"


def _moment(value: object) -> float | None:
    return safe.parse_time(value) if isinstance(value, str) else None


def _repairing_changes(fixed: Record, now: float | None, done: list[str]) -> None:
    changes = fixed.get("changes")
    if not isinstance(changes, list):
        return
    updated = _moment(fixed.get("updated_at"))
    fallback = now if now is not None else updated
    mended = [_repairing_change(one, fallback) for one in changes]
    if mended != changes:
        fixed["changes"] = mended
        done.append("changes: dates rewritten, empty (null) fields left out")


def _repairing_change(one: object, fallback: float | None) -> object:
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
        kept["date"] = safe.iso_time(moment)
    return kept


# Is a record valid? Every rule that it breaks, each with the way to mend it.

SHOWN_PROBLEMS = 8
_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,79}\Z")
_NEEDED = tuple(key for key in fields.KEYS if key not in fields.OPTIONAL_KEYS)


class Problem:
    """A rule that a record breaks: where, which, and what to do."""

    __slots__ = ("field", "fix", "rule")

    def __init__(self, field: str, rule: str, fix: str = "") -> None:
        self.field = field
        self.rule = rule
        self.fix = fix or f"correct {field}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Problem) and self.field == other.field and self.rule == other.rule

    def __hash__(self) -> int:
        return hash((self.field, self.rule))

    def __repr__(self) -> str:
        return f"Problem({self.field!r}, {self.rule!r})"


def check(record: Record, type: str = "") -> list[Problem]:
    """What is wrong with a record of this type (its own where none is given)."""
    if is_newer(record):
        fix = "update memdir; this version only reads the record"
        return [Problem("schema_version", f"is newer than {fields.SCHEMA_VERSION}", fix)]
    found = [
        Problem(_name(key), "is no field of a record", "leave it out")
        for key in record
        if key not in fields.KEYS
    ]
    found += [Problem(key, "is missing", f"add {key}") for key in _NEEDED if key not in record]
    for key, rule in _RULES.items():
        if key in record and (broken := rule(record[key])):
            found.append(Problem(key, broken))
    own = record.get("category")
    if type and isinstance(own, str) and own in fields.FOLDERS and own != type:
        found.append(Problem("category", f"is {own}, but {type} was asked for"))
    found += _changes(record.get("changes", []))
    known = type or (own if isinstance(own, str) else "")
    return found + _content(record.get("content", {}), fields.CONTENT.get(known, ()), known)


def demand(record: Record, type: str = "", path: str = "") -> Record:
    """The record, if it is valid; else a refusal that lists what is not."""
    problems = check(record, type)
    if not problems:
        return record
    facts = [(one.field, one.rule) for one in problems[:SHOWN_PROBLEMS]]
    if len(problems) > SHOWN_PROBLEMS:
        facts.append(("more", str(len(problems) - SHOWN_PROBLEMS)))
    first = problems[0]
    message = f"{first.field} {first.rule}"
    fix = "; ".join(dict.fromkeys(one.fix for one in problems[:3]))
    raise refusal.RecordError(refusal.VALIDATION, message, facts=tuple(facts), fix=fix, path=path)


def _name(key: object) -> str:
    """A key that somebody made up, short enough to show."""
    return str(key)[:40]


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _one_of(choices: tuple[str, ...], value: object) -> str:
    fits = isinstance(value, str) and value in choices
    return "" if fits else f"must be one of {', '.join(choices)}"


def _id(value: object) -> str:
    fits = isinstance(value, str) and _ID.match(value)
    return "" if fits else "must be a slug: a-z, 0-9 and -, at most 80 characters"


def _title(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        return "must be a text"
    if len(value) > fields.MAX_TITLE:
        return f"has {len(value)} characters, at most {fields.MAX_TITLE}"
    if value != clean_title(value):
        return "must be one trimmed line without ` -> `, `#tags:` and control characters"
    return ""


def _time(value: object) -> str:
    moment = safe.parse_time(value) if isinstance(value, str) else None
    fits = moment is not None and safe.iso_time(moment) == value
    return "" if fits else "must be a time, YYYY-MM-DDTHH:MM:SSZ"


def _tags(value: object) -> str:
    if not isinstance(value, list) or not all(isinstance(tag, str) for tag in value):
        return "must be a list of texts"
    if not 1 <= len(value) <= fields.MAX_TAGS:
        return f"has {len(value)} tags, must have 1 to {fields.MAX_TAGS}"
    if value != clean_tags(value):
        return "must be lower-case, trimmed, without commas, each once"
    return ""


def _files(value: object) -> str:
    fits = isinstance(value, list) and all(map(_is_text, value))
    return "" if fits else "must be a list of paths"


def _confidence(value: object) -> str:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    fits = number and 0 <= value <= 1  # type: ignore[operator]
    return "" if fits else "must be a number from 0 to 1"


def _count(value: object) -> str:
    fits = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return "" if fits else "must be a whole number from 0"


def _any_text(value: object) -> str:
    return "" if isinstance(value, str) else "must be a text"


_RULES = {
    "schema_version": lambda value: _one_of((fields.SCHEMA_VERSION,), value),
    "category": lambda value: _one_of(fields.TYPES, value),
    "id": _id,
    "title": _title,
    **dict.fromkeys(fields.TIME_KEYS, _time),
    "tags": _tags,
    "related_files": _files,
    "confidence": _confidence,
    "record_status": lambda value: _one_of(fields.STATUSES, value),
    "times_updated": _count,
    "retired_reason": _any_text,
    "archived_reason": _any_text,
}


def _changes(changes: object) -> list[Problem]:
    if not isinstance(changes, list):
        return [Problem("changes", "must be a list of changes")]
    found = []
    if len(changes) > fields.MAX_CHANGES:
        found.append(Problem("changes", f"has more than {fields.MAX_CHANGES} entries"))
    for at, one in enumerate(changes[: fields.MAX_CHANGES]):
        if broken := _change(one):
            found.append(Problem(f"changes[{at}]", broken))
    return found


def _change(one: object) -> str:
    if not isinstance(one, dict):
        return "must be an object with date and summary"
    if extra := [_name(key) for key in one if key not in fields.CHANGE_KEYS]:
        return f"has {extra[0]!r}, which no change has"
    if broken := _time(one.get("date")):
        return f"date {broken}"
    summary = one.get("summary")
    if not isinstance(summary, str) or not summary.strip():
        return "must have a summary"
    if len(summary) > fields.MAX_SUMMARY:
        return f"summary has {len(summary)} characters, at most {fields.MAX_SUMMARY}"
    if not isinstance(one.get("field", ""), str):
        return "field must be a text"
    quoted = (one.get("old_value"), one.get("new_value"))
    return "quotes a value that is nested too deep" if any(map(_is_deep, quoted)) else ""


def _is_deep(value: object) -> bool:
    """Looked at level by level: a recursion could be made to fail."""
    level = [value]
    for _ in range(fields.MAX_DEPTH):
        below: list[object] = []
        for one in level:
            if isinstance(one, dict):
                below += one.values()
            elif isinstance(one, list):
                below += one
        if not below:
            return False
        level = below
    return True


def _content(content: object, known: tuple[Field, ...], type: str) -> list[Problem]:
    if not isinstance(content, dict):
        return [Problem("content", "must be an object")]
    if not known:
        return []  # the category is wrong, and that has been said
    names = [field.name for field in known]
    found = [
        Problem(f"content.{_name(key)}", f"is no field of a {type}", f"use {', '.join(names)}")
        for key in content
        if key not in names
    ]
    for field in known:
        where = f"content.{field.name}"
        if field.name not in content:
            if field.required:
                found.append(Problem(where, "is missing", f"add {where}"))
        elif broken := _value(content[field.name], field):
            found.append(Problem(where, broken))
    return found


def _value(value: object, field: Field) -> str:
    if field.kind == fields.CHOICE:
        return _one_of(field.choices, value)
    if field.kind == fields.FLAG:
        return "" if isinstance(value, bool) else "must be true or false"
    if field.kind == fields.TEXT:
        return "" if _is_text(value) or (value == "" and not field.required) else "must be a text"
    if field.kind == fields.EXAMPLES:
        return _examples(value)
    if not isinstance(value, list):
        return "must be a list"
    if len(value) < field.least:
        return f"must have at least {field.least} item"
    if field.kind == fields.ALTERNATIVES:
        fits = all(map(_is_alternative, value))
        return "" if fits else "must hold objects with option and rejected_reason, nothing else"
    return "" if all(map(_is_text, value)) else "must hold texts, none of them empty"


def _is_alternative(value: object) -> bool:
    keys = set(fields.ALTERNATIVE_KEYS)
    if not isinstance(value, dict) or set(value) != keys or not _is_text(value["option"]):
        return False
    return isinstance(value["rejected_reason"], str)


def _examples(value: object) -> str:
    if not isinstance(value, dict) or not set(value) <= set(fields.EXAMPLE_KEYS):
        return "must be an object with prefer and avoid, nothing else"
    lists = [one for one in value.values() if isinstance(one, list) and all(map(_is_text, one))]
    return "" if len(lists) == len(value) else "must hold lists of texts"
