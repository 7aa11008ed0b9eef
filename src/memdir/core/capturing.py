"""What capture notices in a conversation, and what it makes of it."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

from memdir.core.draft import Draft
from memdir.core.transcript import Said

# What a person asks for: a rule ("from now on …", "never …") is held until they agree.
REMEMBER, FORGET, RULE = "remember", "forget", "rule"
ASKED_FOR = (REMEMBER, FORGET)


@dataclass(frozen=True)
class Signal:
    """A place in a conversation that may be worth a memory: `quote` are the words themselves."""

    kind: str
    quote: str
    said: Said
    type: str = "unknown"
    doubtful: bool = False  # somebody else may have written it

    @property
    def asked_for(self) -> bool:
        """True where somebody said that it is to be remembered, or forgotten."""
        return self.kind in ASKED_FOR


@dataclass(frozen=True)
class Origin:
    """Where a draft comes from: `who` said what it rests on, and the words, cut short."""

    client: str = ""
    session: str = ""
    message: str = ""
    who: str = ""
    tool: str = ""
    quote: str = ""


@dataclass(frozen=True)
class Catch:
    """What is to become of one thing that capture came to.

    `forget` is what a person wants forgotten, and then there is no draft. `hold` is why a person
    must agree first; empty where it may be saved at once. `refuse` is why it must not be written
    down anywhere: then it carries no text.
    """

    origin: Origin
    draft: Draft | None = None
    forget: str = ""
    hold: str = ""
    refuse: str = ""


def day_of(said: Said | None) -> datetime.date | None:
    """The user's day on which something was said, where that is known."""
    if said is None or not said.time:
        return None
    try:
        return datetime.datetime.fromtimestamp(said.time).astimezone().date()
    except (ValueError, OverflowError, OSError):
        return None
