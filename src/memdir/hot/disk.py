"""Safe open, durable replace, walk, sweep: with `store/lock`, `store/state` the only place with
open flags and rename.
"""

import errno
import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from memdir.errors import Finding, MemdirError


# Files below one directory, reached by directory handles only, replaced whole and durably.
#
# Order of a replacement: temporary file in the same directory, write, fsync, rename, fsync of the
# directory. An error before the rename leaves the old version, one after it the new one.

HEAD_BYTES = 4096
DEEPEST = 32  # folders inside each other; nobody nests memories deeper by intent
TOGETHER = 100  # files in flight; two handles each
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
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
    """The change was made, but nobody knows whether it would survive a power cut."""


def failure(error: OSError, path: str, what: str) -> "MemdirError":
    """An operating system error as a sentence with the file, the cause and the next step."""
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
    """The parts of a path below the root; refuses one that could lead out of it."""
    parts = path.split("/")
    if not path or "\0" in path or any(part in ("", ".", "..") for part in parts):
        from memdir.errors import BadInput

        raise BadInput(f"{path!r} is not a path below the store", next="memdir list shows them")
    return parts


class Disk:
    """One directory as the root of relative paths; nothing outside it can be reached."""

    __slots__ = ("root",)

    def __init__(self, root: str) -> None:
        self.root = root

    def open_root(self) -> int:
        """A handle of the root; the root itself was resolved when the store was chosen."""
        return os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def open_parent(self, path: str, *, make: bool = False) -> tuple[int, str]:
        """A handle of the directory that holds this path, walked without following links."""
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
        """Create the root with its parents (0700), durably."""
        missing = []
        here = self.root
        # A disk that fails calls even `/` no directory: the way up ends there all the same.
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
        """The bytes of a regular file (at most `limit`) and what its handle says of it."""
        parent, name = self.open_parent(path)
        try:
            handle = os.open(name, READ, dir_fd=parent)
        finally:
            os.close(parent)
        try:
            facts = os.fstat(handle)
            if not stat.S_ISREG(facts.st_mode):
                raise OSError(errno.EISDIR if stat.S_ISDIR(facts.st_mode) else errno.ENXIO, path)
            wanted = facts.st_size if limit < 0 else min(limit, facts.st_size)
            return _read_all(handle, wanted, grow=limit < 0), facts
        finally:
            os.close(handle)

    def stat(self, path: str) -> os.stat_result:
        """What the directory says of a path; a link is not followed."""
        parent, name = self.open_parent(path)
        try:
            return os.stat(name, dir_fd=parent, follow_symlinks=False)
        finally:
            os.close(parent)

    def put(self, path: str, data: bytes) -> None:
        """Replace or create one file, durably; what stands there is never written in place."""
        self.put_all({path: data})

    def put_all(self, files: "Mapping[str, bytes]") -> None:
        """Replace or create files, all of them durable when this returns.

        Together they cost a fraction of one by one: the first fsync takes the others along. No
        file has its name before its bytes are safe. Any number of files, few handles at a time.
        """
        # MOVED

        paths = list(files)
        for start in range(0, len(paths), TOGETHER):
            staged = []
            try:
                for path in paths[start : start + TOGETHER]:
                    staged.append(Staged(*self.open_parent(path, make=True)))
                    staged[-1].write(files[path])
                for one in staged:
                    one.sync()
                for one in staged:
                    one.rename()
                for parent in {one.identity: one.parent for one in staged}.values():
                    _settle(parent)
            finally:
                for one in staged:
                    one.close()

    def drop(self, path: str) -> None:
        """Take one file out of the directory, durably."""
        parent, name = self.open_parent(path)
        try:
            os.unlink(name, dir_fd=parent)
            _settle(parent)
        finally:
            close_quietly(parent)

    def walk(
        self, enter: "Callable[[str], bool]", findings: list["Finding"]
    ) -> "Iterator[tuple[int, str, os.DirEntry[str]]]":
        """Everything below the root but hidden names: folder handle, path, entry.

        Folders are entered where `enter(path)` says so, links never; what cannot be entered
        becomes a finding. One handle is open at a time, whatever the number of folders.
        """
        folders = [""]
        while folders:
            prefix = folders.pop()
            try:
                folder, entries = self._list(prefix)
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
                    elif path.count("/") >= DEEPEST:
                        findings.append(unreadable(path, OSError(errno.ENAMETOOLONG, path)))
                    elif enter(path):
                        folders.append(path + "/")
            finally:
                close_quietly(folder)

    def _list(self, prefix: str) -> "tuple[int, list[os.DirEntry[str]]]":
        """A folder's handle and all its entries: half a list would make memories look gone."""
        folder = self._open_folder(prefix)
        try:
            with os.scandir(folder) as entries:
                return folder, list(entries)
        except BaseException:
            close_quietly(folder)
            raise

    def _open_folder(self, prefix: str) -> int:
        if not prefix:
            return self.open_root()
        parent, name = self.open_parent(prefix[:-1])
        try:
            return os.open(name, _DIRECTORY, dir_fd=parent)
        finally:
            close_quietly(parent)

    def sweep(self, enter: "Callable[[str], bool]") -> None:
        """Remove temporary files that a killed writer left; only the holder of the lock may."""
        # MOVED

        folders = [""]
        while folders:
            prefix = folders.pop()
            try:
                folder, entries = self._list(prefix)
            except OSError:
                continue  # what cannot be opened holds no debris of ours to remove now
            for entry in entries:
                path = prefix + entry.name
                if entry.name.startswith(TEMPORARY) and entry.name.endswith(".tmp"):
                    unlink_quietly(entry.name, folder)
                elif entry.is_dir(follow_symlinks=False) and path.count("/") < DEEPEST:
                    folders += [path + "/"] if enter(path) else []
            close_quietly(folder)


def unreadable(path: str, error: OSError) -> "Finding":
    """A file or folder that could not be read: named, skipped, never hidden."""
    from memdir.errors import Finding

    cause = os.strerror(error.errno or errno.EIO)
    return Finding("unreadable", path, f"{path}: {cause}; skipped", f"check: ls -l {path}")


def sync_directory(path: str) -> None:
    """Make the entries of a directory durable."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def close_quietly(handle: int) -> None:
    """Let go of a handle that was only read from: its closing can lose nothing."""
    try:
        os.close(handle)
    except OSError:
        return


def _settle(parent: int) -> None:
    """Make a name that was just given or taken durable."""
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


def _read_all(handle: int, wanted: int, *, grow: bool) -> bytes:
    data = os.read(handle, wanted + 1 if grow else wanted)
    if len(data) == wanted:
        return data
    parts = [data]
    while grow or sum(map(len, parts)) < wanted:  # a file that grows, or a short read
        more = os.read(handle, 1 << 16)
        if not more:
            break
        parts.append(more)
    return b"".join(parts)


# A file on its way into a directory: it has its name only when its bytes are safe.

TEMPORARY = ".memdir-"
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Staged:
    """One file; takes over the handle of its directory."""

    __slots__ = ("handle", "identity", "name", "parent", "temporary")

    def __init__(self, parent: int, name: str) -> None:
        self.parent = parent
        self.name = name
        self.handle = -1
        self.temporary = ""
        self.identity = (0, 0)

    def write(self, data: bytes) -> None:
        """Put the bytes into a temporary file beside the place of the name."""
        facts = os.fstat(self.parent)
        self.identity = (facts.st_dev, facts.st_ino)
        mode = _mode_of(self.parent, self.name)
        temporary = f"{TEMPORARY}{os.getpid()}-{os.urandom(6).hex()}.tmp"
        self.handle = os.open(temporary, _NEW, 0o600, dir_fd=self.parent)
        self.temporary = temporary
        if mode != 0o600:
            os.fchmod(self.handle, mode)
        _write_all(self.handle, data)

    def sync(self) -> None:
        """Make the bytes durable; a failed fsync is a failed write, never tried again."""
        os.fsync(self.handle)
        handle, self.handle = self.handle, -1
        os.close(handle)

    def rename(self) -> None:
        """Give the file its name, in one step."""
        os.rename(self.temporary, self.name, src_dir_fd=self.parent, dst_dir_fd=self.parent)
        self.temporary = ""

    def close(self) -> None:
        """Let go of everything; what did not get its name is removed."""
        if self.temporary:
            unlink_quietly(self.temporary, self.parent)
        for handle in (self.handle, self.parent):
            try:
                os.close(handle)
            except OSError:
                continue  # -1: closed already; else its bytes were forced, or are given up


def _mode_of(parent: int, name: str) -> int:
    """The permissions the new version gets: those of the old one, else private."""
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


def _write_all(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        written = os.write(handle, view)
        view = view[written:]


def unlink_quietly(name: str, parent: int) -> None:
    """Clean up after a failure that is already on its way to the user."""
    try:
        os.unlink(name, dir_fd=parent)
    except OSError:
        return
