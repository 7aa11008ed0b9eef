"""Word of a change under way, for the case that its writer is killed."""

from __future__ import annotations

import json
import os

from memdir.core.history import OUTSIDE, Cause


class Announcement:
    """Word of a change under way: its cause, then the id of each file's bytes. Not durable."""

    def __init__(self, path: str) -> None:
        self.path = path

    def begin(self, cause: Cause) -> None:
        """Start anew with the cause of a change."""
        self.remove()
        self._write({**cause.__dict__, "undoes": list(cause.undoes)})

    def add(self, path: str, oid: str) -> None:
        """Add a file that is about to be written."""
        self._write([path, oid])

    def mark(self) -> None:
        """Be there while anything is written, also where there is no change to tell of."""
        if not self.left_behind():
            self._write([])

    def left_behind(self) -> bool:
        """True when a writer was killed before it could record its change."""
        return os.path.exists(self.path)

    def read(self) -> tuple[Cause, dict[str, str]]:
        """The cause and the files of the change that was announced; damaged, it says nothing."""
        try:
            handle = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
            with open(handle, encoding="ascii") as file:
                facts, *rows = [json.loads(line) for line in file]
            cause = Cause(**{**facts, "undoes": tuple(facts["undoes"])})
            return cause, {str(path): str(oid) for path, oid in rows}
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return Cause(OUTSIDE), {}

    def remove(self) -> None:
        """The change is recorded: nothing needs to be said about it any more."""
        try:
            os.unlink(self.path)
        except OSError:
            return  # it names bytes; what does not match them is never taken for ours

    def _write(self, value: object) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK | os.O_NOFOLLOW
        try:
            handle = os.open(self.path, flags | os.O_CLOEXEC, 0o600)
            try:
                os.write(handle, json.dumps(value).encode("ascii") + b"\n")
            finally:
                os.close(handle)
        except OSError:
            return  # then that change would be called `outside`; its bytes are kept all the same
