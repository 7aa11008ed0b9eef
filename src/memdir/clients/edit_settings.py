"""Adds our entries to a client's JSON, TOML or Markdown settings, and removes them.

A file keeps its layout. One that cannot be parsed with certainty (JSON with comments or duplicate
keys) is left alone.
"""

from __future__ import annotations

import json
import math
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from memdir.clients.receipt import Edit, Receipt, UnsafeEdit, by_hand, encode, look_at

Path = tuple[str | int, ...]
Ours = Callable[[Path, Any], bool]

NAME = "memdir"
HOOKS, SERVER = "memdir/hot/", "memdir.mcp"
# Marks of our own hooks and server; the second of each is from version 0.1.0.
OUR_HOOKS = (HOOKS, "memdir/surfaces/hooks/")
OUR_SERVERS = (SERVER, "memdir.surfaces.mcp")
BEGIN, END = "<!-- memdir: begin -->", "<!-- memdir: end -->"
TABLE_NOTE = "# memdir put this table here"
BOM = "\ufeff"
INDENT = "  "  # if a JSON file shows none
_INDENTED = re.compile(r"\n([ \t]{1,16})\S")
_TABLE = re.compile(r"[ \t]{0,20}\[")


def is_server(value: object) -> bool:
    if not isinstance(value, Mapping):
        return False
    command = str([value.get("command"), value.get("args")])
    return any(name in command for name in OUR_SERVERS)


def runs_us(value: object) -> bool:
    command = str(value.get("command")) if isinstance(value, Mapping) else ""
    return any(folder in command for folder in OUR_HOOKS)


def is_our_hook(path: Path, value: Any) -> bool:
    """True for our hook at `hooks.EVENT.0.hooks.0`, and for a group with nothing else."""
    if path[:1] != ("hooks",):
        return False
    inner = value.get("hooks") if len(path) == 3 and isinstance(value, Mapping) else None
    whole = isinstance(inner, list) and bool(inner) and all(map(runs_us, inner))
    return whole or (len(path) == 5 and runs_us(value))


def ours_at(top: str) -> Ours:
    return lambda path, value: is_server(value) if path == (top, NAME) else is_our_hook(path, value)


@dataclass(frozen=True)
class Merge:
    path: str
    wanted: Mapping[str, Any]
    ours: Ours
    single: tuple[str, str] = ("", "")  # object and key; a different value there is kept
    remarks: list[str] = field(default_factory=list)

    def edit(self, receipt: Receipt, remove: bool) -> Edit:
        """Adds or removes our values; refuses if that could damage the file."""
        file = look_at(self.path, receipt)
        folder, name = os.path.split(self.path)
        if file.target != os.path.join(os.path.realpath(folder), name):
            self.remarks.append(f"{self.path} is a link; {file.target} is the file that is written")
        with self._left_alone(remove):
            clean = file.without_ours(self._take_out)
            values = read_values(clean)
            edit = file.removal(clean, is_empty=not values)
            wanted = {} if remove else self._missing(values)
            if not wanted:
                return edit
            values = _join(values, wanted)
            if file.old is not None and _unordered(read_values(file.text)) == _unordered(values):
                return replace(edit, new=file.old)  # same values in any layout
            new = encode(write_values(values, clean))
            return replace(edit, new=new, added=json.dumps(wanted))

    def read_theirs(self, receipt: Receipt, remove: bool) -> dict[str, Any]:
        with self._left_alone(remove):
            return read_values(look_at(self.path, receipt).without_ours(self._take_out))

    @contextmanager
    def _left_alone(self, remove: bool) -> Iterator[None]:
        try:
            yield
        except UnsafeEdit as error:
            lines = json.dumps(self.wanted, indent=2, ensure_ascii=False)
            take_out = "take out by hand what names memdir" if remove else ""
            raise by_hand(self.path, error, lines, take_out) from None

    def _take_out(self, text: str) -> str:
        values = read_values(text)
        left = _without(values, (), self.ours)
        return text if left == values else write_values(left, text)

    def _missing(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """Wanted values, except those whose place holds another value."""
        top, key = self.single
        there = values.get(top)
        if not top or not isinstance(there, dict) or key not in there:
            return self.wanted
        self.remarks.append(f"{self.path} has another {top}.{key}; that one stays")
        rest = {name: value for name, value in self.wanted[top].items() if name != key}
        return {name: value for name, value in {**self.wanted, top: rest}.items() if value != {}}


def read_values(text: str) -> dict[str, Any]:
    """Parses strict JSON; an empty text gives an empty object."""
    body = text.removeprefix(BOM)
    if not body.strip(" \t\r\n"):
        return {}

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        values = dict(pairs)
        if len(values) < len(pairs):
            raise UnsafeEdit("a key stands twice in one object; only one of them counts")
        return values

    def finite(word: str) -> float:
        if not math.isfinite(float(word)):
            raise UnsafeEdit(f"it is not JSON: {word} is no number")
        return float(word)

    try:
        values = json.loads(
            body, object_pairs_hook=unique, parse_float=finite, parse_constant=finite
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
    """Keeps the layout of a text: byte order mark, indentation, line ends, last line."""
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
    """Joins objects and extends lists; replaces nothing."""
    if isinstance(old, dict) and isinstance(new, Mapping):
        prefix = f"{path}." if path else ""
        joined = {key: _join(old[key], new[key], prefix + key) for key in new if key in old}
        return {**old, **new, **joined}
    if isinstance(old, list) and isinstance(new, list):
        return [*old, *new]
    if old != new:
        raise UnsafeEdit(f"{path} holds something else there: {json.dumps(old)[:80]}")
    return old


def _without(value: Any, path: Path, ours: Ours) -> Any:
    """Removes our values, and the containers that this leaves empty."""
    if not isinstance(value, (dict, list)):
        return value
    left = []
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        if not ours((*path, key), item):
            rest = _without(item, (*path, key), ours)
            if rest or rest == item:
                left.append((key, rest))
    return dict(left) if isinstance(value, dict) else [item for _, item in left]


def _unordered(value: Any) -> Any:
    """Sorts all lists, because somebody may have moved our items."""
    if isinstance(value, dict):
        return {key: _unordered(item) for key, item in value.items()}
    if isinstance(value, list):
        return sorted(json.dumps(_unordered(item), sort_keys=True) for item in value)
    return value


# In Markdown and TOML our text is at the end, separated by an empty line.


def _append(edit: Edit, clean: str, text: str) -> Edit:
    newline = "\r\n" if "\r\n" in clean else "\n"
    gap = "" if not clean else newline if clean.endswith("\n") else newline * 2
    return replace(edit, new=encode(clean + gap + text.replace("\n", newline)))


def marked_edit(path: str, receipt: Receipt, remove: bool, words: str) -> Edit:
    file, block = look_at(path, receipt), f"{BEGIN}\n{words}{END}\n"
    try:
        clean = file.without_ours(_without_marked)
        edit = file.removal(clean, is_empty=not clean.strip())
        if remove:
            return edit
        if block in file.text.replace("\r\n", "\n"):
            return replace(edit, new=file.old)  # wherever it was moved
        return _append(edit, clean, block)
    except UnsafeEdit as error:
        take_out = "take out by hand what stands between the marks of memdir" if remove else ""
        raise by_hand(path, error, block.rstrip("\n"), take_out) from None


def _without_marked(text: str) -> str:
    start, end = text.find(BEGIN), text.find(END)
    if start < 0 and end < 0:
        return text
    if text.count(BEGIN) != 1 or text.count(END) != 1 or end < start:
        raise UnsafeEdit("the marks of memdir in it do not belong together")
    head, after = text[:start], text[end + len(END) :]
    after = after[2:] if after.startswith("\r\n") else after.removeprefix("\n")
    if not after and head.endswith(("\n\n", "\r\n\r\n")):
        head = head[: -2 if head.endswith("\r\n") else -1]  # the empty line above ours
    return head + after


def table_edit(
    path: str,
    receipt: Receipt,
    remove: bool,
    table: tuple[str, str, dict[str, object]],
    remarks: list[str],
) -> Edit:
    top, name, values = table
    rows = [f"{key} = {json.dumps(value)}" for key, value in values.items()]  # valid TOML, too
    text = "\n".join([f"{TABLE_NOTE}: {top}.{name}", f"[{top}.{name}]", *rows, ""])
    file = look_at(path, receipt)
    try:
        clean = file.without_ours(lambda text: _without_table(text, top, name))
        edit = file.removal(clean, is_empty=not clean.strip())
        if remove:
            return edit
        before, now = _read_toml(clean), _tables(_read_toml(file.text), top).get(name)
        if name in _tables(before, top):
            remarks.append(f"{path} has another {name}; that one stays")
            return edit
        if isinstance(now, dict) and {**now, **values} == now:  # the user may have added keys
            return replace(edit, new=file.old)
        edit = _append(edit, clean, text)
        wanted = {**before, top: {**_tables(before, top), name: values}}
        if repr(_read_toml((edit.new or b"").decode())) != repr(wanted):
            raise UnsafeEdit(f"no table [{top}.{name}] can be added to it")
        return edit
    except UnsafeEdit as error:
        take_out = f"take out [{top}.{name}] by hand" if remove else ""
        raise by_hand(path, error, text, take_out) from None


def _read_toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix(BOM).replace("\r\n", "\n"))
    except (tomllib.TOMLDecodeError, ValueError, RecursionError) as error:
        raise UnsafeEdit(f"it is not TOML: {str(error)[:200]}") from None


def _tables(values: dict[str, Any], top: str) -> dict[str, Any]:
    tables = values.get(top, {})
    if not isinstance(tables, dict):
        raise UnsafeEdit(f"{top} holds something else there")
    return tables


def _without_table(text: str, top: str, name: str) -> str:
    """Removes our table and those below it; comments behind it may belong to the next table."""
    values = _read_toml(text)
    if not is_server(_tables(values, top).get(name)):
        return text
    gap = "[ \\t]{0,20}"
    header = re.compile(rf'{gap}\[{gap}{top}{gap}\.{gap}"?{name}"?{gap}[\].]')
    kept: list[str] = []
    remarks: list[str] = []
    inside = False
    for line in text.splitlines(keepends=True):
        if _TABLE.match(line):
            kept, remarks = kept + remarks, []
            inside = bool(header.match(line))
            if inside and kept and kept[-1].startswith(TABLE_NOTE):
                kept.pop()
        if not inside:
            kept.append(line)
        elif line.strip() and not line.lstrip(" \t").startswith("#"):
            remarks = []
        elif remarks or line.strip():
            remarks.append(line)
    left = "".join(kept + remarks)
    del values[top][name]
    rest = [{key: value for key, value in some.items() if value != {} or key != top}
            for some in (values, _read_toml(left))]  # fmt: skip
    if repr(rest[0]) != repr(rest[1]):
        raise UnsafeEdit(f"[{top}.{name}] is written in a way that cannot be cut out")
    return left
