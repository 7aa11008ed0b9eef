"""The structured records of a project, among what a prompt brings back. Hot path."""

import os

from memdir.hot.memory import RECORD_SETTINGS
from memdir.hot.place import RECORDS, store_key
from memdir.hot.recall import Place
from memdir.records import fields
from memdir.records.light import LightRecords, read_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from memdir.hot.place import Here
    from memdir.hot.recall import Found, Recollection
    from memdir.store.ports import Search, Store

    Open = Callable[[Store, str, Here], Search]

MAX_SETTINGS_BYTES = 1 << 20
DEFAULT_INJECTED, MAX_INJECTED = 5, 20  # records for one prompt


def records_place(root: str, here: "Here", open_search: "Open") -> tuple[Place, str, int]:
    """Their place, where its catalog lies, and how many may be told at a prompt."""
    limit, switched_off = _read_settings(root)
    # As the store is named elsewhere: Markdown memories may lie in the same directory.
    key = store_key(f"{os.path.realpath(root)}#{RECORDS}")
    folder = os.path.join(here.cache, "stores", key)
    store = LightRecords(root, here.max_file_bytes)
    search = open_search(store, folder, here)
    if switched_off:
        search = _SearchWithout(search, switched_off)
    return Place(RECORDS, store, search), folder, limit


def at_most(recollection: "Recollection", limit: int) -> None:
    """Leave the best records, so many; what is told of other memories stays as it is."""
    for hits in (recollection.bodies, recollection.pointers):
        kept = []
        for hit in hits:
            if hit.scope == RECORDS:
                limit -= 1
                if limit < 0:
                    continue
            kept.append(hit)
        hits[:] = kept


class _SearchWithout:
    """A search that leaves out what lies in some folders."""

    def __init__(self, search: "Search", folders: frozenset[str]) -> None:
        self.search = search
        self.folders = folders

    def find(self, prompt: str, limit: int) -> "Found":
        """As if those records were not there."""
        result = self.search.find(prompt, limit + len(self.folders) * limit)
        hits = [it for it in result.hits if it.memory.path.partition("/")[0] not in self.folders]
        result.hits = hits[:limit]
        return result


def _read_settings(root: str) -> tuple[int, frozenset[str]]:
    """How many records are told, and the folders of the types that are switched off."""
    try:
        handle = os.open(f"{root}/{RECORD_SETTINGS}", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            data = os.read(handle, MAX_SETTINGS_BYTES + 1)
        finally:
            os.close(handle)
    except OSError:
        data = b""
    settings = read_json(data) if len(data) <= MAX_SETTINGS_BYTES else {}
    retrieval, categories = settings.get("retrieval"), settings.get("categories")
    limit = retrieval.get("max_inject") if isinstance(retrieval, dict) else None
    limit = min(max(limit, 0), MAX_INJECTED) if type(limit) is int else DEFAULT_INJECTED
    off = [
        fields.type_named(name)
        for name, own in (categories.items() if isinstance(categories, dict) else ())
        if isinstance(own, dict) and own.get("enabled") is False
    ]
    return limit, frozenset(fields.FOLDERS[type] for type in off if type)
