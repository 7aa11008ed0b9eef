"""A client's files: read whole, replaced whole, links followed to what they name."""

from __future__ import annotations

import errno
import os
import re
import stat
from contextlib import suppress

from memdir.adapters.clients._plan import Edit
from memdir.adapters.disk import Disk, failure
from memdir.core.errors import BadInput, Busy, Unwritable

LARGEST_BYTES = 1024 * 1024  # no client writes more
_LEFT = re.compile(r"\.memdir-([1-9]\d{0,9})-[0-9a-f]{12}\.tmp\Z")
NOTHING = "nothing was changed"
_WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH  # root may all the same; who set it may not
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
            kind = errno.EISDIR if stat.S_ISDIR(facts.st_mode) else errno.ENXIO
            raise failure(OSError(kind, path), path, "it is no regular file")
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


def check_edit(edit: Edit) -> None:
    """Before the first of several is written: what is read-only refuses all of them."""
    if edit.old == edit.new:
        return
    folder = os.path.dirname(edit.target)
    while not os.path.isdir(folder) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    try:
        closed = edit.old is not None and not os.stat(edit.target).st_mode & _WRITABLE
    except OSError as error:
        raise failure(error, edit.path, NOTHING) from None
    if closed or not os.access(folder, os.W_OK | os.X_OK):
        place = edit.path if closed else folder
        raise Unwritable(
            f"{place} is read-only; {NOTHING}",
            path=edit.path,
            next="if it is yours to change: chmod u+w, and run the command again",
        )


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


def sweep(folder: str) -> None:
    """Remove what a killed set-up left there; that of one which still runs stays."""
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        found = _LEFT.match(name)
        if found and not _runs(int(found[1])):
            with suppress(OSError):
                os.unlink(os.path.join(folder, name))


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # it is somebody else's
        pass
    return True


def _owner(path: str) -> tuple[int, int] | None:
    try:
        facts = os.stat(path)
    except FileNotFoundError:
        return None
    return facts.st_uid, facts.st_gid
