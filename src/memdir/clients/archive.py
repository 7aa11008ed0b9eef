"""Import from a directory or zip; export to a zip.

An import trusts nothing: one entry that could lead out of the store, hide another or fill the disk
refuses all of it before anything is written.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from memdir.errors import BadInput, Finding
from memdir.format.index import survey_pointers
from memdir.hot.disk import TEMPORARY, Disk, force_directory_to_disk, read_start, remove_file
from memdir.hot.memory import INDEX, decode, is_memory_file
from memdir.store.state import state_errors

MAX_FILE_BYTES = 4 * 1024 * 1024
MAX_TOTAL_BYTES = 64 * 1024 * 1024
MAX_ENTRIES = 10_000
# Memory folders of other tools inside a project.
RECOGNISED = (".agents/memory", ".memory", "memory", "docs/memory")
NOTES = "notes.md"  # receives an index that has content of its own, as in a save
OTHER_NOTES = ("index-notes.md", *(f"index-notes-{number}.md" for number in range(2, 100)))
OTHER = "no-memory"  # finding kind: file of a store that is no memory
BROKEN = "broken"  # finding kind: unreadable entry
NO_MEMORY = "it is not a memory (an index, a hidden file, or not Markdown)"
NEXT = "name a directory of Markdown files or a .zip"
_DRIVE = re.compile(r"[A-Za-z]:")
_END, _END_64 = b"PK\x05\x06", b"PK\x06\x07"
_END_BYTES, _COMMENT_BYTES = 22, 65_535
_ENTRY_BYTES = 46 + 1024  # per entry in a zip's table of contents: fixed part and a long name
_DAMAGE = (
    *(zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, EOFError, NotImplementedError),
    *(OSError, RuntimeError, ValueError, struct.error),
)
Files = Sequence[tuple[str, bytes]]


@dataclass
class Brought:
    files: list[tuple[str, bytes]] = field(default_factory=list)
    skipped: list[Finding] = field(default_factory=list)

    def skip(self, path: str, reason: str, kind: str = "skipped") -> None:
        self.skipped.append(Finding(kind, path, f"{path}: {reason}; skipped"))


def bad_import(path: str, cause: str, next: str = NEXT) -> BadInput:
    return BadInput(f"{path}: {cause}; nothing was imported", path=path, next=next)


def read_import_file(path: str, next: str = NEXT) -> bytes:
    try:
        data, facts = read_start(path, MAX_TOTAL_BYTES)
    except (OSError, ValueError) as error:
        raise bad_import(path, getattr(error, "strerror", "") or "not a file name", next) from None
    if facts.st_size > MAX_TOTAL_BYTES:
        raise bad_import(path, f"it has more than {MAX_TOTAL_BYTES:,} bytes", next)
    return data


def read_import_files(
    root: str, brought: Brought, is_wanted: Callable[[str], bool] = lambda path: True
) -> Iterator[tuple[str, bytes]]:
    disk, total_bytes, next = Disk(root), 0, "name a folder in it"
    entries = disk.walk(lambda _: True, brought.skipped)
    paths = sorted((path, entry.is_file(follow_symlinks=False)) for _, path, entry in entries)
    if len(paths) > MAX_ENTRIES:
        raise bad_import(root, f"it has more than {MAX_ENTRIES:,} files", next)
    for path, is_file in paths:
        if not is_file:
            brought.skip(path, "a link or a special file")
            continue
        if not is_wanted(path):
            continue
        try:
            data = disk.read(path, MAX_FILE_BYTES + 1)[0]
        except OSError as error:
            brought.skip(path, error.strerror or "unreadable", BROKEN)
            continue
        total_bytes += len(data)
        if total_bytes > MAX_TOTAL_BYTES:
            raise bad_import(root, f"all files have more than {MAX_TOTAL_BYTES:,} bytes", next)
        if len(data) > MAX_FILE_BYTES:
            brought.skip(path, f"it has more than {MAX_FILE_BYTES:,} bytes", BROKEN)
        else:
            yield path, data


def read_import(path: str) -> Brought:
    """Memories of a directory or an archive; one unsafe entry refuses the whole source."""
    brought = Brought()
    if os.path.isdir(path):
        folder = _memory_folder(path)
        is_wanted = partial(_is_memory, brought)
        files = dict(read_import_files(folder, brought, is_wanted))
        _check_names(path, files)
    else:
        data = read_import_file(path)
        try:
            _check_contents(data)
            files = _read_zip(path, io.BytesIO(data), brought)
        except _DAMAGE as error:
            raise bad_import(path, f"it cannot be read as a zip ({error})") from None
    # An index with content of its own becomes a memory.
    index = files.pop(INDEX, None)
    if index is not None and _says_more(decode(index), [*files]):
        names = {name.casefold() for name in files}
        files[next(name for name in (NOTES, *OTHER_NOTES) if name not in names)] = index
    elif index is not None:
        brought.skip(INDEX, NO_MEMORY, OTHER)
    brought.files += sorted(files.items())
    return brought


def _is_memory(brought: Brought, path: str) -> bool:
    wanted = path == INDEX or is_memory_file(path)
    if not wanted:
        brought.skip(path, NO_MEMORY, OTHER)
    return wanted


def _check_names(source: str, names: Iterable[str]) -> None:
    seen: dict[str, str] = {}
    for name in names:
        same = unicodedata.normalize("NFKC", _tidy(name)).casefold()
        problems = {
            f"there are more than {MAX_ENTRIES:,} entries": len(seen) >= MAX_ENTRIES,
            "its name holds a NUL character or a backslash": "\0" in name or "\\" in name,
            "its name is an absolute path": name.startswith("/") or _DRIVE.match(name),
            "its name leads out of the directory": ".." in name.split("/"),
            f"it is the same name as {seen.get(same)!r}": same in seen,
        }
        for problem in (text for text, is_so in problems.items() if is_so):
            raise _unsafe(source, name, problem)
        seen[same] = name


def _unsafe(source: str, name: str, problem: str) -> BadInput:
    next = "take that entry out of the source, if you trust the rest, and try again"
    return bad_import(source, f"entry {name[:200]!r}: {problem}", next)


def _tidy(name: str) -> str:
    return "/".join(part for part in name.split("/") if part not in ("", "."))


def _read_zip(source: str, file: io.BytesIO, brought: Brought) -> dict[str, bytes]:
    """Extracts nothing to disk; the paths are those beside the only index."""
    files, total_bytes = dict[str, bytes](), 0
    with zipfile.ZipFile(file) as archive:
        entries = archive.infolist()
        _check_names(source, [entry.orig_filename for entry in entries])
        for entry in entries:
            if stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise _unsafe(source, entry.filename, "it is a link or a special file")
        paths = [(entry, _tidy(entry.filename)) for entry in entries if not entry.is_dir()]
        indexes = [path for _, path in paths if path.rpartition("/")[2] == INDEX]
        base = indexes[0][: -len(INDEX)] if len(indexes) == 1 else ""
        for entry, path in paths:
            if not path.startswith(base):
                brought.skip(path, f"it is outside {base}")
            elif _is_memory(brought, name := path[len(base) :]):
                with archive.open(entry) as content:
                    files[name] = content.read(MAX_FILE_BYTES + 1)
                if len(files[name]) > MAX_FILE_BYTES:
                    raise _unsafe(source, name, f"it has more than {MAX_FILE_BYTES:,} bytes")
                total_bytes += len(files[name])
                if total_bytes > MAX_TOTAL_BYTES:
                    problem = f"all files have more than {MAX_TOTAL_BYTES:,} bytes"
                    raise _unsafe(source, name, problem)
    return files


def _says_more(index: str, paths: list[str]) -> bool:
    """True if an index is the only memory, or holds lines that no memory beside it has."""
    if paths:
        return bool(survey_pointers(index, paths).inline)
    content = [line for line in index.split("\n") if line.strip() and line.lstrip()[:1] != "#"]
    return bool(content) and not survey_pointers(index, []).dangling


def _check_contents(data: bytes) -> None:
    """Checks the size of a zip's table of contents before it is built in memory."""
    tail = data[-_END_BYTES - _COMMENT_BYTES :]
    end = tail.rfind(_END)
    if end < 0 or len(tail) - end < _END_BYTES:
        raise zipfile.BadZipFile("it has no end record")
    count, length = struct.unpack_from("<HL", tail, end + 10)
    if _END_64 in tail[:end] or count > MAX_ENTRIES or length > MAX_ENTRIES * _ENTRY_BYTES:
        raise zipfile.LargeZipFile(f"more than {MAX_ENTRIES:,} entries")


def _memory_folder(path: str) -> str:
    places = [place for name in RECOGNISED if os.path.isdir(place := os.path.join(path, name))]
    for place in places:
        # A repository may contain a link: it could bring in any file.
        direct = os.path.join(os.path.realpath(path), os.path.relpath(place, path))
        if os.path.realpath(place) != direct:
            target = shlex.quote(os.path.realpath(place))
            next = f"if the link is yours, name its target: memdir import {target}"
            raise bad_import(place, "it lies behind a symbolic link", next)
    if len(places) > 1:
        several = f"it holds several memory directories: {', '.join(places)}"
        raise bad_import(path, several, "name one")
    if not places and os.path.exists(os.path.join(path, ".git")):
        known = ", ".join(RECOGNISED)
        raise bad_import(path, f"it is a project without a memory directory ({known})")
    return places[0] if places else path


_FIRST_DAY = (1980, 1, 1, 0, 0, 0)  # earliest date in a zip; real times would differ on each run
_MODE = 0o100600 << 16


def write_export(target: str, files: Files, force: bool) -> None:
    """Writes a zip; all or nothing."""
    check_export_target(target, force)
    with state_errors(target, "the export cannot be written"):
        folder = os.path.dirname(target)
        part = f"{TEMPORARY}{os.urandom(4).hex()}"
        Disk(folder).put(part, pack_export_zip(files))
        part = os.path.join(folder, part)
        try:
            os.chmod(part, 0o600)
            # A link never replaces a file that somebody put there in the meantime.
            (os.rename if force else os.link)(part, target)
        finally:
            remove_file(part)
        force_directory_to_disk(folder)


def check_export_target(target: str, force: bool) -> None:
    if not target.endswith(".zip"):
        raise BadInput(f"{target}: an export is a zip", path=target, next="name it ….zip")
    if os.path.lexists(target) and not force:
        next = "choose another --output, or replace it with --force"
        raise BadInput(f"{target} is there already; nothing was written", path=target, next=next)


def pack_export_zip(files: Files) -> bytes:
    """The bytes depend on the files alone: sorted, without times, not compressed."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for path, data in sorted(files):
            entry = zipfile.ZipInfo(path, _FIRST_DAY)
            entry.create_system = 3  # Unix, on every system
            entry.external_attr = _MODE
            archive.writestr(entry, data)
    return buffer.getvalue()
