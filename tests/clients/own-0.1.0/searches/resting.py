"""A search of your own: copy this file to ~/.config/memdir/searches/.

Set recall.search = "resting". For an agent that runs for hours beside memories that seldom change:
it reads the store once, keeps the words in memory, and reads again when a file has changed.
"""

from memdir.adapters.searches.scan import Scan
from memdir.core.hit import Found
from memdir.core.ports import Store


class Resting:
    """A scan that is kept while the store rests."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.seen: dict[str, tuple[int, ...]] | None = None
        self.scan = Scan(store)

    def find(self, prompt: str, limit: int) -> Found:
        """The memories that fit, best first."""
        tree = self.store.tree()
        if tree != self.seen:
            self.scan, self.seen = Scan(self.store), tree
        return self.scan.find(prompt, limit)


def open_search(store: Store, folder: str) -> Resting:
    """The search of one store; `folder` is where it could keep a catalog."""
    return Resting(store)
