"""Is a record valid? Every rule that it breaks, each with the way to mend it."""

from __future__ import annotations

import re

from memdir.core import dates
from memdir.core.records import errors, fields, markers
from memdir.core.records.fields import Field, Record, is_newer
from memdir.core.records.repairing import repair

__all__ = ["Problem", "check", "demand", "is_newer", "repair"]

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
    raise errors.RecordError(errors.VALIDATION, message, facts=tuple(facts), fix=fix, path=path)


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
    if value != markers.clean_title(value):
        return "must be one trimmed line without ` -> `, `#tags:` and control characters"
    return ""


def _time(value: object) -> str:
    moment = dates.parse_time(value) if isinstance(value, str) else None
    fits = moment is not None and dates.iso_time(moment) == value
    return "" if fits else "must be a time, YYYY-MM-DDTHH:MM:SSZ"


def _tags(value: object) -> str:
    if not isinstance(value, list) or not all(isinstance(tag, str) for tag in value):
        return "must be a list of texts"
    if not 1 <= len(value) <= fields.MAX_TAGS:
        return f"has {len(value)} tags, must have 1 to {fields.MAX_TAGS}"
    if value != markers.clean_tags(value):
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
