"""Where each value of a JSON text stands. The text has been read before: it is strict JSON."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

_SPACE = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_PLAIN = re.compile(r"[-+.0-9A-Za-z]+")  # a number, true, false or null
OPENING, CLOSING = "{[", "}]"
DEEPEST = 100  # values inside each other; no settings are nested deeper


class UnsafeEdit(ValueError):
    """Why a text is left alone, and on which line."""

    def __init__(self, problem: str, line: int = 0) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line = line


@dataclass(frozen=True)
class Node:
    """One value; of an object or list also what is in it. An item's start includes its key."""

    start: int
    end: int
    keys: tuple[str, ...] = ()
    items: tuple[Node, ...] = ()
    item_starts: tuple[int, ...] = ()

    @property
    def item_ends(self) -> list[int]:
        """Behind each item, before its comma."""
        return [item.end for item in self.items]


def read_tree(text: str) -> Node:
    """The outermost value; a byte order mark before it is passed over."""
    return _value(text, _skip(text, 1 if text[:1] == "\ufeff" else 0), 0)


def _value(text: str, at: int, depth: int) -> Node:
    if text[at] in OPENING:
        if depth > DEEPEST:
            raise UnsafeEdit("it is nested too deeply")
        return _container(text, at, depth)
    found = (_STRING if text[at] == '"' else _PLAIN).match(text, at)
    return Node(at, found.end() if found else at)


def _container(text: str, start: int, depth: int) -> Node:
    keys, items, starts = [], [], []
    at = _skip(text, start + 1)
    while text[at] not in CLOSING:
        starts.append(at)
        if text[start] == "{":
            key = _value(text, at, depth)
            keys.append(json.loads(text[at : key.end]))
            at = _skip(text, _skip(text, key.end) + 1)  # behind the colon
        items.append(_value(text, at, depth + 1))
        at = _skip(text, items[-1].end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return Node(start, at + 1, tuple(keys), tuple(items), tuple(starts))


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at
