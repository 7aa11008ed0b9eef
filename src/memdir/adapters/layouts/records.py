"""Structured records: a JSON file for each in one of six folders, and index.md.

A record is seen as a memory while it is active: its title is the description, its content the
body. Retired and archived ones stay where they are, and are no memories.
"""

from __future__ import annotations

from collections.abc import Iterator

from memdir.adapters.layouts._files import MAX_FILE_BYTES, RecordFolders, Scan
from memdir.adapters.layouts._record_files import RecordFile, record_files
from memdir.core.errors import BadInput, MemdirError, Missing
from memdir.core.finding import Finding
from memdir.core.frontmatter import decode, encode
from memdir.core.loading import POINTER_AIM
from memdir.core.memory import (
    RECORD_FOLDERS,
    RECORD_INDEX,
    Memory,
    is_of_records,
)
from memdir.core.records import fields, index_text, rendering
from memdir.core.records.checking import check
from memdir.core.records.record import read_record
from memdir.core.records.status import status_of

# A record that says nothing of these words is active, and need not be parsed to know it.
_PUT_AWAY = (fields.RETIRED.encode(), fields.ARCHIVED.encode())
_MARKS = str.maketrans("[]|`\\", "()/'/")  # in a title they would end the pointer
_FEW = 3  # problems of one record that its finding names


class Records(RecordFolders):
    """Every record, read and checked whole."""

    def __init__(self, root: str, max_file_bytes: int = MAX_FILE_BYTES) -> None:
        super().__init__(root, max_file_bytes)
        # Of each file its bytes, and what they were seen as: to see that again takes long.
        self._looked: dict[str, tuple[bytes, str, list[Finding]]] = {}

    def scan(self) -> Scan:
        """Every active record as a memory; one that cannot be read is reported, hiding no other."""
        scan, before = Scan(), self._looked
        self._looked = {}  # what is gone since then is let go
        for path, data, facts in self._each(scan.skipped):
            looked = before.get(path)
            if looked is None or looked[0] != data:
                looked = (data, *_look(path, data))
            self._looked[path] = looked
            _, text, findings = looked
            scan.skipped += findings
            if text:
                scan.memories.append(Memory(path, text, facts.st_mtime, facts.st_size))
        return scan

    def files(self) -> list[str]:
        """The paths of all records but the retired and archived ones, sorted."""
        return sorted([path for path, data, _ in self._each([]) if not _is_put_away(path, data)])

    def view(self, path: str, data: bytes | None = None) -> bytes:
        """A record as a Markdown memory, the index as Markdown pointers."""
        content = self.read(path) if data is None else data
        if path == RECORD_INDEX:
            return _pointers(content)
        if not self.is_memory(path):
            return content
        record, _ = read_record(content, path)
        if data is None and status_of(record) != fields.ACTIVE:
            step = f"memdir records restore {record.get('id', path)}"
            raise Missing(f"{path} is {status_of(record)}", path=path, next=step)
        return encode(rendering.view(record))

    def index(self) -> bytes | None:
        """The index as Markdown pointers, None where there is none."""
        data = super().index()
        return None if data is None else _pointers(data)

    def put(self, path: str, data: bytes) -> None:
        """Replace or create one file, durably; only what belongs to records."""
        if path != RECORD_INDEX and not is_of_records(path):
            raise BadInput(
                f"{path!r} is not a path below the store of records",
                path=path,
                next="a record lies in one of " + ", ".join(RECORD_FOLDERS),
            )
        super().put(path, data)

    def sweep(self) -> None:
        """Remove temporary files that a killed writer left."""
        self.disk.sweep(RECORD_FOLDERS.__contains__)

    def _each(self, findings: list[Finding]) -> Iterator[RecordFile]:
        return record_files(self.disk, RECORD_FOLDERS, self.max_file_bytes, findings)


def _look(path: str, data: bytes) -> tuple[str, list[Finding]]:
    """A record as Markdown, nothing where it is none or is put away; and what is wrong with it."""
    try:
        record, _ = read_record(data, path)
    except MemdirError as error:
        return "", [Finding("broken-record", path, error.message, error.next)]
    if status_of(record) != fields.ACTIVE:
        return "", []
    return rendering.view(record), _problems(path, record)


def _is_put_away(path: str, data: bytes) -> bool:
    if not any(word in data for word in _PUT_AWAY):
        return False
    try:
        return status_of(read_record(data, path)[0]) != fields.ACTIVE
    except MemdirError:
        return False  # nobody can tell; it is reported where it is read


def _problems(path: str, record: fields.Record) -> list[Finding]:
    """One finding for a record that can be read and is not as it should be."""
    found = check(record)
    if not found:
        return []
    said = "; ".join(f"{one.field} {one.rule}" for one in found[:_FEW])
    more = f" and {len(found) - _FEW} more" if len(found) > _FEW else ""
    fix = f"memdir records write --action update --target {path}"
    return [Finding("invalid-record", path, f"{path}: {said}{more}", fix)]


def _pointers(data: bytes) -> bytes:
    """The lines of the index in a form that every reader of an index knows."""
    entries, _ = index_text.parse(decode(data))
    return encode("".join(_pointer(one) for one in entries))


def _pointer(entry: index_text.Entry) -> str:
    room = POINTER_AIM - len(entry.path) - len("- [[|]]")
    title = entry.title.translate(_MARKS)
    line = f"- [[{entry.path}|{title if len(title) <= room else title[: room - 1] + '…'}]]"
    tags = f" — {', '.join(entry.tags)}".translate(_MARKS) if entry.tags else ""
    return line + tags + "\n" if len(line + tags) <= POINTER_AIM else line + "\n"


def open_store(root: str, max_file_bytes: int) -> Records:
    """The records in a directory."""
    return Records(root, max_file_bytes)
