"""The folders of records as the prompt hook reads them. Hot path: no `re`, no `json`.

`folders.Records` reads and checks everything, and serves the rare cases here.
"""

import os

from memdir.hot.disk import read_start, unreadable_file
from memdir.hot.layout import RecordFolders, too_big
from memdir.hot.memory import RECORD_FOLDERS, RECORD_SETTINGS, encode, is_record_file
from memdir.hot.place import RECORDS, store_key
from memdir.hot.recall import Place
from memdir.hot.run import read_hook_json
from memdir.records import fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from memdir.errors import Finding
    from memdir.hot.layout import Scan
    from memdir.hot.place import Here
    from memdir.hot.recall import Found, Recollection
    from memdir.records.folders import Records
    from memdir.store.ports import Search, Store

    Open = Callable[[Store, str, Here], Search]
    RecordFile = tuple[str, bytes, os.stat_result]  # relative path, content, stat

MAX_SETTINGS_BYTES = 1 << 20
DEFAULT_INJECTED, MAX_INJECTED = 5, 20  # records per prompt
_BOM = b"\xef\xbb\xbf"


class LightRecords(RecordFolders):
    """The part of `Records` that a search with a catalog needs.

    The catalog has seen the version that is read here, so it is not checked again.
    """

    def view(self, path: str, data: bytes | None = None) -> bytes:
        record = _read_object(self.read(path) if data is None else data)
        known = record.get("category")
        if known not in fields.TYPES:
            record["category"] = fields.record_type_named(known) or fields.record_type_at(path)
        title = record.get("title")
        sound = isinstance(title, str) and title.strip() and isinstance(record.get("content"), dict)
        if not sound or not fields.is_active_record(record):
            from memdir.errors import Missing

            raise Missing(f"{path} is no active record", path=path, next="memdir records status")
        return encode(fields.render_record(record).encode("utf-8", "replace").decode())

    def scan(self) -> "Scan":
        return self._whole().scan()

    def files(self) -> list[str]:
        return self._whole().files()

    def index(self) -> bytes | None:
        return self._whole().index()

    def sweep(self) -> None:
        self.disk.sweep(RECORD_FOLDERS.__contains__)

    def record_files(self, findings: "list[Finding]") -> "Iterator[RecordFile]":
        from memdir.errors import Finding

        def special(path: str, kind: str) -> None:
            fix = "put the file itself there; memdir neither reads nor writes through it"
            findings.append(Finding("special-file", path, f"{path} is {kind}; skipped", fix))

        def enter(path: str) -> bool:
            if is_record_file(path):
                special(path, "a directory")
            return path in RECORD_FOLDERS

        for _, path, entry in self.disk.walk(enter, findings):
            if not entry.is_file(follow_symlinks=False):
                if is_record_file(path) or path in RECORD_FOLDERS:
                    special(path, "a symbolic link" if entry.is_symlink() else "a special file")
                continue
            if path == RECORD_SETTINGS or not is_record_file(path):
                continue
            try:
                data, facts = self.disk.read(path, self.max_file_bytes + 1)
            except FileNotFoundError:
                continue  # renamed or deleted since the folder was read
            except OSError as error:
                findings.append(unreadable_file(path, error))
                continue
            if len(data) <= self.max_file_bytes:
                yield path, data, facts
                continue
            findings.append(too_big(path, facts.st_size, self.max_file_bytes))

    def _whole(self) -> "Records":
        from memdir.records.folders import Records

        return Records(self.root, self.max_file_bytes)


def records_place(root: str, here: "Here", open_search: "Open") -> tuple[Place, str, int]:
    limit, switched_off = _read_settings(root)
    # The store's usual name: Markdown memories may share the directory.
    key = store_key(f"{os.path.realpath(root)}#{RECORDS}")
    folder = os.path.join(here.cache, "stores", key)
    store = LightRecords(root, here.max_file_bytes)
    search = open_search(store, folder, here)
    if switched_off:
        search = _SearchWithout(search, switched_off)
    return Place(RECORDS, store, search), folder, limit


def limit_records(recollection: "Recollection", limit: int) -> None:
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
    def __init__(self, search: "Search", folders: frozenset[str]) -> None:
        self.search = search
        self.folders = folders

    def find(self, prompt: str, limit: int) -> "Found":
        result = self.search.find(prompt, limit + len(self.folders) * limit)
        hits = [it for it in result.hits if it.memory.path.partition("/")[0] not in self.folders]
        result.hits = hits[:limit]
        return result


def _read_object(data: bytes) -> "fields.Record":
    try:
        value = read_hook_json(data.removeprefix(_BOM))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _read_settings(root: str) -> tuple[int, frozenset[str]]:
    try:
        path = f"{root}/{RECORD_SETTINGS}"
        data = read_start(path, MAX_SETTINGS_BYTES + 1, follow=False)[0]
    except OSError:
        data = b""
    settings = _read_object(data) if len(data) <= MAX_SETTINGS_BYTES else {}
    retrieval, categories = settings.get("retrieval"), settings.get("categories")
    limit = retrieval.get("max_inject") if isinstance(retrieval, dict) else None
    limit = min(max(limit, 0), MAX_INJECTED) if type(limit) is int else DEFAULT_INJECTED
    own = categories if isinstance(categories, dict) else {}
    off = [
        it
        for it in fields.TYPES
        if isinstance(own.get(it), dict) and own[it].get("enabled") is False
    ]
    return limit, frozenset(fields.FOLDERS[type] for type in off)
