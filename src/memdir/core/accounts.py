"""What became of everything that capture came to: received = saved + refused + held + waiting."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

RECEIVED, SAVED, REFUSED, HELD = "received", "saved", "refused", "held"
DECISIONS = (SAVED, REFUSED, HELD)


@dataclass(frozen=True)
class Entry:
    """One line of the journal: a thing was received, or something was decided on it.

    `name` is the memory it became; `reason` says why it was refused, held, or has to wait.
    """

    id: str
    what: str
    time: float
    session: str = ""
    name: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Totals:
    """Counts of things whose lines were let go of: all of them are decided."""

    saved: int = 0
    refused: int = 0
    held: int = 0

    @property
    def received(self) -> int:
        return self.saved + self.refused + self.held


NONE = Totals()


@dataclass(frozen=True)
class Account:
    """The counts, and the things that still wait; `problems` are lines that contradict others."""

    received: int
    saved: int
    refused: int
    held: int
    waiting: tuple[Entry, ...]
    problems: tuple[str, ...] = ()

    @property
    def balances(self) -> bool:
        """True where nothing was lost and nothing counted twice."""
        decided = self.saved + self.refused + self.held
        return self.received == decided + len(self.waiting) and not self.problems


def balance(entries: Iterable[Entry], before: Totals = NONE) -> Account:
    """Count the lines, each thing once; what waits is counted, never computed as the rest."""
    received: dict[str, Entry] = {}
    decided: dict[str, Entry] = {}
    problems = []
    for entry in entries:
        if entry.what == RECEIVED:
            received.setdefault(entry.id, entry)
        elif entry.what not in DECISIONS:
            problems.append(f"{entry.id}: {entry.what!r} is no decision")
        elif entry.id in decided:
            problems.append(f"{entry.id}: {decided[entry.id].what}, then {entry.what}")
        else:
            decided[entry.id] = entry
            if entry.id not in received:
                problems.append(f"{entry.id}: {entry.what}, but never received")
    counts = {what: sum(one.what == what for one in decided.values()) for what in DECISIONS}
    waiting = tuple(entry for id, entry in received.items() if id not in decided)
    return Account(
        received=before.received + len(received),
        saved=before.saved + counts[SAVED],
        refused=before.refused + counts[REFUSED],
        held=before.held + counts[HELD],
        waiting=waiting,
        problems=tuple(problems),
    )


def let_go(entries: Iterable[Entry], before: Totals, keep: int) -> tuple[Totals, tuple[Entry, ...]]:
    """Count all decided things but the last `keep` into the totals; what waits stays a line."""
    lines = list(entries)
    decided = [one.id for one in lines if one.what in DECISIONS]
    gone = set(decided[: max(0, len(decided) - keep)])
    counted = [one.what for one in lines if one.what in DECISIONS and one.id in gone]
    totals = Totals(
        before.saved + counted.count(SAVED),
        before.refused + counted.count(REFUSED),
        before.held + counted.count(HELD),
    )
    return totals, tuple(one for one in lines if one.id not in gone)
