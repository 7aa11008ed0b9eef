"""The part of JSON Schema that we ask models for, and whether an answer fits it."""

from __future__ import annotations

from collections.abc import Mapping

KINDS: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
CHECKED = {"type", "enum", "properties", "required", "additionalProperties", "items"}
# Told to the model, held by the one who asks: models exceed them, and what to cut only he knows.
TOLD = {"title", "description", "minItems", "maxItems", "minLength", "maxLength"}
SHOWN_CHARACTERS = 40


def misfits(data: object, schema: Mapping[str, object], where: str = "the answer") -> list[str]:
    """What is wrong with the data, each with its place; nothing when it fits."""
    if unknown := sorted(schema.keys() - CHECKED - TOLD):
        raise ValueError(f"nothing checks {', '.join(unknown)} in a schema")
    kinds = schema.get("type", [*KINDS])
    names = kinds if isinstance(kinds, list) else [kinds]
    if not any(_is(data, str(name)) for name in names):
        return [f"{where} is no {' or '.join(map(str, names))}"]
    choices = schema.get("enum")
    if isinstance(choices, list) and data not in choices:
        return [f"{where} is none of {', '.join(map(str, choices))}"]
    if isinstance(data, dict):
        return _object_misfits(data, schema, where)
    items = schema.get("items")
    if isinstance(data, list) and isinstance(items, Mapping):
        return [
            line for at, one in enumerate(data) for line in misfits(one, items, f"{where}[{at}]")
        ]
    return []


def _is(data: object, kind: str) -> bool:
    if isinstance(data, bool):
        return kind == "boolean"
    return isinstance(data, KINDS[kind])


def _object_misfits(data: dict[str, object], schema: Mapping[str, object], where: str) -> list[str]:
    known, needed = schema.get("properties", {}), schema.get("required", [])
    assert isinstance(known, Mapping) and isinstance(needed, list)
    found = [f"{where} has no {name}" for name in needed if name not in data]
    for name, value in data.items():
        if name in known:
            found += misfits(value, known[name], f"{where}.{name}")
        elif schema.get("additionalProperties") is False:
            found.append(f"{where} has {name[:SHOWN_CHARACTERS]!r}, which nobody asked for")
    return found
