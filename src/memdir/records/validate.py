"""The JSON Schema of each category, the check of a record against it, and repairs.

Only unambiguous flaws are repaired, and each repair is reported. Other mistakes (a negative
confidence, an unknown key, a title that is too long) are left to the author.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

from memdir.hot import safe
from memdir.records import fields
from memdir.records.fields import Field, Record, is_record_newer

Schema = dict[str, Any]

ARROW = " -> "  # between title and path in an index line
TAGS = "#tags:"  # before the tags
MAX_SHOWN_CHARACTERS = 40
STRING: Schema = {"type": "string"}
_TEXT: Schema = {"type": "string", "pattern": r"\S"}
_TIME: Schema = {
    "type": "string",
    "pattern": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$",
}
_ID: Schema = {"type": "string", "pattern": "^[a-z0-9][a-z0-9-]{0,79}$"}
# No control characters, no outer or repeated spaces, no separate `->`, no `#tags:`.
_TITLE: Schema = {
    "type": "string",
    "pattern": r"^(?!.*(?:^|\s)->(?:\s|$))(?!.*#[Tt][Aa][Gg][Ss]:)"
    r"[^\s\u0000-\u001f\u007f-\u009f]+(?: [^\s\u0000-\u001f\u007f-\u009f]+)*$",
    "maxLength": fields.MAX_TITLE_CHARACTERS,
}
_TAG: Schema = {"type": "string", "pattern": "^[^A-Z,]+$"}
_CONTROLS: dict[int, str] = dict.fromkeys((*range(32), *range(127, 160), 0x2028, 0x2029), " ")
_TAG_MARKER = re.compile(r"#(?=tags:)", re.ASCII | re.IGNORECASE)


# Schema


@cache
def record_schema(type: str) -> Schema:
    summary = _TEXT | {"maxLength": fields.MAX_SUMMARY_CHARACTERS}
    change: Schema = {"date": _TIME, "summary": summary, "field": STRING}
    change |= {"old_value": {}, "new_value": {}}
    properties = {
        "schema_version": {"const": fields.SCHEMA_VERSION},
        "category": {"const": type},
        "id": _ID,
        "title": _TITLE,
        "created_at": _TIME,
        "updated_at": _TIME,
        "tags": {
            "type": "array",
            "minItems": 1,
            "maxItems": fields.MAX_TAGS,
            "uniqueItems": True,
            "items": _TAG,
        },
        "related_files": {"type": "array", "items": _TEXT},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        "record_status": {"enum": [*fields.STATUSES]},
        "changes": {
            "type": "array",
            "maxItems": fields.MAX_CHANGES,
            "items": _object(change, ("date", "summary")),
        },
        "times_updated": {"type": "integer", "minimum": 0},
        "retired_at": _TIME,
        "retired_reason": STRING,
        "archived_at": _TIME,
        "archived_reason": STRING,
        "content": record_content_schema(type),
    }
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"A record of the category {type}",
    }
    return head | _object(properties, fields.REQUIRED_KEYS)


def record_content_schema(type: str, text: Schema = _TEXT) -> Schema:
    known = fields.CONTENT[type]
    properties = {field.name: _field_schema(field, text) for field in known}
    return _object(properties, [field.name for field in known if field.required])


def record_schema_text(type: str) -> str:
    return json.dumps(record_schema(type), indent=2, ensure_ascii=False) + "\n"


def _object(properties: Schema, required: Sequence[str] = ()) -> Schema:
    needed = {"required": [*required]} if required else {}
    return {"type": "object", "additionalProperties": False, **needed, "properties": properties}


def _field_schema(field: Field, text: Schema) -> Schema:
    texts = {"type": "array", "items": text}
    if field.kind == fields.CHOICE:
        return {"enum": [*field.choices]}
    if field.kind == fields.FLAG:
        return {"type": "boolean"}
    if field.kind == fields.TEXT:
        return text if field.required else STRING
    if field.kind == fields.TEXTS:
        return texts | ({"minItems": field.min_items} if field.min_items else {})
    if field.kind == fields.EXAMPLES:
        return _object(dict.fromkeys(fields.EXAMPLE_KEYS, texts))
    alternative = _object({"option": text, "rejected_reason": STRING}, fields.ALTERNATIVE_KEYS)
    return {"type": "array", "items": alternative}


# Check


class Problem(NamedTuple):
    field: str
    rule: str
    fix: str


def check_record(record: Record, type: str = "") -> list[Problem]:
    if is_record_newer(record):
        fix = "update memdir; this version only reads the record"
        return [Problem("schema_version", f"is newer than {fields.SCHEMA_VERSION}", fix)]
    own = type or fields.record_type_named(record.get("category"))
    if not own:
        rule = f"must be one of {', '.join(fields.TYPES)}"
        return [Problem("category", rule, "correct category")]
    return list(_problems(record, record_schema(own), ""))


def _problems(value: object, rule: Schema, where: str) -> Iterator[Problem]:
    if broken := _broken(value, rule):
        yield Problem(where, broken, f"correct {where}")
        return
    if isinstance(value, dict) and "properties" in rule:
        known = rule["properties"]
        prefix = f"{where}." if where else ""
        for key in value:
            if key not in known:
                name = f"{prefix}{str(key)[:MAX_SHOWN_CHARACTERS]}"
                yield Problem(name, "is not a known field", f"use {', '.join(known)}")
        for key, inner in known.items():
            if key in value:
                yield from _problems(value[key], inner, prefix + key)
            elif key in rule.get("required", ()):
                yield Problem(prefix + key, "is missing", f"add {prefix}{key}")
    elif isinstance(value, list) and "items" in rule:
        for index, item in enumerate(value):
            yield from _problems(item, rule["items"], f"{where}[{index}]")


def _broken(value: object, rule: Schema) -> str:
    choices = rule.get("enum", [rule["const"]] if "const" in rule else None)
    if choices is not None:
        fits = isinstance(value, str) and value in choices
        return "" if fits else f"must be one of {', '.join(choices)}"
    if "type" not in rule:
        return "is nested too deep" if _is_deep(value) else ""
    known, name = _KINDS[rule["type"]]
    if not isinstance(value, known) or (isinstance(value, bool) and known is not bool):
        return f"must be {name}"
    if isinstance(value, str):
        if len(value) > rule.get("maxLength", len(value)):
            return f"has {len(value)} characters, at most {rule['maxLength']}"
        form = _FORMS.get(rule.get("pattern", ""))
        return f"must be {form[1]}" if form and not form[0](value) else ""
    if isinstance(value, list):
        low, high = rule.get("minItems", 0), rule.get("maxItems", len(value))
        if len(value) < low:
            return f"must have at least {low} item"
        if len(value) > high:
            return f"has {len(value)} items, at most {high}"
        texts = fields.record_texts(value)
        twice = rule.get("uniqueItems") and len({*texts}) < len(texts)
        return "names an item twice" if twice else ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        low, high = rule["minimum"], rule.get("maximum", math.inf)
        limits = f"from {low} to {high}" if high < math.inf else f"from {low}"
        return "" if low <= value <= high else f"must be {name} {limits}"
    return ""


def _is_time(value: str) -> bool:
    moment = safe.parse_time(value)
    return moment is not None and safe.iso_time(moment) == value


def _is_deep(value: object) -> bool:
    """Level by level: a recursion could be made to fail."""
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


_KINDS: dict[str, tuple[Any, str]] = {
    "object": (dict, "an object"),
    "array": (list, "a list"),
    "string": (str, "a text"),
    "boolean": (bool, "true or false"),
    "integer": (int, "a whole number"),
    "number": (int | float, "a number"),
}
# The check behind each schema pattern, and its message; some check more than a pattern can.
_FORMS: dict[str, tuple[Callable[[str], object], str]] = {
    _TEXT["pattern"]: (str.strip, "a text"),
    _TIME["pattern"]: (_is_time, "a time, YYYY-MM-DDTHH:MM:SSZ"),
    _ID["pattern"]: (
        re.compile("[a-z0-9][a-z0-9-]{0,79}").fullmatch,
        "a slug: a-z, 0-9 and -, at most 80 characters",
    ),
    _TITLE["pattern"]: (
        lambda value: value and value == clean_record_title(value),
        "one trimmed line without ` -> `, `#tags:`, control or hidden characters",
    ),
    _TAG["pattern"]: (
        lambda value: clean_record_tags([value]) == [value],
        "lower-case and trimmed, without commas",
    ),
}


# Repair


def clean_record_title(title: str) -> str:
    words = safe.make_visible(title.translate(_CONTROLS)).split()
    # Leave something in place of a marker, so that the rest cannot form another one.
    line = " ".join(["→" if word == "->" else word for word in words])
    return _TAG_MARKER.sub("# ", line) if "#" in line else line


_HALF = re.compile("[\ud800-\udfff]")


def _make_visible(value: object) -> object:
    if isinstance(value, str):  # half a character is refused, not mended
        return value if _HALF.search(value) else safe.make_visible(value)
    if isinstance(value, list):
        return [_make_visible(item) for item in value]
    if isinstance(value, dict):
        return {key: _make_visible(item) for key, item in value.items()}
    return value


def clean_record_tags(tags: list[str]) -> list[str]:
    clean = [clean_record_title(part).lower() for tag in tags for part in tag.split(",")]
    return [tag for tag in dict.fromkeys(clean) if tag]


def repair_record(
    record: Record, now: float | None, *, cap: bool = True
) -> tuple[Record, list[str]]:
    """A repaired copy and the repairs; without `now`, missing times stay missing."""
    if is_record_newer(record):
        return record, []  # read-only: a later version may have other rules
    fixed, done = dict(record), list[str]()
    if fixed.get("schema_version") != fields.SCHEMA_VERSION:
        fixed["schema_version"] = fields.SCHEMA_VERSION
        done.append(f"schema_version set to {fields.SCHEMA_VERSION}")
    content = fixed.get("content")
    if isinstance(content, dict) and None in content.values():
        fixed["content"] = {key: value for key, value in content.items() if value is not None}
        done.append("content: empty (null) fields left out")
    if (seen := _make_visible(fixed.get("content"))) != fixed.get("content"):
        fixed["content"] = seen
        done.append("content: hidden characters removed")
    for key in [key for key, value in fixed.items() if value is None]:
        del fixed[key]
        done.append(f"{str(key)[:MAX_SHOWN_CHARACTERS]} was null: left out")
    for key, default in fields.DEFAULTS.items():
        if key not in fixed:
            fixed[key] = list(default) if isinstance(default, list) else default
            done.append(f"{key} was missing: {default if default != [] else 'empty'}")
    title, tags, confidence = fixed.get("title"), fixed.get("tags"), fixed["confidence"]
    if isinstance(title, str) and (clean := clean_record_title(title)) != title:
        fixed["title"] = clean
        blanks = " ".join(title.split()) == clean
        done.append(f"title: {'whitespace' if blanks else 'index markers'} removed")
    if isinstance(tags, str):
        fixed["tags"] = clean_record_tags(
            [tags.strip().strip("[]").replace(";", ",").replace("\n", ",")]
        )
        done.append("tags were a text: split into a list")
    elif (
        tags and fields.record_texts(tags) == tags and (cleaned := clean_record_tags(tags)) != tags
    ):
        fixed["tags"] = cleaned
        done.append("tags: lower-cased, trimmed, each once")
    # Above 1 is certain; a negative value has no meaning and is refused later.
    if isinstance(confidence, int | float) and confidence > 1 and math.isfinite(confidence):
        fixed["confidence"] = 1.0
        done.append("confidence was above 1: 1.0")
    _repair_times(fixed, now, done)
    _repair_changes(fixed, now, done)
    if cap:
        cap_record_changes(fixed, done)
    return fixed, done


def cap_record_changes(fixed: Record, done: list[str]) -> None:
    changes = fixed.get("changes")
    if isinstance(changes, list) and len(changes) > fields.MAX_CHANGES:
        fixed["changes"] = changes[-fields.MAX_CHANGES :]
        done.append(f"changes: {len(changes) - fields.MAX_CHANGES} oldest dropped")


def _moment(value: object) -> float | None:
    return safe.parse_time(value) if isinstance(value, str) else None


def _repair_times(fixed: Record, now: float | None, done: list[str]) -> None:
    for key in fields.TIME_KEYS:
        optional = key in fields.OPTIONAL_KEYS
        if optional and key not in fixed:
            continue
        moment, how = _moment(fixed.get(key)), "rewritten"
        if moment is None:
            other = "created_at" if key == "updated_at" else "updated_at"
            moment, how = _moment(fixed.get(other)), "set"
            moment = now if moment is None and not optional else moment
        if moment is not None and fixed.get(key) != (right := safe.iso_time(moment)):
            fixed[key] = right
            done.append(f"{key} {how}: {right}")


def _repair_changes(fixed: Record, now: float | None, done: list[str]) -> None:
    """Rewrites dates and drops nulls, except in quoted values."""
    changes = fixed["changes"]
    if not isinstance(changes, list):
        return
    fallback = now if now is not None else _moment(fixed.get("updated_at"))
    mended: list[object] = []
    for item in changes:
        if isinstance(item, dict):
            quoted = ("old_value", "new_value")
            item = {key: it for key, it in item.items() if it is not None or key in quoted}
            moment = _moment(item.get("date"))
            moment = fallback if moment is None else moment
            item |= {"date": safe.iso_time(moment)} if moment is not None else {}
        mended.append(item)
    if mended != changes:
        fixed["changes"] = mended
        done.append("changes: dates rewritten, empty (null) fields left out")
