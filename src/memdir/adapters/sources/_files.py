"""The files of a source: read whole, bounded, never through a link that somebody else has put."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from memdir.adapters.disk import Disk
from memdir.adapters.exchange import MAX_ENTRIES, MAX_FILE_BYTES, MAX_TOTAL_BYTES, Brought
from memdir.core.errors import BadInput
from memdir.core.finding import Finding

BROKEN = "broken"  # the kind of finding for an entry that nobody can read
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True)
class Around:
    """Where a source is looked for; without a project, it is for a person in all of theirs."""

    home: str
    project: str = ""
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)


def folder_of(around: Around, variable: str, name: str) -> str:
    """Where a client keeps its files: as its variable says, else below the home."""
    named = around.environ.get(variable, "")
    return named if named.startswith("/") else os.path.join(around.home, name)


def unusable(path: str, cause: str, next: str) -> BadInput:
    """A source that gives nothing at all."""
    return BadInput(f"{path}: {cause}; nothing was imported", path=path, next=next)


def read_whole(path: str, next: str) -> bytes:
    """All bytes of a file that a person has named."""
    try:
        handle = os.open(path, _READ)
    except (OSError, ValueError) as error:
        cause = getattr(error, "strerror", None) or "not a file name"
        raise unusable(path, cause, next) from None
    try:
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode):  # Python opens no directory, not even to look at it
            raise unusable(path, "it is no regular file", next)
        if facts.st_size > MAX_TOTAL_BYTES:
            raise unusable(path, f"it has more than {MAX_TOTAL_BYTES:,} bytes", next)
        with open(handle, "rb", closefd=False) as file:
            return file.read(MAX_TOTAL_BYTES)
    finally:
        os.close(handle)


def names_in(folder: str, next: str) -> list[str]:
    """What lies in a folder of a client, sorted; nothing where it is not there."""
    try:
        return sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise unusable(folder, error.strerror or "unreadable", next) from None


def read_json(path: str, next: str) -> Any:
    """A JSON file, or one JSON value on each line."""
    text = read_whole(path, next).decode("utf-8-sig", "replace")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        lines = [line for line in text.split("\n") if line.strip()]
        if len(lines) < 2 or not lines[0].lstrip().startswith("{"):
            raise unusable(path, f"it is not JSON ({error})", next) from None
    return [_line(line) for line in lines[: MAX_ENTRIES + 1]]


def _line(line: str) -> Any:
    """What stands on a line; what cannot be read is named where it is used."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def files_below(
    root: str, wanted: Callable[[str], bool], brought: Brought
) -> Iterator[tuple[str, bytes]]:
    """Path and bytes of every wanted file; links, hidden names and special files are not."""
    disk, total = Disk(root), 0
    entries = disk.walk(lambda _: True, brought.skipped)
    found = [(path, entry.is_file(follow_symlinks=False)) for _, path, entry in entries]
    if len(found) > MAX_ENTRIES:
        raise unusable(root, f"it has more than {MAX_ENTRIES:,} files", "name a folder in it")
    for path, is_file in sorted(found):
        if not is_file:
            skip(brought, path, "a link or a special file")
        elif wanted(path):
            try:
                data = disk.read(path, MAX_FILE_BYTES + 1)[0]
            except OSError as error:
                skip(brought, path, error.strerror or "unreadable", BROKEN)
                continue
            total += len(data)
            if len(data) > MAX_FILE_BYTES:
                skip(brought, path, f"it has more than {MAX_FILE_BYTES:,} bytes", BROKEN)
            elif total > MAX_TOTAL_BYTES:
                cause = f"all files have more than {MAX_TOTAL_BYTES:,} bytes"
                raise unusable(root, cause, "name a folder in it")
            else:
                yield path, data


def skip(brought: Brought, path: str, reason: str, kind: str = "skipped") -> None:
    """Say what was not taken, and why."""
    brought.skipped.append(Finding(kind, path, f"{path}: {reason}; skipped"))


def inside(top: str, *parts: str) -> str:
    """A folder or file of a project; empty where it is not there or lies behind a link.

    A repository may have put a link there: it would bring files from anywhere.
    """
    path = os.path.join(top, *parts)
    real = os.path.join(os.path.realpath(top), *parts)
    return path if os.path.exists(path) and os.path.realpath(path) == real else ""
