"""Words of ours in somebody's Markdown, a table in somebody's TOML; the rest keeps its bytes."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from memdir.clients.receipt import (
    BOM,
    ClientFile,
    Edit,
    Insertion,
    Receipt,
    UnsafeEdit,
    by_hand,
    encode,
    look,
)
from memdir.clients.setup import BEGIN, END, WORDS, is_server

Values = dict[str, Any]
_HEADER = re.compile(r"[ \t]{0,20}\[")


def _append(edit: Edit, clean: str, text: str) -> Edit:
    """The text behind what stands there, parted from it by an empty line."""
    newline = "\r\n" if "\r\n" in clean else "\n"
    gap = "" if not clean else newline if clean.endswith("\n") else newline * 2
    added = Insertion(len(clean), gap + text.replace("\n", newline))
    return replace(edit, new=encode(clean + added.text), insertions=(added,))


def marked_edit(path: str, receipt: Receipt, remove: bool, words: str = WORDS) -> Edit:
    """The Markdown file with the words between two marks at its end, or without them."""
    file, block = look(path, receipt), f"{BEGIN}\n{words}{END}\n"
    try:
        clean = _without_marked(file)
        edit = file.without(clean, is_empty=not clean.strip())
        if remove:
            return edit
        written = block.replace("\n", "\r\n" if "\r\n" in clean else "\n")
        if file.old is not None and written in file.text:
            return replace(edit, new=file.old)  # wherever somebody has moved it
        return _append(edit, clean, block)
    except UnsafeEdit as error:
        take_out = "take out by hand what stands between the marks of memdir" if remove else ""
        raise by_hand(path, error, block.rstrip("\n"), take_out) from None


def _without_marked(file: ClientFile) -> str:
    """The text as it was: byte for byte, or where somebody changed it, without what is marked."""
    text, before = file.text, file.cut()
    if before is not None and BEGIN not in before:
        return before
    if text.count(BEGIN) != text.count(END) or text.count(BEGIN) > 1:
        raise UnsafeEdit("the marks of memdir in it do not belong together")
    start, end = text.find(BEGIN), text.find(END)
    if start < 0:
        return text
    if end < start:
        raise UnsafeEdit("the marks of memdir in it are in the wrong order")
    head, after = text[:start], text[end + len(END) :]
    after = after[2:] if after.startswith("\r\n") else after.removeprefix("\n")
    if not after and head.endswith(("\n\n", "\r\n\r\n")):
        head = head[: -2 if head.endswith("\r\n") else -1]  # the line that parted us from it
    return head + after


class Table:
    """`[top.name]` with its values; it is known again where somebody has written it anew."""

    def __init__(self, top: str, name: str, values: Mapping[str, str | list[str]]) -> None:
        self.top, self.name = top, name
        self.values = dict(values)
        gap = "[ \\t]{0,20}"
        self._header = re.compile(rf'{gap}\[{gap}{top}{gap}\.{gap}"?{name}"?{gap}[\].]')
        rows = [f"{key} = {json.dumps(value)}" for key, value in self.values.items()]
        note = f"# memdir put this table here: {top}.{name}"
        # Strings of JSON are strings of TOML.
        self.text = "\n".join([note, f"[{top}.{name}]", *rows, ""])

    def edit(self, path: str, receipt: Receipt, remove: bool, remarks: list[str]) -> Edit:
        """The file with the table, or without it."""
        file = look(path, receipt)
        try:
            return self._edit(file, remove, remarks)
        except UnsafeEdit as error:
            take_out = f"take out [{self.top}.{self.name}] by hand" if remove else ""
            raise by_hand(path, error, self.text, take_out) from None

    def _edit(self, file: ClientFile, remove: bool, remarks: list[str]) -> Edit:
        clean = self._without(file)
        edit = file.without(clean, is_empty=not clean.strip())
        before = _values(clean)
        if remove:
            return edit
        if self.name in self._tables(before):
            remarks.append(f"{file.path} has another {self.name}; that one stays")
            return edit
        if file.old is not None and self._stands(_values(file.text)):
            return replace(edit, new=file.old)
        edit = _append(edit, clean, self.text)
        after = _read((edit.new or b"").decode())
        # All else must say what it said.
        if (
            not after
            or not self._stands(after)
            or repr(self._less(after)) != repr(self._less(before))
        ):
            raise UnsafeEdit(f"no table [{self.top}.{self.name}] can be added to it")
        return edit

    def _without(self, file: ClientFile) -> str:
        """The text as it was: byte for byte, or without what a reader takes for our table."""
        text, before = file.text, file.cut()
        values = _values(text)
        read = None if before is None else _read(before)
        if before is not None and read is not None and self.name not in self._tables(read):
            return before
        mine = self._tables(values).get(self.name)
        if mine is None or not (file.entry or is_server(mine)):
            return text
        made = self._cut_tables(text)
        if repr(_read(made)) != repr(self._less(values)):
            raise UnsafeEdit(f"[{self.top}.{self.name}] is written in a way that cannot be cut out")
        return made

    def _stands(self, values: Values) -> bool:
        """True where the table says what we say; a user may have said more."""
        mine = self._tables(values).get(self.name)
        return isinstance(mine, dict) and {**mine, **self.values} == mine

    def _cut_tables(self, text: str) -> str:
        """Without the lines of the table and of those below it."""
        kept: list[str] = []
        remarks: list[str] = []  # somebody's, behind the table: they may be about what follows
        gone = False
        for line in text.splitlines(keepends=True):
            if _HEADER.match(line):
                kept, remarks = kept + remarks, []
                gone = bool(self._header.match(line))
                if gone and kept and kept[-1].startswith("# memdir put this table here"):
                    kept.pop()
            if not gone:
                kept.append(line)
            elif line.strip() and not line.lstrip(" \t").startswith("#"):
                remarks = []
            elif remarks or line.strip():
                remarks.append(line)
        return "".join(kept + remarks)

    def _tables(self, values: Values) -> Values:
        tables = values.get(self.top, {})
        if not isinstance(tables, dict):
            raise UnsafeEdit(f"{self.top} holds something else there")
        return tables

    def _less(self, values: Values) -> Values:
        """All but our table, and without an object that it alone would have made."""
        rest = {key: table for key, table in self._tables(values).items() if key != self.name}
        others = {key: value for key, value in values.items() if key != self.top or rest}
        return {key: rest if key == self.top else value for key, value in others.items()}


def _read(text: str) -> Values | None:
    try:
        return _values(text)
    except UnsafeEdit:
        return None


def _values(text: str) -> Values:
    try:
        return tomllib.loads(text.removeprefix(BOM).replace("\r\n", "\n"))
    except (tomllib.TOMLDecodeError, ValueError, RecursionError) as error:
        raise UnsafeEdit(f"it is not TOML: {str(error)[:200]}") from None
