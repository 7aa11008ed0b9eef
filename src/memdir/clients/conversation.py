"""A conversation as memdir reads it, whichever client wrote it down.

On the way of hooks and agents that wait: no dataclasses, which bring `inspect` along.
"""

from __future__ import annotations

from typing import NamedTuple

PERSON, AGENT, TOOL = "person", "agent", "tool"  # who says something


class Said(NamedTuple):
    """One thing that was said; what a tool gave back is never somebody's own words.

    `id` is the client's own of the record, which several things may share; `time` is 0 where
    nobody knows; `tool` gave a TOOL's text; `wrote` are the files that an AGENT's calls wrote.
    """

    id: str
    who: str
    text: str
    time: float = 0.0
    tool: str = ""
    wrote: tuple[str, ...] = ()


class Cursor(NamedTuple):
    """How far a transcript was processed: its last record, and as a hint where that line ends."""

    id: str = ""
    offset: int = 0


class Stretch(NamedTuple):
    """What was said after a cursor, and the next cursor.

    Of `lines`, nobody can read the `broken` ones; `lost`: the cursor's record is gone, so
    everything was taken; `cut`: more was said than is read at once, and the oldest was left out.
    """

    said: tuple[Said, ...]
    cursor: Cursor
    session: str = ""
    cwd: str = ""
    broken: int = 0
    lines: int = 0
    lost: bool = False
    cut: bool = False

    @property
    def unreadable(self) -> bool:
        """True where not one line is what the client writes: another file, or another client's."""
        return 0 < self.lines == self.broken


class Session(NamedTuple):
    """A transcript that a client left behind; `cwd` is where it began, where that is known."""

    client: str
    id: str
    path: str
    modified: float
    size: int
    cwd: str = ""
