"""Which past sessions are looked at, and where each of them was started."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memdir import registry
from memdir.adapters.projects import find_projects
from memdir.adapters.worktrees import worktrees
from memdir.app import App
from memdir.core.errors import BadInput, MemdirError, Missing
from memdir.core.transcript import Session
from memdir.flows.capturing import Reader, open_reader

FAMILY = "transcripts"
MOST = 500  # sessions of one run; the newest count


@dataclass(frozen=True)
class Chosen:
    """What a person wants looked at; `model`: a model may be asked, `every`: all projects.

    `yes`: what a person said is saved, asked for or not.
    """

    sessions: tuple[str, ...] = ()
    since: float | None = None
    last: int = 0
    client: str = ""
    every: bool = False
    model: bool = False
    yes: bool = False


@dataclass(frozen=True)
class Past:
    """A past session, the directory it was started in or below, and who can read it."""

    session: Session
    project: str
    reader: Reader


def find_past(app: App, chosen: Chosen) -> list[Past]:
    """The sessions, newest first; each once, however many worktrees and folders list it."""
    here = _here(app)
    found = _listed(app, chosen, _everywhere(app, here) if chosen.every else here)
    if chosen.sessions:
        return _named(app, chosen, found)
    if chosen.since is not None:
        found = [one for one in found if one.session.modified >= chosen.since]
    if len(found) > MOST and not chosen.last:
        app.tell(f"{len(found):,} sessions: the newest {MOST} are looked at; --since takes others")
    return found[: chosen.last or MOST]


def _here(app: App) -> list[str]:
    """The project with all its worktrees: they share one store."""
    config = app.config
    return [config.checkout, config.project_root, *worktrees(config.project_root)]


def _everywhere(app: App, here: Sequence[str]) -> list[str]:
    folder = os.path.join(app.config.claude_dir, "projects")
    known = [one.root or one.was for one in find_projects(folder, every=True)]
    return [*here, *filter(None, known)]


def _listed(app: App, chosen: Chosen, projects: Iterable[str]) -> list[Past]:
    found: dict[str, Past] = {}
    for client in _clients(chosen.client, app.config.own):
        reader = open_reader(app, client)
        for project in dict.fromkeys(projects):
            try:
                sessions = reader.sessions(project)
            except MemdirError as error:  # of one client, or one project: the others count
                app.tell(f"{client}: {error.message}. Next: {error.next}")
                continue
            for session in sessions:
                if _is_of(session, project):
                    found.setdefault(session.path, Past(session, project, reader))
    return sorted(found.values(), key=lambda one: one.session.modified, reverse=True)


def _is_of(session: Session, project: str) -> bool:
    """A repository is a project with all that is in it, any other directory only by itself."""
    whole = os.path.lexists(os.path.join(project, ".git"))
    real = os.path.realpath(project)
    return whole or not session.cwd or os.path.realpath(session.cwd) == real


def _clients(wanted: str, own: str) -> Sequence[str]:
    known = registry.members(FAMILY, own)
    if not wanted:
        return known
    name = wanted.strip().lower().replace("-", "_")
    if name not in known:
        listed = ", ".join(one.replace("_", "-") for one in known)
        raise BadInput(f"no sessions of {wanted[:40]!r} can be read", next=f"use one of {listed}")
    return (name,)


def _named(app: App, chosen: Chosen, found: Sequence[Past]) -> list[Past]:
    """The sessions of these ids or paths, wherever they were; the start of an id will do."""
    wanted: dict[str, Past] = {}
    more: list[Past] = []
    for name in chosen.sessions:
        fits = _fitting(name, found)
        if not fits and not chosen.every:
            more = more or _listed(app, chosen, _everywhere(app, ()))
            fits = _fitting(name, more)
        if not fits:
            what = f"there is no session {name[:80]!r}"
            raise Missing(what, next="memdir extract --dry-run lists the sessions with their ids")
        if len(fits) > 1:
            raise BadInput(f"{name!r} is the start of several sessions", next="give more of it")
        wanted.setdefault(fits[0].session.path, fits[0])
    return sorted(wanted.values(), key=lambda one: one.session.modified, reverse=True)


def _fitting(name: str, among: Sequence[Past]) -> list[Past]:
    if not name.strip():
        return []
    path = os.path.realpath(name) if "/" in name and "\0" not in name else ""
    exact = [one for one in among if one.session.id == name or one.session.path == name]
    same = exact or [one for one in among if path and os.path.realpath(one.session.path) == path]
    return same or [one for one in among if one.session.id.startswith(name)]
