"""No history: switched off. Versions that are overwritten go to the trash instead."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from memdir.core.errors import MemdirError
from memdir.core.history import Cause, Logged

if TYPE_CHECKING:
    from memdir.core.ports import Store


class NoHistory:
    """Keeps nothing and says so when asked."""

    on = False
    begun = False

    def catch_up(self, store: Store) -> list[str]:
        """Nothing to catch up with."""
        return []

    def announce(self, store: Store, cause: Cause) -> None:
        """Nobody to tell."""

    def unseen(self, store: Store) -> list[str]:
        """There is nothing to compare with."""
        return []

    def keeps(self, store: Store, path: str) -> bool:
        """Nothing is kept here."""
        return False

    def expect(self, path: str, data: bytes | None) -> None:
        """Nobody to tell."""

    def record(self, store: Store, cause: Cause, written: Mapping[str, bytes | None]) -> str:
        """Nothing is kept; what a killed writer left is swept up all the same."""
        store.sweep()
        return ""

    def log(self) -> Iterator[Logged]:
        """There is no past to tell of."""
        raise _off()

    def find(self, text: str) -> Logged:
        """There is no change to find."""
        raise _off()

    def content(self, oid: str, path: str) -> bytes | None:
        """There are no versions."""
        raise _off()

    def paths(self, oid: str) -> dict[str, str]:
        """There are no versions."""
        raise _off()

    def check(self, enough: Callable[[], bool]) -> tuple[int, bool]:
        """There is nothing to look at."""
        raise _off()

    def set_aside(self) -> str:
        """There is nothing that could be damaged."""
        raise _off()


def _off() -> MemdirError:
    return MemdirError(
        "the history is switched off, so there is nothing to show or undo",
        next="remove `enabled = false` under [history] in config.toml, or unset MEMDIR_HISTORY",
    )


def open_history(folder: str, now: Callable[[], float]) -> NoHistory:
    """The same call as for the other members."""
    return NoHistory()
