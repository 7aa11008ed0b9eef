"""Opens a transcript: a regular file of the client's own, which cannot make anybody wait."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

from memdir.adapters.disk import READ, close_quietly, failure
from memdir.core.errors import BadInput, MemdirError
from memdir.core.scope import below

PATH_CHARACTERS = 4096
SHOWN = 200  # characters of a path that nobody can mean


@contextmanager
def opened(path: str, root: str) -> Iterator[int]:
    """A handle to read from; whatever goes wrong while it is open is told as a sentence."""
    place = placed(path, root)
    try:
        handle = os.open(place, READ)
    except OSError as error:
        raise _told(error, path) from None
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.ENXIO, path)
        yield handle
    except OSError as error:
        raise _told(error, path) from None
    finally:
        close_quietly(handle)


def placed(path: str, root: str) -> str:
    """Where a path truly lies; refused outside of the client's own sessions.

    The path comes from a hook's input, and so maybe from a repository: it must not make us read
    any other file. Links may lead to the root, as in a home of links, but not out of it.
    """
    if not path.startswith("/") or "\0" in path or len(path) > PATH_CHARACTERS:
        raise _refused(path, "is not the whole path of a file", root)
    try:
        path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise _refused(path, "is not a name that a file can have", root) from None
    try:
        folder, top = os.path.realpath(os.path.dirname(path)), os.path.realpath(root)
    except OSError as error:
        raise _told(error, path) from None
    name = os.path.basename(path)
    if name in ("", ".", "..") or not (folder == top or below(folder, top)):
        raise _refused(path, "does not lie where the client keeps its sessions", root)
    return os.path.join(folder, name)


def _refused(path: str, why: str, root: str) -> BadInput:
    shown = path[:SHOWN]
    return BadInput(f"{shown!r} {why}", path=shown, next=f"name a transcript below {root}")


def _told(error: OSError, path: str) -> MemdirError:
    if error.errno in (errno.ENXIO, errno.EISDIR, errno.ELOOP, errno.ENOTDIR, errno.ENAMETOOLONG):
        why = "is a link" if error.errno == errno.ELOOP else "is not a regular file"
        return BadInput(f"{path} {why}, so it is not read", path=path, next=f"ls -l {path}")
    return failure(error, path, "the transcript cannot be read")
