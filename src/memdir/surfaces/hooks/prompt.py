"""The prompt hook: the memories that fit what the user asks. Hot path."""

import os
from time import time

from memdir.adapters.layouts.markdown import Markdown
from memdir.adapters.searches.fts import open_search
from memdir.adapters.sessions import Sessions
from memdir.adapters.verdicts import Verdicts
from memdir.core.store_key import store_key
from memdir.steps.inject import inject_once
from memdir.steps.recall import Place, recall
from memdir.surfaces.hooks.place import SCAN
from memdir.surfaces.hooks.told import view_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memdir.core.injection import Recalled
    from memdir.core.ports import Search, Store
    from memdir.surfaces.hooks.detached import Work
    from memdir.surfaces.hooks.event import Event
    from memdir.surfaces.hooks.place import Here

NAME = "UserPromptSubmit"
USER = "user"
NOTICE = "<task-notification>"  # the client says that a task has ended; nobody asked anything
NONCE_BYTES = 4


def answer(event: str, asked: "Event", here: "Here") -> "tuple[str, Work | None]":
    """What the agent is told, and the work that was found to be left."""
    if not asked.prompt or asked.prompt.lstrip().startswith(NOTICE):
        return "", None
    text, lacking = _told(asked, here)
    work = None
    if lacking:  # for the next prompts; this one does not wait
        from memdir.surfaces.hooks.detached import PAUSE_SECONDS, STAMP

        work = lacking[0].folder + STAMP, lacking[0].root, PAUSE_SECONDS
    return asked.context(NAME, text) if text else "", work


def _told(asked: "Event", here: "Here") -> tuple[str, list[Verdicts]]:
    """recall → verify → inject, as `flows.recall` does, without what the hot path cannot afford."""
    places, caches = [], {}
    for scope, root in here.stores():
        store = Markdown(root, here.most_bytes)
        folder = os.path.join(here.cache, "stores", store_key(os.path.realpath(root)))
        places.append(_told_place(Place(scope, store, _search(store, folder, here)), here))
        caches[scope] = folder
    root, most = here.records(), 0
    if root:  # nearly no project has any: what reads them is imported where there are some
        from memdir.surfaces.hooks.recorded import records_place

        place, folder, most = records_place(root, here, _search)
        if most:
            places.append(_told_place(place, here))
            caches[place.scope] = folder
    sessions = Sessions(here.state)
    found = recall(places, asked.prompt, sessions.load(asked.session))
    if root:
        from memdir.surfaces.hooks.recorded import at_most

        at_most(found, most)
    lacking = _verify(found.bodies, here.checkout, caches)
    nonce = os.urandom(NONCE_BYTES).hex()
    told = found.bodies, found.pointers
    injected = inject_once(*told, sessions, asked.session, now=time(), nonce=nonce)
    return injected.text, lacking if injected.text else []


def _told_place(place: Place, here: "Here") -> Place:
    """The place without what its repository or team brought and nobody has accepted."""
    view = view_of(place.scope, place.store, here)
    if view is None:
        return place
    from memdir.adapters.wrappers.acceptance import AcceptanceSearch

    return Place(place.scope, view, AcceptanceSearch(place.search, view), view.source)


def _search(store: "Store", folder: str, here: "Here") -> "Search":
    """By the catalog, or as the user's configuration says."""
    if SCAN in here.holds:
        from memdir.adapters.searches import scan

        return scan.open_search(store, folder)
    return open_search(store, folder)


def _verify(bodies: "list[Recalled]", code: str, caches: dict[str, str]) -> list[Verdicts]:
    """Let them say which claims hold now; the verdicts that some of them lack."""
    lacking = []
    for scope, folder in caches.items():
        some = [one for one in bodies if one.scope == scope]
        if code and some and scope != USER:  # a user's memories speak of no one repository
            verdicts = Verdicts(folder, code)
            lacking += [verdicts] if verdicts.tell(some) else []
    return lacking
