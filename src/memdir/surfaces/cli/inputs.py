"""What a person hands in: texts, drafts and times; never more than the limit is read."""

from __future__ import annotations

import datetime
import os
import re
import stat
import sys
import tempfile

from memdir.core import frontmatter
from memdir.core.draft import Draft
from memdir.core.errors import BadInput, Unwritable
from memdir.core.memory import (
    CREATED_KEYS,
    MODIFIED_KEYS,
    PINNED_KEYS,
    SOURCE_KEYS,
    TYPE_KEYS,
    UNKNOWN,
    VERIFIED_KEYS,
)

STDIN = "-"
# Wording of a rule; anything else is taken for a fact about the project.
_RULE = re.compile(r"\b(always|never|don['’]?t|do not|use|prefer|must)\b", re.IGNORECASE)
_AGO = re.compile(r"(\d{1,6})\s*(s|m|h|d|w)", re.IGNORECASE)
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
# What the store says of a memory itself; a draft cannot claim it.
_OURS = {*CREATED_KEYS, *MODIFIED_KEYS, *SOURCE_KEYS, *VERIFIED_KEYS}
_READ = {"name", "description", frontmatter.NEST, *TYPE_KEYS, *PINNED_KEYS}


def guess_type(text: str) -> str:
    """`feedback` for what is worded as a rule, else `project`."""
    return "feedback" if _RULE.search(text) else "project"


def read_text(given: str, limit: int, what: str) -> str:
    """The text of stdin (`-`) or of a file, refused beyond `limit` bytes without reading on."""
    data = _read_stdin(limit + 1) if given == STDIN else _read_file(given, limit + 1)
    if len(data) > limit:
        raise BadInput(
            f"{what} has more than {limit:,} bytes, which is the limit",
            path="" if given == STDIN else given,
            next="shorten it, split it, or point to a file of the repository",
        )
    return frontmatter.decode(data)


def _read_stdin(limit: int) -> bytes:
    if sys.stdin is None:
        raise BadInput("there is no standard input", next="give the text as an argument")
    if sys.stdin.isatty():
        sys.stderr.write("Type the text; end it with Ctrl-D on a line of its own.\n")
    return sys.stdin.buffer.read(limit)


def _read_file(path: str, limit: int) -> bytes:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        raise _unusable(path, getattr(error, "strerror", None) or "not a file name") from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise _unusable(path, "not a regular file")
    with open(handle, "rb") as file:
        try:
            return file.read(limit)
        except OSError as error:
            raise _unusable(path, error.strerror or "cannot be read") from None


def _unusable(path: str, cause: str) -> BadInput:
    return BadInput(f"{path}: {cause}", path=path, next="name a readable file, or - for stdin")


def private_folder(prefix: str) -> str:
    """A new folder for what is under way, that only its owner can look into."""
    try:
        return tempfile.mkdtemp(prefix=prefix)
    except OSError as error:
        raise Unwritable(
            f"no temporary folder can be made: {error.strerror}",
            next="set TMPDIR to a directory that you may write to",
        ) from None


def read_draft(text: str, where: str) -> tuple[Draft, list[str]]:
    """A draft from Markdown with a header, and what of it the store decides itself."""
    document = frontmatter.read(text)
    for number, problem in document.problems:
        raise BadInput(
            f"{where}:{number}: {problem}; nothing was saved",
            path=where,
            next="write each header key once, as `key: value`",
        )
    values = document.values
    if values.get(frontmatter.NEST):
        raise BadInput(f"{where}: `metadata` is not a value", next="indent its keys below it")
    extra = [(key, text) for key, text in values.items() if key not in _READ | _OURS]
    draft = Draft(
        body=document.body.strip("\n"),
        type=document.get(*TYPE_KEYS).strip().lower() or UNKNOWN,
        name=values.get("name", ""),
        description=values.get("description", ""),
        pinned=document.get(*PINNED_KEYS).lower() in ("true", "yes", "1"),
        extra=tuple(extra),
    )
    return draft, sorted(key for key in values if key in _OURS)


def read_day(text: str) -> datetime.date:
    """The day of a conversation, `YYYY-MM-DD`."""
    try:
        return datetime.date.fromisoformat(text.strip())
    except ValueError:
        raise BadInput(f"{text[:40]!r} is not a day", next="write it as 2026-03-02") from None


def read_moment(text: str, now: float) -> float:
    """A moment: `10m`, `2h`, `3d` ago, or an ISO date and time (local, unless it says a zone)."""
    ago = _AGO.fullmatch(text.strip())
    if ago:
        return now - int(ago[1]) * _SECONDS[ago[2].lower()]
    try:
        return datetime.datetime.fromisoformat(text.strip()).timestamp()
    except (ValueError, OverflowError, OSError):
        raise BadInput(
            f"{text[:40]!r} is not a time", next="write 10m, 2h, 3d or 2026-03-02T14:00"
        ) from None
