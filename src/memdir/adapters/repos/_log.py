"""Which commits a log has to read again when the newest one is another than the last time."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

from memdir.adapters.repos._process import Git

MOST_DROPPED = 20_000  # commits that the old state had and the new one has not
SHORT = 7  # letters of a commit's id that people read
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
    return oid.decode("ascii", "replace"), int(seconds) if seconds.isdigit() else 0
