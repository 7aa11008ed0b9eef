"""Memories out of a store, into a zip or a directory: private, whole, nothing overwritten."""

from __future__ import annotations

import errno
import io
import os
import shutil
import tempfile
import zipfile
from collections.abc import Sequence

from memdir.adapters.disk import Disk, failure, sync_directory
from memdir.adapters.staged import TEMPORARY
from memdir.core.errors import BadInput

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
