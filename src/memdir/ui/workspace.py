"""The stores that the page shows: every scope of every project, opened anew for each request."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from memdir.audit.projects import find_projects_to_audit
from memdir.config.config import Config, read_config
from memdir.errors import MemdirError
from memdir.hot.disk import digest_of
from memdir.hot.layout import Scan
from memdir.hot.memory import encode
from memdir.store.writer import App, open_app

ACTOR = "ui"
PROJECT = "project"
ID_CHARACTERS = 10
PROJECTS_SECONDS = 60.0  # between two looks at the client's projects
T = TypeVar("T")


@dataclass(frozen=True)
class Spot:
    """A store by the words that find it: a project or a directory, and a scope."""

    title: str
    project: str | None
    dir: str | None
    scope: str = PROJECT

    @property
    def id(self) -> str:
        words = "\0".join((self.project or "", self.dir or "", self.scope))
        return digest_of(encode(words))[:ID_CHARACTERS]


class Census:
    """The memories of one store as last seen; what did not change is not read again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.tree: Mapping[str, tuple[int, ...]] = {}
        self._seen: object = None
        self.scan = Scan()
        self.about: dict[str, str] = {}  # what each memory says of itself, by path
        self._memo: dict[str, tuple[object, Any]] = {}

    def look(self, app: App) -> Scan:
        with self._lock:
            tree, root = app.store.tree(), app.store.root
            # A file that is too large is in no tree; a history may go while the page is open.
            changed = os.stat(root).st_mtime_ns if os.path.isdir(root) else 0
            if self._seen == (tree, changed, app.history.begun):
                return self.scan
            app.snapshot()
            scan, old = app.store.scan(), self.tree
            known = {memory.path: memory for memory in self.scan.memories}
            for index, memory in enumerate(scan.memories):  # their headers are parsed already
                same = tree.get(memory.path) == old.get(memory.path) is not None
                scan.memories[index] = known.get(memory.path, memory) if same else memory
            self.scan, self.tree, self._memo = scan, tree, {}
            self.about = {it.path: it.description for it in scan.memories}
            self._seen = tree, changed, app.history.begun
            return scan

    def once(self, name: str, find: Callable[[], T], version: object = None) -> T:
        """What was found since the store, or what `version` tells of, changed last."""
        memo = self._memo
        if name not in memo or memo[name][0] != version:
            memo[name] = version, find()
        return memo[name][1]  # type: ignore[no-any-return]

    def forget(self) -> None:
        self._seen = None


def state_of_page_files(folder: str) -> list[tuple[str, int, int, int]] | None:
    """Changes whenever a file in the folder does; whoever reads them says what is wrong."""
    with suppress(OSError), os.scandir(folder) as entries:
        stats = [(entry.name, entry.stat()) for entry in entries]
        return sorted((name, it.st_mtime_ns, it.st_size, it.st_ino) for name, it in stats)
    return None


class Workspace:
    def __init__(self, environ: Mapping[str, str], cwd: str, asked: Spot) -> None:
        self.environ, self.cwd = environ, cwd
        config = self.config(asked)
        self.home = config.home
        self._projects_dir = os.path.join(config.claude_dir, "projects")
        title = self.short(config.store if asked.dir else config.checkout)
        project = asked.project if asked.dir else config.checkout
        scope = PROJECT if asked.scope == "all" else asked.scope
        self.first = Spot(title, project, asked.dir, scope)
        self._spots = {self.first.id: self.first}
        self._census: dict[str, Census] = {}
        self._projects: tuple[float, list[Spot]] = 0.0, []

    def short(self, path: str) -> str:
        home = self.home.rstrip("/") + "/"
        return f"~/{path.removeprefix(home)}" if path.startswith(home) else path

    def find(self, id: str) -> Spot | None:
        if id not in self._spots:
            self.projects()
        return self._spots.get(id)

    def config(self, spot: Spot) -> Config:
        places = {"project": spot.project, "dir": spot.dir, "scope": spot.scope}
        return read_config(self.environ, self.cwd, **places)  # type: ignore[arg-type]

    def open(self, spot: Spot, tell: Callable[[str], None], batch: str) -> App:
        app = open_app(self.config(spot), now=time.time, tell=tell, actor=ACTOR)
        return replace(app, batch=batch)

    def census(self, app: App) -> Census:
        return self._census.setdefault(f"{app.store.root}#{app.config.layout}", Census())

    def scopes(self, spot: Spot) -> list[Spot]:
        """The stores of one project: the project's own, and the scopes that are there."""
        names = [PROJECT]
        with suppress(MemdirError):  # told where its page is asked for
            scopes = self.config(replace(spot, scope=PROJECT)).scopes
            names += [name for name, path in scopes.items() if os.path.isdir(path)]
        if spot.dir:
            names = [name for name in names if name in (PROJECT, "team")]
        spots = [replace(spot, scope=it) for it in dict.fromkeys((*names, spot.scope))]
        self._spots |= {it.id: it for it in spots}
        return spots

    def projects(self) -> list[Spot]:
        """Every project that the client keeps memories of; the one that was asked for first."""
        looked, spots = self._projects
        if time.monotonic() - looked > PROJECTS_SECONDS or not looked:
            spots = [replace(self.first, scope=PROJECT)]
            for item in find_projects_to_audit(self._projects_dir):
                title = self.short(item.root or item.was or item.name)
                spots.append(Spot(title, item.root or None, None if item.root else item.store))
            found = {spot.id: spot for spot in spots}
            self._spots |= found
            spots = [*found.values()]
            self._projects = time.monotonic(), spots
        return spots
