"""A check: one thing that must hold for memory to work, and what to do where it does not."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """What was looked at, whether it is well, what was seen, and the way to mend it."""

    name: str
    ok: bool
    message: str
    fix: str = ""


@dataclass(frozen=True)
class Folder:
    """A directory that memdir writes to; `mode` is 0 where it does not exist yet."""

    path: str
    exists: bool
    directory: bool
    writable: bool
    mode: int
    free_bytes: int


@dataclass(frozen=True)
class Machine:
    """What matters of the machine; `git` is empty where there is none."""

    python: str
    git: str
    store: Folder
    state: Folder
