"""Six folders of JSON files as a store: each active record appears as a memory.

The title is the description, the content the body. Retired and archived records keep their files
but do not count as memories.
"""

from __future__ import annotations

from memdir.errors import BadInput, Finding, MemdirError, Missing
from memdir.hot import memory
from memdir.hot.layout import MAX_FILE_BYTES, RecordFolders, Scan
from memdir.records import fields, index_md, render
from memdir.records.hook import LightRecords
from memdir.records.record import read_record
from memdir.records.validate import check_record
from memdir.store.ports import Store

# A record without these words is active; there is no need to parse it.
_PUT_AWAY = (fields.RETIRED.encode(), fields.ARCHIVED.encode())
_MARKS = str.maketrans("[]|`\\", "()/'/")  # these would end the pointer
_SHOWN_PROBLEMS = 3


class Records(LightRecords):
    def __init__(self, root: str, max_file_bytes: int = MAX_FILE_BYTES) -> None:
        super().__init__(root, max_file_bytes)
        # Bytes of each file and the rendered result, because rendering is slow.
        self._seen: dict[str, tuple[bytes, str, list[Finding]]] = {}

    def scan(self) -> Scan:
        """An unreadable record is reported and hides no other."""
        scan, before = Scan(), self._seen
        self._seen = {}  # forget deleted files
        for path, data, facts in self.record_files(scan.skipped):
            seen = before.get(path)
            if seen is None or seen[0] != data:
                seen = (data, *_look(path, data))
            self._seen[path] = seen
            _, text, findings = seen
            scan.skipped += findings
            if text:
                scan.memories.append(memory.Memory(path, text, facts.st_mtime, facts.st_size))
        return scan

    def files(self) -> list[str]:
        files = self.record_files([])
        return sorted([path for path, data, _ in files if not _is_put_away(path, data)])

    def view(self, path: str, data: bytes | None = None) -> bytes:
        content = self.read(path) if data is None else data
        if path == memory.RECORD_INDEX:
            return _pointers(content)
        if not self.is_memory(path):
            return content
        record, _ = read_record(content, path)
        if data is None and not fields.is_active_record(record):
            step = f"memdir records restore {record.get('id', path)}"
            raise Missing(f"{path} is {fields.status_of_record(record)}", path=path, next=step)
        return memory.encode(render.render_record(record))

    def index(self) -> bytes | None:
        data = RecordFolders.index(self)
        return None if data is None else _pointers(data)

    def put(self, path: str, data: bytes) -> None:
        """Durable on return; refuses files that do not belong to records."""
        if path != memory.RECORD_INDEX and not memory.is_record_file(path):
            raise BadInput(
                f"{path!r} is not a path below the store of records",
                path=path,
                next="a record lies in one of " + ", ".join(memory.RECORD_FOLDERS),
            )
        super().put(path, data)

    def keep_index(self, store: Store) -> bool:
        return index_md.update_record_index(store)


def _look(path: str, data: bytes) -> tuple[str, list[Finding]]:
    try:
        record, _ = read_record(data, path)
    except MemdirError as error:
        return "", [Finding("broken-record", path, error.message, error.next)]
    if not fields.is_active_record(record):
        return "", []
    text, problems = render.render_record(record), check_record(record)
    if not problems:
        return text, []
    message = "; ".join(f"{it.field} {it.rule}" for it in problems[:_SHOWN_PROBLEMS])
    if len(problems) > _SHOWN_PROBLEMS:
        message += f" and {len(problems) - _SHOWN_PROBLEMS} more"
    fix = f"memdir records write --action update --target {path}"
    return text, [Finding("invalid-record", path, f"{path}: {message}", fix)]


def _is_put_away(path: str, data: bytes) -> bool:
    if not any(word in data for word in _PUT_AWAY):
        return False
    try:
        return not fields.is_active_record(read_record(data, path)[0])
    except MemdirError:
        return False  # unknown; reported when it is read


def _pointers(data: bytes) -> bytes:
    lines = []
    for entry in index_md.parse_record_index(memory.decode(data))[0]:
        room = memory.POINTER_AIM - len(entry.path) - len("- [[|]]")
        title = entry.title.translate(_MARKS)
        line = f"- [[{entry.path}|{title if len(title) <= room else title[: room - 1] + '…'}]]"
        tags = f" — {', '.join(entry.tags)}".translate(_MARKS) if entry.tags else ""
        lines.append(line + tags if len(line + tags) <= memory.POINTER_AIM else line)
    return memory.encode("".join(f"{line}\n" for line in lines))


def open_store(root: str, max_file_bytes: int) -> Records:
    return Records(root, max_file_bytes)
