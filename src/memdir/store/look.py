"""Read-only operations: no lock, no waiting."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from memdir.errors import BadInput, Finding, HistoryBroken, MemdirError, Missing
from memdir.format import index, names
from memdir.hot import memory
from memdir.hot.memory import Document
from memdir.store.ports import TRASH, Logged, Shelved, Store
from memdir.store.save import Targets, find_in_store
from memdir.store.writer import App

KEPT_NEWEST = 100  # trashed memories that never expire, since clocks jump
DAY_SECONDS = 86_400
Files = list[tuple[str, bytes]]


def read_store_files(
    store: Store, paths: Iterable[str] | None = None
) -> tuple[Files, list[Finding]]:
    files, findings = Files(), list[Finding]()
    if paths is None:
        scan = store.scan()
        findings += scan.findings
        index = [store.index_path] if store.index() is not None else []
        paths = sorted({*[memory.path for memory in scan.memories], *index})
    for path in paths:
        try:
            files.append((path, store.read(path)))
        except MemdirError as error:
            findings.append(Finding("unreadable", path, error.message, error.next))
    return files, findings


def show_in_store(app: App, name: str) -> tuple[str, bytes, Document]:
    wanted, mark, version = name.rpartition("@")
    if not mark or not version or version.lower().strip("0123456789abcdef"):
        path = find_in_store(app.store, [name])[0].path
        data = app.store.read(path)
    else:
        logged = app.history.find(version)
        path = names.find_named_path(wanted, app.history.paths(logged.id))
        data = app.history.content(logged.id, path) or b""
    return path, data, memory.read_header(memory.decode(app.store.view(path, data)))


def survey_index(app: App) -> index.Survey:
    scan = app.store.scan()
    names = {memory.name: memory.path for memory in scan.memories}
    text = memory.decode(app.store.index() or b"")
    return index.survey_pointers(text, app.store.files(), names, Targets(app.store).lost)


def load_index(app: App) -> index.Loaded:
    """The index as an agent gets it; creates the directory, so that the agent can write."""
    if app.config.enabled and app.config.scope.kind == "project" and not app.dry_run:
        app.store.make()
    return index.cut_index(memory.decode(app.store.index() or b""))


def store_log(app: App, name: str = "", limit: int | None = None) -> list[Logged]:
    if limit is not None and limit < 0:
        raise BadInput(f"the limit {limit} is negative", next="say how many changes to list")
    app.snapshot()
    changes = (
        logged
        for logged in readable_store_log(app)
        if not name or any(names.memory_name_means(name, path) for _, path in logged.paths)
    )
    return list(itertools.islice(changes, limit))


def readable_store_log(app: App, since: float | None = None) -> Iterator[Logged]:
    """Changes up to the first damage; raises if none, or not all since `since`, can be read."""
    oldest: Logged | None = None
    try:
        for oldest in app.history.log():
            yield oldest
    except HistoryBroken as error:
        if oldest is None or (since is not None and oldest.time >= since):
            raise
        message = f"the changes before {oldest.id[:8]} cannot be read"
        app.tell(f"{message}: {error.message}. Next: {error.next}")


def diff_of_change(
    app: App, change: str = ""
) -> tuple[Logged, list[tuple[str, bytes | None, bytes | None]]]:
    """(path, before, after) of one change, by default the newest."""
    app.snapshot()
    logged = app.history.find(change) if change else next(app.history.log(), None)
    if logged is None:
        raise Missing("there is no change yet", next="memdir remember TEXT makes the first one")
    versions = [
        (path, app.history.content(logged.parent, path), app.history.content(logged.id, path))
        for _, path in logged.paths
    ]
    return logged, versions


def list_restorable_on_store_shelf(app: App) -> list[Shelved]:
    """Shelved memories that are not in the store; an undo leaves its copy on the shelf."""

    def is_back(item: Shelved) -> bool:
        try:
            there, shelved = app.store.read(item.path), app.shelf.read(item)
        except MemdirError:
            return False  # not there, or it cannot be compared
        texts = map(memory.decode, (there, shelved))
        created = {memory.read_header(text).get(*memory.CREATED_KEYS) for text in texts}
        return there == shelved or (len(created) == 1 and "" not in created)  # edited since

    return [item for item in app.shelf.list_all() if not is_back(item)]


def find_expired_trash(app: App) -> list[Shelved]:
    """Trash past its days and past the newest hundred, since the clock may be wrong."""
    limit = app.now() - app.config.options.trash_days * DAY_SECONDS
    return [item for item in app.shelf.list(TRASH)[KEPT_NEWEST:] if item.time < limit]
