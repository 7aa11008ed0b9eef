"""What the machine says of itself: Python, git, and the directories we write to."""

from __future__ import annotations

import os
import shutil
import stat
import sys

from memdir.core.check import Folder, Machine


def look_around(store: str, state: str) -> Machine:
    """The facts that a check needs; nothing is created."""
    version = ".".join(map(str, sys.version_info[:3]))
    return Machine(version, shutil.which("git") or "", _folder(store), _folder(state))


def _folder(path: str) -> Folder:
    """A directory, or the nearest one above it that exists: where it would be made."""
    here = path
    while not os.path.lexists(here) and os.path.dirname(here) != here:
        here = os.path.dirname(here)
    try:
        facts = os.stat(here)
        space = os.statvfs(here)
    except OSError:
        return Folder(path, False, False, False, 0, 0)
    return Folder(
        path,
        exists=here == path,
        directory=stat.S_ISDIR(facts.st_mode),
        writable=os.access(here, os.W_OK | os.X_OK),
        mode=stat.S_IMODE(facts.st_mode) if here == path else 0,
        free_bytes=space.f_bavail * space.f_frsize,
    )
