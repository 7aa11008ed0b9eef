"""A JSON file of a client: with what is wanted in it, the same again, and without."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from memdir.adapters.clients._files import read_file, target_of
from memdir.adapters.clients._json import Ours, Placed, without
from memdir.adapters.clients._plan import ByHand, Edit
from memdir.adapters.clients._receipt import Receipt
from memdir.core.settings_text import UnsafeEdit, add, read_values, written

TAKE_OUT = "take out by hand what names memdir"
MEND = "mend the file and run the command again, or add these lines by hand"


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
        if target != _plain(self.path):
            self.remarks.append(f"{self.path} is a link; {target} is the file that is written")
        try:
            return self._edit(placed, remove)
        except UnsafeEdit as error:
            lines = "" if remove else json.dumps(self.wanted, indent=2, ensure_ascii=False)
            message = f"{self.path} is left as it is: {error.problem}"
            next = TAKE_OUT if remove else MEND
            raise ByHand(message, path=self.path, next=next, lines=lines) from None

    def _edit(self, placed: Placed, remove: bool) -> Edit:
        clean = without(placed, self.ours)
        values = read_values(clean)
        before = None if placed.gone(clean) else placed.encode(clean)
        wanted = {} if remove else self._missing(values)
        if not wanted:
            return placed.edit(before, (), before)
        made, insertions = add(clean, wanted)
        if placed.old is not None and self._found(placed.text) == self._found(made):
            return placed.edit(placed.old, (), before)  # whatever it looks like by now
        return placed.edit(placed.encode(made), tuple(insertions), before)

    def _missing(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """What is wanted, without what somebody else has put in its place."""
        top, key = self.single
        there = values.get(top)
        if not top or not isinstance(there, dict) or key not in there:
            return self.wanted
        self.remarks.append(f"{self.path} has another {top}.{key}; that one stays")
        rest = {name: one for name, one in self.wanted[top].items() if name != key}
        return {name: one for name, one in {**self.wanted, top: rest}.items() if one != {}}

    def _found(self, text: str) -> list[str]:
        """What of ours stands in it, wherever in its list."""
        return sorted(_walk(written(read_values(text)), (), self.ours))


def _walk(value: Any, path: tuple[str | int, ...], ours: Ours) -> Iterator[str]:
    pairs: Any = value.items() if isinstance(value, dict) else enumerate(value)
    for key, one in pairs:
        here = (*path, key)
        if ours(here, one):
            named = [part for part in here if isinstance(part, str)]
            yield json.dumps([named, one], sort_keys=True)
        elif isinstance(one, (dict, list)):
            yield from _walk(one, here, ours)


def _plain(path: str) -> str:
    """The path with the links above the file followed, but not the file's own."""
    return os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
