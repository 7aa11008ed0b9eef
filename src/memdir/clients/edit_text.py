"""The same for Markdown and TOML."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any

from memdir.clients.receipt import (
    BOM,
    ByHand,
    Edit,
    Insertion,
    Placed,
    Receipt,
    UnsafeEdit,
    cut,
    read_file,
    target_of,
)
from memdir.clients.setup import BEGIN, END, WORDS, is_server

# Words of ours in somebody's Markdown, between two marks; all else keeps its bytes.

AS_IT_WAS = "take out by hand what stands between the marks of memdir"


def marked_edit(path: str, receipt: Receipt, remove: bool, words: str = WORDS) -> Edit:
    """The file with the words at its end, or without them."""
    target = target_of(path)
    placed = Placed(path, target, read_file(target), receipt.kept(path))
    try:
        return _edit(placed, remove, words)
    except UnsafeEdit as error:
        lines = "" if remove else f"{BEGIN}\n{words}{END}"
        next = (
            AS_IT_WAS if remove else "mend the file and run the command again, or add these lines"
        )
        message = f"{path} is left as it is: {error.problem}"
        raise ByHand(message, path=path, next=next, lines=lines) from None


def _edit(placed: Placed, remove: bool, words: str) -> Edit:
    text = placed.text
    clean = _without(placed)
    created = bool(placed.kept and placed.kept.created)
    before = None if placed.old is None or (created and not clean.strip()) else clean.encode()
    if remove:
        return placed.edit(before, (), before)
    newline = "\r\n" if "\r\n" in clean else "\n"
    block = f"{BEGIN}\n{words}{END}\n".replace("\n", newline)
    if placed.old is not None and block in text:
        return placed.edit(placed.old, (), before)  # wherever somebody has moved it
    gap = newline if clean.endswith("\n") or not clean else newline * 2
    added = Insertion(len(clean), (gap if clean else "") + block)
    return placed.edit((clean + added.text).encode(), (added,), before)


def _without(placed: Placed) -> str:
    """The text as it was: byte for byte, or where somebody changed it, without what is marked."""
    text, kept = placed.text, placed.kept
    if kept and kept.insertions:
        before = cut(text, list(kept.insertions))
        if before is not None and BEGIN not in before:
            return before
    if text.count(BEGIN) != text.count(END) or text.count(BEGIN) > 1:
        raise UnsafeEdit("the marks of memdir in it do not belong together")
    start, end = text.find(BEGIN), text.find(END)
    if start < 0:
        return text
    if end < start:
        raise UnsafeEdit("the marks of memdir in it are in the wrong order")
    after = text[end + len(END) :]
    for newline in ("\r\n", "\n"):
        if after.startswith(newline):
            after = after[len(newline) :]
            break
    head = text[:start]
    if not after and head.endswith(("\n\n", "\r\n\r\n")):
        head = head[: -2 if head.endswith("\r\n") else -1]  # the line that parted us from it
    return head + after


# A table of ours at the end of somebody's TOML; all else keeps its bytes.

Values = dict[str, Any]
_HEADER = re.compile(r"[ \t]{0,20}\[")


class Table:
    """`[top.name]` with its values; it is known again where somebody has written it anew."""

    def __init__(self, top: str, name: str, values: Mapping[str, str | list[str]]) -> None:
        self.top, self.name = top, name
        self.values = dict(values)
        gap = "[ \\t]{0,20}"
        self._header = re.compile(rf'{gap}\[{gap}{top}{gap}\.{gap}"?{name}"?{gap}[\].]')

    @property
    def text(self) -> str:
        """As it is written: strings of JSON are strings of TOML."""
        rows = [f"{key} = {json.dumps(value)}" for key, value in self.values.items()]
        note = f"# memdir put this table here: {self.top}.{self.name}"
        return "\n".join([note, f"[{self.top}.{self.name}]", *rows, ""])

    def edit(self, path: str, receipt: Receipt, remove: bool, remarks: list[str]) -> Edit:
        """The file with the table, or without it."""
        target = target_of(path)
        placed = Placed(path, target, read_file(target), receipt.kept(path))
        try:
            return self._edit(placed, remove, remarks)
        except UnsafeEdit as error:
            message = f"{path} is left as it is: {error.problem}"
            next = "mend the file and run the command again, or add these lines by hand"
            next = f"take out [{self.top}.{self.name}] by hand" if remove else next
            raise ByHand(message, path=path, next=next, lines="" if remove else self.text) from None

    def _edit(self, placed: Placed, remove: bool, remarks: list[str]) -> Edit:
        clean = self._without(placed)
        created = bool(placed.kept and placed.kept.created)
        before = None if placed.old is None or (created and not clean.strip()) else clean.encode()
        if self.name in self._tables(_values(clean)):
            remarks += [] if remove else [f"{placed.path} has another {self.name}; that one stays"]
            return placed.edit(before, (), before)
        if remove:
            return placed.edit(before, (), before)
        if placed.old is not None and self._stands(_values(placed.text)):
            return placed.edit(placed.old, (), before)
        newline = "\r\n" if "\r\n" in clean else "\n"
        gap = "" if not clean else newline if clean.endswith("\n") else newline * 2
        added = Insertion(len(clean), gap + self.text.replace("\n", newline))
        made = clean + added.text
        if not self._is_only_more(_values(clean), _read(made)):
            raise UnsafeEdit(f"no table [{self.top}.{self.name}] can be added to it")
        return placed.edit(placed.encode(made), (added,), before)

    def _is_only_more(self, before: Values, after: Values | None) -> bool:
        """True where all else says what it said, and the table is there."""
        if after is None or not self._stands(after):
            return False
        return repr(self._less(after)) == repr(self._less(before))

    def _without(self, placed: Placed) -> str:
        """The text as it was: byte for byte, or without what a reader takes for our table."""
        text, kept = placed.text, placed.kept
        values = _values(text)
        if kept and kept.insertions:
            before = cut(text, list(kept.insertions))
            read = None if before is None else _read(before)
            if before is not None and read is not None and self.name not in self._tables(read):
                return before
        mine = self._tables(values).get(self.name)
        if mine is None or not (kept or is_server(mine)):
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
        found = values.get(self.top, {})
        if not isinstance(found, dict):
            raise UnsafeEdit(f"{self.top} holds something else there")
        return found

    def _less(self, values: Values) -> Values:
        """All but our table, and without an object that it alone would have made."""
        rest = {key: one for key, one in self._tables(values).items() if key != self.name}
        others = {key: one for key, one in values.items() if key != self.top or rest}
        return {key: rest if key == self.top else one for key, one in others.items()}


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
