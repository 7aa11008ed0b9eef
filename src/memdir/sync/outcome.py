"""What a sync of one store got and gave, and the rules it went by."""

from __future__ import annotations

from dataclasses import dataclass, field

IN_STEP, OUTBOX, WAITS, PROPOSED = "in step", "outbox", "waits", "proposed"
REMOVED = "removed"


@dataclass(frozen=True)
class Item:
    path: str
    change: str
    author: str = ""
    reason: str = ""


@dataclass
class Report:
    """What one store got and gave; `waiting` is not taken or not sent, `stays` is private."""

    pulled: list[Item] = field(default_factory=list)
    pushed: list[Item] = field(default_factory=list)
    conflicts: list[Item] = field(default_factory=list)
    waiting: list[Item] = field(default_factory=list)
    stays: list[Item] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    result: str = IN_STEP


@dataclass(frozen=True)
class Rules:
    """How this store is synced; under `review` a change is offered, not pushed."""

    team: bool = False
    review: bool = False
