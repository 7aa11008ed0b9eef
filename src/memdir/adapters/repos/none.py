"""No repository: nothing can be looked up, and that is said."""

from __future__ import annotations

from collections.abc import Callable

from memdir.core.claim import Seen, Wanted


class NoRepo:
    """Knows nothing, so every claim stays unknown."""

    def __init__(self, reason: str) -> None:
        self.root = ""
        self._reason = reason

    def state(self) -> str:
        """No state: nothing to compare with."""
        return ""

    def look(self, wanted: Wanted, say: Callable[[str], None] = lambda _: None) -> Seen:
        """Nothing, with the reason."""
        return Seen(remarks=(self._reason,))


def open_repo(root: str, cache_dir: str) -> NoRepo:
    """The repository that is not there."""
    return NoRepo(f"{root or 'the project'} is no git repository: claims were not checked")
