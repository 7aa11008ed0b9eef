"""LangGraph: `graph.compile(store=MemdirStore(Memdir.open()))`. Every item is a memory.

A memory of a person stands in the namespace of its scope, such as `("project",)`, as
`{"text": …, "type": …, "description": …}`. Of an item of a program the text is the body, other
fields are JSON below it; `write_item` and `read_item` are twins.
"""

from __future__ import annotations

import asyncio
import json
import operator
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from memdir.errors import BadInput
from memdir.format.draft import SKIPPED, Draft, Revision, Wishes, content_hash
from memdir.format.names import slugify
from memdir.hot.memory import CREATED_KEYS, Memory, decode, read_header
from memdir.hot.safe import parse_time
from memdir.integrations.toolbox import ACTOR, needs
from memdir.library import Memdir
from memdir.store.accept import hide_unaccepted
from memdir.store.changes import edit_memory, retire_memories, save_memory

with needs("langgraph"):
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        Item,
        ListNamespacesOp,
        MatchCondition,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
    )

PLACE = "metadata.item"  # header key: namespace, key, and which field is the body
BODIES = ("text", "content")
SLUG = 40  # characters of a key in a file's name
REST = re.compile(r"(?:\A|.*\n\n)```json\n(.*)\n```\s*\Z", re.DOTALL)  # the last block
MAX_FOUND = 1_000  # of a search
COMPARE = {
    "$eq": operator.eq,
    "$ne": operator.ne,
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}


class MemdirStore(BaseStore):
    """A store of LangGraph on a `Memdir`: Markdown that a person can read, change and undo."""

    def __init__(self, memory: Memdir) -> None:
        self.memory = memory

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        return [self._do(op) for op in ops]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await asyncio.to_thread(self.batch, [*ops])

    def _do(self, op: Op) -> Result:
        if isinstance(op, PutOp):
            self._put(op.namespace, op.key, op.value)
            return None
        if isinstance(op, GetOp):
            found = self._find(op.namespace, op.key)
            return Item(**_facts(found)) if found else None
        if isinstance(op, SearchOp):
            return self._search(op)
        return self._namespaces(op)

    def _items(self) -> Iterator[KeyedItem]:
        for scope in self.memory.scopes():
            store = hide_unaccepted(self.memory.at(scope)).store
            for memory in store.scan().memories:
                yield read_item(scope, memory, decode(store.view(memory.path)))

    def _find(self, namespace: tuple[str, ...], key: str) -> KeyedItem | None:
        wanted = (namespace, key)
        return next((it for it in self._items() if (it.namespace, it.key) == wanted), None)

    def _put(self, namespace: tuple[str, ...], key: str, value: Mapping[str, Any] | None) -> None:
        found = self._find(namespace, key)
        app = self.memory.at(found.scope if found else "", f"{ACTOR}:langgraph")
        if value is None:
            if found:
                retire_memories(app, [found.path])
            return
        if found:
            done = edit_memory(app, found.path, change_item(found, {**value}), Wishes())
        else:  # a program chose the key: it is saved although a memory says nearly the same
            draft = write_item(namespace, key, {**value}, app.actor)
            done = save_memory(app, draft, Wishes(anyway=True))
        if done.change == SKIPPED and not done.hash:
            raise BadInput(f"{key!r} was not saved: {done.reason}", next="change the value")

    def _search(self, op: SearchOp) -> list[SearchItem]:
        hits = self.memory.search(op.query, limit=MAX_FOUND) if op.query else []
        scores = {(hit.scope, hit.path): hit.score for hit in hits}
        found = [
            (scores.get((it.scope, it.path)), it)
            for it in self._items()
            if it.namespace[: len(op.namespace_prefix)] == op.namespace_prefix
            and (not op.query or (it.scope, it.path) in scores)
            and all(_fits(it.value.get(key), want) for key, want in (op.filter or {}).items())
        ]
        found.sort(key=lambda pair: (-(pair[0] or 0), -pair[1].updated))
        chosen = found[op.offset : op.offset + op.limit]
        return [SearchItem(**_facts(it), score=score) for score, it in chosen]

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        every = {
            item.namespace[: op.max_depth]
            for item in self._items()
            if all(_matches(it, item.namespace) for it in op.match_conditions or ())
        }
        return sorted(every)[op.offset : op.offset + op.limit]


def _facts(item: KeyedItem) -> dict[str, Any]:
    times = (datetime.fromtimestamp(it, UTC) for it in (item.created, item.updated))
    facts = {"namespace": item.namespace, "key": item.key, "value": item.value}
    return facts | dict(zip(("created_at", "updated_at"), times, strict=True))


def _fits(value: Any, wanted: Any) -> bool:
    if not isinstance(wanted, dict) or not any(key.startswith("$") for key in wanted):
        return bool(value == wanted)
    if unknown := [key for key in wanted if key not in COMPARE]:
        raise BadInput(f"no filter {unknown[0]!r}", next=f"use one of {', '.join(COMPARE)}")
    return value is not None and all(COMPARE[key](value, it) for key, it in wanted.items())


def _matches(condition: MatchCondition, namespace: tuple[str, ...]) -> bool:
    path = tuple(condition.path)
    count = len(path)
    part = namespace[:count] if condition.match_type == "prefix" else namespace[-count:]
    fits = all(want in ("*", got) for want, got in zip(path, part, strict=False))
    return len(part) == count and fits


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
