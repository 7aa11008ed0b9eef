"""A JSON file of a client: with what is wanted in it, and without.

It is read, changed and written anew in the indentation it has; the receipt keeps its bytes as
they were, and gives them back unless somebody else has changed the file since. What is not
strict JSON (comments, keys that stand twice) is left alone: a client may pass over such a
file as a whole.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from memdir.clients.receipt import (
    BOM,
    ClientFile,
    Edit,
    Receipt,
    UnsafeEdit,
    by_hand,
    encode,
    look,
)

Path = tuple[str | int, ...]
Ours = Callable[[Path, Any], bool]

INDENT = "  "  # where a file shows none
_INDENTED = re.compile(r"\n([ \t]{1,16})\S")


@dataclass(frozen=True)
class Merge:
    """What goes into a file, how we know it again, and where only one value can stand."""

    path: str
    wanted: Mapping[str, Any]
    ours: Ours
    single: tuple[str, str] = ("", "")  # an object and a key in it: another value there stays
    remarks: list[str] = field(default_factory=list)

    def edit(self, receipt: Receipt, remove: bool) -> Edit:
        """What is to be done; refused where that could damage the file."""
        file = look(self.path, receipt)
        folder, name = os.path.split(self.path)
        if file.target != os.path.join(os.path.realpath(folder), name):
            self.remarks.append(f"{self.path} is a link; {file.target} is the file that is written")
        try:
            clean = without(file, self.ours)
            wanted = {} if remove else self._missing(read_values(clean))
            return with_values(file, clean, wanted, lambda values: sorted(_walk(values, self.ours)))
        except UnsafeEdit as error:
            lines = json.dumps(self.wanted, indent=2, ensure_ascii=False)
            take_out = "take out by hand what names memdir" if remove else ""
            raise by_hand(self.path, error, lines, take_out) from None

    def _missing(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """What is wanted, without what somebody else has put in its place."""
        top, key = self.single
        there = values.get(top)
        if not top or not isinstance(there, dict) or key not in there:
            return self.wanted
        self.remarks.append(f"{self.path} has another {top}.{key}; that one stays")
        rest = {name: value for name, value in self.wanted[top].items() if name != key}
        return {name: value for name, value in {**self.wanted, top: rest}.items() if value != {}}


def without(file: ClientFile, ours: Ours) -> str:
    """The text without us: its bytes of before, or where somebody changed it, what is left."""
    text, entry = file.text, file.entry
    if entry and entry.insertions:  # of memdir 0.1.0
        before = file.cut()
        if before is not None and _is_free(before, ours):
            return before
    elif entry and entry.is_known(file.old):
        return (entry.before or b"").decode()
    values = read_values(text)
    left = _take_out(values, (), ours)
    return text if left == values else write_values(left, text)


def with_values(
    file: ClientFile,
    clean: str,
    wanted: Mapping[str, Any],
    seen: Callable[[dict[str, Any]], object],
) -> Edit:
    """The file with what is wanted; unchanged where `seen` finds the same in it already."""
    values = read_values(clean)
    edit = file.without(clean, is_empty=not values)
    if not wanted:
        return edit
    values = _join(values, wanted)
    if file.old is not None and seen(read_values(file.text)) == seen(values):
        return replace(edit, new=file.old)  # whatever it looks like by now
    return replace(edit, new=encode(write_values(values, clean)), added=json.dumps(wanted))


def read_values(text: str) -> dict[str, Any]:
    """What strict JSON makes of it; empty for an empty text."""
    body = text.removeprefix(BOM)
    if not body.strip(" \t\r\n"):
        return {}
    try:
        values = json.loads(
            body, object_pairs_hook=_unique, parse_float=_finite, parse_constant=_finite
        )
    except json.JSONDecodeError as error:
        problem = f"it is not JSON: {error.msg} (line {error.lineno}, column {error.colno})"
        raise UnsafeEdit(problem) from None
    except UnsafeEdit:
        raise
    except (RecursionError, ValueError):
        raise UnsafeEdit("it is nested too deeply, or has a number that is too long") from None
    if not isinstance(values, dict):
        raise UnsafeEdit("it holds no JSON object")
    return values


def write_values(values: dict[str, Any], like: str) -> str:
    """The values in the layout of a text: byte order mark, indentation, line ends, last line."""
    body = like.removeprefix(BOM)
    bare = body.strip(" \t\r\n")
    indented = _INDENTED.search(bare)
    one_line = "\n" not in bare and bool(bare.strip("{} \t"))
    compact = (",", ":") if one_line and '":' in bare and '": ' not in bare else None
    indent = None if one_line else indented[1] if indented else INDENT
    try:
        text = json.dumps(values, indent=indent, separators=compact, ensure_ascii=False)
    except RecursionError:
        raise UnsafeEdit("it is nested too deeply") from None
    if "\r\n" in body:
        text = text.replace("\n", "\r\n")
    end = body[len(body.rstrip(" \t\r\n")) :] if bare else "\n"
    return like[: len(like) - len(body)] + text + end


def _join(old: Any, new: Any, path: str = "") -> Any:
    """Objects are joined, lists get longer, nothing is replaced."""
    if isinstance(old, dict) and isinstance(new, Mapping):
        prefix = f"{path}." if path else ""
        joined = {key: _join(old[key], new[key], prefix + key) for key in new if key in old}
        return {**old, **new, **joined}
    if isinstance(old, list) and isinstance(new, list):
        return [*old, *new]
    if old != new:
        raise UnsafeEdit(f"{path} holds something else there: {json.dumps(old)[:80]}")
    return old


def _pairs(value: Any) -> Any:
    return value.items() if isinstance(value, dict) else enumerate(value)


def _take_out(value: Any, path: Path, ours: Ours) -> Any:
    """The value without what is ours, nor what that leaves empty."""
    if not isinstance(value, (dict, list)):
        return value
    left = []
    for key, item in _pairs(value):
        if not ours((*path, key), item):
            rest = _take_out(item, (*path, key), ours)
            if rest or rest == item:
                left.append((key, rest))
    return dict(left) if isinstance(value, dict) else [item for _, item in left]


def _walk(value: Any, ours: Ours, path: Path = ()) -> Iterator[str]:
    """What of ours stands in it, wherever in its list."""
    for key, item in _pairs(value):
        here = (*path, key)
        if ours(here, item):
            yield json.dumps([[part for part in here if isinstance(part, str)], item])
        elif isinstance(item, (dict, list)):
            yield from _walk(item, ours, here)


def _is_free(text: str, ours: Ours) -> bool:
    """True where it can be read, and nothing of ours is in it."""
    try:
        return not any(_walk(read_values(text), ours))
    except UnsafeEdit:
        return False


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in pairs:
        if key in values:
            raise UnsafeEdit(f"{key!r} stands twice in one object; only one of them counts")
        values[key] = value
    return values


def _finite(word: str) -> float:
    """A number that can be written again."""
    if not math.isfinite(float(word)):
        raise UnsafeEdit(f"it is not JSON: {word} is no number")
    return float(word)
