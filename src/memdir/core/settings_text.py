"""Careful edits of somebody's JSON text: what is added is inserted, all else keeps its bytes.

An edit is a list of insertions; cutting them out again gives the text as it was, byte for byte.
Nothing is edited that strict JSON does not allow: a client may pass over such a file as a whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from memdir.core.settings_tree import Node, UnsafeEdit, read_tree

__all__ = ["Insertion", "UnsafeEdit", "add", "cut", "join", "read_values", "take_out", "written"]

BOM = "\ufeff"
UNIT = "  "  # of indentation, where the text shows none
_LINE_START = re.compile(r"\n([ \t]{1,16})\S")


@dataclass(frozen=True)
class Insertion:
    """A text that stands where it did not stand before; `at` counts in the new text."""

    at: int
    text: str


def read_values(text: str) -> dict[str, Any]:
    """What strict JSON makes of it, numbers as they are written; empty for an empty text."""
    body = text.removeprefix(BOM)
    if not body.strip(" \t\r\n"):
        return {}
    try:
        values = json.loads(
            body, object_pairs_hook=_once, parse_int=str, parse_float=str, parse_constant=_no_number
        )
    except json.JSONDecodeError as error:
        problem = f"it is not JSON: {error.msg} (line {error.lineno}, column {error.colno})"
        raise UnsafeEdit(problem, error.lineno) from None
    except RecursionError:
        raise UnsafeEdit("it is nested too deeply") from None
    if not isinstance(values, dict):
        raise UnsafeEdit("it holds no JSON object")
    return values


def add(text: str, wanted: Mapping[str, Any]) -> tuple[str, list[Insertion]]:
    """The text with these values in it: objects are joined, lists get longer, nothing is replaced.

    Refuses where another value stands in the way.
    """
    expected = join(read_values(text), wanted)
    if not text.removeprefix(BOM).strip(" \t\r\n"):
        whole = json.dumps(wanted, indent=UNIT, ensure_ascii=False) + "\n"
        return text + whole, [Insertion(len(text), whole)]
    style = _Style(text)
    parts: list[tuple[int, str]] = []
    _join_object(read_tree(text), wanted, style, parts)
    made, insertions = _insert(text, parts)
    if read_values(made) != expected or cut(made, insertions) != text:
        raise UnsafeEdit("it is written in a way that cannot be edited safely")
    return made, insertions


def cut(text: str, insertions: list[Insertion]) -> str | None:
    """The text without them; None where one of them does not stand there, or stands there twice."""
    for one in sorted(insertions, key=lambda one: one.at, reverse=True):
        at = one.at
        if text[at : at + len(one.text)] != one.text:
            at = text.find(one.text)
            if at < 0 or text.find(one.text, at + 1) >= 0:
                return None
        text = text[:at] + text[at + len(one.text) :]
    return text


def take_out(text: str, unwanted: Callable[[tuple[str | int, ...], Any], bool]) -> str:
    """The text without the values that `unwanted(path, value)` names, nor what they leave empty.

    For a text whose insertions are no longer known: somebody has written it anew.
    """
    values = read_values(text)
    if not values:
        return text
    spans: list[tuple[int, int]] = []
    left = _thin(read_tree(text), values, (), unwanted, spans)
    for start, end in reversed(spans):
        text = text[:start] + text[end:]
    if read_values(text) != left:
        raise UnsafeEdit("it is written in a way that cannot be edited safely")
    return text


def join(old: Any, new: Any, path: str = "") -> Any:
    """Both values in one; refuses where they differ and cannot be joined."""
    if isinstance(old, dict) and isinstance(new, Mapping):
        below = f"{path}." if path else ""
        joined = {key: join(old[key], new[key], below + key) for key in new if key in old}
        return {**old, **{key: joined.get(key, written(new[key])) for key in new}}
    if isinstance(old, list) and isinstance(new, list):
        return [*old, *(written(one) for one in new)]
    if old != written(new):
        raise UnsafeEdit(f"{path} holds something else there: {json.dumps(old)[:80]}")
    return old


def written(value: Any) -> Any:
    """A value as `read_values` gives it: numbers as text."""
    return json.loads(json.dumps(value), parse_int=str, parse_float=str)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [key for key, _ in pairs]
        twice = next(key for key in names if names.count(key) > 1)
        raise UnsafeEdit(f"{twice!r} stands twice in one object; only one of them counts")
    return found


def _no_number(word: str) -> None:
    raise UnsafeEdit(f"it is not JSON: {word} is no number")


class _Style:
    """How the text is laid out, so that what comes in looks like what is there."""

    def __init__(self, text: str) -> None:
        self.text = text
        # A file on one line stays on it; a mere {} may grow.
        self.one_line = "\n" not in text.strip() and bool(read_tree(text).items)
        self.newline = "\r\n" if "\r\n" in text else "\n"
        indented = _LINE_START.search(text)
        self.unit = indented[1] if indented else UNIT

    def lines(self, added: list[tuple[str, Any]], lead: str) -> list[str]:
        """Each member or item behind its lead: a blank, or a new line and its indentation."""
        if lead == " ":
            return [f" {key}{json.dumps(value, ensure_ascii=False)}" for key, value in added]
        whole = [key + json.dumps(v, indent=self.unit, ensure_ascii=False) for key, v in added]
        return [lead + lead.join(one.split("\n")) for one in whole]


def _join_object(
    node: Node, wanted: Mapping[str, Any], style: _Style, parts: list[tuple[int, str]]
) -> None:
    members = dict(zip(node.keys, node.items, strict=True))
    missing = []
    for key, value in wanted.items():
        child = members.get(key)
        if child is None:
            missing.append((json.dumps(key, ensure_ascii=False) + ": ", value))
        elif isinstance(value, Mapping):
            _join_object(child, value, style, parts)
        elif isinstance(value, list):
            _append(child, [("", one) for one in value], style, parts)
    _append(node, missing, style, parts)


def _append(
    node: Node, added: list[tuple[str, Any]], style: _Style, parts: list[tuple[int, str]]
) -> None:
    """Plan members (with their keys) or items for the end of an object or list."""
    if not added:
        return
    text = style.text
    if node.items:
        base = _indent(text, node.item_starts[-1])
        lead = " " if base is None else style.newline + base
        parts.append((node.item_ends[-1], "".join(f",{one}" for one in style.lines(added, lead))))
        return
    if style.one_line:
        parts.append((node.start + 1, ",".join(style.lines(added, " ")).lstrip(" ")))
        return
    line = text[text.rfind("\n", 0, node.start) + 1 : node.start].removeprefix(BOM)
    outer = line[: len(line) - len(line.lstrip(" \t"))]
    closed_below = "\n" in text[node.start : node.end]
    made = ",".join(style.lines(added, style.newline + outer + style.unit))
    parts.append((node.start + 1, made if closed_below else made + style.newline + outer))


def _indent(text: str, at: int) -> str | None:
    """The blanks before an item that starts a line; None where others stand before it."""
    head = text[text.rfind("\n", 0, at) + 1 : at]
    return None if head.strip(" \t,") else head[: len(head) - len(head.lstrip(" \t"))]


def _insert(text: str, parts: list[tuple[int, str]]) -> tuple[str, list[Insertion]]:
    made, last, shift = [], 0, 0
    insertions = []
    for at, part in sorted(parts, key=lambda one: one[0]):
        made += [text[last:at], part]
        insertions.append(Insertion(at + shift, part))
        last, shift = at, shift + len(part)
    return "".join([*made, text[last:]]), insertions


def _thin(
    node: Node,
    values: Any,
    path: tuple[str | int, ...],
    unwanted: Callable[[tuple[str | int, ...], Any], bool],
    spans: list[tuple[int, int]],
) -> Any:
    """What is left of a value; the text to cut, in order and without overlap, goes to `spans`."""
    if not isinstance(values, (dict, list)):
        return values
    pairs = list(values.items()) if isinstance(values, dict) else list(enumerate(values))
    gone, kept, inside = [], [], []
    for place, (key, value) in enumerate(pairs):
        here: list[tuple[int, int]] = []
        if unwanted((*path, key), value):
            gone.append(place)
            continue
        left = _thin(node.items[place], value, (*path, key), unwanted, here)
        if here and not left:
            gone.append(place)  # nothing else was in it
        else:
            kept.append((key, left))
            inside.append((place, here))
    cuts = _cuts(node, gone)
    spans += sorted([*cuts, *(span for _, some in inside for span in some)])
    return dict(kept) if isinstance(values, dict) else [value for _, value in kept]


def _cuts(node: Node, gone: list[int]) -> list[tuple[int, int]]:
    """The text of these items, each with the comma that goes with it."""
    if not gone:
        return []
    if len(gone) == len(node.items):
        return [(node.start + 1, node.end - 1)]
    first = next(place for place in range(len(node.items)) if place not in gone)
    # Up to the first that stays, an item takes the comma after it along; then the one before.
    cuts = [(node.item_starts[0], node.item_starts[first])] if first else []
    cuts += [(node.item_ends[place - 1], node.item_ends[place]) for place in gone if place > first]
    return cuts
