"""The structured records of a project, among what a prompt brings back. Hot path."""

import os

from memdir.hot import run
from memdir.hot.disk import read_start
from memdir.hot.memory import RECORD_SETTINGS
from memdir.hot.place import RECORDS, store_key
from memdir.hot.recall import Place
from memdir.records import fields
from memdir.records.light import LightRecords

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from memdir.hot.place import Here
    from memdir.hot.recall import Found, Recollection
    from memdir.store.ports import Search, Store

    Open = Callable[[Store, str, Here], Search]

SETTINGS_BYTES = 1 << 20
INJECTED, MOST_INJECTED = 5, 20  # records for one prompt: without a word in the settings, at most
BOM = b"\xef\xbb\xbf"


def records_place(root: str, here: "Here", open_search: "Open") -> tuple[Place, str, int]:
    """Their place, where its catalog lies, and how many may be told at a prompt."""
    wishes = read_wishes(root)
    # As `app` names it: Markdown memories may lie in the same directory.
    key = store_key(f"{os.path.realpath(root)}#{RECORDS}")
    folder = os.path.join(here.cache, "stores", key)
    store = LightRecords(root, here.most_bytes, read_json)
    search = wishes.wanted(open_search(store, folder, here))
    return Place(RECORDS, store, search), folder, wishes.most


def at_most(found: "Recollection", most: int) -> None:
    """Leave the best records, so many; what is told of other memories stays as it is."""
    for given in (found.bodies, found.pointers):
        kept = []
        for one in given:
            if one.scope == RECORDS:
                most -= 1
                if most < 0:
                    continue
            kept.append(one)
        given[:] = kept


class Wishes:
    """What the settings of records say about a prompt: how many, and which types not."""

    __slots__ = ("most", "off")

    def __init__(self, most: int, off: frozenset[str]) -> None:
        self.most = most
        self.off = off

    def wanted(self, search: "Search") -> "Search":
        """The search, without the types that are switched off."""
        return _Without(search, self.off) if self.off else search


class _Without:
    """A search that leaves out what lies in some folders."""

    def __init__(self, search: "Search", folders: "Iterable[str]") -> None:
        self.search = search
        self.folders = frozenset(folders)

    def find(self, prompt: str, limit: int) -> "Found":
        """As if those records were not there."""
        found = self.search.find(prompt, limit + len(self.folders) * limit)
        kept = [one for one in found.hits if one.memory.path.partition("/")[0] not in self.folders]
        found.hits = kept[:limit]
        return found


def read_wishes(root: str) -> Wishes:
    """What memory-config.json says; one that is missing or broken leaves the defaults."""
    try:
        data = read_start(f"{root}/{RECORD_SETTINGS}", SETTINGS_BYTES + 1, follow=False)[0]
    except (OSError, ValueError):
        data = b""
    settings = read_json(data) if len(data) <= SETTINGS_BYTES else {}
    retrieval, categories = settings.get("retrieval"), settings.get("categories")
    most = retrieval.get("max_inject") if isinstance(retrieval, dict) else None
    off = set()
    for name, switches in categories.items() if isinstance(categories, dict) else ():
        type_name = fields.type_named(name)
        if type_name and isinstance(switches, dict) and switches.get("enabled") is False:
            off.add(fields.FOLDERS[type_name])
    limit = min(max(most, 0), MOST_INJECTED) if type(most) is int else INJECTED
    return Wishes(limit, frozenset(off))


def read_json(data: bytes) -> "fields.Record":
    """The object in a file; an empty one where there is none."""
    try:
        value = run.read_json(data.removeprefix(BOM))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
