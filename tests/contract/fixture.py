"""A home as version 0.1.0 left it, with everything that memdir keeps; made once, never made anew.

Paths stand inside (stores are named after theirs, settings name files), so it lies at one place of
the disk, for one test at a time. The code and the Python of its settings are links to today's.
"""

import fcntl
import os
import shutil
import sys
import tarfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.contract.home import CODE, Home

FIXTURE = Path(__file__).parent / "fixture-0.1.0"
ARCHIVE = FIXTURE / "home.tar.xz"  # made-by.txt says how
AGE_SECONDS = 600  # of what is tidied up once it is old
TOP = "/dev/shm/memdir-0.1.0"  # in memory: every command waits for the disk
LOCK = f"{TOP}-{os.geteuid()}.lock"
PYTHON, PACKAGE = f"{TOP}/bin/python3", f"{TOP}/code/memdir"


@contextmanager
def _place() -> Iterator[Home]:
    """The place alone, with links to the code; skipped aloud where somebody else has it."""
    try:
        lock = os.open(LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        pytest.skip(f"{LOCK}, which guards the place of the fixture: {error.strerror}")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.lexists(TOP) and (os.path.islink(TOP) or os.lstat(TOP).st_uid != os.geteuid()):
            pytest.skip(f"{TOP}, the place of the fixture, belongs to somebody else")
        shutil.rmtree(TOP, ignore_errors=True)
        for link, target in (
            (PYTHON, os.path.realpath(sys.executable)),
            (PACKAGE, CODE / "src/memdir"),
        ):
            os.makedirs(os.path.dirname(link))
            os.symlink(target, link)
        home = Home(TOP)
        yield home
        home.wait()
        shutil.rmtree(TOP)
    finally:
        os.close(lock)


@contextmanager
def restored() -> Iterator[Home]:
    """The fixture, where it was made."""
    with _place() as home:
        shutil.rmtree(home.home)
        with tarfile.open(ARCHIVE) as archive:
            archive.extraction_filter = lambda member, path: member  # ours; 3.11.2 knows none
            archive.extractall(TOP, [_fresh(member) for member in archive.getmembers()])
        yield home


def _fresh(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """What is tidied up once it is old is of late; everything else is as old as it was."""
    if member.name.startswith(("home/.local", "home/.cache")):
        member.mtime = int(time.time()) - AGE_SECONDS
    member.uid, member.gid = os.geteuid(), os.getegid()
    return member
