"""A JSON file of a client with something of ours in it, and without."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from memdir.adapters.clients._plan import Edit
from memdir.adapters.clients._receipt import Kept
from memdir.core.settings_text import BOM, Insertion, UnsafeEdit, cut, read_values, take_out

Ours = Callable[[tuple[str | int, ...], Any], bool]


@dataclass(frozen=True)
class Placed:
    """The file as it stands, and what we know of it."""

    path: str
    target: str
    old: bytes | None
    kept: Kept | None

    @property
    def text(self) -> str:
        """Its text; what is no UTF-8 is left alone."""
        try:
            return (self.old or b"").decode()
        except UnicodeDecodeError as error:
            line = (self.old or b"").count(b"\n", 0, error.start) + 1
            raise UnsafeEdit(f"line {line} is not UTF-8 text", line) from None

    def encode(self, text: str) -> bytes:
        """Its bytes; a path that is no UTF-8 cannot be written into JSON."""
        try:
            return text.encode()
        except UnicodeEncodeError:
            raise UnsafeEdit("a path that would stand in it is no UTF-8 text") from None

    def gone(self, clean: str) -> bool:
        """True where the file would not be there without us."""
        if self.old is None:
            return True
        return bool(self.kept and self.kept.created) and not read_values(clean)

    def edit(
        self, new: bytes | None, insertions: tuple[Insertion, ...], clean: bytes | None
    ) -> Edit:
        """What is to be done to it."""
        return Edit(self.path, self.target, self.old, new, insertions, clean)


def without(placed: Placed, ours: Ours) -> str:
    """The text as it was before us: byte for byte, or where it was written anew, by its meaning."""
    text = placed.text
    if placed.kept and placed.kept.insertions:
        before = cut(text, list(placed.kept.insertions))
        if before is not None and _holds(before, ours):
            return before
    return take_out(text, ours)


def _holds(text: str, ours: Ours) -> bool:
    """True where it can still be read, and nothing of ours is left in it."""
    if not text.removeprefix(BOM).strip():
        return True
    try:
        return take_out(text, ours) == text
    except UnsafeEdit:
        return False
