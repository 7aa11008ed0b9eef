"""Every project that a client keeps memories of, and where its directory is, if it still is."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass

from memdir.core.scope import project_name

TRANSCRIPTS = 5  # of a project that are asked where they were written
TRANSCRIPT_BYTES = 64 * 1024  # the first lines say it
MOST_FOLDERS = 500  # that are looked into for a name; a disk may have millions
MEMORY = "memory"


@dataclass(frozen=True)
class Project:
    """A folder of the client; `root` is the project's own directory, empty where it is gone."""

    name: str
    store: str
    root: str
    was: str = ""  # where it was, if a transcript says so


def find_projects(projects: str, *, every: bool = False) -> list[Project]:
    """The folders below the client's `projects` that have a memory directory, or all, by name."""
    names = [name for name in _names(projects) if every or _has_memory(projects, name)]
    return [_project(projects, name) for name in names]


def _has_memory(projects: str, name: str) -> bool:
    return os.path.isdir(os.path.join(projects, name, MEMORY))


def _project(projects: str, name: str) -> Project:
    folder = os.path.join(projects, name)
    was = ""
    for place in _places(folder):
        was = was or place
        root = _above(place, name)
        if root:
            return Project(name, os.path.join(folder, MEMORY), root, place)
    return Project(name, os.path.join(folder, MEMORY), _named(name), was)


def _above(place: str, name: str) -> str:
    """The directory that is called so: this one, or one above it that exists."""
    while place != os.path.dirname(place):
        if project_name(place) == name and os.path.isdir(place):
            return place
        place = os.path.dirname(place)
    return ""


def _places(folder: str) -> Iterator[str]:
    """Where the newest transcripts of a project were written."""
    try:
        with os.scandir(folder) as entries:
            found = [(one.stat().st_mtime, one.path) for one in entries if _is_transcript(one)]
    except OSError:
        return
    for _, path in sorted(found, reverse=True)[:TRANSCRIPTS]:
        place = _written_in(path)
        if place:
            yield place


def _is_transcript(entry: os.DirEntry[str]) -> bool:
    return entry.name.endswith(".jsonl") and entry.is_file(follow_symlinks=False)


def _written_in(path: str) -> str:
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return ""
            lines = file.read(TRANSCRIPT_BYTES).split(b"\n")
    except OSError:
        return ""
    for line in lines:
        if b'"cwd"' not in line:
            continue
        try:
            said = json.loads(line).get("cwd")
        except (ValueError, AttributeError, RecursionError):
            continue
        if isinstance(said, str) and said.startswith("/") and "\0" not in said:
            return said
    return ""


def _named(name: str) -> str:
    """The directory whose path is written so, found by walking down; empty where there is none."""
    waiting, looked = ["/"], 0
    while waiting and looked < MOST_FOLDERS:
        here = waiting.pop()
        looked += 1
        for child in _names(here):
            path = os.path.join(here, child)
            written = project_name(path)
            if written == name:
                return path
            if name.startswith(written + "-"):
                waiting.append(path)
    return ""


def _names(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in entries if _is_folder(entry))
    except OSError:
        return []


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False
