"""What the machine says of itself: Python, git, and the directories we write to."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys

from memdir.core.check import Folder, Machine

OLDEST = (3, 11)  # the first Python that hooks run on
NAMES = ("python3.14", "python3.13", "python3.12", "python3.11", "python3")  # as the plugin looks
SECONDS = 10.0  # for an interpreter to say which one it is
_ASK = "import sys, _sqlite3; print(*sys.version_info[:2])"


def look_around(store: str, state: str) -> Machine:
    """The facts that a check needs; nothing is created."""
    version = ".".join(map(str, sys.version_info[:3]))
    return Machine(version, shutil.which("git") or "", _folder(store), _folder(state))


def version_of(python: str) -> tuple[int, int]:
    """Of an interpreter; (0, 0) where it does not run, or has no SQLite."""
    command = [python, "-I", "-S", "-c", _ASK]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
        major, minor = map(int, done.stdout.split())
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return 0, 0
    return major, minor


def find_interpreter() -> str:
    """One on the PATH that hooks can run with; empty where there is none."""
    found = filter(None, map(shutil.which, NAMES))
    return next((python for python in found if version_of(python) >= OLDEST), "")


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
