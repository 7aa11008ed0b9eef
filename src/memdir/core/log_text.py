"""The log of a day: one item per entry, `- HH:MM [type] what`, further lines indented below it."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass

from memdir.core.memory import UNKNOWN

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
