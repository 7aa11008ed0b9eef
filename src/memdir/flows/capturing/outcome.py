"""A conversation that should be looked at, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from memdir.core.accounts import HELD, SAVED, Entry
from memdir.core.capturing import Catch
from memdir.core.draft import RETIRED

CLIENT = "claude-code"
HANDED_OVER = "library"  # an agent handed the messages over itself: there is no transcript
NOTHING_NEW = "nothing new was said"
NOT_YET = "not this turn: capture.every"
WROTE = "the agent wrote memories itself"
NO_SIGNAL = "nothing worth keeping was said"
WAITS = "it waits for the model"
GONE = "the transcript is gone"
CUT = "so much was said that its oldest part was not read"
LOST = "the place up to which it was read is gone from the transcript: all of it was read again"


@dataclass(frozen=True)
class Request:
    """A conversation that should be looked at.

    `last` is a reply that may not be in the file yet; `turns` have ended since the last request;
    `ends`: it is looked at now, however few turns that were.
    """

    transcript: str
    session: str = ""
    client: str = CLIENT
    last: str = ""
    turns: int = 1
    ends: bool = True
    model: str | None = None  # None: the one of the settings; empty: none


@dataclass(frozen=True)
class Outcome:
    """What came of it; after `after` it is worth another try. `things` are by the ids of `decided`.

    `unreadable`: not one line of the transcript is what the client writes. `remarks` are what a
    person should know of how it was read.
    """

    decided: tuple[Entry, ...] = ()
    waiting: int = 0
    tokens: int = 0
    reason: str = ""
    after: float = 0.0
    things: Mapping[str, Catch] = field(default_factory=dict)
    unreadable: bool = False
    remarks: tuple[str, ...] = ()

    def of(self, what: str) -> list[Entry]:
        """What was decided in that way."""
        return [one for one in self.decided if one.what == what]

    @property
    def received(self) -> int:
        """Everything that was decided on, and what still waits."""
        return len(self.decided) + self.waiting


def report(decided: Sequence[Entry], most: int = 5) -> str:
    """One line for the user; empty where nothing happened."""
    done = [one for one in decided if one.what == SAVED]
    held = sum(one.what == HELD for one in decided)
    parts = [
        _named(verb, [one.name for one in done if (one.reason == RETIRED) is retired], most)
        for verb, retired in (("saved", False), (RETIRED, True))
    ]
    parts += [f"{held} held (memdir review)"] if held else []
    return "memdir: " + ", ".join(filter(None, parts)) if any(parts) else ""


def _named(verb: str, names: Sequence[str], most: int) -> str:
    if not names:
        return ""
    noun = "memory" if len(names) == 1 else "memories"
    told = ", ".join(names[:most]) + (", …" if len(names) > most else "")
    return f"{verb} {len(names)} {noun} ({told})"
