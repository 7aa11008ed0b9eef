"""Six folders as a store; the hot view uses _json."""

from __future__ import annotations

import os
from collections.abc import Iterator as Iterator_x

from memdir.errors import BadInput, MemdirError, Missing
from memdir.errors import Finding as ErrorsFinding
from memdir.hot.disk import READ, Disk, close_quietly, unreadable
from memdir.hot.layout import MAX_FILE_BYTES, RecordFolders, Scan
from memdir.hot.memory import (
    POINTER_AIM,
    RECORD_FOLDERS,
    RECORD_INDEX,
    RECORD_SETTINGS,
    Memory,
    decode,
    encode,
    is_of_records,
)
from memdir.records import fields, index_md, render
from memdir.records.record import read_record
from memdir.records.update import status_of
from memdir.records.validate import check

TYPE_CHECKING = False


# The files of records below a directory, read as they lie there. Light: agents wait for it.

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from memdir.errors import Finding
    from memdir.store.ports import Store

    RecordFile = tuple[str, bytes, os.stat_result]  # path below the directory, bytes, facts
else:
    RecordFile = tuple


def record_files(
    disk: Disk, folders: Collection[str], most_bytes: int, findings: list[Finding]
) -> Iterator[RecordFile]:
    """Every file of a record in these folders; what cannot be read is a finding."""

    def enter(path: str) -> bool:
        if is_of_records(path):
            findings.append(_special(path, "a directory"))
        return path in folders

    for folder, path, entry in disk.walk(enter, findings):
        if entry.is_file(follow_symlinks=False):
            if path != RECORD_SETTINGS and is_of_records(path):
                read = _read(folder, entry.name, path, most_bytes, findings)
                if read is not None:
                    yield path, *read
        elif is_of_records(path) or path in RECORD_FOLDERS:
            link = entry.is_symlink()
            findings.append(_special(path, "a symbolic link" if link else "a special file"))


def _read(
    folder: int, name: str, path: str, most_bytes: int, findings: list[Finding]
) -> tuple[bytes, os.stat_result] | None:
    handle = -1
    try:
        handle = os.open(name, READ, dir_fd=folder)
        facts = os.fstat(handle)
        if facts.st_size > most_bytes:
            findings.append(_too_big(path, facts.st_size, most_bytes))
            return None
        data = os.read(handle, facts.st_size + 1)
        while len(data) < facts.st_size and (more := os.read(handle, facts.st_size)):
            data += more
    except FileNotFoundError:
        return None  # renamed or gone since its folder was read
    except OSError as error:
        findings.append(unreadable(path, error))
        return None
    finally:
        close_quietly(handle)
    return data, facts


def _special(path: str, what: str) -> Finding:
    from memdir.errors import Finding

    fix = "put the file itself there; memdir neither reads nor writes through it"
    return Finding("special-file", path, f"{path} is {what}; skipped", fix)


def _too_big(path: str, size: int, limit: int) -> Finding:
    from memdir.errors import Finding

    message = f"{path} has {size:,} bytes (limit: {limit:,}); skipped"
    return Finding("too-big", path, message, "split it, or raise max_file_bytes in config.toml")


# Structured records: a JSON file for each in one of six folders, and index.md.
#
# A record is seen as a memory while it is active: its title is the description, its content the
# body. Retired and archived ones stay where they are, and are no memories.

# A record that says nothing of these words is active, and need not be parsed to know it.
_PUT_AWAY = (fields.RETIRED.encode(), fields.ARCHIVED.encode())
_MARKS = str.maketrans("[]|`\\", "()/'/")  # in a title they would end the pointer
_FEW = 3  # problems of one record that its finding names


class Records(RecordFolders):
    """Every record, read and checked whole."""

    def __init__(self, root: str, max_file_bytes: int = MAX_FILE_BYTES) -> None:
        super().__init__(root, max_file_bytes)
        # Of each file its bytes, and what they were seen as: to see that again takes long.
        self._looked: dict[str, tuple[bytes, str, list[ErrorsFinding]]] = {}

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
        return encode(render.view(record))

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

    def keep_index(self, store: Store) -> bool:
        """Bring index.md in step with the records of this store as a change sees it."""
        return index_md.bring_in_step(store)

    def _each(self, findings: list[ErrorsFinding]) -> Iterator_x[RecordFile]:
        return record_files(self.disk, RECORD_FOLDERS, self.max_file_bytes, findings)


def _look(path: str, data: bytes) -> tuple[str, list[ErrorsFinding]]:
    """A record as Markdown, nothing where it is none or is put away; and what is wrong with it."""
    try:
        record, _ = read_record(data, path)
    except MemdirError as error:
        return "", [ErrorsFinding("broken-record", path, error.message, error.next)]
    if status_of(record) != fields.ACTIVE:
        return "", []
    return render.view(record), _problems(path, record)


def _is_put_away(path: str, data: bytes) -> bool:
    if not any(word in data for word in _PUT_AWAY):
        return False
    try:
        return status_of(read_record(data, path)[0]) != fields.ACTIVE
    except MemdirError:
        return False  # nobody can tell; it is reported where it is read


def _problems(path: str, record: fields.Record) -> list[ErrorsFinding]:
    """One finding for a record that can be read and is not as it should be."""
    found = check(record)
    if not found:
        return []
    said = "; ".join(f"{one.field} {one.rule}" for one in found[:_FEW])
    more = f" and {len(found) - _FEW} more" if len(found) > _FEW else ""
    fix = f"memdir records write --action update --target {path}"
    return [ErrorsFinding("invalid-record", path, f"{path}: {said}{more}", fix)]


def _pointers(data: bytes) -> bytes:
    """The lines of the index in a form that every reader of an index knows."""
    entries, _ = index_md.parse(decode(data))
    return encode("".join(_pointer(one) for one in entries))


def _pointer(entry: index_md.Entry) -> str:
    room = POINTER_AIM - len(entry.path) - len("- [[|]]")
    title = entry.title.translate(_MARKS)
    line = f"- [[{entry.path}|{title if len(title) <= room else title[: room - 1] + '…'}]]"
    tags = f" — {', '.join(entry.tags)}".translate(_MARKS) if entry.tags else ""
    return line + tags + "\n" if len(line + tags) <= POINTER_AIM else line + "\n"


def open_store(root: str, max_file_bytes: int) -> Records:
    """The records in a directory."""
    return Records(root, max_file_bytes)
