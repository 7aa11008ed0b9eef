"""Keyed items of a program as memories: the text is the body, other fields are JSON below it.

`write_item` and `read_item` are twins. Where an item belongs stands in its header. A memory of a
person is an item too: in the namespace of its scope, with `text`, `type` and `description`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from memdir.errors import BadInput
from memdir.format.draft import Draft, Revision, content_hash
from memdir.format.names import slugify
from memdir.hot.memory import CREATED_KEYS, Memory, read_header
from memdir.hot.safe import parse_time

PLACE = "metadata.item"  # header key: namespace, key, and which field is the body
BODIES = ("text", "content")
SLUG = 40  # characters of a key in a file's name
REST = re.compile(r"(?:\A|.*\n\n)```json\n(.*)\n```\s*\Z", re.DOTALL)  # the last block


@dataclass(frozen=True)
class KeyedItem:
    namespace: tuple[str, ...]
    key: str
    value: dict[str, Any]
    created: float
    updated: float
    scope: str
    path: str
    foreign: bool  # no program wrote it, but a person or another agent


def write_item(namespace: tuple[str, ...], key: str, value: dict[str, Any], source: str) -> Draft:
    field = next((it for it in BODIES if _is_plain_text(value.get(it))), "")
    place = write_json({"namespace": namespace, "key": key, "body": field})
    name = f"{slugify(key)[:SLUG].strip('-_') or 'item'}-{_mark(namespace, key)}"
    return Draft(_write_body(value, field), name=name, source=source, extra=((PLACE, place),))


def change_item(item: KeyedItem, value: dict[str, Any]) -> Revision:
    """Of a memory that a person wrote, `type` and `description` are its header."""
    if not item.foreign:
        draft = write_item(item.namespace, item.key, value, "")
        return Revision(item.path, draft.extra, draft.body)
    header = {it: value[it] for it in ("type", "description") if value.get(it)}
    fields = tuple((it, str(text)) for it, text in header.items() if text != item.value[it])
    rest = {it: value[it] for it in value if it not in ("type", "description")}
    return Revision(item.path, fields, _write_body(rest, "text" if "text" in rest else ""))


def read_item(scope: str, memory: Memory, text: str) -> KeyedItem:
    namespace, key, field = (scope,), memory.path.removesuffix(".md"), "text"
    body, place = read_header(text).body.strip("\n"), memory.values.get(PLACE, "")
    value: dict[str, Any] = {"type": memory.type, "description": memory.description}
    foreign = not place
    try:
        kept = json.loads(place) if place else {}
        namespace, key, field = tuple(kept["namespace"]), kept["key"], kept["body"]
        value = {}
    except (ValueError, KeyError, TypeError):
        foreign = True
    rest = REST.search(body)
    try:
        more = json.loads(rest[1]) if rest else None
    except ValueError:
        more = None  # a person changed it: then it is text
    if rest and isinstance(more, dict):
        value, body = {**value, **more}, body[: rest.start(1) - len("```json\n")].rstrip("\n")
    value = {field: body, **value} if field else value
    created = parse_time(memory.get(CREATED_KEYS)) or memory.clock
    return KeyedItem(namespace, key, value, created, memory.clock, scope, memory.path, foreign)


def write_json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError) as error:
        message = f"a value cannot be written as JSON: {error}"
        raise BadInput(message, next="store text, numbers, lists and objects") from None


def _write_body(value: dict[str, Any], field: str) -> str:
    rest = {it: value[it] for it in value if it != field}
    apart = not field or value[field].endswith("```")  # or its end would be read as fields
    below = f"```json\n{write_json(rest)}\n```" if rest or apart else ""
    return "\n\n".join(filter(None, [value[field] if field else "", below]))


def _is_plain_text(text: object) -> bool:
    """What a body gives back as it was."""
    return isinstance(text, str) and text != "" and text == text.strip() and "\r" not in text


def _mark(namespace: tuple[str, ...], key: str) -> str:
    """Keeps the same key in two namespaces, and keys that look alike, apart."""
    return content_hash(write_json([*namespace, key]).encode("utf-8", "surrogatepass"))[:8]
