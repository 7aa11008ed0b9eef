"""The lines of the queue as the worker sees them: directories to look after, and sessions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from memdir.core.progress import is_due
from memdir.surfaces.hooks.ending import CLIENT, ENDS

START, STOP = "session-start", "stop"
LAST = "last"
DEADLY = 6  # tries; a worker that lives gives up earlier
TOGETHER = 50  # conversations
LATEST = 1e12  # seconds; what is more, or no number, is no moment
MOST_WAITING = 2_000  # lines; what waited longest goes first, and is made up for by its session


@dataclass
class Job:
    """A line of the queue: the directory it is for, how often it was tried, all it says."""

    cwd: str
    tries: int
    said: Mapping[str, object]
    looked: bool = False  # after the directory
    after: float = 0.0  # not before

    def written(self) -> bytes:
        """The form in the queue; `read_job` is its inverse."""
        said = {**self.said, "cwd": self.cwd, "tries": self.tries}
        said |= {"looked": True} if self.looked else {}
        said |= {"after": self.after} if self.after else {}
        return json.dumps(said, separators=(",", ":")).encode()

    def bare(self) -> Job:
        """The same without the last reply: that is in the transcript by now."""
        said = {name: value for name, value in self.said.items() if name != LAST}
        return Job(self.cwd, self.tries, said, self.looked, self.after)

    def text(self, field: str) -> str:
        """What it says there; empty where that is no text."""
        value = self.said.get(field)
        return value if isinstance(value, str) else ""

    @property
    def event(self) -> str:
        return self.text("event")

    @property
    def session(self) -> str:
        """Which conversation it is about; empty where there is none to capture."""
        return self.text("session") if self.text("transcript").startswith("/") else ""

    @property
    def client(self) -> str:
        return self.text("client") or CLIENT

    @property
    def ends(self) -> bool:
        """True where the conversation is looked at, however few turns there were."""
        return self.event in ENDS

    def is_due(self, now: float) -> bool:
        """False while it has to wait."""
        return not self.after or is_due(self.after, now)


def read_job(line: bytes) -> Job | None:
    """What a hook noted; None where nobody can tell what it was."""
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if isinstance(said, dict) and type(said.get("cwd")) is str and type(said.get("tries")) is int:
        after = said.pop("after", 0.0)
        looked = said.pop("looked", False) is True
        is_moment = isinstance(after, (int, float)) and 0 <= after < LATEST
        moment = float(after) if is_moment else 0.0
        return Job(said["cwd"], said["tries"], said, looked, moment)
    return None


def read_jobs(lines: Iterable[bytes]) -> list[Job]:
    """All that can be read; of those that wait, not more than so many."""
    jobs = [job for job in map(read_job, lines) if job]
    waiting = [job for job in jobs if job.after]
    gone = {id(job) for job in waiting[: max(0, len(waiting) - MOST_WAITING)]}
    return [job for job in jobs if id(job) not in gone]


def without_deadly(jobs: Sequence[Job]) -> tuple[list[Job], list[Job]]:
    """Those to go on with, and those with which too many workers have ended."""
    return (
        [job for job in jobs if job.tries < DEADLY],
        [job for job in jobs if job.tries >= DEADLY],
    )


def next_sessions(jobs: Sequence[Job], heard: set[tuple[str, str]], now: float) -> list[list[Job]]:
    """Conversations that are due, each with all its lines, of which the last one counts.

    Many at a time, since each time costs two writes; one that a worker may have died of, alone.
    """
    mine = [job for job in jobs if job.looked and job.session]
    due = dict.fromkeys(key(job) for job in mine if job.is_due(now) and key(job) not in heard)
    found: dict[tuple[str, str], list[Job]] = {wanted: [] for wanted in due}
    for job in mine:  # also those that wait: the latest one stands for all
        if key(job) in found:
            found[key(job)].append(job)
    fresh = [some for some in found.values() if not any(job.tries for job in some)]
    return fresh[:TOGETHER] or list(found.values())[:1]


def key(job: Job) -> tuple[str, str]:
    """A conversation in a directory."""
    return job.cwd, job.session
