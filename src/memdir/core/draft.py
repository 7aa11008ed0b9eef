"""A draft (not yet saved) and a change (what a save did)."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

CREATED, UPDATED, SKIPPED = "created", "updated", "skipped"
RETIRED, ARCHIVED, RESTORED, PURGED = "retired", "archived", "restored", "purged"
UNDONE, REBUILT = "undone", "rebuilt"
HELD = "held"  # waits for a person: see core.held
ANYWAY, ALLOW_SECRET = "--anyway", "--allow-secret"  # options to insist with
BY_HAND = "cli"  # the source of what a person saves themselves


@dataclass(frozen=True)
class Draft:
    """What somebody wants remembered; `expected` is the hash of the version they have read."""

    body: str
    type: str = "unknown"
    name: str = ""
    description: str = ""
    why: str = ""
    how: str = ""
    pinned: bool = False
    source: str = BY_HAND
    day: datetime.date | None = None
    expected: str | None = None
    extra: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Wishes:
    """What the person saving insists on, although the rules advise against it.

    `offered` are the options they could insist with: a refusal names no others.
    """

    anyway: bool = False
    secret: bool = False
    offered: tuple[str, ...] = ()


@dataclass(frozen=True)
class Change:
    """What happened to one memory; `remarks` are things the person should know about it."""

    kind: str
    name: str
    path: str
    hash: str = ""
    reason: str = ""
    remarks: tuple[str, ...] = ()

    @property
    def changed(self) -> bool:
        """False when nothing was written."""
        return self.kind != SKIPPED
