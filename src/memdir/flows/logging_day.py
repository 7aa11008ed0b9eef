"""The log of the day: what is learned goes there first, and becomes memories later."""

from __future__ import annotations

import datetime
import os
import time
from dataclasses import dataclass

from memdir.adapters.daily_log import DailyLog
from memdir.app import App, day_of
from memdir.config import Config
from memdir.core import log_text, relative_dates, secrets
from memdir.core.drafting import check_type
from memdir.core.errors import BadInput
from memdir.core.log_text import Entry

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
    today = day_of(now)
    check_type(type)
    if not any(map(str.isprintable, text.strip())):
        raise BadInput("the text is empty", next="say what to log")
    found = secrets.find_secrets(text)
    if found:
        what = f"it holds what looks like a secret ({found[0].rule}, line {found[0].line})"
        raise BadInput(f"{what}; nothing was logged", next="name the place of the secret instead")
    text, unresolved = relative_dates.make_absolute(text, day or today)
    entry = Entry(text, type, time.strftime("%H:%M", time.localtime(now)))
    remarks = [f'"{phrase}" will mean nothing later; write the date' for phrase in unresolved]
    log = open_log(app.config)
    path = log.path(today) if app.dry_run else log.append(today, entry)
    return Added(path, entry, tuple(dict.fromkeys(remarks)))


def written(added: Added) -> str:
    """The entry as it stands in the log."""
    return log_text.write(added.entry)
