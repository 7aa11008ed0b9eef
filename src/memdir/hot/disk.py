"""Safe file access: the only module in `hot` with open flags, rename and fsync.

Hooks only read; the code that replaces files is in replacement.py, which only writers import.
"""

import errno
import os
import stat
import sys

if sys.version_info >= (3, 12):  # the C part of hashlib, which costs milliseconds to import
    from _sha2 import sha256  # type: ignore[import-not-found, unused-ignore]
else:
    from _sha256 import sha256  # type: ignore[import-not-found, unused-ignore]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from memdir.errors import Finding, MemdirError

HEAD_BYTES = 4096
MAX_DEPTH = 32  # nested folders
TEMPORARY = ".memdir-"
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_READ_LINK = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
_APPEND = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_ADVICE = {
    errno.ENOSPC: "free some space on that disk, then run the command again",
    errno.EDQUOT: "free some of your disk quota, then run the command again",
    errno.EACCES: "check owner and permissions (ls -ld), then run the command again",
    errno.EPERM: "check owner and permissions (ls -ld), then run the command again",
    errno.EROFS: "the file system is mounted read-only; remount it or choose another --dir",
    errno.EMFILE: "too many files are open; close some programs or raise ulimit -n",
    errno.ELOOP: "put the file itself there; memdir follows no links inside a store",
    errno.ENXIO: "a pipe, socket or device stands there; move it away",
    errno.ENOTDIR: "a file stands where a directory should be; move it away",
    errno.EISDIR: "a directory stands there; move it away or choose another name",
}


class Unsettled(OSError):
    """The change was made, but might not survive a power cut."""


def failure(error: OSError, path: str, what: str) -> "MemdirError":
    from memdir.errors import Missing, Unwritable

    if isinstance(error, Unsettled):
        what = "the change there stands, but may not survive a power cut"
    cause = os.strerror(error.errno) if error.errno else str(error)
    if error.errno == errno.ELOOP:
        cause = "it is a symbolic link"
    advice = _ADVICE.get(error.errno or 0, "run: memdir doctor")
    if isinstance(error, FileNotFoundError):
        return Missing(f"{path}: {what}: {cause}", path=path, next=advice)
    return Unwritable(f"{path}: {what}: {cause}", path=path, next=advice)


def check_path(path: str) -> list[str]:
    """The parts of a relative path; refuses one that could leave the root."""
    parts = path.split("/")
    if not path or "\0" in path or any(part in ("", ".", "..") for part in parts):
        from memdir.errors import BadInput

        raise BadInput(f"{path!r} is not a path below the store", next="memdir list shows them")
    return parts


class Disk:
    """A directory as the root of relative paths; nothing outside it can be reached."""

    __slots__ = ("root",)

    def __init__(self, root: str) -> None:
        self.root = root

    def open_root(self) -> int:
        """Follows links: the root was resolved when the store was chosen."""
        return os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def open_parent(self, path: str, *, make: bool = False) -> tuple[int, str]:
        """Handle of the parent directory and the file name; follows no links."""
        parts = check_path(path)
        handle = self.open_root()
        try:
            for part in parts[:-1]:
                if make:
                    _make_directory(handle, part)
                inner = os.open(part, _DIRECTORY, dir_fd=handle)
                os.close(handle)
                handle = inner
        except BaseException:
            os.close(handle)
            raise
        return handle, parts[-1]

    def make_root(self) -> None:
        """Creates the root and its parents (0700), durably."""
        missing = []
        here = self.root
        # On a failing disk even `/` is not a directory: stop there anyway.
        while not os.path.isdir(here) and here != os.path.dirname(here):
            missing.append(here)
            here = os.path.dirname(here)
        for path in reversed(missing):
            try:
                os.mkdir(path, 0o700)
            except FileExistsError:
                continue
            sync_directory(os.path.dirname(path))

    def read(self, path: str, limit: int = -1) -> tuple[bytes, os.stat_result]:
        """Bytes of a regular file (at most `limit`) and the stat of its open handle."""
        parent, name = self.open_parent(path)
        try:
            handle = os.open(name, READ, dir_fd=parent)
        finally:
            os.close(parent)
        try:
            facts = os.fstat(handle)
            if not stat.S_ISREG(facts.st_mode):
                raise OSError(errno.EISDIR if stat.S_ISDIR(facts.st_mode) else errno.ENXIO, path)
            return _read(handle, facts.st_size, limit), facts
        finally:
            os.close(handle)

    def stat(self, path: str) -> os.stat_result:
        parent, name = self.open_parent(path)
        try:
            return os.stat(name, dir_fd=parent, follow_symlinks=False)
        finally:
            os.close(parent)

    def put(self, path: str, data: bytes) -> None:
        """Durable; an existing file is replaced, never written in place."""
        self.put_all({path: data})

    def put_all(self, files: "Mapping[str, bytes]") -> None:
        """All files are durable on return; one batch costs far less than a `put` for each."""
        from memdir.hot.replacement import replace_all

        replace_all(self, files)

    def drop(self, path: str) -> None:
        """Removes a file, durably."""
        parent, name = self.open_parent(path)
        try:
            os.unlink(name, dir_fd=parent)
            settle(parent)
        finally:
            close_quietly(parent)

    def walk(
        self, enter: "Callable[[str], bool]", findings: list["Finding"]
    ) -> "Iterator[tuple[int, str, os.DirEntry[str]]]":
        """Folder handle, path and entry of everything but hidden names; links are not followed.

        Enters folders if `enter(path)`; an unreadable one becomes a finding. Only one handle is
        open at a time.
        """
        folders = [""]
        while folders:
            prefix = folders.pop()
            try:
                folder, entries = self.list_folder(prefix)
            except FileNotFoundError:
                continue
            except OSError as error:
                if not prefix:
                    raise failure(error, self.root, "the store cannot be opened") from None
                findings.append(unreadable(prefix, error))
                continue
            try:
                for entry in entries:
                    path = entry.name
                    if path[0] == ".":
                        continue
                    path = prefix + path
                    if not entry.is_dir(follow_symlinks=False):
                        yield folder, path, entry
                    elif path.count("/") >= MAX_DEPTH:
                        findings.append(unreadable(path, OSError(errno.ENAMETOOLONG, path)))
                    elif enter(path):
                        folders.append(path + "/")
            finally:
                close_quietly(folder)

    def list_folder(self, prefix: str) -> "tuple[int, list[os.DirEntry[str]]]":
        """All entries or an error: a partial list would make memories look deleted."""
        if prefix:
            parent, name = self.open_parent(prefix[:-1])
            try:
                folder = os.open(name, _DIRECTORY, dir_fd=parent)
            finally:
                close_quietly(parent)
        else:
            folder = self.open_root()
        try:
            with os.scandir(folder) as entries:
                return folder, list(entries)
        except BaseException:
            close_quietly(folder)
            raise

    def sweep(self, enter: "Callable[[str], bool]") -> None:
        """Removes temporary files of killed writers; the caller holds the lock."""
        from memdir.hot.replacement import sweep

        sweep(self, enter)


def unreadable(path: str, error: OSError) -> "Finding":
    from memdir.errors import Finding

    cause = os.strerror(error.errno or errno.EIO)
    return Finding("unreadable", path, f"{path}: {cause}; skipped", f"check: ls -l {path}")


def sync_directory(path: str) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def close_quietly(handle: int) -> None:
    try:
        os.close(handle)
    except OSError:
        return


def settle(parent: int) -> None:
    """Makes a rename or unlink in this directory durable."""
    try:
        os.fsync(parent)
    except OSError as error:
        raise Unsettled(error.errno, error.strerror) from None


def _make_directory(parent: int, name: str) -> None:
    try:
        os.mkdir(name, 0o700, dir_fd=parent)
    except FileExistsError:
        return
    os.fsync(parent)


def _read(handle: int, size: int, limit: int = -1) -> bytes:
    data = os.read(handle, size + 1 if limit < 0 else min(limit, size + 1))
    while len(data) not in (size, limit):  # the file grows, or the read was short
        more = os.read(handle, 1 << 16 if limit < 0 else limit - len(data))
        if not more:
            break
        data += more
    return data


def write_all(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        written = os.write(handle, view)
        view = view[written:]


# Our own small files, outside any store.


def read_start(path: str, limit: int, *, follow: bool = True) -> tuple[bytes, os.stat_result]:
    """First bytes of a regular file and its stat; never blocks on a pipe or device."""
    handle = os.open(path, _READ_LINK if follow else READ)
    try:
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode):
            raise OSError(errno.ENXIO, "not a regular file", path)
        return _read(handle, facts.st_size, limit), facts
    finally:
        os.close(handle)


def read_private(path: str, limit: int) -> bytes | None:
    """Like `read_start`, but None if anyone else could have written the file."""
    try:
        data, facts = read_start(path, limit, follow=False)
    except OSError:
        return None
    return None if facts.st_uid != os.geteuid() or facts.st_mode & 0o022 else data


def read_end(path: str, limit: int, end: int = 0) -> tuple[bytes, int]:
    """Last whole lines of a file, or of its part before `end`, and the offset they end at."""
    try:
        handle = os.open(path, READ)
    except OSError:
        return b"", 0
    try:
        end = end or os.fstat(handle).st_size
        start = max(0, end - limit)
        data = os.pread(handle, end - start, start)
        return data.partition(b"\n")[2] if start else data, end
    except OSError:
        return b"", 0
    finally:
        os.close(handle)


def digest_of(data: bytes) -> str:
    return str(sha256(data).hexdigest())


def read_sealed(path: str, mark: str, limit: int) -> bytes | None:
    """Inverse of `seal`; None if the file is missing, damaged or not ours."""
    data = read_private(path, limit)
    if not data:
        return None
    head, _, rest = data.partition(b"\n")
    if data == seal(mark, rest):
        return rest
    from binascii import crc32  # used by version 0.1.0

    return rest if head == f"{mark} {crc32(rest):08x}".encode() else None


def seal(mark: str, data: bytes) -> bytes:
    """Prefixes the bytes with a line that holds the mark and their checksum."""
    return f"{mark} {digest_of(data)[:16]}\n".encode() + data


def open_append(path: str) -> int:
    try:
        handle = os.open(path, _APPEND, 0o600)
    except FileNotFoundError:
        make_private(os.path.dirname(path))
        handle = os.open(path, _APPEND, 0o600)
    if not stat.S_ISREG(os.fstat(handle).st_mode):  # a pipe would swallow it
        os.close(handle)
        raise OSError(errno.ENXIO, os.strerror(errno.ENXIO), path)
    return handle


def append(path: str, data: bytes, limit: int = 0) -> int:
    """Adds with a single write; returns the new end, or 0 if it would exceed `limit` bytes."""
    handle = open_append(path)
    try:
        if limit and os.fstat(handle).st_size + len(data) > limit:
            return 0
        if os.write(handle, data) != len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
        return os.lseek(handle, 0, 1)
    finally:
        os.close(handle)


def make_private(folder: str) -> None:
    """Creates the folder and its missing parents, all 0700."""
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        return
    except FileNotFoundError:
        if os.path.dirname(folder) in ("", folder):
            raise
        make_private(os.path.dirname(folder))
        os.mkdir(folder, 0o700)


def keep_derived(path: str, data: bytes) -> None:
    """Replaces a file that can be made again: atomic, but without fsync."""
    try:
        make_private(os.path.dirname(path))
        _name_whole(os.replace, path, data)
    except OSError:
        return  # it is made again each time


def create_once(path: str, data: bytes) -> bool:
    """Creates the file atomically; False if it exists already."""
    try:
        _name_whole(os.link, path, data)
    except FileExistsError:
        return False
    return True


def _name_whole(give_name: "Callable[[str, str], None]", path: str, data: bytes) -> None:
    part = f"{path}.{os.urandom(4).hex()}"
    try:
        handle = os.open(part, _NEW, 0o600)
        try:
            write_all(handle, data)
        finally:
            os.close(handle)
        give_name(part, path)
    finally:
        remove(part)


def take(path: str, limit: int) -> bytes:
    """Reads and removes a file; if several processes try, only one gets the bytes."""
    mine = f"{path}.{os.urandom(4).hex()}"
    try:
        os.rename(path, mine)
        data = read_start(mine, limit, follow=False)[0]
        os.unlink(mine)
    except OSError:
        return b""
    return data


def remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return


def move(path: str, target: str) -> None:
    os.replace(path, target)
