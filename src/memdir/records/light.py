"""The folders of records as hooks and everybody else read them. Hot path: no `re`, no `json`."""

import os
from _json import make_scanner

from memdir.hot.disk import READ, close_quietly, unreadable
from memdir.hot.layout import RecordFolders
from memdir.hot.memory import RECORD_FOLDERS, RECORD_SETTINGS, encode, is_of_records
from memdir.records import fields, render

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from memdir.errors import Finding
    from memdir.hot.layout import Scan
    from memdir.records.folders import Records

    RecordFile = tuple[str, bytes, os.stat_result]  # path below the directory, bytes, facts

_BOM = b"\xef\xbb\xbf"


class _Scanner:
    """What the C scanner behind `json` asks for."""

    strict = False
    object_hook = object_pairs_hook = None
    parse_float = parse_constant = float
    parse_int = int


_scan = make_scanner(_Scanner())  # type: ignore[arg-type]


def read_json(data: bytes) -> "fields.Record":
    """The object in a file; an empty one where there is none."""
    try:
        text = data.removeprefix(_BOM).decode().strip(" \t\r\n")
        value, end = _scan(text, 0)
    except (ValueError, StopIteration, RecursionError):
        return {}
    return value if isinstance(value, dict) and end == len(text) else {}


class LightRecords(RecordFolders):
    """The records as far as a search with a catalog asks for them.

    What it reads, the catalog has seen in this very version: it need not be checked again. Where
    the catalog has to be made or brought up to date, the whole layout does it.
    """

    def view(self, path: str, data: bytes | None = None) -> bytes:
        """A record as a Markdown memory; one that was put away is gone."""
        record = read_json(self.read(path) if data is None else data)
        known = record.get("category")
        if known not in fields.TYPES:
            record["category"] = fields.type_named(known) or fields.type_at(path)
        title = record.get("title")
        sound = isinstance(title, str) and title.strip() and isinstance(record.get("content"), dict)
        if not sound or not fields.is_active(record):
            from memdir.errors import Missing

            raise Missing(f"{path} is no active record", path=path, next="memdir records status")
        return encode(render.view(record).encode("utf-8", "replace").decode())

    def scan(self) -> "Scan":
        """Every active record as a memory."""
        return self._whole().scan()

    def files(self) -> list[str]:
        """The paths of all records but the retired and archived ones, sorted."""
        return self._whole().files()

    def index(self) -> bytes | None:
        """The index as Markdown pointers, None where there is none."""
        return self._whole().index()

    def sweep(self) -> None:
        """Remove temporary files that a killed writer left."""
        self.disk.sweep(RECORD_FOLDERS.__contains__)

    def record_files(self, findings: "list[Finding]") -> "Iterator[RecordFile]":
        """Every file of a record; what cannot be read is a finding."""

        def enter(path: str) -> bool:
            if is_of_records(path):
                findings.append(_special(path, "a directory"))
            return path in RECORD_FOLDERS

        for folder, path, entry in self.disk.walk(enter, findings):
            if entry.is_file(follow_symlinks=False):
                if path != RECORD_SETTINGS and is_of_records(path):
                    yield from self._read_file(folder, entry.name, path, findings)
            elif is_of_records(path) or path in RECORD_FOLDERS:
                kind = "a symbolic link" if entry.is_symlink() else "a special file"
                findings.append(_special(path, kind))

    def _read_file(
        self, folder: int, name: str, path: str, findings: "list[Finding]"
    ) -> "Iterator[RecordFile]":
        handle = -1
        try:
            handle = os.open(name, READ, dir_fd=folder)
            facts = os.fstat(handle)
            if facts.st_size > self.max_file_bytes:
                findings.append(_too_big(path, facts.st_size, self.max_file_bytes))
                return
            data = os.read(handle, facts.st_size + 1)
            while len(data) < facts.st_size and (more := os.read(handle, facts.st_size)):
                data += more
        except FileNotFoundError:
            return  # renamed or gone since its folder was read
        except OSError as error:
            findings.append(unreadable(path, error))
            return
        finally:
            close_quietly(handle)
        yield path, data, facts

    def _whole(self) -> "Records":
        from memdir.records.folders import Records

        return Records(self.root, self.max_file_bytes)


def _special(path: str, kind: str) -> "Finding":
    from memdir.errors import Finding

    fix = "put the file itself there; memdir neither reads nor writes through it"
    return Finding("special-file", path, f"{path} is {kind}; skipped", fix)


def _too_big(path: str, size: int, limit: int) -> "Finding":
    from memdir.errors import Finding

    message = f"{path} has {size:,} bytes (limit: {limit:,}); skipped"
    return Finding("too-big", path, message, "split it, or raise max_file_bytes in config.toml")
