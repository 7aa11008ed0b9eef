"""Trash and archive, and their stand-ins for a dry run."""

from __future__ import annotations

import calendar
import heapq
import os
import time
from collections.abc import Sequence

from memdir.errors import Finding, Unwritable
from memdir.hot import safe
from memdir.hot.disk import Disk
from memdir.hot.layout import usual_path
from memdir.hot.memory import is_memory_file
from memdir.store.ports import ARCHIVE, TRASH, Shelved, Store
from memdir.store.state import state_errors

STAMP = "%Y%m%dT%H%M%SZ"  # of a shelf's folders
FOLDER = "archive/"  # inside the store, made by another tool
THEIRS = 0  # number of all files in that folder; ours start at 1


class Shelf:
    """Trash and archive: retired and archived memories, whole, outside the tree a client scans.

    `<room>/<number>-<time>/<path>` in the state directory: the number gives the order even if the
    clock jumps. Memories are also restored out of the store's own `archive/`, made by other tools.
    """

    def __init__(self, folder: str, store: Store) -> None:
        self.folder, self.store, self.disk = folder, store, Disk(folder)

    def lay(self, room: str, path: str, data: bytes, now: float) -> Shelved:
        where = os.path.join(self.folder, room)
        with state_errors(where, "cannot be read"):
            try:
                labels = os.listdir(where)
            except FileNotFoundError:
                labels = []
        numbers = [label.partition("-")[0] for label in labels]
        highest = max([int(number) for number in numbers if number.isdecimal()], default=0)
        shelved = Shelved(room, highest + 1, now, path)
        with state_errors(where, f"{path} cannot be put there"):
            self.disk.make_root()
            self.disk.put(_place(shelved), data)
        return shelved

    def list(self, room: str) -> list[Shelved]:
        where = os.path.join(self.folder, room)
        items: list[Shelved] = []
        hidden: list[Finding] = []
        for _, path, entry in Disk(where).walk(lambda _: True, hidden):
            label, _, rest = usual_path(where, path, entry).partition("/")
            number, _, stamp = label.partition("-")
            try:
                moment = time.strptime(stamp, STAMP)
                items.append(Shelved(room, int(number), float(calendar.timegm(moment)), rest))
            except (ValueError, OverflowError):
                continue
        if hidden:  # else an old copy could look like the newest, or a number be used twice
            raise Unwritable(f"{where}: {hidden[0].message}", path=where, next=hidden[0].fix)
        items.sort(key=lambda shelved: -shelved.number)
        tree = sorted(self.store.tree().items()) if room == ARCHIVE else []
        return items + [
            Shelved(ARCHIVE, THEIRS, facts[0] / 1e9, path.removeprefix(FOLDER))
            for path, facts in tree
            if path.startswith(FOLDER) and is_memory_file(path.removeprefix(FOLDER))
        ]

    def list_all(self) -> Sequence[Shelved]:
        rooms = (self.list(TRASH), self.list(ARCHIVE))
        return [*heapq.merge(*rooms, key=lambda item: -item.time)]  # each room keeps its own order

    def read(self, shelved: Shelved) -> bytes:
        if shelved.number == THEIRS:
            return self.store.read(FOLDER + shelved.path)
        place = _place(shelved)
        with state_errors(os.path.join(self.folder, place), "cannot be read"):
            return self.disk.read(place)[0]

    def overwrite(self, shelved: Shelved, data: bytes) -> None:
        place = _place(shelved)
        with state_errors(os.path.join(self.folder, place), "cannot be written"):
            self.disk.put(place, data)

    def clear(self, shelved: Shelved) -> None:
        """Delete from the shelf; the history keeps files of the store's `archive/`."""
        if shelved.number == THEIRS:
            self.store.drop(FOLDER + shelved.path)
            return
        place = _place(shelved)
        with state_errors(os.path.join(self.folder, place), "cannot be removed"):
            self.disk.drop(place)
        while place.count("/") > 1:
            place = place.rpartition("/")[0]
            try:
                os.rmdir(os.path.join(self.folder, place))
            except OSError:
                return  # not empty


class DryShelf(Shelf):
    def lay(self, room: str, path: str, data: bytes, now: float) -> Shelved:
        return Shelved(room, 1, now, path)

    def clear(self, shelved: Shelved) -> None:
        """Keeps the shelf; records in the dry run what would leave the store's `archive/`."""
        if shelved.number == THEIRS:
            super().clear(shelved)


def _place(shelved: Shelved) -> str:
    # `iso_time` limits the year to 1-9999, so that the stamp can be parsed.
    stamp = safe.iso_time(shelved.time).replace("-", "").replace(":", "")
    return f"{shelved.room}/{shelved.number:06}-{stamp}/{shelved.path}"
