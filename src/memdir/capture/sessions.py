"""Transcripts: the sessions, their readers, and the project of each.

A session belongs to the project where it was started, even if the agent changes its directory.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, cast

from memdir.capture.plan import Request
from memdir.clients.conversation import Cursor, NewMessages, Session
from memdir.config.config import Config, read_config
from memdir.errors import BadInput, MemdirError, Missing
from memdir.hot.disk import failure
from memdir.hot.place import is_below
from memdir.hot.verdicts import read_git_line
from memdir.store import registry
from memdir.store.writer import App

FAMILY = "transcripts"
HANDED_OVER = "library"  # messages handed over by an agent, without a transcript
MAX_SESSIONS = 500  # the newest, per run
MAX_WORKTREES = 200


class Reader(Protocol):
    """Reads the transcripts of one client, none outside `root`."""

    root: str

    def read(self, path: str, since: Cursor, last: str = "") -> NewMessages: ...
    def sessions(self, project: str) -> list[Session]: ...


def open_reader(app: App, client: str, path: str = "") -> Reader:
    """A `path` named by a person may be anywhere."""
    member = registry.load(FAMILY, client.replace("-", "_"), app.config.own)
    # Not the environment variable: a repository may have set it.
    environ = {**app.config.environ, "CLAUDE_CONFIG_DIR": app.config.claude_dir}
    reader = cast(Reader, member.open_reader(app.config.home, environ))
    if path:
        reader.root = os.path.dirname(os.path.realpath(path))
    return reader


def belongs_to_client(app: App, client: str, path: str) -> bool:
    """Any other file is read only if a person names it."""
    if client == HANDED_OVER:
        return False
    root = os.path.realpath(open_reader(app, client).root)
    folder = os.path.realpath(os.path.dirname(path))
    return folder == root or is_below(folder, root)


def transcript_size(path: str) -> int | None:
    try:
        return os.stat(path).st_size
    except NotADirectoryError:
        # A session in a database has no size of its own: use the time of the last write.
        table = os.path.dirname(path)
        files = [file for file in (table, f"{table}-wal") if os.path.isfile(file)]
        return max((os.stat(file).st_mtime_ns for file in files), default=None)
    except (FileNotFoundError, ValueError):
        return None
    except OSError as error:
        raise failure(error, path, "the transcript cannot be looked at") from None


def hook_directory(app: App, request: Request, cwd: str) -> str:
    """The directory whose project learns from a hook called in `cwd`.

    It is where the session started, if that still exists and has the same state folder.
    """
    started = _started_in(open_reader(app, request.client), request.transcript)
    if not started.startswith("/") or "\0" in started or not os.path.isdir(started):
        return cwd
    try:
        there = read_config(app.config.environ, started)
    except MemdirError:
        return cwd
    return started if there.state_dir == app.config.state_dir else cwd


def find_project(app: App, request: Request) -> tuple[str, str]:
    """A directory of the project where the session started, and why it cannot be used.

    Both are empty for the current project.
    """
    config = app.config
    cwd = _started_in(open_reader(app, request.client, request.transcript), request.transcript)
    if not cwd:
        return "", ""
    if not cwd.startswith("/") or not os.path.isdir(cwd):
        return "", f"the directory of the conversation is gone: {cwd}"
    try:
        there = read_config(config.environ, cwd)
    except MemdirError as error:
        return "", f"the project of the conversation cannot be used: {error.message}"
    # Only the path may differ: a repository must not bring its own settings.
    if _own_settings(there) != _own_settings(config):
        return "", f"other settings hold in {cwd}"
    if not there.enabled and there.enabled_by.startswith("repository"):
        raise BadInput(
            f"memory is switched off for {there.checkout} ({there.enabled_by})",
            path=there.checkout,
            next="name the project that should remember it with --project",
        )
    return ("", "") if there.store == config.store else (cwd, "")


def _started_in(reader: Reader, transcript: str) -> str:
    look = getattr(reader, "started_in", None)  # only for clients that log each change of directory
    try:
        return str(look(transcript) if look else reader.read(transcript, Cursor()).cwd)
    except MemdirError:
        return ""


def _own_settings(config: Config) -> tuple[object, ...]:
    return config.home, config.claude_dir, config.state_dir, config.config_file, config.options


@dataclass(frozen=True)
class Chosen:
    """`model`: a model may be asked; `every`: all projects; `yes`: save without a request."""

    sessions: tuple[str, ...] = ()
    since: float | None = None
    last: int = 0
    client: str = ""
    every: bool = False
    model: bool = False
    yes: bool = False


@dataclass(frozen=True)
class PastSession:
    session: Session
    project: str
    reader: Reader


def find_sessions(app: App, chosen: Chosen) -> list[PastSession]:
    config = app.config
    here = [config.checkout, config.project_root, *_worktrees(config.project_root)]
    listed = _list(app, chosen, [*here, *_other_projects(app)] if chosen.every else here)
    if chosen.sessions:
        picked: dict[str, PastSession] = {}
        for name in chosen.sessions:
            fitting = _fitting(name, listed)
            if not fitting and not chosen.every:
                fitting = _fitting(name, _list(app, chosen, _other_projects(app)))
            if not fitting:
                next = "memdir extract --dry-run lists the sessions with their ids"
                raise Missing(f"there is no session {name[:80]!r}", next=next)
            if len(fitting) > 1:
                raise BadInput(f"{name!r} is the start of several sessions", next="give more of it")
            picked[fitting[0].session.path] = fitting[0]
        return _newest_first(picked.values())
    if chosen.since is not None:
        listed = [past for past in listed if past.session.modified >= chosen.since]
    if len(listed) > MAX_SESSIONS and not chosen.last:
        count = f"{len(listed):,} sessions"
        app.tell(f"{count}: only the newest {MAX_SESSIONS} are read; --since takes others")
    return listed[: chosen.last or MAX_SESSIONS]


def _worktrees(root: str) -> list[str]:
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
    from memdir.audit.projects import find_projects  # the worker needs no other projects

    folder = os.path.join(app.config.claude_dir, "projects")
    return [root for item in find_projects(folder, every=True) if (root := item.root or item.was)]


def _list(app: App, chosen: Chosen, projects: Sequence[str]) -> list[PastSession]:
    clients = registry.members(FAMILY, app.config.own)
    if chosen.client:
        wanted = chosen.client.strip().lower().replace("-", "_")
        if wanted not in clients:
            names = ", ".join(item.replace("_", "-") for item in clients)
            message = f"no sessions of {chosen.client[:40]!r} can be read"
            raise BadInput(message, next=f"use one of {names}")
        clients = (wanted,)
    listed: dict[str, PastSession] = {}
    for client in clients:
        reader = open_reader(app, client)
        for project in dict.fromkeys(projects):
            try:
                sessions = reader.sessions(project)
            except MemdirError as error:  # of one client or project; go on with the others
                app.tell(f"{client}: {error.message}. Next: {error.next}")
                continue
            # Anywhere in a repository, else only in exactly that directory.
            whole = os.path.lexists(os.path.join(project, ".git"))
            real = os.path.realpath(project)
            for item in sessions:
                if whole or not item.cwd or os.path.realpath(item.cwd) == real:
                    listed.setdefault(item.path, PastSession(item, project, reader))
    return _newest_first(listed.values())


def _newest_first(sessions: Iterable[PastSession]) -> list[PastSession]:
    return sorted(sessions, key=lambda past: past.session.modified, reverse=True)


def _fitting(name: str, among: Sequence[PastSession]) -> list[PastSession]:
    path = os.path.realpath(name) if "/" in name and "\0" not in name else ""
    exact = [
        it for it in among if name == it.session.id or path == os.path.realpath(it.session.path)
    ]
    return exact or [it for it in among if name.strip() and it.session.id.startswith(name)]
