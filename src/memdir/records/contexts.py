"""Private directories of sessions: contexts from triage to agents, and drafts back from them.

`contexts/<name>/`, one per session, mode 0700 with files of 0600. The name is a keyed hash: a
session finds its own again, and nobody can guess it. No directory is shared.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from memdir.hot.disk import READ, Disk, close_quietly, create_once, failure, write_all
from memdir.records import refusal
from memdir.records.fields import TYPES
from memdir.records.refusal import RecordError

try:
    from _blake2 import blake2b  # the same as in hashlib, which takes 3 ms to load OpenSSL
except ImportError:
    from hashlib import blake2b

FOLDER, KEY = "contexts", "key"
CONTEXT, DRAFT = "context-{}.txt", "draft-{}.json"
KEY_BYTES = 32
KEY_TRIES = 4  # to read or create the key
NAME_BYTES = 16
MAX_DRAFT_BYTES = 1 << 20
KEPT_SECONDS = 86_400  # for an unused directory
MAX_SHOWN_CHARACTERS = 200  # of an invalid path
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_OTHERS = 0o077  # permissions of group and others


class Contexts:
    """A session without an id gets a new directory each time."""

    def __init__(self, state_dir: str) -> None:
        self.folder = os.path.join(state_dir, FOLDER)

    def open(self, session: str) -> Context:
        try:
            Disk(self.folder).make_root()
            if os.stat(self.folder).st_mode & _OTHERS:
                os.chmod(self.folder, 0o700)
            name = os.urandom(NAME_BYTES).hex()
            if session:
                given = session.encode("utf-8", "surrogatepass")
                name = blake2b(given, digest_size=NAME_BYTES, key=self._key()).hexdigest()
            path = os.path.join(self.folder, name)
            try:
                os.mkdir(path, 0o700)
            except FileExistsError:
                os.utime(path, follow_symlinks=False)
            with _private(path):
                return Context(path)
        except OSError as error:
            raise failure(error, self.folder, "no private directory can be made") from None

    def read_draft(self, path: str, session: str = "") -> bytes:
        """Without a session, drafts of any session count. Read once: these bytes count."""
        top, _, name = path.rpartition("/")
        above, _, inner = top.rpartition("/")
        tricky = (
            not path.startswith("/") or "\0" in path or {".", "..", ""} & {*path.split("/")[1:]}
        )
        try:
            inside = not tricky and os.path.realpath(above) == os.path.realpath(self.folder)
        except (OSError, ValueError):  # an impossible file name
            inside = False
        if not inside:
            raise _outside(path, self.folder)
        context = Context(os.path.join(self.folder, inner))
        if session and context.folder != (own := self.open(session).folder):
            raise _outside(path, own)
        return context.read(name)

    def drop(self, session: str) -> None:
        if session:
            _remove(self.open(session).folder)

    def prune(self, now: float) -> None:
        try:
            for name in [name for name in os.listdir(self.folder) if name != KEY]:
                path = os.path.join(self.folder, name)
                with suppress(FileNotFoundError):  # somebody else was faster
                    used = os.lstat(path).st_mtime
                    if used > now + KEPT_SECONDS:  # the clock was wrong: count from now
                        os.utime(path, (now, now), follow_symlinks=False)
                    elif used < now - KEPT_SECONDS:
                        _remove(path)
        except FileNotFoundError:
            return
        except OSError as error:
            raise failure(error, self.folder, "old contexts cannot be removed") from None

    def _key(self) -> bytes:
        path = os.path.join(self.folder, KEY)
        for _ in range(KEY_TRIES):
            create_once(path, os.urandom(KEY_BYTES))
            with open(path, "rb", opener=lambda path, _: os.open(path, READ)) as file:
                key = file.read(KEY_BYTES + 1)
            if len(key) == KEY_BYTES:
                return key
            os.unlink(path)  # damaged: known sessions get new directories
        raise OSError(errno.EIO, os.strerror(errno.EIO), path)


class Context:
    """Accessed through its directory handle; links are never followed."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def draft_place(self, type: str) -> str:
        return os.path.join(self.folder, DRAFT.format(type))

    def write(self, type: str, text: str) -> str:
        if type not in TYPES:
            raise RecordError(refusal.INPUT, f"{type[:40]!r} is no type", fix=", ".join(TYPES))
        name = CONTEXT.format(type)
        temporary = f".{os.urandom(NAME_BYTES).hex()}"
        try:
            with _private(self.folder) as folder:
                handle = os.open(temporary, _NEW, 0o600, dir_fd=folder)
                try:
                    write_all(handle, text.encode("utf-8", "replace"))
                    os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
                except BaseException:
                    os.unlink(temporary, dir_fd=folder)
                    raise
                finally:
                    os.close(handle)
        except OSError as error:
            raise failure(error, self.folder, "the context cannot be written") from None
        return os.path.join(self.folder, name)

    def read(self, name: str) -> bytes:
        path = os.path.join(self.folder, name)
        try:
            with _private(self.folder) as folder:
                handle = os.open(name, READ, dir_fd=folder)
                try:
                    facts = os.fstat(handle)
                    if not stat.S_ISREG(facts.st_mode):
                        raise OSError(errno.ENXIO, path)
                    if facts.st_uid != os.geteuid() or facts.st_nlink != 1:
                        message = f"{path} is somebody else's file, or has a second name"
                        fix = "write the draft anew"
                        raise RecordError(refusal.SECURITY, message, fix=fix, path=path)
                    with os.fdopen(os.dup(handle), "rb") as file:
                        data = file.read(MAX_DRAFT_BYTES + 1)
                finally:
                    close_quietly(handle)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENXIO, errno.EISDIR, errno.ENOTDIR):
                message = f"{path} is no regular file, so it is not read"
                fix = "write the draft itself there, not a link"
                raise RecordError(refusal.SECURITY, message, fix=fix, path=path) from None
            message = f"{path} cannot be read: {os.strerror(error.errno or errno.EIO)}"
            fix = "write the draft there, then run the command again"
            raise RecordError(refusal.READ, message, fix=fix, path=path) from None
        if len(data) > MAX_DRAFT_BYTES:
            message = f"{path} is larger than {MAX_DRAFT_BYTES:,} bytes"
            raise RecordError(refusal.INPUT, message, fix="write a shorter draft", path=path)
        return data


@contextmanager
def _private(path: str) -> Iterator[int]:
    """Opens a directory; refuses one that others own or can access."""
    handle = os.open(path, _DIRECTORY)
    try:
        facts = os.fstat(handle)
        if facts.st_uid != os.geteuid() or facts.st_mode & _OTHERS:
            message = f"{path} is not private, so nothing in it is used"
            raise RecordError(refusal.SECURITY, message, fix=f"rm -r {path}", path=path)
        yield handle
    finally:
        close_quietly(handle)


def _outside(path: str, folder: str) -> RecordError:
    shown = path[:MAX_SHOWN_CHARACTERS]
    message = f"{shown!r} does not lie in the private directory of a session"
    return RecordError(refusal.SECURITY, message, fix=f"write the draft below {folder}", path=shown)


def _remove(path: str) -> None:
    """Of a link, removes the link itself, never its target."""
    if os.path.isdir(path) and not os.path.islink(path):
        import shutil  # slow to import, seldom needed

        shutil.rmtree(path, ignore_errors=True)
        return
    with suppress(OSError):  # somebody else was faster
        os.unlink(path)
