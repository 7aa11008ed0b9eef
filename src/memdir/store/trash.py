"""Trash and archive."""

from __future__ import annotations

import calendar
import os
import time

from memdir.errors import BadInput, Finding, Unwritable
from memdir.hot import safe
from memdir.hot.disk import Disk, failure
from memdir.hot.memory import is_memory
from memdir.store.ports import ARCHIVE, Shelved, Store
from memdir.store.ports import Shelf as PortsShelf

# Trash and archive: retired and archived memories, whole, outside the tree a client scans.
#
# `<room>/<number>-<time>/<path>`: the number orders what the clock may not, the path is the one the
# memory had. No table beside them that could be lost.

_STAMP = "%Y%m%dT%H%M%SZ"


class Shelf:
    """The rooms of one store in the state directory."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.disk = Disk(folder)

    def lay(self, room: str, path: str, data: bytes, now: float) -> Shelved:
        """Put a copy into a room, durably, under the next number."""
        number = self._highest(room) + 1
        shelved = Shelved(room, number, now, path)
        try:
            self.disk.make_root()
            self.disk.put(_place(shelved), data)
        except OSError as error:
            where = os.path.join(self.folder, room)
            raise failure(error, where, f"{path} cannot be put there") from None
        return shelved

    def _highest(self, room: str) -> int:
        """The highest number given so far; asked for each memory that is laid down."""
        try:
            labels = os.listdir(os.path.join(self.folder, room))
        except FileNotFoundError:
            return 0
        except OSError as error:
            raise failure(error, os.path.join(self.folder, room), "cannot be read") from None
        numbers = [label.partition("-")[0] for label in labels]
        return max([int(number) for number in numbers if number.isdecimal()], default=0)

    def list(self, room: str) -> list[Shelved]:
        """What lies in a room, the newest first; what is not ours there is passed over."""
        found = []
        hidden: list[Finding] = []
        for _, path, _ in Disk(os.path.join(self.folder, room)).walk(lambda _: True, hidden):
            label, _, rest = path.partition("/")
            number, _, stamp = label.partition("-")
            try:
                moment = time.strptime(stamp, _STAMP)
                found.append(Shelved(room, int(number), float(calendar.timegm(moment)), rest))
            except (ValueError, OverflowError):
                continue
        if hidden:  # an older copy must not pass for the newest, nor a number be given twice
            where = os.path.join(self.folder, room)
            raise Unwritable(f"{where}: {hidden[0].message}", path=where, next=hidden[0].fix)
        return sorted(found, key=lambda shelved: -shelved.number)

    def read(self, shelved: Shelved) -> bytes:
        """The bytes of one shelved memory."""
        try:
            return self.disk.read(_place(shelved))[0]
        except OSError as error:
            where = os.path.join(self.folder, _place(shelved))
            raise failure(error, where, "cannot be read") from None

    def clear(self, shelved: Shelved) -> None:
        """Take one memory off its shelf for good."""
        place = _place(shelved)
        try:
            self.disk.drop(place)
        except OSError as error:
            where = os.path.join(self.folder, place)
            raise failure(error, where, "cannot be removed") from None
        while place.count("/") > 1:
            place = place.rpartition("/")[0]
            try:
                os.rmdir(os.path.join(self.folder, place))
            except OSError:
                return  # a folder that stays is no memory; something else may lie in it


def _place(shelved: Shelved) -> str:
    if shelved.path.startswith("/") or ".." in shelved.path.split("/"):
        raise BadInput(
            f"{shelved.path!r} is not a path below the store",
            next="memdir restore --list shows what can be restored",
        )
    # Cut to the years that can be read back: a clock may say anything.
    stamp = safe.iso_time(shelved.time).replace("-", "").replace(":", "")
    return f"{shelved.room}/{shelved.number:06}-{stamp}/{shelved.path}"


# A shelf that also holds the `archive/` folder which another tool left inside the store.

FOLDER = "archive/"
THEIRS = 0  # the number of everything in that folder; ours start at 1


class OldArchive:
    """What lies in the folder is restored from there and leaves it; nothing is laid into it."""

    def __init__(self, inside: PortsShelf, store: Store) -> None:
        self.inside = inside
        self.store = store

    def lay(self, room: str, path: str, data: bytes, now: float) -> Shelved:
        """See the shelf inside."""
        return self.inside.lay(room, path, data, now)

    def list(self, room: str) -> list[Shelved]:
        """Ours first, then theirs."""
        found = self.inside.list(room)
        if room != ARCHIVE:
            return found
        theirs = [
            Shelved(ARCHIVE, THEIRS, facts[0] / 1e9, path.removeprefix(FOLDER))
            for path, facts in sorted(self.store.tree().items())
            if path.startswith(FOLDER) and is_memory(path.removeprefix(FOLDER))
        ]
        return found + theirs

    def read(self, shelved: Shelved) -> bytes:
        """The bytes, from wherever they lie."""
        if shelved.number != THEIRS:
            return self.inside.read(shelved)
        return self.store.read(FOLDER + shelved.path)

    def clear(self, shelved: Shelved) -> None:
        """Take it from where it lies; the history has what leaves the store."""
        if shelved.number != THEIRS:
            self.inside.clear(shelved)
        else:
            self.store.drop(FOLDER + shelved.path)
