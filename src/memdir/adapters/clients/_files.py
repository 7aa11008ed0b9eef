"""A client's files: read whole, replaced whole, links followed to what they name."""

from __future__ import annotations

import errno
import os
import stat

from memdir.adapters.clients._plan import Edit
from memdir.adapters.disk import Disk, failure
from memdir.core.errors import BadInput, Busy

LARGEST_BYTES = 1024 * 1024  # no client writes more
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC


def target_of(path: str) -> str:
    """Where the bytes lie: people keep their settings in a repository and link to them."""
    target = os.path.realpath(path)
    if os.path.islink(target):
        raise BadInput(f"{path} is a link that leads to itself", path=path, next="remove the link")
    return target


def read_file(path: str) -> bytes | None:
    """All bytes of a regular file; None where there is none. A pipe never blocks us."""
    try:
        handle = os.open(path, _READ)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise failure(error, path, "it cannot be read") from None
    try:
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode):
            raise failure(OSError(errno.ENXIO, path), path, "it is no regular file")
        if facts.st_size > LARGEST_BYTES:
            raise BadInput(
                f"{path} is larger than {LARGEST_BYTES // 1024} KiB; it is left as it is",
                path=path,
                next="look at what is in it",
            )
        with open(handle, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(handle)


def missing_folders(target: str) -> list[str]:
    """The folders above a file that would have to be made."""
    missing, here = [], os.path.dirname(target)
    while not os.path.isdir(here) and here != os.path.dirname(here):
        missing.append(here)
        here = os.path.dirname(here)
    return missing


def write_edit(edit: Edit) -> None:
    """Do it, unless somebody else was faster; permissions and owner stay."""
    if edit.old == edit.new:
        return
    if read_file(edit.target) != edit.old:
        raise Busy(
            f"{edit.path} was changed in this moment by somebody else; it is left as it is",
            path=edit.path,
            next="run the command again",
        )
    disk, name = Disk(os.path.dirname(edit.target)), os.path.basename(edit.target)
    try:
        if edit.new is None:
            disk.drop(name)
            return
        disk.make_root()
        owner = _owner(edit.target)
        disk.put(name, edit.new)
        if owner and owner != _owner(edit.target):  # as root, of somebody else's file
            os.chown(edit.target, *owner)
    except OSError as error:
        raise failure(error, edit.path, "it was not changed") from None


def _owner(path: str) -> tuple[int, int] | None:
    try:
        facts = os.stat(path)
    except FileNotFoundError:
        return None
    return facts.st_uid, facts.st_gid
