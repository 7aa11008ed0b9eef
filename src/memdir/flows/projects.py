"""Every store that a client keeps, opened for a look: nothing is written, nothing created."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from memdir.adapters.projects import Project, find_projects
from memdir.app import App, open_app
from memdir.config import Config, read_config
from memdir.core.errors import MemdirError
from memdir.core.finding import Finding
from memdir.core.memory import TEAM

GONE = "project-gone"


@dataclass(frozen=True)
class Place:
    """A store among others: what to call it, the app that looks at it, what is odd about it."""

    title: str
    app: App
    findings: tuple[Finding, ...] = ()


def open_projects(
    config: Config, now: Callable[[], float], tell: Callable[[str], None]
) -> list[Place]:
    """The stores of the client's projects directory, then those of no project, by their names."""
    wanted: list[tuple[str, Config, tuple[Finding, ...]]] = []
    for project in find_projects(os.path.join(config.claude_dir, "projects")):
        title = project.root or project.name
        found = _project_config(project, config)
        wanted.append((title, found, _gone(project)))
        if os.path.isdir(os.path.join(found.store, TEAM)):
            team = read_config(config.environ, config.checkout, dir=found.store, scope=TEAM)
            wanted.append((f"{title} ({TEAM})", replace(team, code=found.code, findings=()), ()))
    for name, store in config.scopes.items():
        if os.path.isdir(store):
            title = name if name != "project" else config.checkout
            wanted.append((title, read_config(config.environ, config.checkout, scope=name), ()))
    opened: dict[str, Place] = {}
    for title, found, findings in wanted:
        if found.store not in opened:
            app = open_app(found, now=now, tell=tell, dry_run=True)
            opened[found.store] = Place(title, app, findings)
    return list(opened.values())


def _project_config(project: Project, config: Config) -> Config:
    """As if somebody stood in the project; where it is gone, its store alone."""
    store = os.path.realpath(project.store)
    if project.root:
        with suppress(MemdirError):  # settings that lead nowhere do not hide the store
            found = read_config(config.environ, project.root)
            if found.store == store:
                return found
    found = read_config(config.environ, config.checkout, dir=store)
    # Claims of one project must never be judged by the code of another.
    return replace(found, checkout=project.root or project.was, code="", findings=())


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
