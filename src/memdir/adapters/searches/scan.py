"""The search that needs no catalog: it reads the whole store when it is first asked."""

from memdir.adapters.searches._scanning import Scan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memdir.core.ports import Store

__all__ = ["Scan", "open_search"]


def open_search(store: "Store", folder: str) -> Scan:
    """The search of one store; it keeps nothing in `folder`."""
    return Scan(store)
