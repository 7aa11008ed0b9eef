"""JSON Schemas of the six kinds of records, made from the table of fields."""

from __future__ import annotations

import json
from typing import Any

from memdir.records import fields
from memdir.records.fields import Field

Schema = dict[str, Any]

STRING: Schema = {"type": "string"}
_TEXT: Schema = {"type": "string", "pattern": r"\S"}
# No controls, no blanks at the ends, no two in a row, no `->` on its own, no `#tags:`.
_LINE = (
    r"^(?!.*(?:^|\s)->(?:\s|$))(?!.*#[Tt][Aa][Gg][Ss]:)"
    r"[^\s\u0000-\u001f\u007f-\u009f]+(?: [^\s\u0000-\u001f\u007f-\u009f]+)*$"
)
_TIME: Schema = {
    "type": "string",
    "pattern": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$",
}


def schema(type: str) -> Schema:
    """The JSON Schema of a record of this type."""
    properties = {
        "schema_version": {"const": fields.SCHEMA_VERSION},
        "category": {"const": type},
        "id": {"type": "string", "pattern": "^[a-z0-9][a-z0-9-]{0,79}$"},
        "title": {"type": "string", "pattern": _LINE, "maxLength": fields.MAX_TITLE_CHARACTERS},
        "created_at": _TIME,
        "updated_at": _TIME,
        "tags": {
            "type": "array",
            "minItems": 1,
            "maxItems": fields.MAX_TAGS,
            "uniqueItems": True,
            "items": {"type": "string", "pattern": "^[^A-Z,]+$"},
        },
        "related_files": {"type": "array", "items": _TEXT},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        "record_status": {"enum": [*fields.STATUSES]},
        "changes": {"type": "array", "maxItems": fields.MAX_CHANGES, "items": _change()},
        "times_updated": {"type": "integer", "minimum": 0},
        "retired_at": _TIME,
        "retired_reason": STRING,
        "archived_at": _TIME,
        "archived_reason": STRING,
        "content": content_schema(type),
    }
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"A record of the category {type}",
    }
    return head | _object(properties, fields.REQUIRED_KEYS)


def content_schema(type: str, text: Schema = _TEXT) -> Schema:
    """The content of a record of this type; `text` is the schema of what is said."""
    known = fields.CONTENT[type]
    properties = {field.name: _value(field, text) for field in known}
    return _object(properties, [field.name for field in known if field.required])


def text(type: str) -> str:
    """The schema as its file has it."""
    return json.dumps(schema(type), indent=2, ensure_ascii=False) + "\n"


def file_name(type: str) -> str:
    """Below schemas/: `tech-debt.schema.json`."""
    return type.replace("_", "-") + ".schema.json"


def _object(properties: Schema, required: Any = ()) -> Schema:
    needed = {"required": [*required]} if required else {}
    return {"type": "object", "additionalProperties": False, **needed, "properties": properties}


def _change() -> Schema:
    summary = _TEXT | {"maxLength": fields.MAX_SUMMARY_CHARACTERS}
    properties: Schema = {"date": _TIME, "summary": summary, "field": STRING}
    return _object(properties | {"old_value": {}, "new_value": {}}, ("date", "summary"))


def _value(field: Field, text: Schema) -> Schema:
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
