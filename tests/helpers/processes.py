"""What runs on this machine with a home of the tests: a worker outlives its hook."""

import time
from collections.abc import Callable
from pathlib import Path

PATIENCE = 60  # seconds for a process beside a busy machine


def of_home(home: Path) -> list[tuple[str, list[bytes]]]:
    """The numbers of those processes with their command lines.

    One that is just being started has neither words nor an environment yet: whose it is shows soon.
    """
    mark, found = f"HOME={home}".encode(), []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            given = (folder / "environ").read_bytes().split(b"\0")
        except OSError:
            continue  # it has ended, or is not ours
        if mark in given or (given == words == [b""] and _is_program(folder)):
            found.append((folder.name, words))
    return found


def _is_program(folder: Path) -> bool:
    try:
        return bool((folder / "exe").readlink())
    except OSError:
        return False  # of the kernel, or a zombie


def wait_for_none(running: Callable[[], list], seconds: float = PATIENCE) -> None:
    end = time.monotonic() + seconds
    while left := running():
        assert time.monotonic() < end, f"still there: {left}"
        time.sleep(0.05)
