"""The prompt hook: the memories that fit what the user asks. Hot path."""

import os
from time import time

from memdir.hot.acceptance import view_of
from memdir.hot.catalog import open_search
from memdir.hot.inject import Sessions, inject_once
from memdir.hot.layout import Markdown
from memdir.hot.place import SCAN, store_key
from memdir.hot.recall import Place, recall
from memdir.hot.verdicts import Verdicts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memdir.hot.inject import Recalled
    from memdir.hot.place import Here
    from memdir.hot.run import Event, Work
    from memdir.store.ports import Search, Store

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
        from memdir.hot.run import PAUSE_SECONDS, STAMP

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
        from memdir.records.hook import records_place

        place, folder, most = records_place(root, here, _search)
        if most:
            places.append(_told_place(place, here))
            caches[place.scope] = folder
    sessions = Sessions(here.state)
    found = recall(places, asked.prompt, sessions.load(asked.session))
    if root:
        from memdir.records.hook import at_most

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
    from memdir.store.accepted import AcceptanceSearch

    return Place(place.scope, view, AcceptanceSearch(place.search, view), view.source)


def _search(store: "Store", folder: str, here: "Here") -> "Search":
    """By the catalog, or as the user's configuration says."""
    if SCAN in here.holds:
        from memdir.recall import scan

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
