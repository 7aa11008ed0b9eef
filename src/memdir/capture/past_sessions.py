"""Past sessions of a project, from every client that left transcripts behind."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memdir.audit.projects import find_projects
from memdir.capture.capture import Reader, open_reader
from memdir.clients.conversation import Session
from memdir.errors import BadInput, MemdirError, Missing
from memdir.hot.verdicts import read_git_line
from memdir.store import registry
from memdir.store.writer import App

MAX_SESSIONS = 500  # of one run; the newest count
MAX_WORKTREES = 200


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
class PastSession:
    """A session, the directory it was started in or below, and who can read it."""

    session: Session
    project: str
    reader: Reader


def find_sessions(app: App, chosen: Chosen) -> list[PastSession]:
    """The sessions, newest first; each once, however many worktrees and folders list it."""
    config = app.config
    here = [config.checkout, config.project_root, *worktrees(config.project_root)]
    listed = _list(app, chosen, [*here, *_other_projects(app)] if chosen.every else here)
    if chosen.sessions:
        return _pick(app, chosen, listed)
    if chosen.since is not None:
        listed = [past for past in listed if past.session.modified >= chosen.since]
    if len(listed) > MAX_SESSIONS and not chosen.last:
        count = f"{len(listed):,} sessions"
        app.tell(f"{count}: the newest {MAX_SESSIONS} are looked at; --since takes others")
    return listed[: chosen.last or MAX_SESSIONS]


def worktrees(root: str) -> list[str]:
    """The linked worktrees of a repository, as git has them, whether or not they still exist."""
    top = os.path.join(root, ".git", "worktrees")
    top = top if os.path.isdir(top) else os.path.join(root, "worktrees")  # a bare repository
    try:
        names = sorted(os.listdir(top))[:MAX_WORKTREES]
    except OSError:
        return []
    paths = [read_git_line(os.path.join(top, name, "gitdir")) for name in names]
    plain = [path for path in paths if "\0" not in path and "\n" not in path]
    return [os.path.dirname(path) for path in plain if path.endswith("/.git") and path[0] == "/"]


def _other_projects(app: App) -> list[str]:
    folder = os.path.join(app.config.claude_dir, "projects")
    return [root for item in find_projects(folder, every=True) if (root := item.root or item.was)]


def _list(app: App, chosen: Chosen, projects: Iterable[str]) -> list[PastSession]:
    listed: dict[str, PastSession] = {}
    for client in _clients(chosen.client, app.config.own):
        reader = open_reader(app, client)
        for project in dict.fromkeys(projects):
            try:
                sessions = reader.sessions(project)
            except MemdirError as error:  # of one client, or one project: the others count
                app.tell(f"{client}: {error.message}. Next: {error.next}")
                continue
            # Anywhere in a repository, else only in that very directory.
            whole = os.path.lexists(os.path.join(project, ".git"))
            real = os.path.realpath(project)
            for item in sessions:
                if whole or not item.cwd or os.path.realpath(item.cwd) == real:
                    listed.setdefault(item.path, PastSession(item, project, reader))
    return _newest_first(listed)


def _newest_first(by_path: dict[str, PastSession]) -> list[PastSession]:
    return sorted(by_path.values(), key=lambda past: past.session.modified, reverse=True)


def _clients(wanted: str, own: str) -> Sequence[str]:
    known = registry.members("transcripts", own)
    if not wanted:
        return known
    name = wanted.strip().lower().replace("-", "_")
    if name not in known:
        names = ", ".join(item.replace("_", "-") for item in known)
        raise BadInput(f"no sessions of {wanted[:40]!r} can be read", next=f"use one of {names}")
    return (name,)


def _pick(app: App, chosen: Chosen, listed: Sequence[PastSession]) -> list[PastSession]:
    """The sessions of these ids or paths, wherever they were; the start of an id will do."""
    picked: dict[str, PastSession] = {}
    more: list[PastSession] = []
    for name in chosen.sessions:
        fitting = _fitting(name, listed)
        if not fitting and not chosen.every:
            more = more or _list(app, chosen, _other_projects(app))
            fitting = _fitting(name, more)
        if not fitting:
            message = f"there is no session {name[:80]!r}"
            raise Missing(
                message, next="memdir extract --dry-run lists the sessions with their ids"
            )
        if len(fitting) > 1:
            raise BadInput(f"{name!r} is the start of several sessions", next="give more of it")
        picked.setdefault(fitting[0].session.path, fitting[0])
    return _newest_first(picked)


def _fitting(name: str, among: Sequence[PastSession]) -> list[PastSession]:
    if not name.strip():
        return []
    path = os.path.realpath(name) if "/" in name and "\0" not in name else ""
    return (
        [past for past in among if name in (past.session.id, past.session.path)]
        or [past for past in among if path and os.path.realpath(past.session.path) == path]
        or [past for past in among if past.session.id.startswith(name)]
    )
