"""How far capture came in a conversation, and what it is about to do."""

from __future__ import annotations

from dataclasses import dataclass, field

from memdir.core.capturing import Catch
from memdir.core.transcript import Cursor

# Seconds until a model that failed is asked again; the last one holds from then on.
PAUSES = (60, 300, 900, 3600, 6 * 3600, 24 * 3600)
LONGEST_PAUSE = 2 * 24 * 3600  # seconds; more is the mark of a clock that was ahead
PATIENCE = 7  # failures after which a conversation is captured without the model


@dataclass(frozen=True)
class Done:
    """What was asked for and done at once, while the rest waits for a model."""

    message: str
    quote: str
    name: str = ""


@dataclass(frozen=True)
class Progress:
    """One conversation of one store.

    `size` is that of the transcript when it was read last, -1 before; `turns` ended since; after
    `failures` of a model nothing is tried before `after`, for the reason `why`, as long as model
    and limits are those of `asked`.
    """

    session: str
    client: str = ""
    path: str = ""
    cursor: Cursor = field(default_factory=Cursor)
    size: int = -1
    turns: int = 0
    failures: int = 0
    after: float = 0.0
    time: float = 0.0
    done: tuple[Done, ...] = ()
    asked: str = ""
    why: str = ""


@dataclass(frozen=True)
class Item:
    """One thing to be decided; `target` is the path of what a person wants gone.

    `refuse` is why it must not be saved at all: then its text is not written down either.
    """

    id: str
    catch: Catch
    target: str = ""
    refuse: str = ""


@dataclass(frozen=True)
class Plan:
    """What one run is to do, written down before it does anything of it.

    `dropped` are things that waited and came to nothing. `progress` holds when all is done.
    """

    batch: str
    progress: Progress
    items: tuple[Item, ...] = ()
    waits: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    reason: str = ""


def pause(failures: int) -> int:
    """Seconds to wait after so many failures in a row."""
    return PAUSES[min(max(failures, 1), len(PAUSES)) - 1]


def is_due(after: float, now: float) -> bool:
    """False while something has to wait; a moment too far away was set by a clock gone wrong."""
    return not now < after <= now + LONGEST_PAUSE
