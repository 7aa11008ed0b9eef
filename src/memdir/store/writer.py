"""Open_store; `change()`: lock, announce, act, tell, commit."""

from __future__ import annotations

import datetime
import functools
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

from memdir.config.config import Config
from memdir.errors import HistoryBroken, MemdirError, Missing
from memdir.hot.layout import Around
from memdir.hot.memory import INDEX
from memdir.hot.place import store_key
from memdir.store import ports, registry
from memdir.store.history import NoHistory, open_history, open_no_history
from memdir.store.lock import Lock
from memdir.store.own_writes import OwnWrites
from memdir.store.ports import ARCHIVE, TRASH, Cause, History, Logged, Shelf, Store
from memdir.store.trash import Shelf as TrashShelf

if TYPE_CHECKING:
    from memdir.format.draft import Change, Rules
    from memdir.hot.recall import Found

# A store that overwrites nothing the history does not have: it goes to the trash first.


class KeepOld(Around):
    """Where the history is off or broken, the old version is laid on the shelf."""

    def __init__(self, inside: Store, history: History, shelf: Shelf, now: float) -> None:
        super().__init__(inside)
        self.history = history
        self.shelf = shelf
        self.now = now

    def put(self, path: str, data: bytes) -> None:
        """Keep the old version, then write."""
        self._keep(path)
        self.inside.put(path, data)

    def drop(self, path: str) -> None:
        """Keep the old version, then drop."""
        self._keep(path)
        self.inside.drop(path)

    def _keep(self, path: str) -> None:
        try:
            if not self._kept(path):
                self.shelf.lay(TRASH, path, self.inside.read(path), self.now)
        except Missing:
            return  # there is nothing to keep

    def _kept(self, path: str) -> bool:
        try:
            if self.history.keeps(self.inside, path):
                return True
        except HistoryBroken:
            pass  # the shelf keeps it then
        newest = [one for room in (TRASH, ARCHIVE) for one in self.shelf.list(room)[:1]]
        data = self.inside.read(path)
        return any(one.path == path and self.shelf.read(one) == data for one in newest)


# A store that remembers what was written through it, and announces it to the history first.


class Recorder(Around):
    """`written` holds path -> bytes, None for what was dropped."""

    def __init__(self, inside: Store, history: History) -> None:
        super().__init__(inside)
        self.history = history
        self.written: dict[str, bytes | None] = {}
        self._files: set[str] | None = None
        self._index_path = inside.index_path

    @property
    def index_path(self) -> str:
        """The index as this change found it: a README.md stays one when its last memory goes."""
        return self._index_path

    def index(self) -> bytes | None:
        """The index as it stands, None where there is none."""
        try:
            return self.view(self._index_path)
        except Missing:
            return None

    def files(self) -> list[str]:
        """The memories, looked up once: while we hold the lock, they change through us."""
        if self._files is None:
            gone = {path for path, data in self.written.items() if data is None}
            made = {path for path in self.written if self.is_memory(path)} - gone
            self._files = (set(self.inside.files()) | made) - gone
        return sorted(self._files)

    def read(self, path: str) -> bytes:
        """The bytes of one file; what we have just written is not asked of the disk again."""
        data = self.written.get(path)
        return self.inside.read(path) if data is None else data

    def exists(self, path: str = "") -> bool:
        """True where something stands; where we have just been, the disk is not asked again."""
        if path in self.written:
            return self.written[path] is not None
        worked_in = any(done.startswith(f"{path}/") for done in self.written)
        return worked_in or self.inside.exists(path)

    def put(self, path: str, data: bytes) -> None:
        """Announce, write, remember."""
        self.history.expect(path, data)
        try:
            self.inside.put(path, data)
        except MemdirError:
            self._count_if_done(path, data)
            raise
        self.written[path] = data
        if self._files is not None and self.is_memory(path):
            self._files.add(path)

    def drop(self, path: str) -> None:
        """Announce, drop, remember."""
        self.history.expect(path, None)
        try:
            self.inside.drop(path)
        except MemdirError:
            self._count_if_done(path, None)
            raise
        self.written[path] = None
        if self._files is not None:
            self._files.discard(path)

    def _count_if_done(self, path: str, data: bytes | None) -> None:
        """A failure may come after the deed: what stands is ours, not somebody else's."""
        try:
            standing: bytes | None = self.inside.read(path)
        except Missing:
            standing = None
        except MemdirError:
            return  # nobody can tell; the next look at the store does
        if standing == data:
            self.written[path] = data


# The only wiring: a Config becomes an App.

CLAUDE_MD = "CLAUDE.md"
CLAUDE_MD_BYTES = 256 * 1024
USUAL = "markdown"
FEW = 10  # files that a message names one by one


@dataclass(frozen=True)
class Done:
    """What a change did, or on a dry run would have done: `diff` is (path, old, new)."""

    changes: tuple[Change, ...]
    remarks: tuple[str, ...] = ()
    diff: tuple[tuple[str, bytes | None, bytes | None], ...] = ()
    dry_run: bool = False
    undone: tuple[Logged, ...] = ()


@dataclass
class Desk:
    """What a flow works with while it holds the lock; `cause` may become more precise."""

    store: Store
    shelf: Shelf
    cause: Cause
    remarks: list[str] = field(default_factory=list)
    plan: list[str] = field(default_factory=list)  # the paths that are to be changed, in order
    undone: list[Logged] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    diff: list[tuple[str, bytes | None, bytes | None]] = field(default_factory=list)
    dry_run: bool = False

    @property
    def done(self) -> Done:
        """What came of it."""
        return Done(
            tuple(self.changes),
            tuple(self.remarks),
            tuple(self.diff),
            self.dry_run,
            tuple(self.undone),
        )


Act = Callable[[Desk], "list[Change]"]
Told = Callable[[Done], None]


@dataclass(frozen=True)
class App:
    """A store with everything that belongs to it; `tell` reaches the person, not the answer."""

    config: Config
    store: Store
    shelf: Shelf
    history: History
    lock: ports.Lock
    search: ports.Search
    now: Callable[[], float]
    tell: Callable[[str], None]
    actor: str
    dry_run: bool = False
    batch: str = ""  # what several changes of one run are called together

    def rules(self) -> Rules:
        """What this store and this moment decide about a save."""
        from memdir.format.draft import Rules

        now = self.now()
        return Rules(
            now=now,
            day=day_of(now),
            shared=self.config.shared,
            index=self.config.options.index,
            max_body_bytes=self.config.options.max_body_bytes,
            max_file_bytes=self.config.options.max_file_bytes,
            claude_md=_read_claude_md(self.config.checkout),
        )

    @contextmanager
    def changing(self, verb: str) -> Iterator[Desk]:
        """The way of every change: lock, commit what others did, act, commit ours.

        Afterwards `desk.done` says what was changed; print it then, when the lock is free again.
        """
        cause = Cause(verb, actor=self.actor, batch=self.batch)
        if self.dry_run:
            from memdir.store.dry_run import DryRun, DryShelf

            trial = DryRun(self.store)
            desk = Desk(trial, DryShelf(self.shelf), cause, dry_run=True)
            yield desk
            desk.diff = [
                (path, _standing(self.store, path), new) for path, new in trial.written.items()
            ]
            return
        with self.lock.held(f"memdir {verb}", self.tell):
            kept = self._announced(cause)
            own = OwnWrites(state_folder(self.config), self.config.origin, self.store, verb)
            recorder = Recorder(self.store, kept)
            desk = Desk(KeepOld(recorder, kept, self.shelf, self.now()), self.shelf, cause)
            try:
                yield desk
            except BaseException as error:
                desk.cause = replace(desk.cause, undoes=())  # half an undo takes nothing back
                if isinstance(error, MemdirError):
                    _tell_half(error, desk.plan, recorder.written, kept)
                raise
            finally:
                own.accept(recorder.written, self.tell)
                self._record(kept, desk.cause, recorder)

    def change(self, verb: str, act: Act, told: Told) -> Done:
        """`changing` for callers that hand over what to do and want to be told."""
        with self.changing(verb) as desk:
            desk.changes += act(desk)
        told(desk.done)
        return desk.done

    def snapshot(self) -> None:
        """Commit what others did, if nobody is writing just now; never waits."""
        if self.dry_run or not self.history.on:
            return
        try:
            if not self._may_snapshot():
                return
            with self.lock.held_if_free("memdir snapshot") as handle:
                if handle is not None:
                    self.history.catch_up(self.store)
        except MemdirError as error:
            what = f"the history was not brought up to date: {error.message}"
            self.tell(f"{what}. Next: {error.next}")

    def _may_snapshot(self) -> bool:
        """Not everything that somebody looks at with --dir is a store, to be copied as a whole."""
        if not self.config.foreign or self.history.begun:
            return True
        return self.store.exists(INDEX) and not self.store.exists(".git")

    def _announced(self, cause: Cause) -> History:
        """The history, told of what is about to happen; none where it is broken."""
        try:
            self.history.announce(self.store, cause)
        except HistoryBroken as error:
            self.tell(f"{error.message}. Old versions go to the trash. Next: {error.next}")
            return NoHistory()
        return self.history

    def _record(self, kept: History, cause: Cause, recorder: Recorder) -> None:
        try:
            kept.record(self.store, cause, recorder.written)
        except MemdirError as error:
            self.tell(f"the change stands, but {error.message}. Next: {error.next}")


class LaterSearch:
    """A search that is imported and opened when something is first looked for."""

    def __init__(self, open_search: Callable[[], ports.Search]) -> None:
        self.search = functools.cache(open_search)

    def find(self, prompt: str, limit: int) -> Found:
        """See `ports.Search`."""
        return self.search().find(prompt, limit)


def open_app(
    config: Config,
    *,
    now: Callable[[], float],
    tell: Callable[[str], None],
    actor: str = "memdir",
    dry_run: bool = False,
) -> App:
    """Wire the members that the configuration chooses."""
    options = config.options
    registry.use_types(config.own, tell)
    layout = registry.load("layouts", config.layout, config.own)
    open_past = open_history if options.history else open_no_history
    if options.search not in registry.members("searches", config.own):
        registry.load("searches", options.search, config.own)  # says which there are

    def open_search() -> ports.Search:
        search = registry.load("searches", options.search, config.own)
        return cast(ports.Search, search.open_search(store, cache_folder(config)))

    folder = state_folder(config)
    store = cast(Store, layout.open_store(config.store, options.max_file_bytes))
    return App(
        config=config,
        store=store,
        shelf=TrashShelf(folder),
        history=open_past(folder, now),
        lock=Lock(_lock_file(config), options.lock_notice_seconds, options.lock_seconds),
        search=LaterSearch(open_search),
        now=now,
        tell=tell,
        actor=actor,
        dry_run=dry_run,
    )


def state_folder(config: Config) -> str:
    """Where the history, the shelves and the lock of this store lie."""
    return os.path.join(config.state_dir, "stores", _key(config))


def cache_folder(config: Config) -> str:
    """Where the catalog of this store lies; it may be deleted at any time."""
    return os.path.join(config.cache_dir, "stores", _key(config))


def _key(config: Config) -> str:
    """Two layouts may share a directory: what belongs to one is not the other's."""
    real = os.path.realpath(config.store)
    return store_key(real if config.layout == USUAL else f"{real}#{config.layout}")


def _lock_file(config: Config) -> str:
    """One writer per directory, whatever its layouts: a writer sweeps what others left there."""
    usual = store_key(os.path.realpath(config.store))
    return os.path.join(config.state_dir, "stores", usual, "lock")


def day_of(now: float) -> datetime.date:
    """The day on the wall; of a clock beyond the calendar, the last one that a date can say."""
    try:
        return datetime.datetime.fromtimestamp(now).astimezone().date()
    except (ValueError, OverflowError, OSError):
        return datetime.date.max if now > 0 else datetime.date.min


def _tell_half(
    error: MemdirError, plan: list[str], written: Mapping[str, bytes | None], kept: History
) -> None:
    """Where a change of several memories broke off: what was done, and what was not."""
    done = [path for path in plan if path in written]
    left = [path for path in dict.fromkeys(plan) if path not in written]
    if not done or not left:
        return
    where = "the history has it" if kept.on else "old versions are in the trash"
    error.message += f". Done before that ({where}): {_few(done)}. Not done: {_few(left)}"
    error.args = (error.message,)
    back = "take back what was done with memdir undo, or " if kept.on else ""
    error.next += f"; {back}run the command again for the rest"


def _few(paths: list[str]) -> str:
    more = f" and {len(paths) - FEW} more" if len(paths) > FEW else ""
    return ", ".join(paths[:FEW]) + more


def _read_claude_md(project: str) -> str:
    """What the project's CLAUDE.md says already; absent or unreadable, it says nothing."""
    try:
        # A repository may have put a pipe or a device there: reading it must not wait.
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        with open(os.open(os.path.join(project, CLAUDE_MD), flags), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return ""
            return file.read(CLAUDE_MD_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


def _standing(store: Store, path: str) -> bytes | None:
    try:
        return store.read(path)
    except Missing:
        return None
