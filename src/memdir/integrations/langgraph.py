"""LangGraph: `graph.compile(store=MemdirStore(Memdir.open()))`. Every item is a memory.

A memory of a person stands in the namespace of its scope, such as `("project",)`, as
`{"text": …, "type": …, "description": …}`.
"""

from __future__ import annotations

import asyncio
import operator
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from memdir.errors import BadInput
from memdir.format.draft import SKIPPED, Wishes
from memdir.hot.memory import decode
from memdir.integrations.item import KeyedItem, change_item, read_item, write_item
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
