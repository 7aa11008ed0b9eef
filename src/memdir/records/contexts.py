"""Private directories of sessions: what triage hands to agents, and the drafts they hand back.

`contexts/<name>/`, one per session, 0700 with files of 0600. The name is a keyed hash: the same
session finds its own again, and nobody can guess one. Nothing lies in a shared directory.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from memdir.hot.disk import READ, Disk, close_quietly, failure
from memdir.records import refusal
from memdir.records.fields import TYPES
from memdir.records.refusal import RecordError

try:
    from _blake2 import blake2b  # what hashlib gives, without OpenSSL, which takes 3 ms
except ImportError:
    from hashlib import blake2b

FOLDER, KEY = "contexts", "key"
CONTEXT, DRAFT = "context-{}.txt", "draft-{}.json"
KEY_BYTES = 32
KEY_TRIES = 4  # to read or make it
NAME_BYTES = 16
MAX_DRAFT_BYTES = 1 << 20
KEPT_SECONDS = 86_400  # that a directory stays which nobody uses
MAX_SHOWN_CHARACTERS = 200  # of a path that nobody can mean
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_OTHERS = 0o077  # the permissions of everybody else


class Contexts:
    """The directories of one user's sessions; a session without an id gets a new one each time."""

    def __init__(self, state_dir: str) -> None:
        self.folder = os.path.join(state_dir, FOLDER)

    def open(self, session: str) -> Context:
        """The directory of a session, made where there is none."""
        try:
            Disk(self.folder).make_root()
            with _opened(self.folder) as top:
                if os.fstat(top).st_mode & _OTHERS:
                    os.fchmod(top, 0o700)
                name = _name(top, session)
                try:
                    os.mkdir(name, 0o700, dir_fd=top)
                except FileExistsError:
                    os.utime(name, dir_fd=top, follow_symlinks=False)
                with _opened(name, top) as handle:
                    _check_private(handle, os.path.join(self.folder, name))
        except OSError as error:
            raise failure(error, self.folder, "no private directory can be made") from None
        return Context(os.path.join(self.folder, name))

    def find(self, path: str) -> Context:
        """The directory in which a file lies; refused where that is none of these."""
        parts = path.split("/")
        tricky = not path.startswith("/") or "\0" in path or {".", "..", ""} & {*parts[1:]}
        if tricky or len(parts) < 4:
            raise _outside(path, self.folder)
        top = "/".join(parts[:-2])
        try:
            inside = os.path.realpath(top) == os.path.realpath(self.folder)
        except (OSError, ValueError):  # a name that no file can have
            inside = False
        if not inside:
            raise _outside(path, self.folder)
        return Context(os.path.join(self.folder, parts[-2]))

    def read_draft(self, path: str, session: str = "") -> bytes:
        """A draft of this session, or of any where none is named. Read once: these bytes count."""
        context = self.find(path)
        if session and context.folder != self.open(session).folder:
            raise _outside(path, self.open(session).folder)
        return context.read(os.path.basename(path))

    def drop(self, session: str) -> None:
        """Remove what a session left: it was saved, or nobody wants it."""
        if session:
            _remove(self.open(session).folder)

    def prune(self, now: float) -> None:
        """Remove the directories that nobody has used for a day."""
        try:
            for name in [name for name in os.listdir(self.folder) if name != KEY]:
                path = os.path.join(self.folder, name)
                try:
                    used = os.lstat(path).st_mtime
                    if used > now + KEPT_SECONDS:  # the clock was wrong: it ages from now on
                        os.utime(path, (now, now), follow_symlinks=False)
                    elif used < now - KEPT_SECONDS:
                        _remove(path)
                except FileNotFoundError:
                    continue  # somebody else was faster
        except FileNotFoundError:
            return
        except OSError as error:
            raise failure(error, self.folder, "old contexts cannot be removed") from None


class Context:
    """The directory of one session; it is reached by its handle, links are never followed."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def draft_place(self, type: str) -> str:
        """Where an agent puts its draft of this type."""
        return os.path.join(self.folder, DRAFT.format(type))

    def write(self, type: str, text: str) -> str:
        """Put the context of a type down, whole; its path."""
        if type not in TYPES:
            raise RecordError(refusal.INPUT, f"{type[:40]!r} is no type", fix=", ".join(TYPES))
        path = os.path.join(self.folder, CONTEXT.format(type))
        temporary = f".{os.urandom(NAME_BYTES).hex()}"
        try:
            with _opened(self.folder) as handle:
                _check_private(handle, self.folder)
                try:
                    _write(handle, temporary, text.encode("utf-8", "replace"))
                    name = os.path.basename(path)
                    os.rename(temporary, name, src_dir_fd=handle, dst_dir_fd=handle)
                except BaseException:
                    with suppress(OSError):
                        os.unlink(temporary, dir_fd=handle)
                    raise
        except OSError as error:
            raise failure(error, path, "the context cannot be written") from None
        return path

    def read(self, name: str) -> bytes:
        """The bytes of a regular file of our own in it."""
        path = os.path.join(self.folder, name)
        try:
            with _opened(self.folder) as folder:
                _check_private(folder, self.folder)
                handle = os.open(name, READ, dir_fd=folder)
                try:
                    return _read(handle, path)
                finally:
                    close_quietly(handle)
        except OSError as error:
            raise _refused(error, path) from None


@contextmanager
def _opened(path: str, top: int | None = None) -> Iterator[int]:
    handle = os.open(path, _DIRECTORY, dir_fd=top)
    try:
        yield handle
    finally:
        close_quietly(handle)


def _check_private(handle: int, path: str) -> None:
    """Refuse a directory that others can reach or that is somebody else's."""
    facts = os.fstat(handle)
    if facts.st_uid != os.geteuid() or facts.st_mode & _OTHERS:
        message = f"{path} is not private, so nothing in it is used"
        raise RecordError(refusal.SECURITY, message, fix=f"rm -r {path}", path=path)


def _read(handle: int, path: str) -> bytes:
    facts = os.fstat(handle)
    if not stat.S_ISREG(facts.st_mode):
        raise OSError(errno.ENXIO, path)
    if facts.st_uid != os.geteuid() or facts.st_nlink != 1:
        message = f"{path} is somebody else's file, or has a second name"
        raise RecordError(refusal.SECURITY, message, fix="write the draft anew", path=path)
    parts, left = [], MAX_DRAFT_BYTES + 1
    while left > 0 and (part := os.read(handle, min(left, 1 << 16))):
        parts.append(part)
        left -= len(part)
    if left <= 0:
        message = f"{path} is larger than {MAX_DRAFT_BYTES:,} bytes"
        raise RecordError(refusal.INPUT, message, fix="write a shorter draft", path=path)
    return b"".join(parts)


def _refused(error: OSError, path: str) -> RecordError:
    if error.errno in (errno.ELOOP, errno.ENXIO, errno.EISDIR, errno.ENOTDIR):
        message = f"{path} is no regular file, so it is not read"
        fix = "write the draft itself there, not a link"
        return RecordError(refusal.SECURITY, message, fix=fix, path=path)
    cause = os.strerror(error.errno or errno.EIO)
    fix = "write the draft there, then run the command again"
    return RecordError(refusal.READ, f"{path} cannot be read: {cause}", fix=fix, path=path)


def _outside(path: str, folder: str) -> RecordError:
    shown = path[:MAX_SHOWN_CHARACTERS]
    message = f"{shown!r} does not lie in the private directory of a session"
    return RecordError(refusal.SECURITY, message, fix=f"write the draft below {folder}", path=shown)


def _name(top: int, session: str) -> str:
    if not session:
        return os.urandom(NAME_BYTES).hex()
    given = session.encode("utf-8", "surrogatepass")
    return blake2b(given, digest_size=NAME_BYTES, key=_key(top)).hexdigest()


def _key(top: int) -> bytes:
    """The secret of these directories, made by whoever comes first."""
    for _ in range(KEY_TRIES):
        try:
            handle = os.open(KEY, READ, dir_fd=top)
        except FileNotFoundError:
            temporary = f".{os.urandom(NAME_BYTES).hex()}"
            _write(top, temporary, os.urandom(KEY_BYTES))
            with suppress(FileExistsError):  # whole, and the first one counts
                os.link(temporary, KEY, src_dir_fd=top, dst_dir_fd=top)
            os.unlink(temporary, dir_fd=top)
            continue
        try:
            data = os.read(handle, KEY_BYTES + 1)
        finally:
            close_quietly(handle)
        if len(data) == KEY_BYTES:
            return data
        os.unlink(KEY, dir_fd=top)  # damaged: sessions that have a directory get another one
    raise OSError(errno.EIO, KEY)


def _write(folder: int, name: str, data: bytes) -> None:
    handle = os.open(name, _NEW, 0o600, dir_fd=folder)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(handle, view) :]
    finally:
        os.close(handle)


def _remove(path: str) -> None:
    """Take a directory or a stray file away; a link itself, never what it names."""
    if os.path.isdir(path) and not os.path.islink(path):
        import shutil  # heavy, and seldom needed

        shutil.rmtree(path, ignore_errors=True)
        return
    with suppress(OSError):  # somebody else was faster
        os.unlink(path)
