"""The search that needs no catalog: it reads the whole store each time it is asked."""

from memdir.adapters.searches._scanning import Scan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memdir.core.hit import Found
    from memdir.core.ports import Store

__all__ = ["Scan", "open_search"]


class Fresh:
    """Forgets what it has read; `Scan` is the one to ask many things of a store that rests."""

    def __init__(self, store: "Store") -> None:
        self.store = store

    def find(self, prompt: str, limit: int) -> "Found":
        """The memories that fit, best first."""
        return Scan(self.store).find(prompt, limit)


def open_search(store: "Store", folder: str) -> Fresh:
    """The search of one store; it keeps nothing in `folder`."""
    return Fresh(store)
