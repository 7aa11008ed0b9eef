"""Records of the plugin's earlier versions, brought into today's form without losing anything.

`repairing` covers what a reader forgives every day; here is what only a move from elsewhere needs.
A key that no field takes goes into the log of changes, where a person finds it again.
"""

from __future__ import annotations

from memdir.core import dates
from memdir.core.records import fields
from memdir.core.records.checking import demand, is_newer
from memdir.core.records.fields import Field, Record
from memdir.core.records.record import read_json
from memdir.core.records.repairing import repair
from memdir.core.records.slug import slug_for

_TRUE, _FALSE = ("true", "yes"), ("false", "no")
_OLD_STATUS = ("retired", "archived")  # once written as `status` on top


def import_record(data: bytes, path: str, now: float) -> tuple[Record, list[str]]:
    """A valid record from a file of any version, and what was done to it; else a refusal."""
    found = read_json(data, path)
    if is_newer(found):
        return demand(found, path=path), []
    done: list[str] = []
    _name(found, path, done)
    _status(found, done)
    type = str(found.get("category"))
    known = fields.CONTENT.get(type, ())
    content = found.get("content")
    if isinstance(content, dict):
        found["content"] = {key: value for key, value in content.items() if value is not None}
        for field in known:
            _convert(found["content"], field, done)
    found, repairs = repair(found, now, cap=False)
    _shelve(found, tuple(field.name for field in known), now, done)
    found, capped = repair(found, now)
    return demand(found, type, path), done + repairs + capped


def _name(found: Record, path: str, done: list[str]) -> None:
    """Type by folder, id by file, title by id: what an old file may leave to its place."""
    type = fields.type_named(found.get("category")) or fields.type_at(path)
    if type and found.get("category") != type:
        found["category"] = type
        done.append(f"category set: {type}")
    stem = path.replace("\\", "/").rpartition("/")[2].removesuffix(".json")
    if not isinstance(found.get("title"), str) or not found["title"].strip():
        found["title"] = stem.replace("-", " ").replace("_", " ").capitalize()
        done.append("title was missing: made from the file's name")
    given = found.get("id")
    id = slug_for(stem, type or "record")
    if given != id:
        found["id"] = id
        done.append(f"id set to the file's name: {id}")


def _status(found: Record, done: list[str]) -> None:
    if "record_status" not in found and found.get("status") in _OLD_STATUS:
        found["record_status"] = found.pop("status")
        done.append(f"status on top became record_status: {found['record_status']}")


def _convert(content: Record, field: Field, done: list[str]) -> None:
    """A text where a list belongs and the other way round; choices whatever their case."""
    if field.name not in content:
        return
    value = content[field.name]
    new = value
    if field.kind == fields.CHOICE and isinstance(value, str):
        plain = value.strip().lower().replace("-", "_").replace(" ", "_")
        new = plain if plain in field.choices else value
    elif field.kind == fields.FLAG and isinstance(value, str):
        word = value.strip().lower()
        new = True if word in _TRUE else False if word in _FALSE else value
    elif field.kind == fields.TEXT and _is_texts(value):
        new = "\n".join(value)
    elif field.kind == fields.TEXTS and isinstance(value, str):
        new = [value] if value.strip() else []
    elif field.kind == fields.ALTERNATIVES and isinstance(value, list):
        new = [_alternative(one) for one in value]
    if new != value or isinstance(new, bool) != isinstance(value, bool):
        content[field.name] = new
        done.append(f"content.{field.name}: brought into today's form")


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _alternative(one: object) -> object:
    if isinstance(one, str):
        return {"option": one, "rejected_reason": ""}
    if isinstance(one, dict) and set(one) == {"option"}:
        return one | {"rejected_reason": ""}
    return one


def _shelve(found: Record, known: tuple[str, ...], now: float, done: list[str]) -> None:
    """Keys that no field takes become an entry of the log each; its values may be anything."""
    content, changes = found.get("content"), found.get("changes")
    if not known or not isinstance(content, dict) or not isinstance(changes, list):
        return  # nothing can be valid here, and the check says what is wrong
    extra = {key: found.pop(key) for key in [key for key in found if key not in fields.KEYS]}
    found["content"] = {key: value for key, value in content.items() if key in known}
    extra |= {f"content.{key}": content[key] for key in content if key not in known}
    stamp = dates.iso_time(now)
    for key, value in extra.items():
        summary = f"Imported: {key[:200]} is no field of a {found['category']}"
        changes = [*changes, {"date": stamp, "summary": summary, "field": key, "old_value": value}]
        done.append(f"{key[:40]} moved into the log of changes")
    found["changes"] = changes
