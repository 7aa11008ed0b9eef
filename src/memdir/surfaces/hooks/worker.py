"""What hooks leave to a process of its own: `python -I -S worker.py DIRECTORY`.

It does what waits in the queue: keeps what others changed in the history, brings the catalog up to
date, looks at the code that memories speak of and leaves verdicts and rules behind. One at a time,
with the lowest priority, gone after two minutes whatever happens; it calls no model, opens no port.
"""

import fcntl
import json
import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass

if __name__ == "__main__":
    sys.path.insert(0, os.path.abspath(__file__ + "/../../../.."))

from memdir.adapters.log_file import log, trouble
from memdir.adapters.queue import Queue
from memdir.adapters.sessions import Sessions
from memdir.app import open_app
from memdir.config import Config, read_config
from memdir.core.errors import BadInput, MemdirError, Missing
from memdir.flows.verdicts import refresh_verdicts
from memdir.surfaces.hooks.place import FOLDER as PLACES
from memdir.surfaces.hooks.place import Around
from memdir.surfaces.hooks.placing import clean, here_of, is_silent
from memdir.surfaces.hooks.standing import FOLDER as RULES
from memdir.surfaces.hooks.standing import standing_text

SECONDS, MORE_SECONDS = 120, 5
LAST = 3  # calls to stop after which it is gone
NICE = 10
LOCK, NEXT = "worker.lock", "worker.next"
SPEAK_OF_CODE = ("project", "local", "team")
TRIES = 3  # of one line; what kills the worker must not do so for ever
KEPT_DAYS = 30  # that what is derived is kept
DAY = 86_400  # seconds
NAME = "worker"


def work(start: str) -> int:
    """How many directories were looked after; none where others are at it already."""
    environ = clean(os.environ, start)
    config = read_config(environ, start)
    done = 0
    with _turn(config.cache_dir) as mine:
        if mine:
            done += _try(environ, start, config)
            done += _drain(environ, config)
            _tidy(config)
    return done


@contextmanager
def _turn(folder: str) -> Iterator[bool]:
    """One works and one waits for it, so that what came in meanwhile is done, too."""
    os.makedirs(folder, 0o700, exist_ok=True)
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    handles = [os.open(os.path.join(folder, name), flags, 0o600) for name in (LOCK, NEXT)]
    try:
        try:
            fcntl.flock(handles[1], fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        fcntl.flock(handles[0], fcntl.LOCK_EX)
        fcntl.flock(handles[1], fcntl.LOCK_UN)
        yield True
    finally:
        for handle in handles:
            os.close(handle)


@dataclass
class Job:
    """A line of the queue: the directory it is for, how often it was tried, all it says."""

    cwd: str
    tries: int
    said: Mapping[str, object]

    def written(self) -> bytes:
        """The form in the queue; `read_job` is its inverse."""
        said = {**self.said, "cwd": self.cwd, "tries": self.tries}
        return json.dumps(said, separators=(",", ":")).encode()


def read_job(line: bytes) -> Job | None:
    """What a hook noted; None where nobody can tell what it was."""
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if isinstance(said, dict) and type(said.get("cwd")) is str and type(said.get("tries")) is int:
        return Job(said["cwd"], said["tries"], said)
    return None


def _drain(environ: Mapping[str, str], config: Config) -> int:
    """Do what waits, one directory after the other; what fails stays for the next run."""
    queue, tried, done = Queue(config.state_dir), set[str](), 0
    while True:
        jobs = [job for job in map(read_job, queue.take()) if job]
        cwd = next((job.cwd for job in jobs if job.cwd not in tried), None)
        if cwd is None:
            _keep(queue, jobs)
            return done
        tried.add(cwd)
        for job in jobs:
            job.tries += job.cwd == cwd  # before the work: it may be what kills us
        _keep(queue, jobs)
        finished = _try(environ, cwd, config)
        done += finished
        left = [job for job in jobs if job.cwd != cwd or not (finished or job.tries >= TRIES)]
        if not finished and len(left) < len(jobs):
            log(config.state_dir, NAME, f"given up after {TRIES} tries: {cwd}")
        _keep(queue, left)


def _keep(queue: Queue, jobs: list[Job]) -> None:
    queue.keep([job.written() for job in jobs])


def _try(environ: Mapping[str, str], cwd: str, config: Config) -> bool:
    """True where a directory needs no further look."""
    try:
        _look_after(environ, cwd, config)
    except (BadInput, Missing) as error:
        log(config.state_dir, NAME, error.message)  # the directory is gone, or is no place for one
    except TimeoutError:
        raise
    except (MemdirError, OSError) as error:
        log(config.state_dir, NAME, trouble(error))
        return False
    return True


def _look_after(environ: Mapping[str, str], cwd: str, first: Config) -> None:
    """history → catalog → verdicts → rules, of every store that belongs to a directory."""
    config = read_config(environ, cwd)
    if is_silent(config) or config.state_dir != first.state_dir:
        return
    for scope, store in config.scopes.items():
        if not os.path.isdir(store):
            continue
        chosen = read_config(environ, cwd, scope=scope)
        app = open_app(
            chosen, now=time.time, tell=lambda what: log(first.state_dir, NAME, what), actor=NAME
        )
        app.snapshot()
        app.search.find("what is there", 1)  # any question brings the catalog up to date
        if chosen.code and scope in SPEAK_OF_CODE:
            refresh_verdicts(app)
    standing_text(here_of(config, Around(cwd, environ)))


def _tidy(config: Config) -> None:
    """Let go of what nobody has asked for in a long time."""
    Sessions(config.state_dir).prune(time.time())
    for folder in (PLACES, RULES):
        with suppress(FileNotFoundError), os.scandir(f"{config.cache_dir}/{folder}") as entries:
            for entry in entries:
                if entry.stat(follow_symlinks=False).st_mtime < time.time() - KEPT_DAYS * DAY:
                    os.unlink(entry.path)


class Stop:
    """Ends the worker: asks first, so that what it started ends with it; then insists."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, *_: object) -> None:
        self.calls += 1
        if self.calls >= LAST:
            os._exit(1)
        raise TimeoutError(f"not done after {SECONDS} seconds")


def main(arguments: list[str]) -> int:
    """Nobody listens: what goes wrong stands in the log, and stays for the next run."""
    signal.signal(signal.SIGALRM, Stop())
    signal.setitimer(signal.ITIMER_REAL, SECONDS, MORE_SECONDS)
    os.nice(NICE)
    try:
        work(arguments[0])
    except (MemdirError, OSError, IndexError):
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
