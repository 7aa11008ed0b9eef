"""The structured records of a project, among what a prompt brings back. Hot path.

SQLite reads their JSON, as it does for events.
"""

import os

from memdir.hot.catalog import SqlError, connect
from memdir.hot.memory import RECORD_SETTINGS
from memdir.hot.place import RECORDS, store_key
from memdir.hot.recall import Place
from memdir.hot.run import NUL, SPACE
from memdir.records import fields
from memdir.records.light import LightRecords

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from memdir.hot.place import Here
    from memdir.hot.recall import Found, Recollection
    from memdir.store.ports import Search, Store

    Open = Callable[[Store, str, Here], Search]

SETTINGS_BYTES = 1 << 20
INJECTED, MOST_INJECTED = 5, 20  # records for one prompt: without a word in the settings, at most
BOM = b"\xef\xbb\xbf"
ROWS = "SELECT key, type, atom, id, parent FROM json_tree(?) ORDER BY id"
WISHES = "SELECT json_type(?1, ?2), json_extract(?1, ?2)"
SWITCHES = (
    "SELECT key, json_extract(value, '$.enabled') FROM json_each(?1, '$.categories') "
    "WHERE type = 'object' AND json_type(value, '$.enabled') = 'false'"
)


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
        handle = os.open(f"{root}/{RECORD_SETTINGS}", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            data = os.read(handle, SETTINGS_BYTES + 1)
        finally:
            os.close(handle)
        text = data.removeprefix(BOM).decode()
        return _read_wishes(text) if len(data) <= SETTINGS_BYTES else Wishes(INJECTED, frozenset())
    except (OSError, ValueError, SqlError):
        return Wishes(INJECTED, frozenset())


def _read_wishes(text: str) -> Wishes:
    database = connect(":memory:")
    if "\0" in text or database.execute("SELECT json_valid(?)", (text,)).fetchone() != (1,):
        return Wishes(INJECTED, frozenset())
    kind, value = database.execute(WISHES, (text, "$.retrieval.max_inject")).fetchone()
    most = min(max(int(value), 0), MOST_INJECTED) if kind == "integer" else INJECTED
    named = [fields.type_named(key) for key, _ in database.execute(SWITCHES, (text,))]
    return Wishes(most, frozenset(fields.FOLDERS[type] for type in named if type))


def read_json(data: bytes) -> "fields.Record":
    """The object in a file; an empty one where there is none."""
    # To SQLite a text ends at a zero.
    text = data.removeprefix(BOM).replace(NUL, SPACE).decode("utf-8", "replace")
    values: dict[int, Any] = {}
    try:
        database = connect(":memory:")
        for key, kind, atom, id, parent in database.execute(ROWS, (text,)):
            value = _value(kind, atom)
            values[id] = value
            above = values.get(parent)
            if isinstance(above, dict):
                above[key] = value
            elif isinstance(above, list):
                above.append(value)
    except (SqlError, UnicodeDecodeError):  # half a character, or no JSON at all
        return {}
    first = next(iter(values.values()), None)
    return first if isinstance(first, dict) else {}


def _value(kind: str, atom: object) -> object:
    if kind == "object":
        return {}
    if kind == "array":
        return []
    return bool(atom) if kind in ("true", "false") else atom
