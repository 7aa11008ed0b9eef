"""Edits a client's settings files, and takes our entries out again.

The receipt keeps the original bytes for `--remove`. A file that cannot be parsed with certainty
(JSON with comments or duplicate keys) is left alone.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

from memdir.errors import BadInput
from memdir.hot.disk import disk_failure, read_start

Path = tuple[str | int, ...]
Ours = Callable[[Path, Any], bool]
Table = tuple[str, str, dict[str, object]]  # name of the outer table, own name, values

MAX_FILE_BYTES = 1024 * 1024  # clients write less
NAME = "memdir"
HOOKS, SERVER = "memdir/hot/", "memdir.mcp"
# Marks of our own hooks and server; the second of each is from version 0.1.0.
OUR_HOOKS = (HOOKS, "memdir/surfaces/hooks/")
OUR_SERVERS = (SERVER, "memdir.surfaces.mcp")
BEGIN, END = "<!-- memdir: begin -->", "<!-- memdir: end -->"
TABLE_NOTE = "# memdir put this table here"
BOM = "\ufeff"
_INDENTED = re.compile(r"\n([ \t]{1,16})\S")


class UnsafeEdit(ValueError):
    """Raised with the reason for leaving a file alone."""


class ByHand(BadInput):
    """File left unchanged; `lines` are for the user to add by hand."""

    def __init__(self, message: str, *, path: str, next: str, lines: str) -> None:
        super().__init__(message, path=path, next=next)
        self.lines = lines


@dataclass(frozen=True)
class Edit:
    """Bytes of a file before and after; None means no file."""

    path: str  # as the client knows it
    target: str  # with links followed
    old: bytes | None
    new: bytes | None
    clean: bytes | None = None  # content without ours
    added: str = ""  # values added to a JSON file, as JSON

    @property
    def change(self) -> str:
        if self.old == self.new:
            return "unchanged"
        if self.old is None:
            return "created"
        return "removed" if self.new is None else "updated"


@dataclass(frozen=True)
class Entry:
    """`before` is None if we created the file."""

    after: str  # SHA-256
    before: bytes | None
    added: str = ""
    created: bool = False


@dataclass(frozen=True)
class Receipt:
    """All files of one installation; `folders` are those we created."""

    path: str
    files: dict[str, Entry]
    folders: tuple[str, ...] = ()


@dataclass(frozen=True)
class ClientFile:
    path: str
    target: str
    old: bytes | None
    entry: Entry | None

    @property
    def text(self) -> str:
        try:
            return (self.old or b"").decode()
        except UnicodeDecodeError as error:
            raise UnsafeEdit(f"it is not UTF-8 text (byte {error.start})") from None

    def without_ours(self, take_out: Callable[[str], str]) -> str:
        """Original text, byte for byte; if the file has changed since, its text without ours."""
        entry, old = self.entry, self.old
        if entry and old is not None and sha256(old).hexdigest() == entry.after:
            with suppress(UnsafeEdit):
                return take_out((entry.before or b"").decode())
        return take_out(self.text)

    def removal(self, clean: str, is_empty: bool) -> Edit:
        """Deletes the file if we created it and nothing else is in it."""
        gone = self.old is None or (is_empty and bool(self.entry and self.entry.created))
        before = None if gone else encode_client_setting(clean)
        return Edit(self.path, self.target, self.old, before, clean=before)


def encode_client_setting(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:  # a surrogate, as in a path that is not UTF-8
        raise UnsafeEdit("it would contain text that is not UTF-8") from None


def client_file_target(path: str) -> str:
    """Follows links: people keep their settings in a repository and link to them."""
    target = os.path.realpath(path)
    if os.path.islink(target):
        raise BadInput(f"{path} is a link that leads to itself", path=path, next="remove the link")
    return target


def read_client_file(path: str) -> bytes | None:
    try:
        data, facts = read_start(path, MAX_FILE_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise disk_failure(error, path, "it cannot be read") from None
    if facts.st_size > MAX_FILE_BYTES:
        message = f"{path} is larger than {MAX_FILE_BYTES // 1024} KiB; it was left unchanged"
        raise BadInput(message, path=path, next="look at what is in it")
    return data


def look_at_client_file(path: str, receipt: Receipt) -> ClientFile:
    target = client_file_target(path)
    return ClientFile(path, target, read_client_file(target), receipt.files.get(path))


@contextmanager
def explain_client_edit(path: str, lines: str, take_out: str) -> Iterator[None]:
    """Explains an unsafe edit: `lines` to add by hand, or the advice for a removal."""
    try:
        yield
    except UnsafeEdit as error:
        next = take_out or "fix the file and run the command again, or add these lines by hand"
        message = f"{path} was left unchanged: {error}"
        raise ByHand(message, path=path, next=next, lines="" if take_out else lines) from None


def edit_client_file(
    path: str,
    data: bytes,
    receipt: Receipt,
    remarks: list[str],
    remove: bool = False,
    marks: tuple[bytes, ...] = (),
) -> list[Edit]:
    """Edit of a file that is ours by the receipt or its first bytes; any other file stays."""
    file = look_at_client_file(path, receipt)
    old, entry = file.old, file.entry
    if old is None or (remove and not entry and not marks):
        return [] if remove else [Edit(path, file.target, None, data)]
    ours = old.startswith(marks) or (entry is not None and entry.after == sha256(old).hexdigest())
    if not ours and (remove or old != data):
        reason = "was changed since" if remove and entry else "is not ours"
        remarks.append(f"{path} {reason}; it was left unchanged")
        return [Edit(path, file.target, old, old, clean=old)]
    if remove:
        return [Edit(path, file.target, old, None, clean=old)]
    return [Edit(path, file.target, old, data)]


# JSON


def is_our_server(value: object) -> bool:
    if not isinstance(value, Mapping):
        return False
    command = str([value.get("command"), value.get("args")])
    return any(name in command for name in OUR_SERVERS)


def is_our_command(value: object) -> bool:
    command = str(value.get("command")) if isinstance(value, Mapping) else ""
    return any(folder in command for folder in OUR_HOOKS)


def is_our_hook(path: Path, value: Any) -> bool:
    """True for our hook at `hooks.EVENT.0.hooks.0`, and for a group with nothing else."""
    if path[:1] != ("hooks",):
        return False
    inner = value.get("hooks") if len(path) == 3 and isinstance(value, Mapping) else None
    whole = isinstance(inner, list) and bool(inner) and all(map(is_our_command, inner))
    return whole or (len(path) == 5 and is_our_command(value))


def our_client_entry(top: str) -> Ours:
    return lambda path, value: (
        is_our_server(value) if path == (top, NAME) else is_our_hook(path, value)
    )


@dataclass(frozen=True)
class Merge:
    path: str
    wanted: Mapping[str, Any]
    ours: Ours
    single: tuple[str, str] = ("", "")  # object and its only wanted key; another value there stays
    remarks: list[str] = field(default_factory=list)

    def edit(self, receipt: Receipt, remove: bool) -> Edit:
        """Adds or removes our values; refuses if that could damage the file."""
        file = look_at_client_file(self.path, receipt)
        folder, name = os.path.split(self.path)
        if file.target != os.path.join(os.path.realpath(folder), name):
            self.remarks.append(f"{self.path} is a link; {file.target} is the file that is written")
        with self._left_alone(remove):
            clean = file.without_ours(self._take_out)
            values, wanted = read_client_settings(clean), {} if remove else self.wanted
            edit = file.removal(clean, is_empty=not values)
            top, key = self.single
            there = values.get(top)
            if wanted and isinstance(there, dict) and key in there:
                self.remarks.append(f"{self.path} has another {top}.{key}; it was kept")
                wanted = {name: value for name, value in wanted.items() if name != top}
            if not wanted:
                return edit
            values = _join(values, wanted)
            if file.old is not None and read_client_settings(file.text) == values:
                return replace(edit, new=file.old)  # in any layout
            new = encode_client_setting(write_client_settings(values, clean))
            return replace(edit, new=new, added=json.dumps(wanted))

    def read_theirs(self, receipt: Receipt, remove: bool) -> dict[str, Any]:
        with self._left_alone(remove):
            return read_client_settings(
                look_at_client_file(self.path, receipt).without_ours(self._take_out)
            )

    def _left_alone(self, remove: bool) -> AbstractContextManager[None]:
        lines = json.dumps(self.wanted, indent=2, ensure_ascii=False)
        return explain_client_edit(self.path, lines, "remove the memdir entries by hand" * remove)

    def _take_out(self, text: str) -> str:
        values = read_client_settings(text)
        left = _without(values, (), self.ours)
        return text if left == values else write_client_settings(left, text)


def read_client_settings(text: str) -> dict[str, Any]:
    """Parses strict JSON; an empty text gives an empty object."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError("an object in it has the same key twice")
        return dict(pairs)

    try:
        values = json.loads(text.removeprefix(BOM).strip() or "{}", object_pairs_hook=unique)
    except (RecursionError, ValueError) as error:
        raise UnsafeEdit(f"it is not JSON that can be edited: {error}") from None
    if not isinstance(values, dict):
        raise UnsafeEdit("it is not a JSON object")
    return values


def write_client_settings(values: dict[str, Any], like: str) -> str:
    """Keeps the byte order mark, the indentation and the line ends of a text."""
    body = like.removeprefix(BOM)
    indented = _INDENTED.search(body)
    try:
        indent = indented[1] if indented else "  "
        text = json.dumps(values, indent=indent, ensure_ascii=False, allow_nan=False)
    except (RecursionError, ValueError) as error:
        raise UnsafeEdit(f"it has a value that JSON cannot hold: {error}") from None
    if "\r\n" in body:
        text = text.replace("\n", "\r\n")
    end = body[len(body.rstrip()) :] if body.strip() else "\n"
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


# In Markdown and TOML our text is at the end, separated by an empty line.


def _append(edit: Edit, clean: str, text: str) -> Edit:
    newline = "\r\n" if "\r\n" in clean else "\n"
    gap = "" if not clean else newline if clean.endswith("\n") else newline * 2
    return replace(edit, new=encode_client_setting(clean + gap + text.replace("\n", newline)))


def edit_client_block(path: str, receipt: Receipt, remove: bool, words: str) -> Edit:
    file, block = look_at_client_file(path, receipt), f"{BEGIN}\n{words}{END}\n"
    advice = "remove the text between memdir's marks by hand" * remove
    with explain_client_edit(path, block.rstrip("\n"), advice):
        clean = file.without_ours(_without_marked)
        edit = file.removal(clean, is_empty=not clean.strip())
        if remove:
            return edit
        if block in file.text.replace("\r\n", "\n"):
            return replace(edit, new=file.old)  # wherever it was moved
        return _append(edit, clean, block)


def _without_marked(text: str) -> str:
    start, end = text.find(BEGIN), text.find(END)
    if start < 0 and end < 0:
        return text
    if text.count(BEGIN) != 1 or text.count(END) != 1 or end < start:
        raise UnsafeEdit("memdir's begin and end marks in it do not match")
    head, after = text[:start], re.sub(r"\A\r?\n", "", text[end + len(END) :])
    if not after:
        head = re.sub(r"\n\r?\n\Z", "\n", head)  # the empty line above ours
    return head + after


def edit_client_table(
    path: str, receipt: Receipt, remove: bool, table: Table, remarks: list[str]
) -> Edit:
    top, name, values = table
    rows = [f"{key} = {json.dumps(value)}" for key, value in values.items()]  # valid TOML, too
    text = "\n".join([f"{TABLE_NOTE}: {top}.{name}", f"[{top}.{name}]", *rows, ""])
    file = look_at_client_file(path, receipt)
    with explain_client_edit(path, text, f"take out [{top}.{name}] by hand" * remove):
        clean = file.without_ours(lambda text: _without_table(text, top, name))
        edit = file.removal(clean, is_empty=not clean.strip())
        if remove:
            return edit
        before, now = _read_toml(clean), _tables(_read_toml(file.text), top).get(name)
        if name in _tables(before, top):
            remarks.append(f"{path} has another {name}; it was kept")
            return edit
        if isinstance(now, dict) and {**now, **values} == now:  # the user may have added keys
            return replace(edit, new=file.old)
        edit = _append(edit, clean, text)
        wanted = {**before, top: {**_tables(before, top), name: values}}
        if repr(_read_toml((edit.new or b"").decode())) != repr(wanted):
            raise UnsafeEdit(f"no table [{top}.{name}] can be added to it")
        return edit


def _read_toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix(BOM).replace("\r\n", "\n"))
    except (ValueError, RecursionError) as error:
        raise UnsafeEdit(f"it is not TOML: {str(error)[:200]}") from None


def _tables(values: dict[str, Any], top: str) -> dict[str, Any]:
    tables = values.get(top, {})
    if not isinstance(tables, dict):
        raise UnsafeEdit(f"{top} holds something else there")
    return tables


def _without_table(text: str, top: str, name: str) -> str:
    """Removes our table and those below it; comments behind it may belong to the next table."""
    values = _read_toml(text)
    if not is_our_server(_tables(values, top).get(name)):
        return text
    header = rf'[ \t]*\[[ \t]*{top}[ \t]*\.[ \t]*"?{name}"?[ \t]*[\].].*\n?'
    rows = r"(?:(?:[ \t\r]*(?:#.*)?\n)*[ \t]*[^\s\[#].*(?:\n|\Z))*"
    left = re.sub(rf"^(?:{TABLE_NOTE}.*\n)?{header}{rows}", "", text, flags=re.MULTILINE)
    del values[top][name]
    filled = [
        {key: value for key, value in tables.items() if value != {}}
        for tables in (values, _read_toml(left))
    ]
    if repr(filled[0]) != repr(filled[1]):
        raise UnsafeEdit(f"[{top}.{name}] cannot be removed safely the way it is written")
    return left
