"""All stores that a client keeps, opened read-only."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

from memdir.config.config import Config, read_config
from memdir.config.scope import project_scope_name
from memdir.errors import Finding, MemdirError
from memdir.hot.disk import read_start
from memdir.hot.memory import TEAM
from memdir.hot.place import RECORDS
from memdir.store.writer import App, open_app

TRANSCRIPTS = 5  # transcripts read per project to find its directory
TRANSCRIPT_BYTES = 64 * 1024  # read from the top of each
MOST_FOLDERS = 500  # searched for a name; a disk may have millions
MEMORY = "memory"


@dataclass(frozen=True)
class Project:
    """Folder of the client; `root` is the project's own directory, empty if it is gone."""

    name: str
    store: str
    root: str
    was: str = ""  # former directory, if a transcript names it


def find_projects_to_audit(projects: str, *, every: bool = False) -> list[Project]:
    stores = {name: os.path.join(projects, name, MEMORY) for name in _names(projects)}
    return [
        _project(name, store) for name, store in stores.items() if every or os.path.isdir(store)
    ]


def _project(name: str, store: str) -> Project:
    was = ""
    for place in _places(os.path.dirname(store)):
        was = was or place
        root = _above(place, name)
        if root:
            return Project(name, store, root, place)
    return Project(name, store, _named(name), was)


def _above(place: str, name: str) -> str:
    while place != os.path.dirname(place):
        if project_scope_name(place) == name and os.path.isdir(place):
            return place
        place = os.path.dirname(place)
    return ""


def _places(folder: str) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            files = [
                (entry.stat().st_mtime, entry.path)
                for entry in entries
                if entry.name.endswith(".jsonl") and entry.is_file(follow_symlinks=False)
            ]
    except OSError:
        return
    for _, path in sorted(files, reverse=True)[:TRANSCRIPTS]:
        place = _written_in(path)
        if place:
            yield place


def _written_in(path: str) -> str:
    try:
        start, _ = read_start(path, TRANSCRIPT_BYTES, follow=False)
    except OSError:
        return ""
    for line in start.split(b"\n"):
        if b'"cwd"' not in line:
            continue
        try:
            cwd = json.loads(line).get("cwd")
        except (ValueError, AttributeError, RecursionError):
            continue
        if isinstance(cwd, str) and cwd.startswith("/") and "\0" not in cwd:
            return cwd
    return ""


def _named(name: str) -> str:
    """Finds the directory that encodes to this name by walking down from the root; may be empty."""
    waiting, looked = ["/"], 0
    while waiting and looked < MOST_FOLDERS:
        here = waiting.pop()
        looked += 1
        for child in _names(here):
            path = os.path.join(here, child)
            written = project_scope_name(path)
            if written == name:
                return path
            if name.startswith(written + "-"):
                waiting.append(path)
    return ""


def _names(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in entries if os.path.isdir(entry.path))
    except OSError:
        return []


GONE = "project-gone"


@dataclass(frozen=True)
class Place:
    title: str
    app: App
    findings: tuple[Finding, ...] = ()


def open_projects_to_audit(
    config: Config, now: Callable[[], float], tell: Callable[[str], None]
) -> list[Place]:
    """Opens every project's store, then stores whose project is gone, sorted by name."""
    wanted: list[tuple[str, Config, tuple[Finding, ...]]] = []
    for project in find_projects_to_audit(os.path.join(config.claude_dir, "projects")):
        title = project.root or project.name
        settings = _project_config(project, config)
        wanted.append((title, settings, _gone(project)))
        if project.root and RECORDS in settings.scopes:
            records = read_config(config.environ, project.root, scope=RECORDS)
            wanted.append((f"{title} ({RECORDS})", records, ()))
        if os.path.isdir(os.path.join(settings.store, TEAM)):
            team = read_config(config.environ, config.checkout, dir=settings.store, scope=TEAM)
            wanted.append((f"{title} ({TEAM})", replace(team, code=settings.code, findings=()), ()))
    for name, store in config.scopes.items():
        if os.path.isdir(store):
            title = name if name != "project" else config.checkout
            wanted.append((title, read_config(config.environ, config.checkout, scope=name), ()))
    opened: dict[tuple[str, str], Place] = {}
    for title, settings, findings in wanted:
        key = settings.store, settings.layout  # records may lie beside Markdown memories
        if key not in opened:
            app = open_app(settings, now=now, tell=tell, dry_run=True)
            opened[key] = Place(title, app, findings)
    return list(opened.values())


def _project_config(project: Project, config: Config) -> Config:
    """Settings as seen from the project's directory; if it is gone, those of its store alone."""
    store = os.path.realpath(project.store)
    if project.root:
        with suppress(MemdirError):  # broken settings must not hide the store
            settings = read_config(config.environ, project.root)
            if settings.store == store:
                return settings
    settings = read_config(config.environ, config.checkout, dir=store)
    # Claims of one project must never be judged by the code of another.
    return replace(settings, checkout=project.root or project.was, code="", findings=())


def _gone(project: Project) -> tuple[Finding, ...]:
    if project.root:
        return ()
    was = project.was or f"whose path is written {project.name}"
    message = f"the project {was} is gone: its memories cannot be checked against code"
    store = shlex.quote(project.store)
    fix = (
        f"where it moved: memdir import --project NEW_PLACE {store}; "
        f"where it is over: memdir archive --dir {store} '*'"
    )
    return (Finding(GONE, project.store, message, fix),)
