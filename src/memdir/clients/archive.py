"""Directory, zip, tar: in and out."""

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
from typing import IO

from memdir.errors import BadInput, Finding
from memdir.format.index import survey
from memdir.hot import memory
from memdir.hot.disk import TEMPORARY, Disk, failure, sync_directory
from memdir.hot.memory import INDEX, is_memory

# Names of entries in a source: safe or not, tidy, and the folder that holds the memories.

_DRIVE = re.compile(r"[A-Za-z]:")


def unsafe_name(name: str) -> str:
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


def tidy(name: str) -> str:
    """The name without empty and dot parts."""
    return "/".join(part for part in name.split("/") if part not in ("", "."))


def is_markdown(name: str) -> bool:
    """By its ending, in any case."""
    return name[-3:].lower() == ".md"


def base_of(names: Iterable[str]) -> str:
    """The folder that holds the only index: the memories lie beside it."""
    found = [tidy(name) for name in names if tidy(name).rpartition("/")[2] == INDEX]
    return found[0][: -len(INDEX)] if len(found) == 1 else ""


# Memories from and to other places: a directory, a zip or a tar.
#
# Reading trusts nothing: one entry that could lead out of the store, hide behind another or fill
# the disk refuses the whole import, before anything is written.

MAX_FILE_BYTES = 4 * 1024 * 1024
MAX_TOTAL_BYTES = 64 * 1024 * 1024
MAX_ENTRIES = 10_000
# Where other tools keep memories inside a project.
RECOGNISED = (".agents/memory", ".memory", "memory", "docs/memory")
NOTES = "notes.md"  # takes over an index that says something itself, as a save does
OTHER_NOTES = ("index-notes.md", *(f"index-notes-{number}.md" for number in range(2, 100)))
OTHER = "no-memory"  # the kind of finding for files that a store has besides memories
_NO_MEMORY = "it is no memory (an index, a hidden file, or not Markdown)"
_END, _END_64 = b"PK\x05\x06", b"PK\x06\x07"
_END_BYTES, _COMMENT_BYTES = 22, 65_535
_ENTRY_BYTES = 46 + 1024  # of a zip's table of contents: the fixed part and a generous name
_BROKEN = (
    *(zipfile.BadZipFile, zipfile.LargeZipFile, tarfile.TarError, zlib.error, gzip.BadGzipFile),
    *(
        EOFError,
        lzma.LZMAError,
        NotImplementedError,
        OSError,
        RuntimeError,
        ValueError,
        struct.error,
    ),
)


@dataclass
class Brought:
    """What a source holds: memories as (path, bytes), and what was passed over."""

    files: list[tuple[str, bytes]] = field(default_factory=list)
    skipped: list[Finding] = field(default_factory=list)


def read_source(path: str) -> Brought:
    """All memories of a directory or an archive; refuses the whole when one entry is not safe."""
    if os.path.isdir(path):
        return _Gatherer(path).directory(_memory_folder(path))
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        raise _unusable(path, getattr(error, "strerror", None) or "not a file name") from None
    with open(handle, "rb") as file:
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode):
            raise _unusable(path, "it is neither a directory nor a file")
        if facts.st_size > MAX_TOTAL_BYTES:
            raise _unusable(path, f"it has more than {MAX_TOTAL_BYTES:,} bytes")
        gatherer, start = _Gatherer(path), file.read(4)
        file.seek(0)
        try:
            if start[:2] == b"PK":
                return gatherer.zip(file)
            packed = start[:2] == b"\x1f\x8b"
            return gatherer.tar(_Bounded(gzip.GzipFile(fileobj=file) if packed else file))
        except _BROKEN as error:
            raise _unusable(path, f"it cannot be read as zip or tar ({error})") from None


class _Gatherer:
    """Collects entries of one source and counts what they cost."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.brought = Brought()
        self.entries = 0
        self.total = 0
        self.seen: dict[str, str] = {}
        self.index: bytes | None = None

    def directory(self, root: str) -> Brought:
        """Regular files below a directory; links are not followed."""
        disk = Disk(root)
        for _, path, entry in disk.walk(lambda _: True, self.brought.skipped):
            self._count(path)
            if not entry.is_file(follow_symlinks=False):
                self._skip(path, "a link or a special file")
            elif self._wanted(path):
                try:
                    data = disk.read(path, MAX_FILE_BYTES + 1)[0]
                except OSError as error:
                    self._skip(path, error.strerror or "unreadable")
                    continue
                self._take(path, data)
        return self._finished()

    def zip(self, file: IO[bytes]) -> Brought:
        """The memories of a zip; nothing is extracted to a disk."""
        _check_contents(file)
        with zipfile.ZipFile(file) as archive:
            entries = [entry for entry in archive.infolist() if self._zip_entry(entry)]
            base = base_of([entry.filename for entry in entries])
            for entry in entries:
                path = self._below(entry.filename, base)
                if path:
                    with archive.open(entry) as content:
                        self._take(path, content.read(MAX_FILE_BYTES + 1))
        return self._finished()

    def _zip_entry(self, entry: zipfile.ZipInfo) -> bool:
        self._count(entry.orig_filename)
        mode = entry.external_attr >> 16
        if mode and not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_IFMT(mode) == 0):
            raise self._unsafe(entry.filename, "it is a link or a special file")
        return not entry.is_dir()

    def tar(self, stream: io.RawIOBase) -> Brought:
        """The memories of a tar, read once from front to end."""
        found: list[tuple[str, bytes]] = []
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            for entry in archive:
                self._count(entry.name)
                if entry.isdir():
                    continue
                if not entry.isreg() or entry.sparse is not None:
                    raise self._unsafe(entry.name, "it is a link or a special file")
                content = archive.extractfile(entry) if is_markdown(entry.name) else None
                found.append((entry.name, content.read(MAX_FILE_BYTES + 1) if content else b""))
        base = base_of([name for name, _ in found])
        for name, data in found:
            path = self._below(name, base)
            if path:
                self._take(path, data)
        return self._finished()

    def _count(self, name: str) -> None:
        """Every entry is counted and its name checked, also of what is not taken."""
        self.entries += 1
        if self.entries > MAX_ENTRIES:
            raise self._unsafe(name, f"there are more than {MAX_ENTRIES:,} entries")
        problem = unsafe_name(name)
        if problem:
            raise self._unsafe(name, problem)
        same = unicodedata.normalize("NFKC", tidy(name)).casefold()
        if same in self.seen:
            raise self._unsafe(name, f"it is the same name as {self.seen[same]!r}")
        self.seen[same] = name

    def _below(self, name: str, base: str) -> str:
        """The path an entry gets in the store; empty when it is not taken."""
        path = tidy(name)
        if not path.startswith(base):
            self._skip(path, f"it lies outside {base}")
            return ""
        return path[len(base) :] if self._wanted(path[len(base) :]) else ""

    def _wanted(self, path: str) -> bool:
        wanted = path == INDEX or is_memory(path)
        if not wanted:
            self._skip(path, _NO_MEMORY, OTHER)
        return wanted

    def _take(self, path: str, data: bytes) -> None:
        self.total += len(data)
        if len(data) > MAX_FILE_BYTES:
            raise self._unsafe(path, f"it has more than {MAX_FILE_BYTES:,} bytes")
        if self.total > MAX_TOTAL_BYTES:
            raise self._unsafe(path, f"all files have more than {MAX_TOTAL_BYTES:,} bytes")
        if path == INDEX:
            self.index = data
        else:
            self.brought.files.append((path, data))

    def _skip(self, path: str, reason: str, kind: str = "skipped") -> None:
        self.brought.skipped.append(Finding(kind, path, f"{path}: {reason}; skipped"))

    def _finished(self) -> Brought:
        if self.index is not None and self._says_more(self.index):
            names = [path.casefold() for path, _ in self.brought.files]
            free = next(name for name in (NOTES, *OTHER_NOTES) if name not in names)
            self.brought.files.append((free, self.index))  # it is itself a memory
        elif self.index is not None:
            self._skip(INDEX, _NO_MEMORY, OTHER)
        self.brought.files.sort()
        return self.brought

    def _says_more(self, index: bytes) -> bool:
        """True where the index is the only memory, or holds lines that no memory beside it has."""
        paths = [path for path, _ in self.brought.files]
        if not paths:
            return _has_content(index)
        return bool(survey(memory.decode(index), paths).inline)

    def _unsafe(self, name: str, problem: str) -> BadInput:
        return BadInput(
            f"{self.source}: entry {name[:200]!r}: {problem}; nothing was imported",
            path=self.source,
            next="take that entry out of the source, if you trust the rest, and try again",
        )


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


def _check_contents(file: IO[bytes]) -> None:
    """Look at the size of a zip's table of contents before it is built in memory."""
    size = file.seek(0, io.SEEK_END)
    file.seek(max(0, size - _END_BYTES - _COMMENT_BYTES))
    tail = file.read()
    at = tail.rfind(_END)
    if at < 0 or len(tail) - at < _END_BYTES:
        raise zipfile.BadZipFile("it has no end record")
    count, length = struct.unpack_from("<HL", tail, at + 10)
    if _END_64 in tail[:at] or count > MAX_ENTRIES or length > MAX_ENTRIES * _ENTRY_BYTES:
        raise zipfile.LargeZipFile(f"more than {MAX_ENTRIES:,} entries")
    file.seek(0)


def _has_content(data: bytes) -> bool:
    """True for an index that says something itself instead of pointing at files."""
    text = memory.decode(data)
    said = [line for line in text.split("\n") if line.strip() and line.lstrip()[:1] != "#"]
    return bool(said) and not survey(text, []).dangling


def _memory_folder(path: str) -> str:
    """The directory itself, or the one of the known places inside it that exists."""
    found = [os.path.join(path, name) for name in RECOGNISED]
    found = [name for name in found if os.path.isdir(name)]
    for name in found:
        # A repository may have put it there: it would bring files from anywhere.
        if os.path.realpath(name) != os.path.join(
            os.path.realpath(path), name[len(path) :].strip("/")
        ):
            target = shlex.quote(os.path.realpath(name))
            raise BadInput(
                f"{name} lies behind a symbolic link; nothing was imported",
                path=name,
                next=f"if the link is yours, name its target: memdir import {target}",
            )
    if len(found) > 1:
        several = ", ".join(found)
        raise BadInput(f"{path} holds several memory directories: {several}", next="name one")
    if not found and os.path.exists(os.path.join(path, ".git")):
        places = ", ".join(RECOGNISED)
        raise _unusable(path, f"it is a project without a memory directory ({places})")
    return found[0] if found else path


def _unusable(path: str, cause: str) -> BadInput:
    return BadInput(
        f"{path}: {cause}; nothing was imported",
        path=path,
        next="name a directory of Markdown files, a .zip, a .tar or a .tar.gz",
    )


# Memories out of a store, into a zip or a directory: private, whole, nothing overwritten.

OTHER_ARCHIVES = (".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar")
ZIP = ".zip"
_FIRST_DAY = (1980, 1, 1, 0, 0, 0)  # the earliest a zip can say; real times would differ each run
_MODE = 0o100600 << 16
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EMLINK)


def write_export(target: str, files: Sequence[tuple[str, bytes]], force: bool) -> None:
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


def pack(files: Sequence[tuple[str, bytes]]) -> bytes:
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


def _write_directory(target: str, files: Sequence[tuple[str, bytes]], force: bool) -> None:
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
