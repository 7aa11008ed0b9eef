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
from dataclasses import dataclass, field
from typing import Any

from memdir.clients.receipt import (
    BOM,
    ByHand,
    Edit,
    Placed,
    Receipt,
    UnsafeEdit,
    cut,
    read_file,
    target_of,
)

Path = tuple[str | int, ...]
Ours = Callable[[Path, Any], bool]

INDENT = "  "  # where a file shows none
TAKE_OUT = "take out by hand what names memdir"
MEND = "mend the file and run the command again, or add these lines by hand"
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
        target = target_of(self.path)
        placed = Placed(self.path, target, read_file(target), receipt.kept(self.path))
        folder, name = os.path.split(self.path)
        if target != os.path.join(os.path.realpath(folder), name):
            self.remarks.append(f"{self.path} is a link; {target} is the file that is written")
        try:
            clean = without(placed, self.ours)
            wanted = {} if remove else self._missing(read_values(clean))
            return with_values(placed, clean, wanted, lambda found: sorted(_walk(found, self.ours)))
        except UnsafeEdit as error:
            lines = "" if remove else json.dumps(self.wanted, indent=2, ensure_ascii=False)
            message = f"{self.path} is left as it is: {error.problem}"
            next = TAKE_OUT if remove else MEND
            raise ByHand(message, path=self.path, next=next, lines=lines) from None

    def _missing(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """What is wanted, without what somebody else has put in its place."""
        top, key = self.single
        there = values.get(top)
        if not top or not isinstance(there, dict) or key not in there:
            return self.wanted
        self.remarks.append(f"{self.path} has another {top}.{key}; that one stays")
        rest = {name: one for name, one in self.wanted[top].items() if name != key}
        return {name: one for name, one in {**self.wanted, top: rest}.items() if one != {}}


def without(placed: Placed, ours: Ours) -> str:
    """The text without us: its bytes of before, or where somebody changed it, what is left."""
    text, kept = placed.text, placed.kept
    if kept and kept.insertions:  # of memdir 0.1.0
        before = cut(text, list(kept.insertions))
        if before is not None and _is_free(before, ours):
            return before
    elif kept and kept.is_known(placed.old):
        return (kept.before or b"").decode()
    values = read_values(text)
    left = _take_out(values, (), ours)
    return text if left == values else write_values(left, text)


def with_values(
    placed: Placed,
    clean: str,
    wanted: Mapping[str, Any],
    seen: Callable[[dict[str, Any]], object],
) -> Edit:
    """The file with what is wanted; unchanged where `seen` finds the same in it already."""
    values = read_values(clean)
    created = bool(placed.kept and placed.kept.created)
    before = None if placed.old is None or (created and not values) else placed.encode(clean)
    if not wanted:
        return placed.edit(before, clean=before)
    values = _join(values, wanted)
    if placed.old is not None and seen(read_values(placed.text)) == seen(values):
        return placed.edit(placed.old, clean=before)  # whatever it looks like by now
    made = placed.encode(write_values(values, clean))
    return placed.edit(made, clean=before, added=json.dumps(wanted))


def read_values(text: str) -> dict[str, Any]:
    """What strict JSON makes of it; empty for an empty text."""
    body = text.removeprefix(BOM)
    if not body.strip(" \t\r\n"):
        return {}
    try:
        values = json.loads(
            body, object_pairs_hook=_once, parse_float=_number, parse_constant=_number
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
    found = _INDENTED.search(bare)
    one_line = "\n" not in bare and bool(bare.strip("{} \t"))
    compact = (",", ":") if one_line and '":' in bare and '": ' not in bare else None
    indent = None if one_line else found[1] if found else INDENT
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
        below = f"{path}." if path else ""
        joined = {key: _join(old[key], new[key], below + key) for key in new if key in old}
        return {**old, **{key: joined.get(key, new[key]) for key in new}}
    if isinstance(old, list) and isinstance(new, list):
        return [*old, *new]
    if old != new:
        raise UnsafeEdit(f"{path} holds something else there: {json.dumps(old)[:80]}")
    return old


def _take_out(value: Any, path: Path, ours: Ours) -> Any:
    """The value without what is ours, nor what that leaves empty."""
    if not isinstance(value, (dict, list)):
        return value
    pairs: Any = value.items() if isinstance(value, dict) else enumerate(value)
    left = []
    for key, one in pairs:
        if ours((*path, key), one):
            continue
        rest = _take_out(one, (*path, key), ours)
        if rest or rest == one:
            left.append((key, rest))
    return dict(left) if isinstance(value, dict) else [one for _, one in left]


def _walk(value: Any, ours: Ours, path: Path = ()) -> Iterator[str]:
    """What of ours stands in it, wherever in its list."""
    pairs: Any = value.items() if isinstance(value, dict) else enumerate(value)
    for key, one in pairs:
        here = (*path, key)
        if ours(here, one):
            yield json.dumps([[part for part in here if isinstance(part, str)], one])
        elif isinstance(one, (dict, list)):
            yield from _walk(one, ours, here)


def _is_free(text: str, ours: Ours) -> bool:
    """True where it can be read, and nothing of ours is in it."""
    try:
        return not any(_walk(read_values(text), ours))
    except UnsafeEdit:
        return False


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [key for key, _ in pairs]
        twice = next(key for key in names if names.count(key) > 1)
        raise UnsafeEdit(f"{twice!r} stands twice in one object; only one of them counts")
    return found


def _number(word: str) -> float:
    """A number that can be written again."""
    if not math.isfinite(float(word)):
        raise UnsafeEdit(f"it is not JSON: {word} is no number")
    return float(word)
