"""Recent activity of memory, and what a first look at a store finds."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

from memdir.audit.audit import audit
from memdir.capture.capture import open_capture_states
from memdir.capture.inbox import open_inbox
from memdir.capture.plan import CLIENT
from memdir.capture.progress import RECEIVED, SAVED, Account, Entry, balance_capture_journal
from memdir.clients import setup
from memdir.config.config import Config
from memdir.errors import MemdirError
from memdir.hot.queue import NAME, TAKEN
from memdir.hot.run import LOG, SECTION, SESSIONS
from memdir.models.ledger import Ledger, ledger_day
from memdir.store.look import readable_store_log
from memdir.store.ports import list_standing_changes
from memdir.store.state import read_state_lines
from memdir.store.writer import App
from memdir.text.terminal import plural
from memdir.upkeep.restructure import plan_restructure, read_restructured_store

MAX_STATE_BYTES = 16 * 1024 * 1024  # of the log or the queue


@dataclass(frozen=True)
class Status:
    """Times are seconds since 1970, 0 for never; None means unknown.

    `waiting` are messages that wait for a model: reason, time of the next try and transcript;
    `review` counts drafts for the user; `set_up` is how the client runs memdir, or "".
    `damaged` are numbers of unreadable journal lines.
    """

    account: Account
    waiting: tuple[tuple[str, float, str], ...]
    review: int | None
    set_up: str
    queued: int
    last_save: float
    last_saved: str
    last_recall: float
    last_capture: float
    last_trouble: str
    day_tokens: int
    tokens_left: int | None
    damaged: tuple[int, ...]


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
        waiting.append((known.why or entry.reason or entry.id, known.after, known.path))
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
        last_trouble=log[-1].decode("utf-8", "replace") if log else "",
        day_tokens=config.options.day_tokens,
        tokens_left=None if spent is None else max(0, config.options.day_tokens - spent),
        damaged=tuple(damaged),
    )


def _known(look: Callable[[], int]) -> int | None:
    try:
        return look()
    except MemdirError:
        return None


def _set_up(config: Config) -> str:
    try:
        plan = setup.install_client(config, CLIENT, setup.Wish(), dry_run=True)
    except MemdirError:
        return ""  # unreadable settings; memdir doctor reports it
    edit = plan.edits[0]
    by_client = plan.way == setup.PLUGIN and edit.new == edit.clean
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


MAX_CHECKED_MEMORIES = 200  # beyond, checking claims may take more than a few seconds
WORTHWHILE_TOKENS = 50  # that restructuring saves in each session
FIRST_SAVE = 'memdir remember "what an agent should know tomorrow"'
URGENT = ("secret", "hidden-characters", "orders", "forged-frame", "conflict", "unreadable")


@dataclass(frozen=True)
class Health:
    """`checked`: claims were compared with the code; `tokens` are those a session could save."""

    memories: int = 0
    stale: int = 0
    double: int = 0
    urgent: int = 0
    tokens: int = 0
    checked: bool = False
    next: str = FIRST_SAVE

    @property
    def text(self) -> str:
        if not self.memories:
            return "no memories in this project yet"
        parts = [
            f"{self.stale} stale" * bool(self.stale),
            f"{self.double} double" * bool(self.double),
            f"{self.urgent} urgent" * bool(self.urgent),
            f"{self.tokens:,} tokens a session could be saved" * bool(self.tokens),
        ]
        found = ", ".join(filter(None, parts)) or "nothing wrong was found"
        unchecked = "" if self.checked else "; not yet checked against the code"
        return f"{plural(self.memories, 'memory', 'memories')}: {found}{unchecked}"


def look_at_health(app: App) -> Health:
    """Changes no memory."""
    count = len(app.store.scan().memories)
    if not count:
        return Health()
    deep = count <= MAX_CHECKED_MEMORIES
    result = audit(app, deep=deep)
    stale = sum(bool(memory.claims.stale) for memory in result.memories)
    double = result.finding_counts.get("near-duplicate", 0)
    urgent = sum(result.finding_counts.get(kind, 0) for kind in URGENT)
    tokens = _count_tokens_to_save(app)
    if urgent or stale or not deep:
        step = "memdir audit --deep"
    elif tokens or double:
        step = "memdir restructure --dry-run"
    else:
        step = 'memdir recall "your next task"'
    return Health(count, stale, double, urgent, tokens, deep and bool(app.config.code), step)


def _count_tokens_to_save(app: App) -> int:
    try:
        plan = plan_restructure(read_restructured_store(app.store, {}))
    except MemdirError:
        return 0  # the index cannot be read, which the audit has found
    saved = plan.before.tokens - plan.after.tokens
    return saved if saved >= WORTHWHILE_TOKENS and not plan.lost else 0
