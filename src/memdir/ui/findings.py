"""Findings of the last audit, kept until somebody asks for a new one; no page runs an audit."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import Any

from memdir.errors import Finding, MemdirError
from memdir.store import state
from memdir.store.writer import App, store_cache_folder

FILE = "findings.json"
MAX_FILE_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True)
class Doubt:
    """A memory that an audit advises to look at, to fix or to retire."""

    path: str
    advice: str
    score: int
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Kept:
    time: float = 0.0  # 0 if there was no audit yet
    memories: tuple[Doubt, ...] = ()
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
    from memdir.audit.audit import Wish, audit

    def say(text: str) -> None:
        job.step = text

    try:
        result = audit(app, Wish(deep=deep), say)
        value = {
            "time": app.now(),
            "memories": [
                [item.path, item.advice, item.score, list(item.reasons)]
                for item in result.memories
                if item.advice != "keep"
            ],
            "findings": [[f.kind, f.path, f.message, f.fix, f.line] for f in result.findings],
        }
        folder = store_cache_folder(app.config)
        with state.state_errors(folder, "the findings cannot be kept"):
            state.replace_state_json(folder, FILE, value, durable=False)
    except MemdirError as error:
        job.error = f"{error.message}. Next: {error.next}"
    except Exception as error:  # told on the page; a thread has nobody else
        job.error = f"this is a bug in memdir: {type(error).__name__}"
    finally:
        job.done = True


def read_kept_findings(app: App) -> Kept:
    """A damaged file is none: the next audit replaces it."""
    folder = store_cache_folder(app.config)
    try:
        kept = state.read_state_json(folder, FILE, _parse, MAX_FILE_BYTES)
    except (OSError, *state.DAMAGE):
        return Kept()
    return kept or Kept()


def _parse(value: Any) -> Kept:
    memories = [
        Doubt(str(path), str(advice), int(score), tuple(map(str, reasons)))
        for path, advice, score, reasons in value["memories"]
    ]
    findings = [
        Finding(str(kind), str(path), str(message), str(fix), int(line))
        for kind, path, message, fix, line in value["findings"]
    ]
    return Kept(float(value["time"]), tuple(memories), tuple(findings))
