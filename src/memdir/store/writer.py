"""Opens a store, and the only way to change it: lock, announce, act, commit."""

from __future__ import annotations

import datetime
import functools
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

from memdir.config.config import Config
from memdir.errors import HistoryBroken, MemdirError, Missing
from memdir.hot.disk import read_start
from memdir.hot.layout import Around
from memdir.hot.memory import INDEX
from memdir.hot.place import store_key
from memdir.store import ports, registry
from memdir.store.history import GitHistory, History, NoHistory
from memdir.store.ports import ARCHIVE, TRASH, Cause, Logged, Search, Store, name_few_store_paths
from memdir.store.state import Lock
from memdir.store.trash import DryShelf, Shelf

if TYPE_CHECKING:
    from memdir.format.draft import Change, Rules
    from memdir.hot.recall import Found

CLAUDE_MD = "CLAUDE.md"
MAX_CLAUDE_MD_BYTES = 256 * 1024
DEFAULT_LAYOUT = "markdown"


class Overlay(Around):
    def __init__(self, inside: Store) -> None:
        super().__init__(inside)
        self.written: dict[str, bytes | None] = {}
        self._files: set[str] | None = None
        self._index_path = inside.index_path

    @property
    def index_path(self) -> str:
        """The index when the change began: README.md stays it even without memories."""
        return self._index_path

    def files(self) -> list[str]:
        """Listed once: under the lock, files change only through us."""
        if self._files is None:
            self._files = set(self.inside.files())
        gone = {path for path, data in self.written.items() if data is None}
        made = {path for path in self.written if self.is_memory(path)}
        return sorted((self._files | made) - gone)

    def read(self, path: str) -> bytes:
        if path not in self.written:
            return self.inside.read(path)
        data = self.written[path]
        if data is None:
            raise Missing(f"{path}: no such memory", path=path, next="memdir list shows them")
        return data

    def exists(self, path: str = "") -> bool:
        if path in self.written:
            return self.written[path] is not None
        worked_in = any(written.startswith(f"{path}/") for written in self.written)
        return worked_in or self.inside.exists(path)

    def index(self) -> bytes | None:
        try:
            return self.view(self._index_path)
        except Missing:
            return None


class DryRun(Overlay):
    def standalone(self) -> bytes | None:
        return None if self.written else self.inside.standalone()

    def make(self) -> None:
        """Creates nothing."""

    def put(self, path: str, data: bytes) -> None:
        self.written[path] = data

    def drop(self, path: str) -> None:
        self.read(path)
        self.written[path] = None


class RecordedStore(Overlay):
    """The store during one change.

    It overwrites only what the history has; without a history, the old version goes to the trash.
    """

    def __init__(self, inside: Store, history: History, shelf: Shelf, now: float) -> None:
        super().__init__(inside)
        self.history, self.shelf, self.now = history, shelf, now

    def read(self, path: str) -> bytes:
        """A dropped file is read again: somebody else may have created a new one to keep."""
        data = self.written.get(path)
        return self.inside.read(path) if data is None else data

    def put(self, path: str, data: bytes) -> None:
        self._write(path, data)

    def drop(self, path: str) -> None:
        self._write(path, None)

    def _write(self, path: str, data: bytes | None) -> None:
        try:
            if not self._is_kept(path):
                self.shelf.lay(TRASH, path, self.read(path), self.now)
        except Missing:
            pass  # nothing to keep
        self.history.expect(path, data)
        try:
            if data is None:
                self.inside.drop(path)
            else:
                self.inside.put(path, data)
        except MemdirError:
            # The write may have happened before the failure; then the new bytes are ours.
            with suppress(MemdirError):
                if ports.read_if_stored(self.inside, path) == data:
                    self.written[path] = data
            raise
        self.written[path] = data

    def _is_kept(self, path: str) -> bool:
        try:
            if self.history.keeps(self, path):
                return True
        except HistoryBroken:
            pass  # then the shelf must have it
        newest = [item for room in (TRASH, ARCHIVE) for item in self.shelf.list(room)[:1]]
        data = self.read(path)
        return any(item.path == path and self.shelf.read(item) == data for item in newest)


NOTHING = "there was nothing to do"


@dataclass(frozen=True)
class Done:
    """The result of a change or a dry run; `diff` is (path, old, new)."""

    changes: tuple[Change, ...]
    remarks: tuple[str, ...] = ()
    diff: tuple[tuple[str, bytes | None, bytes | None], ...] = ()
    dry_run: bool = False
    undone: tuple[Logged, ...] = ()
    store: str = ""  # its directory

    @property
    def first(self) -> Change:
        """What became of the first memory; `name`, `path`, `hash` and `reason` are its own."""
        from memdir.format.draft import SKIPPED, Change

        return (*self.changes, Change(SKIPPED, "", "", reason=NOTHING))[0]

    @property
    def change(self) -> str:
        return self.first.change

    @property
    def name(self) -> str:
        return self.first.name

    @property
    def path(self) -> str:
        return self.first.path

    @property
    def hash(self) -> str:
        return self.first.hash

    @property
    def reason(self) -> str:
        return self.first.reason

    def __repr__(self) -> str:
        told = [f"{it.kind} {it.path or it.name}".rstrip() for it in self.changes]
        why = f" ({self.reason})" if self.changes and self.reason else ""
        return f"<Done: {', '.join(told) or NOTHING}{why}>"


@dataclass
class Desk:
    store: Store
    shelf: Shelf
    cause: Cause
    remarks: list[str] = field(default_factory=list)
    undone: list[Logged] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    diff: list[tuple[str, bytes | None, bytes | None]] = field(default_factory=list)
    dry_run: bool = False

    @property
    def done(self) -> Done:
        lists = tuple(self.changes), tuple(self.remarks), tuple(self.diff)
        return Done(*lists, self.dry_run, tuple(self.undone), self.store.root)


@dataclass(frozen=True)
class App:
    """An open store; `tell` prints notices for the user."""

    config: Config
    store: Store
    shelf: Shelf
    history: History
    lock: Lock
    search: Search
    now: Callable[[], float]
    tell: Callable[[str], None]
    actor: str
    dry_run: bool = False
    batch: str = ""  # shared by all changes of one run

    def rules(self) -> Rules:
        from memdir.format.draft import Rules

        return Rules(
            now=(now := self.now()),
            day=history_day(now),
            shared=self.config.shared,
            index=self.config.options.index,
            max_body_bytes=self.config.options.max_body_bytes,
            max_file_bytes=self.config.options.max_file_bytes,
            claude_md=_read_claude_md(self.config.checkout),
            is_in_repository=self.config.shows_in_code,
        )

    @contextmanager
    def changing(self, verb: str, reason: str = "") -> Iterator[Desk]:
        """Every change goes through here: lock, commit changes by others, act, commit ours.

        Print `desk.done` afterwards, when the lock is free again.
        """
        if reason:
            from memdir.format.draft import refuse_secret_reason

            refuse_secret_reason(reason)
        cause = Cause(verb, actor=self.actor, batch=self.batch, reason=reason)
        if self.dry_run:
            trial = DryRun(self.store)
            desk = Desk(trial, DryShelf(self.shelf.folder, trial), cause, dry_run=True)
            yield desk
            desk.diff = [
                (path, ports.read_if_stored(self.store, path), new)
                for path, new in trial.written.items()
            ]
            return
        with self.lock.held(f"memdir {verb}", self.tell):
            history = self.history
            try:
                history.announce(self.store, cause)
            except HistoryBroken as error:
                self.tell(f"{error.message}. Old versions go to the trash. Next: {error.next}")
                history = NoHistory()
            accept = self._accepter(verb)
            store = RecordedStore(self.store, history, self.shelf, self.now())
            desk = Desk(store, Shelf(self.shelf.folder, store), cause)
            try:
                yield desk
            except BaseException as error:
                desk.cause = replace(desk.cause, undoes=())  # half an undo counts as none
                if isinstance(error, MemdirError):
                    _add_what_was_done(error, store.written, history)
                raise
            finally:
                accept(store.written)
                try:
                    history.record(self.store, desk.cause, store.written)
                except MemdirError as error:
                    if store.written:
                        message = f"the change stands, but {error.message}"
                        self.tell(f"{message}. Next: {error.next}")
                if store.written:
                    from memdir.store.guards import update_store_guards  # only a writer needs it

                    update_store_guards(self, store.written)

    def _accepter(self, verb: str) -> Callable[[Mapping[str, bytes | None]], None]:
        if not self.config.origin:
            return lambda written: None
        from memdir.store.accept import OwnWrites  # only a shared store needs it

        return OwnWrites(self, verb).accept

    def snapshot(self) -> None:
        """Commit changes by others, unless somebody is writing; never waits."""
        if self.dry_run or not self.history.on:
            return
        try:
            if not self.store.exists() and not self.history.begun:
                return  # looking makes nothing
            # A directory named with --dir may not be a store; do not copy it as a whole.
            other = not self.store.exists(INDEX) or self.store.exists(".git")
            if other and self.config.foreign and not self.history.begun:
                return
            with self.lock.held_if_free("memdir snapshot") as handle:
                if handle is not None:
                    self.history.catch_up(self.store)
        except MemdirError as error:
            message = f"the history was not brought up to date: {error.message}"
            self.tell(f"{message}. Next: {error.next}")


class LaterSearch:
    def __init__(self, open_search: Callable[[], Search]) -> None:
        self.search = functools.cache(open_search)

    def find(self, prompt: str, limit: int) -> Found:
        return self.search().find(prompt, limit)


def open_app(
    config: Config,
    *,
    now: Callable[[], float],
    tell: Callable[[str], None],
    actor: str = "memdir",
    dry_run: bool = False,
) -> App:
    options = config.options
    registry.use_types(config.own, tell)
    layout = registry.load("layouts", config.layout, config.own)

    def open_search() -> Search:
        search = registry.load("searches", options.search, config.own)
        return cast(Search, search.open_search(store, store_cache_folder(config)))

    folder = store_state_folder(config)
    # One lock per directory for all layouts, since a writer deletes temporary files of others.
    usual = store_key(os.path.realpath(config.store))
    lock_file = os.path.join(config.state_dir, "stores", usual, "lock")
    store = cast(Store, layout.open_store(config.store, options.max_file_bytes))
    return App(
        config=config,
        store=store,
        shelf=Shelf(folder, store),
        history=GitHistory(folder, now) if options.history else NoHistory(),
        lock=Lock(lock_file, options.lock_notice_seconds, options.lock_seconds),
        search=LaterSearch(open_search),
        now=now,
        tell=tell,
        actor=actor,
        dry_run=dry_run,
    )


def is_store_for_others(app: App) -> bool:
    scope = app.config.scope
    return app.config.shared and not (scope.kind == "agent" and scope.place == "local")


def store_state_folder(config: Config) -> str:
    return os.path.join(config.state_dir, "stores", _key(config))


def store_cache_folder(config: Config) -> str:
    """Folder with the catalog of this store; may be deleted at any time."""
    return os.path.join(config.cache_dir, "stores", _key(config))


def _key(config: Config) -> str:
    """Two layouts may share a directory, but not their state."""
    real = os.path.realpath(config.store)
    return store_key(real if config.layout == DEFAULT_LAYOUT else f"{real}#{config.layout}")


def history_day(now: float) -> datetime.date:
    try:
        return datetime.datetime.fromtimestamp(now).astimezone().date()
    except (ValueError, OverflowError, OSError):
        return datetime.date.max if now > 0 else datetime.date.min


def _add_what_was_done(
    error: MemdirError, written: Mapping[str, bytes | None], history: History
) -> None:
    done = [path for path in written if path not in error.message]
    if not done:
        return
    where = "the history has it" if history.on else "old versions are in the trash"
    error.message += f". Done before that ({where}): {name_few_store_paths(done)}"
    error.args = (error.message,)
    back = "take back what was done with memdir undo, or " if history.on else ""
    error.next += f"; {back}run the command again for the rest"


def _read_claude_md(project: str) -> str:
    with suppress(OSError):
        data, _ = read_start(os.path.join(project, CLAUDE_MD), MAX_CLAUDE_MD_BYTES)
        return data.decode("utf-8", "replace")
    return ""
