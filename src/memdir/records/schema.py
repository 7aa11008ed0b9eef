"""JSON Schemas of the six kinds of records."""

from __future__ import annotations

import json
from typing import Any

from memdir.records import fields
from memdir.records.fields import Field

DRAFT = "https://json-schema.org/draft/2020-12/schema"
SUFFIX = ".schema.json"
_TEXT: dict[str, Any] = {"type": "string", "pattern": r"\S"}
_TEXTS: dict[str, Any] = {"type": "array", "items": _TEXT}
# No controls, no blanks at the ends, no two in a row, no `->` on its own, no `#tags:`.
_LINE = (
    r"^(?!.*(?:^|\s)->(?:\s|$))(?!.*#[Tt][Aa][Gg][Ss]:)"
    r"[^\s\u0000-\u001f\u007f-\u009f]+(?: [^\s\u0000-\u001f\u007f-\u009f]+)*$"
)
_TIME: dict[str, Any] = {
    "type": "string",
    "pattern": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$",
}
_CHANGE: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["date", "summary"],
    "properties": {
        "date": _TIME,
        "summary": _TEXT | {"maxLength": fields.MAX_SUMMARY},
        "field": {"type": "string"},
        "old_value": {},
        "new_value": {},
    },
}


def schema(type: str) -> dict[str, Any]:
    """The JSON Schema of a record of this type."""
    return {
        "$schema": DRAFT,
        "title": f"A record of the category {type}",
        "type": "object",
        "additionalProperties": False,
        "required": [key for key in fields.KEYS if key not in fields.OPTIONAL_KEYS],
        "properties": _shared(type) | {"content": _content(type)},
    }


def text(type: str) -> str:
    """The schema as the file has it."""
    return json.dumps(schema(type), indent=2, ensure_ascii=False) + "\n"


def file_name(type: str) -> str:
    """Below schemas/: `tech-debt.schema.json`."""
    return type.replace("_", "-") + SUFFIX


def _shared(type: str) -> dict[str, Any]:
    return {
        "schema_version": {"const": fields.SCHEMA_VERSION},
        "category": {"const": type},
        "id": {"type": "string", "pattern": "^[a-z0-9][a-z0-9-]{0,79}$"},
        "title": {"type": "string", "pattern": _LINE, "maxLength": fields.MAX_TITLE},
        "created_at": _TIME,
        "updated_at": _TIME,
        "tags": {
            "type": "array",
            "minItems": 1,
            "maxItems": fields.MAX_TAGS,
            "uniqueItems": True,
            "items": {"type": "string", "pattern": "^[^A-Z,]+$"},
        },
        "related_files": _TEXTS,
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        "record_status": {"enum": [*fields.STATUSES]},
        "changes": {"type": "array", "maxItems": fields.MAX_CHANGES, "items": _CHANGE},
        "times_updated": {"type": "integer", "minimum": 0},
        "retired_at": _TIME,
        "retired_reason": {"type": "string"},
        "archived_at": _TIME,
        "archived_reason": {"type": "string"},
    }


def _content(type: str) -> dict[str, Any]:
    known = fields.CONTENT[type]
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [field.name for field in known if field.required],
        "properties": {field.name: _value(field) for field in known},
    }


def _value(field: Field) -> dict[str, Any]:
    if field.kind == fields.CHOICE:
        return {"enum": [*field.choices]}
    if field.kind == fields.FLAG:
        return {"type": "boolean"}
    if field.kind == fields.TEXT:
        return _TEXT if field.required else {"type": "string"}
    if field.kind == fields.TEXTS:
        return _TEXTS | ({"minItems": field.least} if field.least else {})
    if field.kind == fields.EXAMPLES:
        return {
            "type": "object",
            "additionalProperties": False,
            "properties": dict.fromkeys(fields.EXAMPLE_KEYS, _TEXTS),
        }
    return {
        "type": "array",
        "items": {
            "type": "object",
            "additionalProperties": False,
            "required": [*fields.ALTERNATIVE_KEYS],
            "properties": {"option": _TEXT, "rejected_reason": {"type": "string"}},
        },
    }
