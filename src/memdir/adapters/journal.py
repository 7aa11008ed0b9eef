"""The journal of capture: one JSON line per thing received and per decision, appended, forced.

When it has grown too long, things that are decided become totals in its first line; what waits
always keeps its line.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, cast

from memdir.adapters.disk import Disk, failure
from memdir.core.accounts import DECISIONS, Account, Entry, Totals, balance, let_go

MOST_BYTES = 512 * 1024
MOST_THINGS = 10**12  # more is no count
LATEST = 1e12  # seconds; more, or no number at all, is no time
KEPT = 500  # decided things that keep their lines: what was done lately can be looked up
FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
DAMAGE = (ValueError, TypeError, KeyError, RecursionError)


class Journal:
    """One file; who appends holds the lock of captures."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.disk = Disk(os.path.dirname(path))
        self.name = os.path.basename(path)

    def read(self) -> tuple[Totals, list[Entry]]:
        """Everything that was written whole; a line that was cut off says nothing."""
        return self._read()[:2]

    def damaged(self) -> list[int]:
        """The numbers of the lines that nobody can read, or that hold no such thing."""
        return self._read()[2]

    def _read(self) -> tuple[Totals, list[Entry], list[int]]:
        totals, entries, damaged = Totals(), list[Entry](), list[int]()
        try:
            data = self.disk.read(self.name)[0]
        except (FileNotFoundError, NotADirectoryError):
            return totals, entries, damaged
        except OSError as error:
            raise failure(error, self.path, "the journal cannot be read") from None
        for number, line in enumerate(data.split(b"\n")[:-1], 1):
            try:
                said = json.loads(line)
                if "id" in said:
                    entries.append(_entry(said))
                else:
                    totals = _totals(said)
            except DAMAGE:
                damaged.append(number)  # one broken line hides no other
        return totals, entries, damaged

    def account(self) -> Account:
        """What became of everything."""
        totals, entries = self.read()
        return balance(entries, totals)

    def add(self, entries: Sequence[Entry]) -> None:
        """Append, durably; a line that a killed writer left unfinished is cut off first."""
        if not entries:
            return
        data = b"".join(json.dumps(asdict(one)).encode("ascii") + b"\n" for one in entries)
        try:
            self.disk.make_root()
            new = not os.path.lexists(self.path)
            handle = os.open(self.path, FLAGS, 0o600)
            try:
                size = _cut_torn_line(handle)
                written = os.write(handle, data)
                if written != len(data):
                    os.ftruncate(handle, size)  # all lines of one decision or none
                    raise OSError(28, os.strerror(28))
                os.fsync(handle)
            finally:
                os.close(handle)
            if new:
                _sync_folder(self.disk)
        except OSError as error:
            raise failure(error, self.path, "the journal cannot be written") from None
        if size + len(data) > MOST_BYTES:
            self._shorten()

    def _shorten(self) -> None:
        totals, entries = self.read()
        totals, kept = let_go(entries, totals, KEPT)
        lines = [json.dumps(asdict(totals)), *(json.dumps(asdict(one)) for one in kept)]
        try:
            self.disk.put(self.name, "".join(f"{line}\n" for line in lines).encode("ascii"))
        except OSError as error:
            raise failure(error, self.path, "the journal cannot be written") from None


def _entry(said: dict[str, Any]) -> Entry:
    entry = Entry(**said)
    texts = (entry.id, entry.what, entry.session, entry.name, entry.reason)
    if not all(type(one) is str for one in texts) or not is_moment(entry.time):
        raise ValueError("not what was written")
    return entry


def _totals(said: dict[str, Any]) -> Totals:
    totals = Totals(**said)
    counts = (totals.saved, totals.refused, totals.held)
    if not all(type(one) is int and 0 <= one <= MOST_THINGS for one in counts):
        raise ValueError("not what was written")
    return totals


def is_moment(value: object) -> bool:
    """A number that can be a time: JSON also has ones that are none."""
    return type(value) in (int, float) and abs(cast(float, value)) <= LATEST


def last_decision(entries: Sequence[Entry], what: str) -> Entry | None:
    """The newest line of that kind."""
    return next((one for one in reversed(entries) if one.what == what), None)


def decided(entries: Sequence[Entry]) -> dict[str, Entry]:
    """The decision on each thing that has one."""
    return {one.id: one for one in entries if one.what in DECISIONS}


def _cut_torn_line(handle: int) -> int:
    """The size of the file without an unfinished line at its end."""
    size = os.fstat(handle).st_size
    if not size or os.pread(handle, 1, size - 1) == b"\n":
        return size
    end = os.pread(handle, size, 0).rfind(b"\n") + 1
    os.ftruncate(handle, end)
    return end


def _sync_folder(disk: Disk) -> None:
    handle = disk.open_root()
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
