"""Who may come in over HTTP: whoever can read one file that only its owner can read."""

from __future__ import annotations

import hmac
import os
import secrets
import stat
import time
from collections.abc import Callable

from memdir.adapters.disk import Disk
from memdir.core.errors import BadInput, MemdirError

NAME = "mcp-token"
BYTES = 32  # of chance
SHORTEST, LONGEST = 32, 200  # characters of one that the user wrote
WRONG, SECONDS = 20, 60.0  # so many wrong tokens in so long, and the next are not even compared
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MAKE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Token:
    """The token as the file has it now: without the file nobody comes in any more."""

    def __init__(self, folder: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.path = os.path.join(folder, NAME)
        self._clock = clock
        self._wrong: list[float] = []

    def make(self) -> str:
        """A new token where there is none yet; empty where there is one."""
        if os.path.lexists(self.path):
            self.read()
            return ""
        Disk(os.path.dirname(self.path)).make_root()
        token = secrets.token_urlsafe(BYTES)
        with open(os.open(self.path, _MAKE, 0o600), "w", encoding="ascii") as file:
            file.write(token + "\n")
        return token

    def read(self) -> str:
        """The token; refused where others could have read or chosen it."""
        try:
            handle = os.open(self.path, _READ)
        except OSError as error:
            raise self._unfit(os.strerror(error.errno or 0)) from None
        try:
            facts = os.fstat(handle)
            if not stat.S_ISREG(facts.st_mode) or facts.st_uid != os.getuid():
                raise self._unfit("it is not a file of yours")
            if facts.st_mode & 0o077:
                raise self._unfit("others may read or write it")
            text = os.read(handle, LONGEST + 2).decode("ascii", "replace").strip()
        finally:
            os.close(handle)
        if not SHORTEST <= len(text) <= LONGEST or not text.isprintable() or " " in text:
            raise self._unfit(f"it does not hold {SHORTEST} to {LONGEST} plain characters")
        return text

    def admits(self, given: str) -> bool:
        """Is this the token? Compared in the same time whatever it is."""
        try:
            own = self.read()
        except MemdirError:
            return False
        right = hmac.compare_digest(given.encode("utf-8", "replace"), own.encode())
        if not right:
            self._wrong = [*self._wrong[-WRONG:], self._clock()]
        return right

    @property
    def besieged(self) -> bool:
        """True while somebody is trying one token after another."""
        newest = self._wrong[-WRONG:]
        return len(newest) == WRONG and self._clock() - newest[0] < SECONDS

    def _unfit(self, why: str) -> BadInput:
        return BadInput(
            f"the token cannot be used: {why}",
            path=self.path,
            next=f"remove {self.path}; the next start makes a new one",
        )
