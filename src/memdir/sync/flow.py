"""What a command or the worker does: every store that has a remote, one after the other."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from memdir.config.config import Config
from memdir.errors import BadInput, MemdirError
from memdir.hot import safe
from memdir.hot.disk import digest_of
from memdir.hot.memory import TEAM
from memdir.store import state
from memdir.store.state import Lock
from memdir.store.writer import App, store_state_folder
from memdir.sync.base import open_sync_base
from memdir.sync.delivery import Report
from memdir.sync.engine import sync_store
from memdir.sync.git_transport import shown_address
from memdir.sync.remotes import PERSONAL, Remotes, personal_remote_folder, read_remotes, team_key
from memdir.sync.transport import Remote, Since, open_transport

LAST = "last.json"
HASH_CHARACTERS = 12
NOTICE_SECONDS, LOCK_SECONDS = 2.0, 120.0
PROJECT, USER = "project", "user"
Open = Callable[[str], App]  # the store of a scope


@dataclass(frozen=True)
class Synced:
    scope: str
    remote: str
    report: Report


@dataclass(frozen=True)
class Last:
    """When a remote was in step, and since when that fails; 0 for never."""

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
    scope: str = "",
) -> tuple[list[Synced], list[MemdirError]]:
    """All remotes of this project, or that of a scope: one that fails does not stop the other."""
    remotes = read_remotes(config)
    keys = {PERSONAL: scope != TEAM, team_key(config): scope in ("", TEAM)}
    done: list[Synced] = []
    failed: list[MemdirError] = []
    for key in [key for key, wanted in keys.items() if wanted and key in remotes.remotes]:
        try:
            with _turn(os.path.join(remotes.folder, key), tell, wait) as mine:
                if mine:
                    done += _sync_remote(config, remotes, key, open_store, scope)
        except MemdirError as error:
            failed.append(error)
    return done, failed


def _sync_remote(
    config: Config, remotes: Remotes, key: str, open_store: Open, scope: str
) -> list[Synced]:
    remote, folder = remotes.remotes[key], os.path.join(remotes.folder, key)
    team = key != PERSONAL
    stores = {TEAM: ""} if team else _folders_of_stores(config, remotes, scope)
    done: list[Synced] = []
    transport = open_transport(remote, folder)
    try:
        for name, prefix in stores.items():
            app = open_store(name)
            kept = f"sync-{digest_of((key + prefix).encode())[:HASH_CHARACTERS]}"
            base = open_sync_base(os.path.join(store_state_folder(app.config), kept))
            transport.prefix = prefix
            try:
                report = sync_store(app, transport, base, team=team, review=team and remote.review)
            except MemdirError as error:
                _note(folder, remote, app, error.message)
                raise
            done.append(Synced(name, shown_address(remote.url), report))
    finally:
        transport.close()
    if done:
        _note(folder, remote, app)
    return done


def _folders_of_stores(config: Config, remotes: Remotes, scope: str) -> dict[str, str]:
    """Of the personal remote, by scope."""
    folders = {PROJECT: personal_remote_folder(config, remotes)} if scope != USER else {}
    if scope != PROJECT and config.scopes.get(USER) not in (None, config.scopes.get(PROJECT)):
        folders[USER] = "user/"
    return folders


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
    old = remotes.remotes.get(key, remote)
    if (old.kind, old.url, old.space) == (remote.kind, remote.url, remote.space):
        remote = replace(remote, machine=old.machine)
    transport = open_transport(remote, os.path.join(remotes.folder, key))
    try:
        transport.fetch(Since())
    finally:
        transport.close()
    remotes.remotes[key] = remote
    remotes.save()


def check_synced_team_folder(path: str) -> None:
    if os.path.islink(path):
        hint = "put the directory itself there, or move the link away"
        raise BadInput(f"{path} is a symbolic link; it is not followed", path=path, next=hint)
    if os.path.lexists(os.path.join(path, ".git")):
        hint = f"commit and push what is in it, then remove {os.path.join(path, '.git')}"
        raise BadInput(
            f"{path} is a git clone of its own; git would work there, too", path=path, next=hint
        )


def leave_team(config: Config) -> None:
    """The memories stay here; what the remote has stays there."""
    remotes = read_remotes(config)
    del remotes.remotes[team_key(config)]
    remotes.save()


def _note(folder: str, remote: Remote, app: App, failure: str = "") -> None:
    last, now = read_last_sync(folder, shown_address(remote.url)), app.now()
    if failure:
        last = replace(last, failed=last.failed or now, failure=failure)
    else:
        last = Last(last.remote, now)
    if not app.dry_run:
        state.replace_state_json(folder, LAST, vars(last), durable=False)


def read_last_sync(folder: str, remote: str) -> Last:
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
        read_last_sync(os.path.join(remotes.folder, key), shown_address(remote.url))
        for key, remote in remotes.remotes.items()
        if key in (PERSONAL, team_key(config))
    ]


def describe_last_sync(last: Last, now: float) -> str:
    age = safe.age_words(safe.age_days(last.time, now)) if last.time else "never"
    text = f"{last.remote}, in step: {age}"
    if last.failed:
        since = safe.age_words(safe.age_days(last.failed, now))
        text += f"; failing since: {since} ({last.failure})"
    return text
