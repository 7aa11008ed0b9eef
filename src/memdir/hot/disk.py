"""Safe file access: the only module in `hot` with open flags, rename and fsync.

A file is replaced by a temporary file in the same directory, write, fsync, rename, fsync of the
directory. An error before the rename leaves the old version, one after it the new one.
"""

import errno
import fcntl
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
MAX_FILES_IN_FLIGHT = 100  # replaced together; each has an open handle
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
    errno.EROFS: "the file system is mounted read-only; remount it or choose another --dir",
    errno.ELOOP: "put the file itself there; memdir follows no links inside a store",
    errno.ENXIO: "a pipe, socket or device stands there; move it away",
    errno.ENOTDIR: "a file stands where a directory should be; move it away",
    errno.EISDIR: "a directory stands there; move it away or choose another name",
}
ASK_DOCTOR = "run: memdir doctor"
_FULL_SYNC = getattr(fcntl, "F_FULLFSYNC", None)  # macOS: fsync alone stops at the drive's memory


def force_to_disk(handle: int) -> None:
    try:
        if _FULL_SYNC is None:
            raise OSError
        fcntl.fcntl(handle, _FULL_SYNC)
    except OSError:  # there is no such call, or the file system does not know it
        os.fsync(handle)


class Unsettled(OSError):
    """The change was made, but might not survive a power cut."""


def disk_failure(error: OSError, path: str, what: str) -> "MemdirError":
    from memdir.errors import Missing, Unwritable

    if isinstance(error, Unsettled):
        what = "the change there stands, but may not survive a power cut"
    cause = os.strerror(error.errno) if error.errno else str(error)
    if error.errno == errno.ELOOP:
        cause = "it is a symbolic link"
    advice = _ADVICE.get(error.errno or 0, ASK_DOCTOR)
    if isinstance(error, FileNotFoundError):
        return Missing(f"{path}: {what}: {cause}", path=path, next=advice)
    return Unwritable(f"{path}: {what}: {cause}", path=path, next=advice)


def check_path_on_disk(path: str) -> list[str]:
    """The parts of a relative path; refuses one that could leave the root."""
    parts = path.split("/")
    if not path or "\0" in path or any(part in ("", ".", "..") for part in parts):
        from memdir.errors import BadInput

        raise BadInput(f"{path!r} is not a path below the store", next="memdir list shows them")
    return parts


class Disk:
    """A directory as the root of relative paths; nothing outside it can be reached."""

    def __init__(self, root: str) -> None:
        self.root = root

    def open_root(self) -> int:
        """Follows links: the root was resolved when the store was chosen."""
        return os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def open_parent(self, path: str, make: bool = False, durable: bool = True) -> tuple[int, str]:
        """Handle of the parent directory and the file name; follows no links."""
        parts = check_path_on_disk(path)
        handle = self.open_root()
        try:
            for part in parts[:-1]:
                if make:
                    try:
                        os.mkdir(part, 0o700, dir_fd=handle)
                        if durable:
                            force_to_disk(handle)
                    except FileExistsError:
                        pass
                inner = os.open(part, _DIRECTORY, dir_fd=handle)
                os.close(handle)
                handle = inner
        except BaseException:
            os.close(handle)
            raise
        return handle, parts[-1]

    def _open(self, path: str, flags: int) -> int:
        if "/" not in path:  # the usual case
            return os.open(os.path.join(self.root, *check_path_on_disk(path)), flags)
        parent, name = self.open_parent(path)
        try:
            return os.open(name, flags, dir_fd=parent)
        finally:
            close_quietly(parent)

    def make_root(self) -> None:
        """Creates the root and its parents (0700), durably."""
        make_private_folder(self.root, durable=True)

    def read(self, path: str, limit: int = -1) -> tuple[bytes, os.stat_result]:
        """Bytes of a regular file (at most `limit`) and the stat of its open handle."""
        return _read_regular(self._open(path, READ), path, limit)

    def stat(self, path: str) -> os.stat_result:
        parent, name = self.open_parent(path)
        try:
            return os.stat(name, dir_fd=parent, follow_symlinks=False)
        finally:
            os.close(parent)

    def put(self, path: str, data: bytes, *, durable: bool = True, named: bool = True) -> None:
        """An existing file is replaced, never in place; if not `named`, a power cut may undo it."""
        self._put_some({path: data}, durable, durable and named)

    def put_all(self, files: "Mapping[str, bytes]") -> None:
        """No file is renamed before all are synced; a batch is cheaper than many `put`s."""
        rows = list(files.items())
        for start in range(0, len(rows), MAX_FILES_IN_FLIGHT):
            self._put_some(dict(rows[start : start + MAX_FILES_IN_FLIGHT]), True, True)

    def _put_some(self, files: "Mapping[str, bytes]", durable: bool, named: bool) -> None:
        parents: dict[str, int] = {}
        staged: list[Staged] = []
        try:
            for path in files:
                *folders, name = check_path_on_disk(path)
                folder = "/".join(folders)
                if folder not in parents:
                    parents[folder] = self.open_parent(path, make=True, durable=durable)[0]
                staged.append(Staged(parents[folder], name))
                staged[-1].write(files[path])
            for file in staged:
                file.finish(durable)
            for file in staged:
                file.rename()
            for parent in parents.values() if named else ():
                force_parent_to_disk(parent)
        finally:
            for file in staged:
                file.close()
            for parent in parents.values():
                close_quietly(parent)

    def drop(self, path: str) -> None:
        parent, name = self.open_parent(path)
        try:
            os.unlink(name, dir_fd=parent)
            force_parent_to_disk(parent)
        finally:
            close_quietly(parent)

    def walk(
        self, enter: "Callable[[str], bool]", findings: list["Finding"], *, hidden: bool = False
    ) -> "Iterator[tuple[int, str, os.DirEntry[str]]]":
        """Folder handle, path and entry of every file; links are not followed.

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
                    raise disk_failure(error, self.root, "the store cannot be opened") from None
                findings.append(unreadable_file(prefix, error))
                continue
            try:
                for entry in entries:
                    path = entry.name
                    if path[0] == "." and not hidden:
                        continue
                    path = prefix + path
                    if not entry.is_dir(follow_symlinks=False):
                        yield folder, path, entry
                    elif path.count("/") >= MAX_DEPTH:
                        findings.append(unreadable_file(path, OSError(errno.ENAMETOOLONG, path)))
                    elif enter(path):
                        folders.append(path + "/")
            finally:
                close_quietly(folder)

    def list_folder(self, prefix: str) -> "tuple[int, list[os.DirEntry[str]]]":
        """All entries or an error: a partial list would make memories look deleted."""
        folder = self._open(prefix[:-1], _DIRECTORY) if prefix else self.open_root()
        try:
            with os.scandir(folder) as entries:
                return folder, list(entries)
        except BaseException:
            close_quietly(folder)
            raise

    def sweep(self, enter: "Callable[[str], bool]") -> None:
        """Removes temporary files of killed writers; the caller holds the lock."""
        for folder, _, entry in self.walk(enter, [], hidden=True):
            if entry.name.startswith(TEMPORARY) and entry.name.endswith(".tmp"):
                remove_file(entry.name, folder)


class Staged:
    def __init__(self, parent: int, name: str) -> None:
        self.parent = parent
        self.name = name
        self.handle = -1
        self.temporary = ""

    def write(self, data: bytes) -> None:
        mode = _mode_of(self.parent, self.name)
        temporary = f"{TEMPORARY}{os.getpid()}-{os.urandom(6).hex()}.tmp"
        self.handle = os.open(temporary, _NEW, 0o600, dir_fd=self.parent)
        self.temporary = temporary
        if mode != 0o600:
            os.fchmod(self.handle, mode)
        write_all_to_disk(self.handle, data)

    def finish(self, durable: bool) -> None:
        """A failed fsync is a failed write and is never retried."""
        if durable:
            force_to_disk(self.handle)
        handle, self.handle = self.handle, -1
        os.close(handle)

    def rename(self) -> None:
        os.rename(self.temporary, self.name, src_dir_fd=self.parent, dst_dir_fd=self.parent)
        self.temporary = ""

    def close(self) -> None:
        if self.temporary:
            remove_file(self.temporary, self.parent)
        close_quietly(self.handle)  # -1 if closed already


def _mode_of(parent: int, name: str) -> int:
    try:
        facts = os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return 0o600
    if stat.S_ISDIR(facts.st_mode):
        raise OSError(errno.EISDIR, "a directory stands there")
    if not stat.S_ISREG(facts.st_mode):
        link = stat.S_ISLNK(facts.st_mode)
        raise OSError(errno.ELOOP if link else errno.ENXIO, "not a regular file")
    return stat.S_IMODE(facts.st_mode) & 0o777 or 0o600


def unreadable_file(path: str, error: OSError) -> "Finding":
    from memdir.errors import Finding

    cause = os.strerror(error.errno or errno.EIO)
    return Finding("unreadable", path, f"{path}: {cause}; skipped", f"check: ls -l {path}")


def force_directory_to_disk(path: str) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        force_to_disk(handle)
    finally:
        os.close(handle)


def close_quietly(handle: int) -> None:
    try:
        os.close(handle)
    except OSError:
        return


def force_parent_to_disk(parent: int) -> None:
    """Makes a rename or unlink in this directory durable."""
    try:
        force_to_disk(parent)
    except OSError as error:
        raise Unsettled(error.errno, error.strerror) from None


def _read_regular(handle: int, path: str, limit: int) -> tuple[bytes, os.stat_result]:
    try:
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode):
            code = errno.EISDIR if stat.S_ISDIR(facts.st_mode) else errno.ENXIO
            raise OSError(code, "not a regular file", path)
        size = facts.st_size
        data = os.read(handle, size + 1 if limit < 0 else min(limit, size + 1))
        while len(data) not in (size, limit):  # the file grows, or the read was short
            more = os.read(handle, 1 << 16 if limit < 0 else limit - len(data))
            if not more:
                break
            data += more
        return data, facts
    finally:
        os.close(handle)


def write_all_to_disk(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        written = os.write(handle, view)
        view = view[written:]


def read_start(path: str, limit: int, *, follow: bool = True) -> tuple[bytes, os.stat_result]:
    """First bytes of a regular file and its stat; never blocks on a pipe or device."""
    return _read_regular(os.open(path, _READ_LINK if follow else READ), path, limit)


def read_end_of_file(path: str, limit: int, end: int = 0) -> tuple[bytes, int]:
    """Last whole lines of a file, or of its part before `end`, and the offset they end at."""
    handle = -1
    try:
        handle = os.open(path, READ)
        end = end or os.fstat(handle).st_size
        start = max(0, end - limit)
        data = os.pread(handle, end - start, start)
        return data.partition(b"\n")[2] if start else data, end
    except OSError:
        return b"", 0
    finally:
        close_quietly(handle)


def digest_of(data: bytes) -> str:
    return str(sha256(data).hexdigest())


def read_sealed_file(path: str, mark: str, limit: int) -> bytes | None:
    """Inverse of `seal_bytes`; None if the file is missing or damaged, or others may write it."""
    try:
        data, facts = read_start(path, limit, follow=False)
    except OSError:
        return None
    if facts.st_uid != os.geteuid() or facts.st_mode & 0o022:
        return None
    head, _, rest = data.partition(b"\n")
    if data == seal_bytes(mark, rest):
        return rest
    from binascii import crc32  # used by version 0.1.0

    return rest if head == f"{mark} {crc32(rest):08x}".encode() else None


def seal_bytes(mark: str, data: bytes) -> bytes:
    """Prefixes the bytes with a line that holds the mark and their checksum."""
    return f"{mark} {digest_of(data)[:16]}\n".encode() + data


def open_file_to_append(path: str) -> int:
    make_private_folder(os.path.dirname(path))
    handle = os.open(path, _APPEND, 0o600)
    if not stat.S_ISREG(os.fstat(handle).st_mode):  # a pipe would swallow it
        os.close(handle)
        raise OSError(errno.ENXIO, os.strerror(errno.ENXIO), path)
    return handle


def append_to_file(path: str, data: bytes, limit: int = 0) -> int:
    """Adds with a single write; returns the new end, or 0 if it would exceed `limit` bytes."""
    handle = open_file_to_append(path)
    try:
        if limit and os.fstat(handle).st_size + len(data) > limit:
            return 0
        if os.write(handle, data) != len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
        return os.lseek(handle, 0, 1)
    finally:
        os.close(handle)


def make_private_folder(folder: str, *, durable: bool = False) -> None:
    """Creates the folder and its missing parents, all 0700."""
    parent = os.path.dirname(folder)
    # On a failing disk even `/` is not a directory: stop there anyway.
    if os.path.isdir(folder) or folder == parent:
        return
    make_private_folder(parent, durable=durable)
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        return
    if durable:
        force_directory_to_disk(parent)


def keep_derived_file(path: str, data: bytes) -> None:
    """Replaces a file that can be made again: atomic, but without fsync."""
    folder, name = os.path.split(path)
    try:
        make_private_folder(folder)
        Disk(folder).put(name, data, durable=False)
    except OSError:
        return  # it is made again each time


def create_file_once(path: str, data: bytes) -> bool:
    """Creates the file atomically; False if it exists already."""
    part = f"{path}.{os.urandom(4).hex()}"
    try:
        handle = os.open(part, _NEW, 0o600)
        try:
            write_all_to_disk(handle, data)
        finally:
            os.close(handle)
        os.link(part, path)
    except FileExistsError:
        return False
    finally:
        remove_file(part)
    return True


def remove_file(path: str, parent: int | None = None) -> None:
    try:
        os.unlink(path, dir_fd=parent)
    except OSError:
        return


move = os.replace
