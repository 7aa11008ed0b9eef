"""Replaces files below a directory atomically and durably; only writers import it.

A replacement is a temporary file in the same directory, write, fsync, rename, fsync of the
directory. An error before the rename leaves the old version, one after it the new one.
"""

import errno
import os
import stat

from memdir.hot.disk import MAX_DEPTH, TEMPORARY, Disk, close_quietly, settle, write_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MAX_FILES_IN_FLIGHT = 100  # each needs two handles
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def replace_all(disk: Disk, files: "Mapping[str, bytes]") -> None:
    """All files are durable on return; no file is renamed before its bytes are synced."""
    paths = list(files)
    for start in range(0, len(paths), MAX_FILES_IN_FLIGHT):
        staged = []
        try:
            for path in paths[start : start + MAX_FILES_IN_FLIGHT]:
                staged.append(Staged(*disk.open_parent(path, make=True)))
                staged[-1].write(files[path])
            for file in staged:
                file.sync()
            for file in staged:
                file.rename()
            for parent in {file.identity: file.parent for file in staged}.values():
                settle(parent)
        finally:
            for file in staged:
                file.close()


def sweep(disk: Disk, enter: "Callable[[str], bool]") -> None:
    """Removes temporary files of killed writers; the caller holds the lock."""
    folders = [""]
    while folders:
        prefix = folders.pop()
        try:
            folder, entries = disk.list_folder(prefix)
        except OSError:
            continue  # an unreadable folder is left for the next sweep
        for entry in entries:
            path = prefix + entry.name
            if entry.name.startswith(TEMPORARY) and entry.name.endswith(".tmp"):
                _unlink_quietly(entry.name, folder)
            elif entry.is_dir(follow_symlinks=False) and path.count("/") < MAX_DEPTH:
                folders += [path + "/"] if enter(path) else []
        close_quietly(folder)


class Staged:
    __slots__ = ("handle", "identity", "name", "parent", "temporary")

    def __init__(self, parent: int, name: str) -> None:
        self.parent = parent
        self.name = name
        self.handle = -1
        self.temporary = ""
        self.identity = (0, 0)

    def write(self, data: bytes) -> None:
        facts = os.fstat(self.parent)
        self.identity = (facts.st_dev, facts.st_ino)
        mode = _mode_of(self.parent, self.name)
        temporary = f"{TEMPORARY}{os.getpid()}-{os.urandom(6).hex()}.tmp"
        self.handle = os.open(temporary, _NEW, 0o600, dir_fd=self.parent)
        self.temporary = temporary
        if mode != 0o600:
            os.fchmod(self.handle, mode)
        write_all(self.handle, data)

    def sync(self) -> None:
        """A failed fsync is a failed write and is never retried."""
        os.fsync(self.handle)
        handle, self.handle = self.handle, -1
        os.close(handle)

    def rename(self) -> None:
        os.rename(self.temporary, self.name, src_dir_fd=self.parent, dst_dir_fd=self.parent)
        self.temporary = ""

    def close(self) -> None:
        if self.temporary:
            _unlink_quietly(self.temporary, self.parent)
        for handle in (self.handle, self.parent):
            close_quietly(handle)  # -1 if closed already; its bytes are synced or abandoned


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


def _unlink_quietly(name: str, parent: int) -> None:
    try:
        os.unlink(name, dir_fd=parent)
    except OSError:
        return
