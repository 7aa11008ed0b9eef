"""Daily logs: one item per entry, `- HH:MM [type] text`, with further lines indented below it."""

from __future__ import annotations

import datetime
import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass

from memdir.config.config import Config
from memdir.errors import BadInput, Finding
from memdir.format.draft import check_memory_type
from memdir.hot.disk import Disk, unreadable_file
from memdir.hot.memory import UNKNOWN
from memdir.store import state, writer
from memdir.store.writer import App
from memdir.text import dates, secrets

PROJECTS = "projects"  # folder in the client's directory
LOGS = "logs"
INDENT = "  "
LONGEST_BYTES = 8 * 1024  # per entry
MAX_DAY_BYTES = 4 * 1024 * 1024
MAX_DAYS = 20_000
_ENTRY = re.compile(r"[-*] (?:(\d\d:\d\d) )?(?:\[([\w -]{1,40})\] )?(.*)")


@dataclass(frozen=True)
class Entry:
    text: str
    type: str = UNKNOWN
    time: str = ""


def daily_log_path(day: datetime.date) -> str:
    return f"{day:%Y}/{day:%m}/{day.isoformat()}.md"


def daily_log_day(path: str) -> datetime.date | None:
    try:
        day = datetime.date.fromisoformat(path[-13:].removesuffix(".md"))
    except ValueError:
        return None
    return day if path == daily_log_path(day) else None


def write_daily_log_entry(entry: Entry) -> str:
    """An entry as text; none of its lines can look like another entry."""
    first, *more = entry.text.strip().splitlines()
    time = f"{entry.time} " if entry.time else ""
    below = "".join(f"{INDENT}{line}".rstrip() + "\n" for line in more)
    return f"- {time}[{entry.type}] {first}\n{below}"


def read_daily_log_entries(text: str) -> list[Entry]:
    result: list[tuple[str, str, list[str]]] = []
    for line in text.splitlines():
        start = _ENTRY.fullmatch(line)
        if start:
            result.append((start[1] or "", start[2] or UNKNOWN, [start[3]]))
        elif result and (line.startswith(INDENT) or not line.strip()):
            result[-1][2].append(line[len(INDENT) :])
        elif line.strip() and not line.startswith("#"):  # prose of an agent that took no item
            result.append(("", UNKNOWN, [line.strip()]))
    return [Entry("\n".join(lines).strip(), type, time) for time, type, lines in result]


@dataclass(frozen=True)
class NewEntries:
    path: str
    day: datetime.date
    entries: tuple[Entry, ...]
    end: int


class DailyLog:
    """`<root>/logs/YYYY/MM/YYYY-MM-DD.md`, append-only; it does not use the lock of the store."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.folder = os.path.join(root, LOGS)

    def path(self, day: datetime.date) -> str:
        return os.path.join(self.folder, daily_log_path(day))

    def append(self, day: datetime.date, entry: Entry) -> str:
        data = write_daily_log_entry(entry).encode("utf-8", "surrogateescape")
        if len(data) > LONGEST_BYTES:
            message = f"the entry has {len(data):,} bytes (limit: {LONGEST_BYTES:,})"
            raise BadInput(message, next="log the gist, or save it: memdir remember TEXT")
        with state.state_errors(self.path(day), "the log cannot be written"):
            state.append_state(
                self.root,
                f"{LOGS}/{daily_log_path(day)}",
                data,
                heading=f"# {day.isoformat()}\n\n".encode(),
                max_bytes=MAX_DAY_BYTES,
                keep_torn=True,
            )
        return self.path(day)

    def since(self, seen: Mapping[str, int]) -> tuple[list[NewEntries], list[Finding]]:
        stretches: list[NewEntries] = []
        findings: list[Finding] = []
        disk = Disk(self.folder)
        if not os.path.isdir(disk.root) or os.path.islink(disk.root):
            return [], []
        paths = [path for _, path, _ in disk.walk(lambda _: True, findings)]
        for path in sorted(paths)[-MAX_DAYS:]:
            day = daily_log_day(path)
            if day is None:
                continue
            try:
                data, _ = disk.read(path, MAX_DAY_BYTES)
            except OSError as error:
                findings.append(unreadable_file(path, error))
                continue
            start = seen.get(path, 0)
            start = start if start <= len(data) else 0
            end = data.rfind(b"\n") + 1  # an unfinished line is still being written
            entries = tuple(
                read_daily_log_entries(data[start:end].decode("utf-8", "surrogateescape"))
            )
            if entries:
                stretches.append(NewEntries(path, day, entries, end))
        return stretches, findings


def open_daily_log(config: Config) -> DailyLog:
    if config.scope.kind == "project" and not config.foreign:
        return DailyLog(os.path.join(config.claude_dir, PROJECTS, config.project_name))
    return DailyLog(config.store)


def log_day(
    app: App, text: str, type: str, day: datetime.date | None = None
) -> tuple[str, Entry, list[str]]:
    """Path of the log, the entry, and remarks."""
    now = app.now()
    today = writer.history_day(now)
    check_memory_type(type)
    if not any(map(str.isprintable, text.strip())):
        raise BadInput("the text is empty", next="say what to log")
    if hits := secrets.find_secrets(text):
        message = f"it holds what looks like a secret ({hits[0].rule}, line {hits[0].line})"
        hint = "name the place of the secret instead"
        raise BadInput(f"{message}; nothing was logged", next=hint)
    text, unresolved = dates.make_dates_absolute(text, day or today)
    entry = Entry(text, type, time.strftime("%H:%M", time.localtime(now)))
    remarks = [f'"{phrase}" will mean nothing later; write the date' for phrase in unresolved]
    log = open_daily_log(app.config)
    path = log.path(today) if app.dry_run else log.append(today, entry)
    return path, entry, list(dict.fromkeys(remarks))
