"""What a command or the worker does: every store that has a remote, one after the other."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import cast

from memdir.config.config import Config
from memdir.errors import BadInput, MemdirError
from memdir.hot import safe
from memdir.hot.disk import digest_of
from memdir.hot.memory import TEAM
from memdir.store import state
from memdir.store.state import Lock
from memdir.store.writer import App, store_state_folder
from memdir.sync.base import open_base
from memdir.sync.engine import sync_store
from memdir.sync.git_transport import GitTransport, shown_address
from memdir.sync.outcome import Report, Rules
from memdir.sync.remotes import PERSONAL, Remotes, personal_folder, read_remotes, team_key
from memdir.sync.transport import Remote, Since, Unreachable, open_transport

LAST = "last.json"
HASH_CHARACTERS = 12
NOTICE_SECONDS, LOCK_SECONDS = 2.0, 120.0
Open = Callable[[str], App]  # the store of a scope


@dataclass(frozen=True)
class Synced:
    scope: str
    remote: str
    report: Report


@dataclass(frozen=True)
class Last:
    """When a remote was in step, and since when it gives no answer; 0 for never."""

    remote: str
    time: float = 0.0
    failed: float = 0.0
    failure: str = ""


def sync_project(
    config: Config,
    open_store: Open,
    *,
    tell: Callable[[str], None],
    wait: bool = True,
    only: str = "",
) -> tuple[list[Synced], list[MemdirError]]:
    """All remotes of this project: one that gives no answer does not stop the other."""
    remotes = read_remotes(config)
    done: list[Synced] = []
    failed: list[MemdirError] = []
    for key in (PERSONAL, team_key(config)):
        remote = remotes.remotes.get(key)
        if remote is None or only not in ("", key):
            continue
        folder = os.path.join(remotes.folder, key)
        try:
            with _turn(folder, tell, wait) as mine:
                if mine:
                    done += _sync_remote(config, remotes, key, remote, open_store)
        except MemdirError as error:
            failed.append(error)
    return done, failed


def _sync_remote(
    config: Config, remotes: Remotes, key: str, remote: Remote, open_store: Open
) -> list[Synced]:
    folder = os.path.join(remotes.folder, key)
    stores = _stores_of(config, remotes, key, open_store)
    transport = open_transport(remote, folder)
    app, done = stores[0][1], []
    try:
        for scope, app, prefix in stores:
            name = f"sync-{digest_of((key + prefix).encode())[:HASH_CHARACTERS]}"
            base = open_base(os.path.join(store_state_folder(app.config), name))
            team = key != PERSONAL
            rules = Rules(team, remote.review and team)
            part = cast(GitTransport, transport).at(prefix) if prefix else transport
            report = sync_store(app, part, base, rules)
            done.append(Synced(scope, shown_address(remote.url), report))
    except Unreachable as error:
        _note(folder, remote, app, error)
        raise
    finally:
        transport.close()
    _note(folder, remote, app)
    return done


def _stores_of(
    config: Config, remotes: Remotes, key: str, open_store: Open
) -> list[tuple[str, App, str]]:
    if key != PERSONAL:
        return [(TEAM, open_store(TEAM), "")]
    stores = [("project", open_store("project"), personal_folder(config, remotes))]
    if config.scopes.get("user") not in (None, config.scopes.get("project")):
        stores.append(("user", open_store("user"), "user/"))
    return stores


@contextmanager
def _turn(folder: str, tell: Callable[[str], None], wait: bool) -> Iterator[bool]:
    lock = Lock(os.path.join(folder, "lock"), NOTICE_SECONDS, LOCK_SECONDS)
    if wait:
        with lock.held("memdir sync", tell):
            yield True
        return
    with lock.held_if_free("memdir sync") as handle:
        yield handle is not None


def join_remote(config: Config, key: str, remote: Remote) -> None:
    """Kept only if it answers: a mistyped address is found at once."""
    remotes = read_remotes(config)
    folder = os.path.join(remotes.folder, key)
    old = remotes.remotes.get(key)
    if old is not None and (old.kind, old.url, old.space) == (
        remote.kind,
        remote.url,
        remote.space,
    ):
        remote = replace(remote, machine=old.machine)
    transport = open_transport(remote, folder)
    try:
        transport.fetch(Since())
    finally:
        transport.close()
    remotes.remotes[key] = remote
    remotes.save()


def check_team_folder(path: str) -> None:
    if os.path.islink(path):
        hint = "put the directory itself there, or move the link away"
        raise BadInput(f"{path} is a symbolic link; it is not followed", path=path, next=hint)
    if os.path.lexists(os.path.join(path, ".git")):
        hint = f"commit and push what is in it, then remove {os.path.join(path, '.git')}"
        raise BadInput(
            f"{path} is a git clone of its own; git would work there, too", path=path, next=hint
        )


def leave_team(config: Config) -> Remote | None:
    """The memories stay here; what the remote has stays there."""
    remotes = read_remotes(config)
    remote = remotes.remotes.pop(team_key(config), None)
    if remote is not None:
        remotes.save()
    return remote


def _note(folder: str, remote: Remote, app: App, error: MemdirError | None = None) -> None:
    last = read_last(folder, shown_address(remote.url))
    now = app.now()
    if error is None:
        last = Last(last.remote, now)
    else:
        last = replace(last, failed=last.failed or now, failure=error.message)
    if not app.dry_run:
        state.replace_state_json(folder, LAST, vars(last), durable=False)


def read_last(folder: str, remote: str) -> Last:
    try:
        last = state.read_state_json(folder, LAST, lambda value: Last(**value))
    except (OSError, *state.DAMAGE):
        last = None
    return last if last is not None and last.remote == remote else Last(remote)


def list_last_syncs(config: Config) -> list[Last]:
    """For `status` and `doctor`: the remotes of this project."""
    try:
        remotes = read_remotes(config)
    except MemdirError:
        return []
    return [
        read_last(os.path.join(remotes.folder, key), shown_address(remote.url))
        for key, remote in remotes.remotes.items()
        if key in (PERSONAL, team_key(config))
    ]


def describe_last_sync(last: Last, now: float) -> str:
    """When a remote was in step, and since when it gives no answer."""
    age = safe.age_words(safe.age_days(last.time, now)) if last.time else "never"
    text = f"{last.remote}, in step: {age}"
    if last.failed:
        since = safe.age_words(safe.age_days(last.failed, now))
        text += f"; no answer since: {since} ({last.failure})"
    return text
