"""Findings of the last audit, kept until somebody asks for a new one; no page runs an audit."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from memdir.audit.ages import KEEP
from memdir.errors import Finding, MemdirError
from memdir.format.draft import content_hash
from memdir.store import state
from memdir.store.writer import App, store_cache_folder
from memdir.ui.workspace import Census, state_of_page_files

if TYPE_CHECKING:
    from memdir.audit.audit import Audit

FILE = "findings.json"
MAX_FILE_BYTES = 16 * 1024 * 1024
OLD = "old"  # nothing is wrong with it but its age
FIRST = ("secret", "stale-claim", "fix", "retire", "conflict", "index-too-long")
AGED = "; half-life of "
_POINTS = re.compile(r" \(\+\d+\)$")  # of a score, which the page does not show


class Kept(NamedTuple):
    time: float = 0.0  # 0 if there was no audit yet
    findings: tuple[Finding, ...] = ()  # what is pressing comes first, what is only old last
    versions: Mapping[str, str] = {}  # of the memories that was found in


@dataclass
class Job:
    """An audit on its way."""

    error: str = ""
    done: bool = False


class Audits:
    """At most one for each store."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}

    def job(self, app: App) -> Job | None:
        return self._jobs.get(store_cache_folder(app.config))

    def start(self, app: App) -> None:
        if (job := self.job(app)) is None or job.done:
            job = self._jobs[store_cache_folder(app.config)] = Job()
            threading.Thread(target=_run, args=(app, job), daemon=True).start()


def _run(app: App, job: Job) -> None:
    from memdir.audit.audit import audit

    try:
        begun = app.now()
        rows = _rows(audit(app, deep=bool(app.config.code)))
        versions = {path: _version(app, path) for path in dict.fromkeys(row[1] for row in rows)}
        value = {"time": begun, "findings": rows, "versions": versions}
        folder = store_cache_folder(app.config)
        with state.state_errors(folder, "the findings cannot be kept"):
            state.replace_state_json(folder, FILE, value, durable=False)
    except MemdirError as error:
        job.error = f"{error.message}. Next: {error.next}"
    except Exception as error:  # told on the page; a thread has nobody else
        job.error = f"this is a bug in memdir: {type(error).__name__}"
    finally:
        job.done = True


def _rows(audited: Audit) -> list[list[Any]]:
    """What to do with a memory comes before what is odd about it, and its age last."""
    rows: list[list[Any]] = []
    advised = [it for it in audited.memories if it.advice != KEEP]
    for it in advised:  # the age comes first there, and says nothing new beside another reason
        others = [_POINTS.sub("", said) for said in it.reasons[::-1] if AGED not in said]
        rows.append([it.advice if others else OLD, it.path, "; ".join(others or it.reasons), "", 0])
    told = {("stale-claim", it.path) for it in advised}  # their reasons name them
    found = (it for it in audited.findings if (it.kind, it.path) not in told)
    rows += [[it.kind, it.path, it.message, it.fix, it.line] for it in found]
    return sorted(rows, key=lambda row: (row[0] == OLD, row[0] not in FIRST))


def _version(app: App, path: str) -> str:
    try:
        return content_hash(app.store.read(path))
    except MemdirError:
        return ""


def read_findings_for_page(app: App, census: Census) -> tuple[Kept, list[Finding]]:
    """What the last audit found and nobody has dealt with since, after what a look finds now."""
    folder = store_cache_folder(app.config)
    kept = census.once("kept", lambda: _read_kept(folder), state_of_page_files(folder))
    present = {path: facts[0] / 1e9 <= kept.time for path, facts in census.tree.items()}

    def is_open(it: Finding) -> bool:
        version = kept.versions.get(it.path, "")
        return not version or present.get(it.path, False) or _version(app, it.path) == version

    return kept, [*census.scan.findings, *filter(is_open, kept.findings)]


def _read_kept(folder: str) -> Kept:
    """A damaged file is none: the next audit replaces it."""
    try:
        return state.read_state_json(folder, FILE, _parse, MAX_FILE_BYTES) or Kept()
    except (OSError, *state.DAMAGE):
        return Kept()


def _parse(value: Any) -> Kept:
    rows = [(*map(str, row[:4]), int(row[4])) for row in value["findings"]]
    found = [Finding(*row) for row in rows]  # type: ignore[arg-type]
    versions = {str(path): str(it) for path, it in value["versions"].items()}
    return Kept(float(value["time"]), tuple(found), versions)
