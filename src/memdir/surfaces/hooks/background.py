"""Starts the worker that looks at the code for the next prompts: detached, seldom, one at a time.

Hot path. The client waits for a hook's output to be closed, so the worker gets none of it.
"""

import os
import sys
from time import time

PAUSE_SECONDS = 60  # between two starts for the same checkout
STAMP = ".started"
WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "worker.py")
NOTHING = "/dev/null"
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


def start_worker(folder: str, code: str) -> bool:
    """True where one was started; `folder` is the cache of the verdicts on that checkout."""
    stamp = folder + STAMP
    try:
        if abs(time() - os.stat(stamp).st_mtime) < PAUSE_SECONDS:
            return False
    except OSError:
        pass  # the first time
    try:
        os.makedirs(os.path.dirname(folder), 0o700, exist_ok=True)
        os.close(os.open(stamp, _FLAGS, 0o600))
        os.utime(stamp)
        _spawn([sys.executable, "-I", "-S", WORKER, code])
    except OSError:
        return False
    return True


def _spawn(command: list[str]) -> None:
    closed = [(os.POSIX_SPAWN_OPEN, 0, NOTHING, os.O_RDWR, 0)]
    closed += [(os.POSIX_SPAWN_DUP2, 0, 1), (os.POSIX_SPAWN_DUP2, 0, 2)]  # type: ignore[list-item]
    try:
        os.posix_spawn(command[0], command, os.environ, file_actions=closed, setsid=True)
    except NotImplementedError:  # a system without it: at least no signal of the client's group
        os.posix_spawn(command[0], command, os.environ, file_actions=closed, setpgroup=0)
