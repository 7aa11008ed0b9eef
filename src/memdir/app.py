"""The only wiring: a Config becomes an App."""

from __future__ import annotations

import datetime
import hashlib
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import cast

from memdir import registry
from memdir.adapters.history.none import NoHistory
from memdir.adapters.lock import Lock
from memdir.adapters.shelf import Shelf
from memdir.adapters.wrappers.dry_run import DryRun, DryShelf
from memdir.adapters.wrappers.keep_old import KeepOld
from memdir.adapters.wrappers.recorder import Recorder
from memdir.config import Config
from memdir.core import ports
from memdir.core.draft import Change
from memdir.core.drafting import Rules
from memdir.core.errors import HistoryBroken, MemdirError, Missing
from memdir.core.history import Cause, Logged
from memdir.core.scope import project_name

CLAUDE_MD = "CLAUDE.md"
CLAUDE_MD_BYTES = 256 * 1024
NAME_TAIL = 60  # characters of the store's path that its state folder shows


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

    store: ports.Store
    shelf: ports.Shelf
    cause: Cause
    remarks: list[str] = field(default_factory=list)
    undone: list[Logged] = field(default_factory=list)

    def done(self, changes: list[Change]) -> Done:
        """What came of it."""
        return Done(tuple(changes), tuple(self.remarks), undone=tuple(self.undone))


Act = Callable[[Desk], list[Change]]
Told = Callable[[Done], None]


@dataclass(frozen=True)
class App:
    """A store with everything that belongs to it; `tell` reaches the person, not the answer."""

    config: Config
    store: ports.Store
    shelf: ports.Shelf
    history: ports.History
    lock: ports.Lock
    now: Callable[[], float]
    tell: Callable[[str], None]
    actor: str
    dry_run: bool = False

    def rules(self) -> Rules:
        """What this store and this moment decide about a save."""
        now = self.now()
        return Rules(
            now=now,
            day=datetime.datetime.fromtimestamp(now).astimezone().date(),
            shared=self.config.shared,
            index=self.config.options.index,
            max_body_bytes=self.config.options.max_body_bytes,
            max_file_bytes=self.config.options.max_file_bytes,
            claude_md=_read_claude_md(self.config.checkout),
        )

    def change(self, verb: str, act: Act, told: Told) -> Done:
        """The way of every change: lock, commit what others did, act, tell, commit ours."""
        cause = Cause(verb, actor=self.actor)
        if self.dry_run:
            return self._try_out(Desk(DryRun(self.store), DryShelf(self.shelf), cause), act, told)
        with self.lock.held(f"memdir {verb}", self.tell):
            kept = self._announced(cause)
            recorder = Recorder(self.store, kept)
            desk = Desk(KeepOld(recorder, kept, self.shelf, self.now()), self.shelf, cause)
            try:
                done = desk.done(act(desk))
                told(done)
            except BaseException:
                desk.cause = replace(desk.cause, undoes=())  # half an undo takes nothing back
                raise
            finally:
                self._record(kept, desk.cause, recorder)
        return done

    def snapshot(self) -> None:
        """Commit what others did, if nobody is writing just now; never waits."""
        if self.dry_run or not self.history.on:
            return
        try:
            with self.lock.held_if_free("memdir snapshot") as handle:
                if handle is not None:
                    self.history.catch_up(self.store)
        except MemdirError as error:
            self.tell(f"the history was not brought up to date: {error.message}")

    def _announced(self, cause: Cause) -> ports.History:
        """The history, told of what is about to happen; none where it is broken."""
        try:
            self.history.announce(self.store, cause)
        except HistoryBroken as error:
            self.tell(f"{error.message}. Old versions go to the trash. Next: {error.next}")
            return NoHistory()
        return self.history

    def _record(self, kept: ports.History, cause: Cause, recorder: Recorder) -> None:
        try:
            kept.record(self.store, cause, recorder.written)
        except MemdirError as error:
            self.tell(f"the change stands, but {error.message}. Next: {error.next}")

    def _try_out(self, desk: Desk, act: Act, told: Told) -> Done:
        done = desk.done(act(desk))
        written = cast(DryRun, desk.store).written
        diff = tuple((path, _standing(self.store, path), new) for path, new in written.items())
        done = replace(done, diff=diff, dry_run=True)
        told(done)
        return done


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
    layout = registry.load("layouts", "markdown")
    history = registry.load("history", "git" if options.history else "none")
    folder = state_folder(config)
    return App(
        config=config,
        store=cast(ports.Store, layout.Markdown(config.store, options.max_file_bytes)),
        shelf=Shelf(folder),
        history=cast(ports.History, history.open_history(folder, now)),
        lock=Lock(os.path.join(folder, "lock"), options.lock_notice_seconds, options.lock_seconds),
        now=now,
        tell=tell,
        actor=actor,
        dry_run=dry_run,
    )


def state_folder(config: Config) -> str:
    """Where the history, the shelves and the lock of this store lie."""
    real = os.path.realpath(config.store)
    digest = hashlib.sha256(os.fsencode(real)).hexdigest()[:12]
    tail = project_name(real)[-NAME_TAIL:].strip("-")
    return os.path.join(config.state_dir, "stores", f"{tail}-{digest}")


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


def _standing(store: ports.Store, path: str) -> bytes | None:
    try:
        return store.read(path)
    except Missing:
        return None
