"""Starts the worker that does what no session waits for: detached, seldom, one at a time.

Hot path. The client waits for a hook's output to be closed, so the worker gets none of it.
"""

import os
import sys
from time import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    Work = tuple[str, str, int]  # a stamp, the directory to work for, seconds between two starts

PAUSE_SECONDS = 60  # between two starts for the same checkout
STAMP = ".started"
WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "worker.py")
NOTHING = "/dev/null"
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def start_worker(stamp: str, code: str, pause: int) -> bool:
    """True where one was started; not within `pause` seconds after the last one."""
    try:
        if abs(time() - os.stat(stamp).st_mtime) < pause:
            return False
    except OSError:
        pass  # the first time
    try:
        os.makedirs(os.path.dirname(stamp), 0o700, exist_ok=True)
        os.close(os.open(stamp, _FLAGS, 0o600))
        os.utime(stamp)
    except OSError:
        return False  # without a stamp, every prompt would start one
    try:
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
