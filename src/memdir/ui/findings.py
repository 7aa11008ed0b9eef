"""Findings of the last audit, kept until somebody asks for a new one; no page runs an audit."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from memdir.errors import Finding, MemdirError
from memdir.store import state
from memdir.store.writer import App, store_cache_folder

FILE = "findings.json"
MAX_FILE_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True)
class Kept:
    time: float = 0.0  # 0 if there was no audit yet
    findings: tuple[Finding, ...] = ()


@dataclass
class Job:
    """An audit on its way; `step` is what it does now."""

    begun: float = field(default_factory=time.time)
    step: str = "reading the memories"
    error: str = ""
    done: bool = False


class Audits:
    """At most one for each store."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()

    def job(self, app: App) -> Job | None:
        return self._jobs.get(store_cache_folder(app.config))

    def start(self, app: App, deep: bool) -> Job:
        key = store_cache_folder(app.config)
        with self._lock:
            job = self._jobs.get(key)
            if job is None or job.done:
                job = self._jobs[key] = Job()
                run = threading.Thread(target=_run, args=(app, job, deep), daemon=True)
                run.start()
        return job


def _run(app: App, job: Job, deep: bool) -> None:
    from memdir.audit.advice import KEEP
    from memdir.audit.audit import Wish, audit

    def say(text: str) -> None:
        job.step = text

    try:
        result = audit(app, Wish(deep=deep), say)
        advised = [it for it in result.memories if it.advice != KEEP]
        # What to do with a memory comes before what is odd about it.
        rows = [[it.advice, it.path, _in_words(it.reasons), "", 0] for it in advised]
        told = {("stale-claim", it.path) for it in advised}  # their reasons name them
        rows += [
            [it.kind, it.path, it.message, it.fix, it.line]
            for it in result.findings
            if (it.kind, it.path) not in told
        ]
        value = {"time": app.now(), "findings": rows}
        folder = store_cache_folder(app.config)
        with state.state_errors(folder, "the findings cannot be kept"):
            state.replace_state_json(folder, FILE, value, durable=False)
    except MemdirError as error:
        job.error = f"{error.message}. Next: {error.next}"
    except Exception as error:  # told on the page; a thread has nobody else
        job.error = f"this is a bug in memdir: {type(error).__name__}"
    finally:
        job.done = True


def _in_words(reasons: Sequence[str]) -> str:
    """The age comes first there, and says nothing new to whoever has another reason."""
    others = [reason for reason in reasons if "; half-life of " not in reason]
    return "; ".join(others[::-1] or reasons)


def read_kept_findings(app: App) -> Kept:
    """A damaged file is none: the next audit replaces it."""
    folder = store_cache_folder(app.config)
    try:
        kept = state.read_state_json(folder, FILE, _parse, MAX_FILE_BYTES)
    except (OSError, *state.DAMAGE):
        return Kept()
    return kept or Kept()


def _parse(value: Any) -> Kept:
    rows = [(*map(str, row[:4]), int(row[4])) for row in value["findings"]]
    return Kept(float(value["time"]), tuple(Finding(*row) for row in rows))  # type: ignore[arg-type]
