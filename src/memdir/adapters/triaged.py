"""How far the conversation of a session was handed to its agent, so that it is handed over once.

A small file beside what the session was told; it outlives a compact, and goes with the others.
"""

from __future__ import annotations

import os

from memdir.adapters.sessions import Sessions
from memdir.core.transcript import Cursor

ENDING = ".triaged"
DIGITS = 15  # of an offset; more of them are not ours


class Triaged(Sessions):
    """The cursor of each session."""

    def cursor(self, session: str) -> Cursor | None:
        """Up to where it was handed over; None where nothing was."""
        id, _, offset = self._read(session, ENDING).strip().rpartition(" ")
        sound = id and offset.isdecimal() and len(offset) <= DIGITS
        return Cursor(id, int(offset)) if sound else None

    def keep(self, session: str, cursor: Cursor) -> bool:
        """Put it down, whole; False where that is impossible."""
        path = self._path(session) + ENDING
        part = f"{path}.{os.urandom(4).hex()}"
        if not self._append(part, f"{cursor.id} {cursor.offset}\n".encode()):
            return False
        try:
            os.replace(part, path)
        except OSError:
            return False
        return True
