"""What a hook leaves to a process of its own: `python -I -S worker.py CHECKOUT`.

It looks at the code that memories speak of and leaves verdicts behind. One at a time, with the
lowest priority, gone after two minutes whatever happens; it calls no model and opens no port.
"""

import fcntl
import os
import signal
import sys
import time

if __name__ == "__main__":
    sys.path.insert(0, os.path.abspath(__file__ + "/../../../.."))

from memdir.app import open_app
from memdir.config import read_config
from memdir.core.errors import MemdirError
from memdir.flows.verdicts import refresh_verdicts

SECONDS = 120
NICE = 10
LOCK = "worker.lock"
SCOPES = ("project", "local", "team")


def work(code: str) -> int:
    """How many memories were looked at; none where another worker is at it."""
    config = read_config(os.environ, code, project=code)
    os.makedirs(config.cache_dir, 0o700, exist_ok=True)
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(os.path.join(config.cache_dir, LOCK), flags, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return 0
    done = 0
    try:
        for scope in SCOPES:
            chosen = read_config(os.environ, code, project=code, scope=scope)
            if chosen.enabled and os.path.isdir(chosen.store):
                app = open_app(chosen, now=time.time, tell=lambda _: None, actor="worker")
                done += refresh_verdicts(app)
    finally:
        os.close(handle)
    return done


def _give_up(*_: object) -> None:
    raise TimeoutError(f"not done after {SECONDS} seconds")


def main(arguments: list[str]) -> int:
    """Nobody listens: what goes wrong is gone wrong, and the next look says it."""
    signal.signal(signal.SIGALRM, _give_up)  # not killed at once: what it started ends with it
    signal.alarm(SECONDS)
    os.nice(NICE)
    try:
        work(arguments[0])
    except (MemdirError, OSError, IndexError):
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
