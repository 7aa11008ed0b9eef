"""When a store is due for consolidation, and what of it a CLAUDE.md contradicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from memdir.core.contradiction import Contradiction, find_contradictions

PAUSE = 24 * 3600  # seconds between two runs that nobody asked for
THROTTLE = 10 * 60  # seconds between two looks at how many sessions there were
SESSIONS = 5  # others than the one that asks, since the last run
CLAUDE_MD = "../CLAUDE.md"  # a path that no memory has
CONTRADICTS = "metadata.contradicts"  # in a header: where CLAUDE.md says otherwise


@dataclass(frozen=True)
class State:
    """What is known of earlier runs: the last one that was done, the last look, logs read so far.

    `logs` has the bytes of each log that were taken into account, `code` is the commit of the
    repository then: what was left in place is not judged again by the same code.
    """

    done: float = 0.0
    looked: float = 0.0
    logs: Mapping[str, int] = field(default_factory=dict)
    code: str = ""


@dataclass(frozen=True)
class Disputed:
    """A memory of which CLAUDE.md says otherwise; `older`: CLAUDE.md was written later."""

    path: str
    line: int
    says: str
    claude_line: int
    claude_says: str
    reason: str
    older: bool

    @property
    def mark(self) -> str:
        """What the header of the memory says about it."""
        return f"CLAUDE.md, line {self.claude_line}"


def not_yet(state: State, now: float) -> str:
    """Why it is too early even to look; empty where it is not. A clock set back counts as none."""
    if 0 <= now - state.done < PAUSE:
        return f"the last run was less than {PAUSE // 3600} hours ago"
    if 0 <= now - state.looked < THROTTLE:
        return f"somebody looked less than {THROTTLE // 60} minutes ago"
    return ""


def too_few(sessions: int) -> str:
    """Why so many sessions are not enough; empty where they are."""
    if sessions >= SESSIONS:
        return ""
    return f"{sessions} other sessions since the last run; {SESSIONS} are needed"


def find_disputed(
    texts: Mapping[str, str], claude_md: str, clocks: Mapping[str, float], written: float | None
) -> list[Disputed]:
    """What CLAUDE.md contradicts; where nobody knows when it was written, nothing is older."""
    if not claude_md.strip():
        return []
    found = []
    for one in find_contradictions({**texts, CLAUDE_MD: claude_md}):
        if CLAUDE_MD in (one.first, one.second):
            found.append(_disputed(one, clocks, written))
    return sorted(found, key=lambda one: one.path)


def _disputed(one: Contradiction, clocks: Mapping[str, float], written: float | None) -> Disputed:
    mine = (one.first, one.first_line, one.first_says)
    theirs = (one.second, one.second_line, one.second_says)
    if one.first == CLAUDE_MD:
        mine, theirs = theirs, mine
    clock = clocks.get(mine[0])
    older = clock is not None and written is not None and clock < written
    return Disputed(*mine, theirs[1], theirs[2], one.reason, older)
