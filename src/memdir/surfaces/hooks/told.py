"""A store of a hook as an agent is told of it: of others only what was accepted. Hot path."""

import os

from memdir.core.acceptance import origin_of
from memdir.core.store_key import store_key
from memdir.surfaces.hooks.place import SHARED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memdir.adapters.wrappers.acceptance import AcceptanceView
    from memdir.core.ports import Store
    from memdir.surfaces.hooks.place import Here


def view_of(scope: str, store: "Store", here: "Here") -> "AcceptanceView | None":
    """The store without what waits; None where it is the user's own, as nearly all are."""
    origin = origin_of(scope, store.root, here.checkout, SHARED in here.holds)
    if not origin:
        return None
    from memdir.adapters.acceptance import open_acceptance
    from memdir.adapters.wrappers.acceptance import AcceptanceView

    return AcceptanceView(store, open_acceptance(state_folder(store, here), origin, store))


def state_folder(store: "Store", here: "Here") -> str:
    """As `app` names it."""
    real = os.path.realpath(store.root)
    key = store_key(real if store.layout == "markdown" else f"{real}#{store.layout}")
    return os.path.join(here.state, "stores", key)
