"""A file on its way into a directory: it has its name only when its bytes are safe."""

import errno
import os
import stat

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
