"""Background process of the hooks: `start.py worker DIRECTORY`.

It works off the queue: commits changes by others, updates catalog, verdicts and rules, then
captures conversations. Only one runs at a time, with low priority and for at most two minutes; it
opens no port, and calls a model only if the settings name one.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import count

from memdir.audit.ages import find_age_starts
from memdir.capture import capture as captures
from memdir.capture.plan import Request, capture_report_lines
from memdir.capture.progress import is_capture_due
from memdir.capture.sessions import capture_reader, captured_session_directory
from memdir.capture.signals import Origin
from memdir.claims.verify import refresh_verdicts
from memdir.config.config import (
    Config,
    clean_environment,
    hook_config,
    is_config_silent,
    read_config,
)
from memdir.errors import BadInput, MemdirError, Missing
from memdir.hot.place import FOLDER as PLACES
from memdir.hot.place import RECORDS, Around
from memdir.hot.queue import CLIENT, ENDS, Queue
from memdir.hot.run import Sessions, hook_trouble, leave_hook_report, log_hook
from memdir.hot.standing import FOLDER as RULES
from memdir.hot.standing import standing_rules_for_hook
from memdir.hot.verdicts import keep_dates
from memdir.store.accept import accept_own_writes
from memdir.store.guards import guards_of_store
from memdir.store.state import Lock
from memdir.store.writer import App, open_app, store_cache_folder

NAME, CAPTURE = "worker", "capture"  # in the log
START, STOP = "session-start", "stop"
TRIES = 3  # per job: one that kills the worker must not do so forever
DEADLY_TRIES = 6  # across workers that died; a living worker gives up earlier
MAX_MISSED = 20  # conversations that one session start catches up on
SECONDS, MORE_SECONDS = 120, 5  # until the first signal to stop, and between further ones
MAX_STOPS = 3  # then it exits
NICE = 10
LOCK, NEXT = "worker.lock", "worker.next"
REMOTES = "sync/remotes.json"  # in the state directory
SPEAK_OF_CODE = ("project", "local", "team", "records")
KEPT_SECONDS = 30 * 86_400  # unused caches are deleted after this


@dataclass
class Job:
    cwd: str
    tries: int
    said: Mapping[str, object]
    looked: bool = False  # the directory is up to date
    after: float = 0.0  # not before this time

    def written(self) -> bytes:
        fields = {**self.said, "cwd": self.cwd, "tries": self.tries}
        fields |= {"looked": True} if self.looked else {}
        fields |= {"after": self.after} if self.after else {}
        return json.dumps(fields, separators=(",", ":")).encode()

    def text(self, field: str) -> str:
        value = self.said.get(field)
        return value if isinstance(value, str) else ""

    @property
    def event(self) -> str:
        return self.text("event")

    @property
    def session(self) -> str:
        """The session id; "" if there is no transcript to capture."""
        return self.text("session") if self.text("transcript").startswith("/") else ""

    @property
    def client(self) -> str:
        return self.text("client") or CLIENT

    @property
    def key(self) -> tuple[str, str]:
        return self.cwd, self.session

    def is_due(self, now: float) -> bool:
        return not self.after or is_capture_due(self.after, now)


def read_worker_job(line: bytes) -> Job | None:
    try:
        fields = json.loads(line)
        cwd, tries, after = fields["cwd"], fields["tries"], fields.pop("after", 0.0)
        if type(cwd) is not str or type(tries) is not int:
            return None
        fields.pop("last", None)  # a reply, which older versions queued
        looked = fields.pop("looked", False) is True
        return Job(cwd, tries, fields, looked, float(after))
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError):
        return None


def next_session_for_worker(
    jobs: Sequence[Job], heard: set[tuple[str, str]], now: float
) -> list[Job]:
    """All jobs of a session that is due; one that may have killed a worker comes last."""
    mine = [job for job in jobs if job.looked and job.session]
    due = dict.fromkeys(job.key for job in mine if job.is_due(now) and job.key not in heard)
    sessions: dict[tuple[str, str], list[Job]] = {key: [] for key in due}
    for job in mine:  # including those that wait: the last one decides for all
        if job.key in sessions:
            sessions[job.key].append(job)
    return min(sessions.values(), key=lambda some: max(job.tries for job in some), default=[])


def capture_job_in_worker(environ: Mapping[str, str], jobs: Sequence[Job], first: Config) -> float:
    """Capture one conversation; returns when to come back, 0 if done."""
    latest = jobs[-1]
    turns = sum(job.event == STOP for job in jobs)
    handed_over = list[str]()
    if first.options.records_agent:
        from memdir.records.handover import HandedOver

        handed_over = HandedOver(first.state_dir).messages(latest.session)
    asked = Request(
        latest.text("transcript"),
        latest.session,
        latest.client,
        turns,
        any(job.event in ENDS or job.after for job in jobs),
        handed_over=frozenset(handed_over),
    )
    app = _open(environ, asked, latest.cwd, first)
    if app is None:
        return 0.0
    config = app.config
    outcomes = []
    if any(job.event == START for job in jobs):
        captures.begin_capture_session(app, asked)
        # Conversations that were killed never reported their end.
        outcomes += [
            captures.capture(app, missing)
            for missing in captures.find_uncaptured_sessions(app, [latest.session], MAX_MISSED)
        ]
    if turns or asked.ends:
        outcomes.append(captures.capture(app, asked))
    elif not outcomes:
        outcomes.append(captures.finish_capture_plan(app))
    for line in [line for outcome in outcomes for line in capture_report_lines(outcome)]:
        leave_hook_report(config.state_dir, config.checkout, line)
    if (turns or asked.ends) and RECORDS in config.scopes and not config.options.records_agent:
        _hold_records(environ, latest, asked)
    if config.options.dream:
        _consolidate(app, latest)
    return max((outcome.after for outcome in outcomes), default=0.0)


def _hold_records(environ: Mapping[str, str], latest: Job, asked: Request) -> None:
    """Let a model draft records; nothing is saved without the user's approval."""
    from memdir.records.batch import hold_records

    config = read_config(environ, latest.cwd, scope=RECORDS)
    app = _open_app(config, CAPTURE)
    reader, origin = capture_reader(app, asked.client), Origin(asked.client, asked.session)
    held = hold_records(app, asked.transcript, reader, origin, ends=asked.ends)
    if held:
        many = "1 record waits" if len(held) == 1 else f"{len(held)} records wait"
        line = f"memdir: {many} for your yes; memdir review"
        leave_hook_report(config.state_dir, config.checkout, line)


def _open(environ: Mapping[str, str], asked: Request, cwd: str, first: Config) -> App | None:
    """The project in which the conversation started, even if the agent has moved since."""
    for _ in range(2):
        config = _read_config(environ, cwd, first)
        if config is None or not config.options.capture:
            return None
        app = _open_app(config, CAPTURE)
        started = captured_session_directory(app, asked, cwd)
        if started == cwd:
            break
        cwd = started
    return app


def _read_config(environ: Mapping[str, str], cwd: str, first: Config) -> Config | None:
    """Of a directory that hooks look after and whose state lies where ours does."""
    config = read_config(environ, cwd)
    silent = is_config_silent(config) or config.state_dir != first.state_dir
    return None if silent else config


def _open_app(config: Config, actor: str) -> App:
    def tell(message: str) -> None:
        log_hook(config.state_dir, actor, message)

    return open_app(config, now=time.time, tell=tell, actor=actor)


def _consolidate(app: App, latest: Job) -> None:
    from memdir.upkeep.dream import run_dream_if_due

    reader = capture_reader(app, latest.client)
    run = run_dream_if_due(app, lambda: reader.sessions(app.config.checkout), latest.session)
    if not isinstance(run, str) and run.done.changes:
        line = f"memdir: put {len(run.done.changes)} memories in order; memdir undo takes it back"
        leave_hook_report(app.config.state_dir, app.config.checkout, line)


def run_jobs(start: str) -> int:
    environ = clean_environment(os.environ, start)
    config = read_config(environ, start)
    done = 0
    with _turn(config.cache_dir) as mine:
        if mine:
            done = _drain(environ, config, start)
            _tidy(config)
    return done


@contextmanager
def _turn(folder: str) -> Iterator[bool]:
    """One worker runs and one waits, so that jobs queued later are done, too."""
    work, turn = (os.path.join(folder, name) for name in (LOCK, NEXT))
    with ExitStack() as working, ExitStack() as waiting:
        if waiting.enter_context(Lock(turn, 0, 0).held_if_free(NAME)) is None:
            yield False
            return
        working.enter_context(Lock(work, SECONDS, SECONDS).held(NAME, lambda text: None))
        waiting.close()
        yield True


def _drain(environ: Mapping[str, str], config: Config, start: str) -> int:
    """`start` is looked after even if no job names it."""
    queue, done = Queue(config.state_dir), 0
    looked, heard, ended = set[str](), set[tuple[str, str]](), set[str]()
    while True:
        jobs = []
        for job in filter(None, map(read_worker_job, queue.take())):
            if job.tries < DEADLY_TRIES:
                jobs.append(job)
            else:
                log_hook(config.state_dir, NAME, f"given up, workers end with it: {job.cwd}")
        ended |= {job.cwd for job in jobs if job.event == ENDS[-1]}
        places = [start, *(job.cwd for job in jobs if not job.looked)]
        cwd = next((place for place in places if place not in looked), None)
        if cwd is not None:
            looked.add(cwd)
            done += _look_once(environ, queue, jobs, cwd, config)
        elif some := next_session_for_worker(jobs, heard, time.time()):
            heard.add(some[0].key)
            _hear_once(environ, queue, jobs, some, config)
        else:
            _keep(queue, jobs)
            for place in sorted(ended):  # last, so that what was captured goes along
                _sync(environ, place, config)
            return done


def _attempt(config: Config, work: Callable[[], float | None]) -> float | None:
    """What the work gives, 0 if there is nothing; None if it is worth another try."""
    try:
        return work() or 0.0
    except (BadInput, Missing) as error:
        log_hook(config.state_dir, NAME, error.message)  # the directory is gone or unsuitable
        return 0.0
    except TimeoutError:
        raise
    except (MemdirError, OSError) as error:
        log_hook(config.state_dir, NAME, hook_trouble(error))
        return None


def _sync(environ: Mapping[str, str], cwd: str, first: Config) -> None:
    """With the remotes that the user named; silent while one gives no answer."""
    if not os.path.exists(os.path.join(first.state_dir, REMOTES)):
        return
    from memdir.sync.flow import sync_project

    def open_store(scope: str) -> App:
        chosen = read_config(environ, cwd, scope=scope)
        return open_app(chosen, now=time.time, tell=lambda text: None, actor="sync")

    def work() -> None:
        if config := _read_config(environ, cwd, first):
            sync_project(config, open_store, tell=lambda text: None, wait=False)

    _attempt(first, work)


def _look_once(
    environ: Mapping[str, str], queue: Queue, jobs: list[Job], cwd: str, config: Config
) -> bool:
    mine = [job for job in jobs if job.cwd == cwd and not job.looked]
    for job in mine:
        job.tries += 1  # before the work, which may kill us
    _keep(queue, jobs)
    if any(job.event == START for job in mine):
        _sync(environ, cwd, config)
    finished = _attempt(config, lambda: _look_after(environ, cwd, config)) is not None
    given_up = [job for job in mine if job.tries >= TRIES]
    if not finished and given_up:
        log_hook(config.state_dir, NAME, f"given up after {TRIES} tries: {cwd}")
    for job in mine if finished else given_up:
        job.looked, job.tries = True, 0
    _keep(queue, [job for job in jobs if not job.looked or job.session])
    return finished


def _hear_once(
    environ: Mapping[str, str], queue: Queue, jobs: list[Job], some: list[Job], config: Config
) -> None:
    latest, mine = some[-1], set(map(id, some))
    latest.tries = max(job.tries for job in some) + 1  # before the work, as above
    _keep(queue, jobs)
    left = [job for job in jobs if id(job) not in mine]
    after = _attempt(config, lambda: capture_job_in_worker(environ, some, config))
    if after is not None:
        latest.after, latest.tries = after, 0
        left += [latest] if after else []
    elif latest.tries < TRIES:
        left += some
    else:
        log_hook(config.state_dir, NAME, f"given up after {TRIES} tries: a conversation")
    _keep(queue, left)


def _keep(queue: Queue, jobs: list[Job]) -> None:
    queue.keep([job.written() for job in jobs])


def _look_after(environ: Mapping[str, str], cwd: str, first: Config) -> None:
    config = _read_config(environ, cwd, first)
    if config is None:
        return
    for scope, store in config.scopes.items():
        if not os.path.isdir(store):
            continue
        chosen = read_config(environ, cwd, scope=scope)
        app = _open_app(chosen, NAME)
        app.snapshot()
        accept_own_writes(app)
        app.search.find("what is there", 1)  # any search updates the catalog
        memories = app.store.scan().memories
        guards_of_store(app)
        starts = find_age_starts(app, memories)[0]
        keep_dates(store_cache_folder(chosen), [(item, starts[item.path]) for item in memories])
        if chosen.code and scope in SPEAK_OF_CODE:
            refresh_verdicts(app)
        if scope == RECORDS:
            from memdir.records.lifecycle import retire_expired_records

            retire_expired_records(app)
    standing_rules_for_hook(hook_config(config, Around(cwd, environ)))


def _tidy(config: Config) -> None:
    Sessions(config.state_dir).prune(time.time())
    for folder in (PLACES, RULES):
        with suppress(FileNotFoundError), os.scandir(f"{config.cache_dir}/{folder}") as entries:
            for entry in entries:
                if entry.stat(follow_symlinks=False).st_mtime < time.time() - KEPT_SECONDS:
                    os.unlink(entry.path)


def main(arguments: list[str]) -> int:
    stops = count(1)

    def stop(*_: object) -> None:
        """Raises first, so that child processes end too; exits if that does not help."""
        if next(stops) >= MAX_STOPS:
            os._exit(1)
        raise TimeoutError(f"not done after {SECONDS} seconds")

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, SECONDS, MORE_SECONDS)
    os.nice(NICE)
    try:
        run_jobs(arguments[0])
    except (MemdirError, OSError, IndexError):
        return 1
    return 0
