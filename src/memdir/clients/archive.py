"""Memories from a directory, a zip or a tar, and out into a zip or a directory.

Reading trusts nothing: one entry that could lead out of the store, hide behind another or fill
the disk refuses the whole import, before anything is written.
"""

from __future__ import annotations

import errno
import gzip
import io
import lzma
import os
import re
import shlex
import shutil
import stat
import struct
import tarfile
import tempfile
import unicodedata
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from memdir.errors import BadInput, Finding
from memdir.format.index import survey
from memdir.hot.disk import TEMPORARY, Disk, failure, sync_directory
from memdir.hot.memory import INDEX, decode, is_memory

MAX_FILE_BYTES = 4 * 1024 * 1024
MAX_TOTAL_BYTES = 64 * 1024 * 1024
MAX_ENTRIES = 10_000
# Where other tools keep memories inside a project.
RECOGNISED = (".agents/memory", ".memory", "memory", "docs/memory")
NOTES = "notes.md"  # takes over an index that says something itself, as a save does
OTHER_NOTES = ("index-notes.md", *(f"index-notes-{number}.md" for number in range(2, 100)))
OTHER = "no-memory"  # the kind of finding for files that a store has besides memories
BROKEN = "broken"  # the kind of finding for an entry that nobody can read
NEXT = "name a directory of Markdown files, a .zip, a .tar or a .tar.gz"
_NO_MEMORY = "it is no memory (an index, a hidden file, or not Markdown)"
_SPECIAL = "it is a link or a special file"
_DRIVE = re.compile(r"[A-Za-z]:")
_END, _END_64 = b"PK\x05\x06", b"PK\x06\x07"
_END_BYTES, _COMMENT_BYTES = 22, 65_535
_ENTRY_BYTES = 46 + 1024  # of a zip's table of contents: the fixed part and a generous name
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
_BROKEN = (
    *(zipfile.BadZipFile, zipfile.LargeZipFile, tarfile.TarError, zlib.error, gzip.BadGzipFile),
    *(EOFError, lzma.LZMAError, NotImplementedError, OSError, RuntimeError, ValueError),
    struct.error,
)
Files = Sequence[tuple[str, bytes]]


@dataclass
class Brought:
    """What a source holds: memories as (path, bytes), and what was passed over."""

    files: list[tuple[str, bytes]] = field(default_factory=list)
    skipped: list[Finding] = field(default_factory=list)

    def skip(self, path: str, reason: str, kind: str = "skipped") -> None:
        """Say what was not taken, and why."""
        self.skipped.append(Finding(kind, path, f"{path}: {reason}; skipped"))


def unusable(path: str, cause: str, next: str = NEXT) -> BadInput:
    """A source that gives nothing at all."""
    return BadInput(f"{path}: {cause}; nothing was imported", path=path, next=next)


def read_whole(path: str, next: str = NEXT, special: str = "it is no regular file") -> bytes:
    """All bytes of a file that a person has named."""
    try:
        handle = os.open(path, _READ)
    except (OSError, ValueError) as error:
        cause = getattr(error, "strerror", None) or "not a file name"
        raise unusable(path, cause, next) from None
    try:
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode):  # Python opens no directory, not even to look at it
            raise unusable(path, special, next)
        if facts.st_size > MAX_TOTAL_BYTES:
            raise unusable(path, f"it has more than {MAX_TOTAL_BYTES:,} bytes", next)
        with open(handle, "rb", closefd=False) as file:
            return file.read(MAX_TOTAL_BYTES)
    finally:
        os.close(handle)


def read_source(path: str) -> Brought:
    """All memories of a directory or an archive; refuses the whole when one entry is not safe."""
    if os.path.isdir(path):
        return _Gatherer(path).read_directory(_memory_folder(path))
    data = read_whole(path, NEXT, "it is neither a directory nor a file")
    gatherer, file = _Gatherer(path), io.BytesIO(data)
    try:
        if data[:2] == b"PK":
            _check_contents(data)
            return gatherer.read_zip(file)
        packed = data[:2] == b"\x1f\x8b"
        return gatherer.read_tar(_Bounded(gzip.GzipFile(fileobj=file) if packed else file))
    except _BROKEN as error:
        raise unusable(path, f"it cannot be read as zip or tar ({error})") from None


def _tidy(name: str) -> str:
    """The name without empty and dot parts."""
    return "/".join(part for part in name.split("/") if part not in ("", "."))


def _unsafe_name(name: str) -> str:
    """Why a name in a source is not safe; empty when it is."""
    if "\0" in name:
        return "its name holds a NUL character"
    if "\\" in name:
        return "its name holds a backslash"
    if name.startswith("/") or _DRIVE.match(name):
        return "its name is an absolute path"
    if ".." in name.split("/"):
        return "its name leads out of the directory"
    return ""


class _Gatherer:
    """Collects entries of one source and counts what they cost."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.brought = Brought()
        self.total_bytes = 0
        self.seen: dict[str, str] = {}
        self.index: bytes | None = None

    def read_directory(self, root: str) -> Brought:
        """Regular files below a directory; links are not followed."""
        disk = Disk(root)
        for _, path, entry in disk.walk(lambda _: True, self.brought.skipped):
            self._check_entry(path)
            if not entry.is_file(follow_symlinks=False):
                self.brought.skip(path, "a link or a special file")
            elif self._is_wanted(path):
                try:
                    data = disk.read(path, MAX_FILE_BYTES + 1)[0]
                except OSError as error:
                    self.brought.skip(path, error.strerror or "unreadable")
                    continue
                self._take(path, data)
        return self._finish()

    def read_zip(self, file: io.BytesIO) -> Brought:
        """The memories of a zip; nothing is extracted to a disk."""
        with zipfile.ZipFile(file) as archive:
            for entry in archive.infolist():
                self._check_entry(entry.orig_filename)
                kind = stat.S_IFMT(entry.external_attr >> 16)
                if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
                    raise self._unsafe(entry.filename, _SPECIAL)
            entries = {entry.filename: entry for entry in archive.infolist() if not entry.is_dir()}
            for name, path in self._place(entries):
                with archive.open(entries[name]) as content:
                    self._take(path, content.read(MAX_FILE_BYTES + 1))
        return self._finish()

    def read_tar(self, stream: io.RawIOBase) -> Brought:
        """The memories of a tar, read once from front to end."""
        files: dict[str, bytes] = {}
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            for entry in archive:
                self._check_entry(entry.name)
                if entry.isdir():
                    continue
                if not entry.isreg() or entry.sparse is not None:
                    raise self._unsafe(entry.name, _SPECIAL)
                is_markdown = entry.name[-3:].lower() == ".md"
                content = archive.extractfile(entry) if is_markdown else None
                files[entry.name] = content.read(MAX_FILE_BYTES + 1) if content else b""
        for name, path in self._place(files):
            self._take(path, files[name])
        return self._finish()

    def _check_entry(self, name: str) -> None:
        """Every entry is counted and its name checked, also of what is not taken."""
        if len(self.seen) >= MAX_ENTRIES:
            raise self._unsafe(name, f"there are more than {MAX_ENTRIES:,} entries")
        if problem := _unsafe_name(name):
            raise self._unsafe(name, problem)
        same = unicodedata.normalize("NFKC", _tidy(name)).casefold()
        if same in self.seen:
            raise self._unsafe(name, f"it is the same name as {self.seen[same]!r}")
        self.seen[same] = name

    def _place(self, names: Iterable[str]) -> list[tuple[str, str]]:
        """The entries that are taken, each with its path in the store.

        The memories lie beside the only index.
        """
        paths = [(name, _tidy(name)) for name in names]
        indexes = [path for _, path in paths if path.rpartition("/")[2] == INDEX]
        base = indexes[0][: -len(INDEX)] if len(indexes) == 1 else ""
        placed = []
        for name, path in paths:
            if not path.startswith(base):
                self.brought.skip(path, f"it lies outside {base}")
            elif self._is_wanted(path[len(base) :]):
                placed.append((name, path[len(base) :]))
        return placed

    def _is_wanted(self, path: str) -> bool:
        wanted = path == INDEX or is_memory(path)
        if not wanted:
            self.brought.skip(path, _NO_MEMORY, OTHER)
        return wanted

    def _take(self, path: str, data: bytes) -> None:
        self.total_bytes += len(data)
        if len(data) > MAX_FILE_BYTES:
            raise self._unsafe(path, f"it has more than {MAX_FILE_BYTES:,} bytes")
        if self.total_bytes > MAX_TOTAL_BYTES:
            raise self._unsafe(path, f"all files have more than {MAX_TOTAL_BYTES:,} bytes")
        if path == INDEX:
            self.index = data
        else:
            self.brought.files.append((path, data))

    def _finish(self) -> Brought:
        paths = [path for path, _ in self.brought.files]
        if self.index is not None and _says_more(decode(self.index), paths):
            names = [path.casefold() for path in paths]
            free = next(name for name in (NOTES, *OTHER_NOTES) if name not in names)
            self.brought.files.append((free, self.index))  # it is itself a memory
        elif self.index is not None:
            self.brought.skip(INDEX, _NO_MEMORY, OTHER)
        self.brought.files.sort()
        return self.brought

    def _unsafe(self, name: str, problem: str) -> BadInput:
        return BadInput(
            f"{self.source}: entry {name[:200]!r}: {problem}; nothing was imported",
            path=self.source,
            next="take that entry out of the source, if you trust the rest, and try again",
        )


def _says_more(index: str, paths: list[str]) -> bool:
    """True where an index is the only memory, or holds lines that no memory beside it has."""
    if paths:
        return bool(survey(index, paths).inline)
    said = [line for line in index.split("\n") if line.strip() and line.lstrip()[:1] != "#"]
    return bool(said) and not survey(index, []).dangling


class _Bounded(io.RawIOBase):
    """A stream that ends the import when it gives more bytes than an import may have."""

    def __init__(self, inside: io.BufferedIOBase) -> None:
        self.inside = inside
        self.left = MAX_TOTAL_BYTES + MAX_ENTRIES * 2 * tarfile.BLOCKSIZE

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        data = self.inside.read(len(buffer))
        self.left -= len(data)
        if self.left < 0:
            raise ValueError(f"more than {MAX_TOTAL_BYTES:,} bytes when unpacked")
        buffer[: len(data)] = data
        return len(data)


def _check_contents(data: bytes) -> None:
    """Look at the size of a zip's table of contents before it is built in memory."""
    tail = data[-_END_BYTES - _COMMENT_BYTES :]
    end = tail.rfind(_END)
    if end < 0 or len(tail) - end < _END_BYTES:
        raise zipfile.BadZipFile("it has no end record")
    count, length = struct.unpack_from("<HL", tail, end + 10)
    if _END_64 in tail[:end] or count > MAX_ENTRIES or length > MAX_ENTRIES * _ENTRY_BYTES:
        raise zipfile.LargeZipFile(f"more than {MAX_ENTRIES:,} entries")


def _memory_folder(path: str) -> str:
    """The directory itself, or the one of the known places inside it that exists."""
    names = [name for name in RECOGNISED if os.path.isdir(os.path.join(path, name))]
    for name in names:
        place = os.path.join(path, name)
        # A repository may have put it there: it would bring files from anywhere.
        if os.path.realpath(place) != os.path.join(os.path.realpath(path), name):
            target = shlex.quote(os.path.realpath(place))
            raise BadInput(
                f"{place} lies behind a symbolic link; nothing was imported",
                path=place,
                next=f"if the link is yours, name its target: memdir import {target}",
            )
    places = [os.path.join(path, name) for name in names]
    if len(places) > 1:
        several = ", ".join(places)
        raise BadInput(f"{path} holds several memory directories: {several}", next="name one")
    if not places and os.path.exists(os.path.join(path, ".git")):
        known = ", ".join(RECOGNISED)
        raise unusable(path, f"it is a project without a memory directory ({known})")
    return places[0] if places else path


# Memories out of a store, into a zip or a directory: private, whole, nothing overwritten.

OTHER_ARCHIVES = (".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar")
ZIP = ".zip"
_FIRST_DAY = (1980, 1, 1, 0, 0, 0)  # the earliest a zip can say; real times would differ each run
_MODE = 0o100600 << 16
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EMLINK)


def write_export(target: str, files: Files, force: bool) -> None:
    """Write all files to `target`, a zip by its name and else a directory; all, or nothing."""
    target = os.path.abspath(target)
    check_target(target, force)
    try:
        if target.endswith(ZIP):
            _write_file(target, pack(files), force)
        else:
            _write_directory(target, files, force)
    except OSError as error:
        raise failure(error, target, "the export cannot be written") from None


def check_target(target: str, force: bool) -> None:
    """Refuse a target that stands already, unless it is an empty directory or was insisted on."""
    if target.lower().endswith(OTHER_ARCHIVES):
        raise BadInput(
            f"{target}: an export is a zip or a directory", path=target, next="name it ….zip"
        )
    if force or not os.path.lexists(target):
        return
    try:
        if os.path.isdir(target) and not target.endswith(ZIP) and not os.listdir(target):
            return
    except OSError as error:
        raise failure(error, target, "it cannot be looked into") from None
    raise BadInput(
        f"{target} is there already; nothing was written",
        path=target,
        next="choose another --output, or replace it with --force",
    )


def pack(files: Files) -> bytes:
    """A zip whose bytes depend on the files alone: sorted, without times, not compressed."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for path, data in sorted(files):
            entry = zipfile.ZipInfo(path, _FIRST_DAY)
            entry.create_system = 3  # Unix, on every system
            entry.external_attr = _MODE
            archive.writestr(entry, data)
    return buffer.getvalue()


def _write_file(target: str, data: bytes, force: bool) -> None:
    folder, name = os.path.split(target)
    if force:
        if os.path.isdir(target) and not os.path.islink(target):
            raise OSError(errno.EISDIR, "directory", target)
        if os.path.islink(target):
            os.unlink(target)
        Disk(folder).put(name, data)
        os.chmod(target, 0o600)
        return
    temporary = f"{TEMPORARY}{os.getpid()}-{os.urandom(6).hex()}.tmp"
    Disk(folder).put(temporary, data)
    whole = os.path.join(folder, temporary)
    try:
        os.link(whole, target)  # unlike a rename, it fails where something stands by now
    except OSError as error:
        if error.errno not in _NO_LINKS or os.path.lexists(target):
            raise
        os.rename(whole, target)
    finally:
        if os.path.lexists(whole):
            os.unlink(whole)
    sync_directory(folder)


def _write_directory(target: str, files: Files, force: bool) -> None:
    if force and os.path.isdir(target) and os.listdir(target):
        for path, data in files:
            Disk(target).put(path, data)
        return
    folder = os.path.dirname(target)
    made = tempfile.mkdtemp(prefix=TEMPORARY, dir=folder)
    try:
        for path, data in files:
            Disk(made).put(path, data)
        os.rename(made, target)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
    sync_directory(folder)
