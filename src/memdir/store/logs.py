"""The log of a day: one item per entry, `- HH:MM [type] what`, further lines indented below it."""

from __future__ import annotations

import datetime
import errno
import fcntl
import os
import re
import stat
import time
from collections.abc import Mapping
from dataclasses import dataclass

from memdir.config.config import Config
from memdir.errors import BadInput, Finding
from memdir.format.draft import check_type
from memdir.hot.disk import Disk, close_quietly, failure
from memdir.hot.memory import UNKNOWN
from memdir.store.writer import App
from memdir.store.writer import day_of as writer_day_of
from memdir.text import dates, secrets

# The log of a day: one item per entry, `- HH:MM [type] what`, further lines indented below it.

LOGS = "logs"
INDENT = "  "
_ENTRY = re.compile(r"- (?:(\d\d:\d\d) )?(?:\[([\w -]{1,40})\] )?(.*)")
_PATH = re.compile(r"(\d{4})/(\d\d)/\1-\2-(\d\d)\.md")


@dataclass(frozen=True)
class Entry:
    """What somebody logged; `time` is HH:MM, or empty where the entry does not say it."""

    text: str
    type: str = UNKNOWN
    time: str = ""


def path_of(day: datetime.date) -> str:
    """Where the log of a day lies below the folder of the logs."""
    return f"{day:%Y}/{day:%m}/{day.isoformat()}.md"


def day_of(path: str) -> datetime.date | None:
    """The inverse of `path_of`; None for what is no log."""
    found = _PATH.fullmatch(path)
    try:
        return datetime.date(*map(int, found.groups())) if found else None
    except ValueError:
        return None


def heading(day: datetime.date) -> str:
    """What a new log begins with."""
    return f"# {day.isoformat()}\n\n"


def write(entry: Entry) -> str:
    """An entry with its line end; no line of it can be taken for another entry."""
    first, *more = entry.text.strip().splitlines()
    time = f"{entry.time} " if entry.time else ""
    below = "".join(f"{INDENT}{line}".rstrip() + "\n" for line in more)
    return f"- {time}[{entry.type}] {first}\n{below}"


def read(text: str) -> list[Entry]:
    """The entries of a log, or of its end; headings and lines of nobody are passed over."""
    found: list[tuple[str, str, list[str]]] = []
    for line in text.splitlines():
        start = _ENTRY.fullmatch(line)
        if start:
            found.append((start[1] or "", start[2] or UNKNOWN, [start[3]]))
        elif found and (line.startswith(INDENT) or not line.strip()):
            found[-1][2].append(line[len(INDENT) :])
    return [Entry("\n".join(lines).strip(), type, time) for time, type, lines in found]


# Daily logs on disk: appended to with one write under a lock, never rewritten.
#
# `<root>/logs/YYYY/MM/YYYY-MM-DD.md`. Nobody waits for a lock of the store here: each log has its
# own, which the kernel lets go of when its holder dies.

LONGEST_BYTES = 8 * 1024  # of an entry
LARGEST_BYTES = 4 * 1024 * 1024  # of a day
MOST_DAYS = 20_000
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True)
class Stretch:
    """What was logged on a day since somebody last looked, and where it ends."""

    path: str
    day: datetime.date
    entries: tuple[Entry, ...]
    end: int


class DailyLog:
    """The logs below one directory."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._disk = Disk(root)

    @property
    def folder(self) -> str:
        """Where all of them lie."""
        return os.path.join(self.root, LOGS)

    def path(self, day: datetime.date) -> str:
        """Where the log of a day lies."""
        return os.path.join(self.folder, path_of(day))

    def append(self, day: datetime.date, entry: Entry) -> str:
        """Add an entry, whole and durable when this returns; gives the path of the log."""
        data = write(entry).encode("utf-8", "surrogateescape")
        if len(data) > LONGEST_BYTES:
            what = f"the entry has {len(data):,} bytes (limit: {LONGEST_BYTES:,})"
            raise BadInput(what, next="log the gist, or save it: memdir remember TEXT")
        path = self.path(day)
        try:
            self._disk.make_root()
            parent, name = self._disk.open_parent(f"{LOGS}/{path_of(day)}", make=True)
            try:
                _append(name, parent, heading(day).encode(), data)
                os.fsync(parent)
            finally:
                close_quietly(parent)
        except OSError as error:
            raise failure(error, path, "the log cannot be written") from None
        return path

    def since(self, seen: Mapping[str, int]) -> tuple[list[Stretch], list[Finding]]:
        """What each log has beyond the bytes that were seen; one that shrank is read anew."""
        found: list[Stretch] = []
        findings: list[Finding] = []
        disk = Disk(os.path.join(self.root, LOGS))
        if not os.path.isdir(disk.root) or os.path.islink(disk.root):
            return [], []
        paths = [path for _, path, _ in disk.walk(lambda _: True, findings)]
        for path in sorted(paths)[-MOST_DAYS:]:
            day = day_of(path)
            if day is None:
                continue
            try:
                data, _ = disk.read(path, LARGEST_BYTES)
            except OSError as error:
                what = f"{path}: {os.strerror(error.errno or errno.EIO)}; skipped"
                findings.append(Finding("unreadable", path, what, f"check: ls -l {path}"))
                continue
            start = seen.get(path, 0)
            start = start if start <= len(data) else 0
            end = data.rfind(b"\n") + 1  # half a line is somebody's who is writing
            text = data[start:end].decode("utf-8", "surrogateescape")
            entries = tuple(read(text))
            if entries:
                found.append(Stretch(path, day, entries, end))
        return found, findings


def _append(name: str, parent: int, heading: bytes, data: bytes) -> None:
    """One write at the end, nobody else's in between; what a killed writer left stays apart."""
    handle = os.open(name, _FLAGS, 0o600, dir_fd=parent)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.ENXIO, os.strerror(errno.ENXIO))
        fcntl.flock(handle, fcntl.LOCK_EX)
        size = os.fstat(handle).st_size
        whole = data if size else heading + data
        if size and os.pread(handle, 1, size - 1) != b"\n":
            whole = b"\n" + data
        if size + len(whole) > LARGEST_BYTES:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
        if os.write(handle, whole) != len(whole):
            os.ftruncate(handle, size)  # the disk is full: half an entry would be a wrong one
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(handle)
    finally:
        close_quietly(handle)


# The log of the day: what is learned goes there first, and becomes memories later.

PROJECTS = "projects"  # in the client's directory


@dataclass(frozen=True)
class Added:
    """An entry, the log it is in, and what the person should know."""

    path: str
    entry: Entry
    remarks: tuple[str, ...] = ()


def open_log(config: Config) -> DailyLog:
    """A project's logs lie beside its memories, those of any other store below it."""
    if config.scope.kind == "project" and not config.foreign:
        return DailyLog(os.path.join(config.claude_dir, PROJECTS, config.project_name))
    return DailyLog(config.store)


def log_day(app: App, text: str, type: str, day: datetime.date | None = None) -> Added:
    """dates made absolute → one entry at the end of today's log"""
    now = app.now()
    today = writer_day_of(now)
    check_type(type)
    if not any(map(str.isprintable, text.strip())):
        raise BadInput("the text is empty", next="say what to log")
    found = secrets.find_secrets(text)
    if found:
        what = f"it holds what looks like a secret ({found[0].rule}, line {found[0].line})"
        raise BadInput(f"{what}; nothing was logged", next="name the place of the secret instead")
    text, unresolved = dates.make_absolute(text, day or today)
    entry = Entry(text, type, time.strftime("%H:%M", time.localtime(now)))
    remarks = [f'"{phrase}" will mean nothing later; write the date' for phrase in unresolved]
    log = open_log(app.config)
    path = log.path(today) if app.dry_run else log.append(today, entry)
    return Added(path, entry, tuple(dict.fromkeys(remarks)))


def written(added: Added) -> str:
    """The entry as it stands in the log."""
    return write(added.entry)
