"""What hooks leave to a process of its own: `python -I -S worker.py DIRECTORY`.

It does what waits in the queue: keeps what others changed in the history, brings the catalog up to
date, looks at the code that memories speak of and leaves verdicts and rules behind; then it learns
from the conversations that were named there. One at a time,
with the lowest priority, gone after two minutes whatever happens; it opens no port, and calls a
model only where the settings name one.
"""

import fcntl
import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

if __name__ == "__main__":
    sys.path.insert(0, os.path.abspath(__file__ + "/../../../.."))

from memdir.adapters.log_file import log, trouble
from memdir.adapters.queue import Queue
from memdir.adapters.sessions import Sessions
from memdir.app import open_app
from memdir.config import Config, read_config
from memdir.core.errors import BadInput, MemdirError, Missing
from memdir.flows.acceptance import settle
from memdir.flows.verdicts import refresh_verdicts
from memdir.surfaces.hooks.hearing import hear
from memdir.surfaces.hooks.jobs import Job, key, next_sessions, read_jobs, without_deadly
from memdir.surfaces.hooks.place import FOLDER as PLACES
from memdir.surfaces.hooks.place import Around
from memdir.surfaces.hooks.placing import clean, here_of, is_silent
from memdir.surfaces.hooks.standing import FOLDER as RULES
from memdir.surfaces.hooks.standing import standing_text

SECONDS, MORE_SECONDS = 120, 5
LAST = 3  # calls to stop after which it is gone
NICE = 10
LOCK, NEXT = "worker.lock", "worker.next"
SPEAK_OF_CODE = ("project", "local", "team", "records")
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


def _drain(environ: Mapping[str, str], config: Config) -> int:
    """Do what waits, one thing after the other; what fails stays for the next run."""
    queue, done = Queue(config.state_dir), 0
    looked, heard = set[str](), set[tuple[str, str]]()
    while True:
        jobs, deadly = without_deadly(read_jobs(queue.take()))
        for job in deadly:
            log(config.state_dir, NAME, f"given up, workers end with it: {job.cwd}")
        cwd = next((job.cwd for job in jobs if not job.looked and job.cwd not in looked), None)
        if cwd is not None:
            looked.add(cwd)
            done += _look_once(environ, queue, jobs, cwd, config)
        elif due := next_sessions(jobs, heard, time.time()):
            heard |= {key(some[0]) for some in due}
            _hear_once(environ, queue, jobs, due, config)
        else:
            _keep(queue, jobs)
            return done


def _look_once(
    environ: Mapping[str, str], queue: Queue, jobs: list[Job], cwd: str, config: Config
) -> bool:
    """Look after one directory; its lines go on to capture, or go."""
    mine = [job for job in jobs if job.cwd == cwd and not job.looked]
    for job in mine:
        job.tries += 1  # before the work: it may be what kills us
    _keep(queue, jobs)
    finished = _try(environ, cwd, config)
    given_up = [job for job in mine if job.tries >= TRIES]
    if not finished and given_up:
        log(config.state_dir, NAME, f"given up after {TRIES} tries: {cwd}")
    for job in mine if finished else given_up:
        job.looked, job.tries = True, 0
    _keep(queue, [job for job in jobs if not job.looked or job.session])
    return finished


def _hear_once(
    environ: Mapping[str, str], queue: Queue, jobs: list[Job], due: list[list[Job]], config: Config
) -> None:
    """Capture these conversations; what failed stays, and of what has to wait the last line."""
    for some in due:
        some[-1].tries = max(job.tries for job in some) + 1  # before the work, as above
    _keep(queue, jobs)
    mine = {id(job) for some in due for job in some}
    left = [job for job in jobs if id(job) not in mine]
    for at, some in enumerate(due):
        try:
            left += _hear(environ, some, config)
        except TimeoutError:  # the next worker goes on from here
            for others in due[at + 1 :]:
                others[-1].tries -= 1
            _keep(queue, [*left, *(job for others in due[at:] for job in others)])
            raise
    _keep(queue, left)


def _hear(environ: Mapping[str, str], some: list[Job], config: Config) -> list[Job]:
    """Capture one conversation; the lines of it that stay."""
    latest = some[-1]
    try:
        latest.after = hear(environ, some, config)
        latest.tries = 0
        return [latest.bare()] if latest.after else []
    except (BadInput, Missing) as error:
        log(config.state_dir, NAME, error.message)
        return []
    except TimeoutError:
        raise
    except (MemdirError, OSError) as error:
        log(config.state_dir, NAME, trouble(error))
    if latest.tries < TRIES:
        return some
    log(config.state_dir, NAME, f"given up after {TRIES} tries: a conversation")
    return []


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
        settle(app)
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
