"""Recent activity of memory: captures, saves and recalls, waiting work and errors."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from dataclasses import dataclass

from memdir.capture.capture import open_capture_states
from memdir.capture.inbox import open_inbox
from memdir.capture.plan import CLIENT
from memdir.capture.progress import RECEIVED, SAVED, Account, Entry, balance_capture_journal
from memdir.clients.setup import PLUGIN, Wish, install_client
from memdir.config.config import Config
from memdir.errors import MemdirError
from memdir.hot.queue import NAME, TAKEN
from memdir.hot.run import LOG, SECTION, SESSIONS
from memdir.models.ledger import Ledger, ledger_day
from memdir.store.look import readable_store_log
from memdir.store.ports import list_standing_changes
from memdir.store.state import read_state_lines
from memdir.store.writer import App

WORKER_LOCK = "worker.lock"  # in the cache directory
MAX_STATE_BYTES = 16 * 1024 * 1024  # of the log or the queue


@dataclass(frozen=True)
class Waiting:
    """A message that waits for a model; `after` is the time of the next try."""

    id: str
    reason: str
    after: float
    transcript: str


@dataclass(frozen=True)
class Status:
    """Times are seconds since 1970, 0 for never; None means unknown.

    `review` counts drafts for the user; `set_up` is how the client runs memdir, or "".
    `damaged` are numbers of unreadable journal lines.
    """

    account: Account
    waiting: tuple[Waiting, ...]
    review: int | None
    set_up: str
    queued: int
    last_save: float
    last_saved: str
    last_recall: float
    last_capture: float
    worker: bool
    last_trouble: str
    day_tokens: int
    tokens_left: int | None
    damaged: tuple[int, ...] = ()
    journal: str = ""


def collect_status(app: App) -> Status:
    captures, config = open_capture_states(app), app.config
    totals, entries, damaged = captures.journal.read()
    plan = captures.plan()
    planned = [*(item.id for item in plan.items), *plan.waits] if plan else []
    ids = {entry.id for entry in entries}
    entries += [Entry(id, RECEIVED, 0.0) for id in planned if id not in ids]
    newest = next((entry for entry in reversed(entries) if entry.what == SAVED), None)
    save, name = _last_save(app)
    if newest and not app.history.on:
        save, name = newest.time, newest.name
    account, waiting = balance_capture_journal(entries, totals), []
    for entry in account.waiting:
        known = captures.load(entry.session)
        reason = known.why or entry.reason
        waiting.append(Waiting(entry.id, reason, known.after, known.path))
    ledger = Ledger(config.state_dir, app.now)
    spent = _known(lambda: ledger.spent(ledger_day(app.now()), "").day)
    log = _read_lines(config, LOG)
    return Status(
        account=account,
        waiting=tuple(waiting),
        review=_known(open_inbox(app).count),
        set_up=_set_up(config),
        queued=len(_read_lines(config, NAME)) + len(_read_lines(config, TAKEN)),
        last_save=save,
        last_saved=name,
        last_recall=_last_told(os.path.join(config.state_dir, SESSIONS)),
        last_capture=max((session.time for session in captures.sessions()), default=0.0),
        worker=_is_held(os.path.join(config.cache_dir, WORKER_LOCK)),
        last_trouble=log[-1].decode("utf-8", "replace") if log else "",
        day_tokens=config.options.day_tokens,
        tokens_left=None if spent is None else max(0, config.options.day_tokens - spent),
        damaged=tuple(damaged),
        journal=captures.journal.path,
    )


def _known(look: Callable[[], int]) -> int | None:
    try:
        return look()
    except MemdirError:
        return None


def _set_up(config: Config) -> str:
    try:
        plan = install_client(config, CLIENT, Wish(), dry_run=True)
    except MemdirError:
        return ""  # unreadable settings; memdir doctor reports it
    edit = plan.edits[0]
    by_client = plan.way == PLUGIN and edit.new == edit.clean
    return plan.way if by_client or edit.old != edit.clean else ""


def _last_save(app: App) -> tuple[float, str]:
    try:
        for logged in list_standing_changes(readable_store_log(app)):
            if any(kind != "D" and path.endswith(".md") for kind, path in logged.paths):
                return logged.time, logged.name or logged.paths[0][1]
    except MemdirError:
        return 0.0, ""  # broken history; memdir doctor reports it
    return 0.0, ""


def _last_told(folder: str) -> float:
    try:
        with os.scandir(folder) as entries:
            times = [item.stat().st_mtime for item in entries if not item.name.endswith(SECTION)]
    except OSError:
        return 0.0
    return max(times, default=0.0)


def _read_lines(config: Config, name: str) -> list[bytes]:
    try:
        return read_state_lines(config.state_dir, name, MAX_STATE_BYTES)[0]
    except OSError:
        return []


def _is_held(path: str) -> bool:
    """True while a worker runs, since it holds its lock until it ends."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW), "rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False
