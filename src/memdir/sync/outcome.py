"""What a sync of one store got and gave, and the rules it went by."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random

from memdir.store.writer import App
from memdir.sync.transport import Author

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
    """How this store is synced; `came` is told what others wrote, before agents may see it."""

    team: bool = False
    review: bool = False
    came: Callable[[App, Mapping[str, tuple[bytes, Author, float]]], None] = lambda app, files: None
    pause: Callable[[float], None] = time.sleep
    chance: Random = field(default_factory=Random)
