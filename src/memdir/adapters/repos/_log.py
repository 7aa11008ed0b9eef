"""Which commits a log has to read again when the newest one is another than the last time."""

from __future__ import annotations

import datetime
import json
import re
from dataclasses import dataclass

from memdir.adapters.repos._process import Git

MOST_DROPPED = 20_000  # commits that the old state had and the new one has not
SHORT = 7  # letters of a commit's id that people read
COMMIT = re.compile(r"[0-9a-f]{40,64}")
MOST_DIGITS = 15  # of a second
# Every log: no merges (each side was read), nothing of the settings, nothing that runs a program.
LOG = (
    *("log", "--no-merges", "--no-color", "--no-ext-diff", "--no-textconv", "--no-decorate"),
    *("--no-notes", "--no-show-signature", "--no-mailmap", "--ignore-submodules=all"),
    "--format=%x01%H %ct",
)


@dataclass(frozen=True)
class Move:
    """From the state of the cache to that of now: commits to forget, and those to read."""

    dropped: frozenset[str]
    revisions: tuple[str, ...]
    afresh: bool = False


def move(git: Git, old: str, new: str) -> Move:
    """What leads from one commit to the other; everything afresh if the old one is gone."""
    if old == new:
        return Move(frozenset(), ())
    out, ended = git.ask("rev-list", f"--max-count={MOST_DROPPED}", old, f"^{new}", "--")
    dropped = frozenset(out.decode("ascii", "replace").split())
    if not old or not ended.whole or len(dropped) == MOST_DROPPED:
        return Move(frozenset(), (new,), afresh=True)
    return Move(dropped, (new, f"^{old}"))


def day(seconds: int) -> str:
    """A commit's date; one that no calendar has is none."""
    try:
        return datetime.datetime.fromtimestamp(seconds, datetime.UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return ""


def numbered(header: bytes) -> tuple[str, int]:
    """The commit and the second of a line that `LOG` begins a commit with."""
    oid, _, seconds = header.strip(b"\x01\n").partition(b" ")
    is_number = seconds.isdigit() and len(seconds) <= MOST_DIGITS
    return oid.decode("ascii", "replace"), int(seconds) if is_number else 0


def read_head(part: bytes) -> tuple[str, str, list[tuple[str, int]]]:
    """The commit, the floor and the commits of a cache; ValueError for what was never written."""
    commit, floor, commits = json.loads(part)
    if not isinstance(floor, str) or not is_commit(commit):
        raise ValueError("no head of a cache")
    read = [(oid, seconds) for oid, seconds in commits]
    if not all(type(seconds) is int and COMMIT.fullmatch(oid) for oid, seconds in read):
        raise ValueError("no commits of a cache")
    return commit, floor, read


def is_commit(value: object) -> bool:
    """True for a whole id, and for none: what reaches a command line is nothing else."""
    return isinstance(value, str) and (not value or bool(COMMIT.fullmatch(value)))
