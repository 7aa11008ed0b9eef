"""What a layout, a history and a search must offer, and what they hand to each other."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from memdir.errors import BadInput, Finding, Missing
from memdir.hot.memory import Memory, quote, unquote

if TYPE_CHECKING:
    from memdir.hot.inject import SessionState
    from memdir.hot.recall import Found

BEGIN, OUTSIDE, UNDO = "begin", "outside", "undo"
ADDED, MODIFIED, GONE = "A", "M", "D"


@dataclass(frozen=True)
class Cause:
    """Who changed what, how, and why; `undoes` are the ids that an undo takes back."""

    verb: str
    name: str = ""
    actor: str = "memdir"
    reason: str = ""
    batch: str = ""
    undoes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Logged:
    """One change as the history keeps it; `paths` are (A, M or D, path)."""

    id: str
    parent: str
    tree: str
    time: float
    cause: Cause
    paths: tuple[tuple[str, str], ...]


def write_message(cause: Cause, paths: list[tuple[str, str]]) -> str:
    """The commit message: a subject for people, then one `key: value` line per fact."""
    subject = f"{cause.verb} {cause.name}".strip()
    facts = [("verb", cause.verb), ("actor", cause.actor), ("name", cause.name)]
    facts += [("reason", cause.reason), ("batch", cause.batch)]
    facts += [("undoes", oid) for oid in cause.undoes] + [(kind, path) for kind, path in paths]
    lines = [f"{key}: {quote(value, always=True)}" for key, value in facts if value]
    return " ".join(subject.split())[:100] + "\n\n" + "\n".join(lines) + "\n"


def read_message(text: str) -> tuple[Cause, tuple[tuple[str, str], ...]]:
    """The inverse of `write_message`; lines it does not know are passed over."""
    facts: dict[str, str] = {}
    undoes, paths = [], []
    for line in text.partition("\n\n")[2].split("\n"):
        key, _, value = line.partition(": ")
        value = unquote(value)
        if key in (ADDED, MODIFIED, GONE):
            paths.append((key, value))
        elif key == "undoes":
            undoes.append(value)
        else:
            facts[key] = value
    verb, actor = facts.get("verb", OUTSIDE), facts.get("actor", "unknown")
    name, reason, batch = (facts.get(key, "") for key in ("name", "reason", "batch"))
    return Cause(verb, name, actor, reason, batch, tuple(undoes)), tuple(paths)


def to_undo(
    log: Iterable[Logged], change: str, batch: str, since: float | None, now: float = math.inf
) -> list[Logged]:
    """The changes somebody wants undone, the newest first."""
    if change:
        chosen = [logged for logged in log if logged.id.startswith(change.strip().lower())]
        if len(chosen) > 1:
            raise BadInput(f"{change!r} is the start of several changes", next="memdir log")
    elif batch:
        chosen = [logged for logged in log if logged.cause.batch == batch]
    elif since is not None:
        chosen = list(log)
        # A change of a clock that was ahead is said to be still to come: the one before it counts.
        while chosen and not since <= chosen[-1].time <= now:
            chosen.pop()
    else:
        # The newest change that stands, with all others of its batch: one run is one undo.
        chosen = []
        for logged in standing(log):
            if not chosen or logged.cause.batch == chosen[0].cause.batch:
                chosen.append(logged)
            if not chosen[0].cause.batch:
                break
    later = [logged for logged in chosen if logged.cause.verb != BEGIN]
    wanted = change or batch
    message = f"there is no change {wanted!r}" if wanted else "there is nothing to undo"
    if change and len(later) < len(chosen):
        message = f"{change!r} is the first snapshot; nothing stood before it"
    elif later:
        return later
    raise Missing(message, next="memdir log lists the changes")


def standing(log: Iterable[Logged]) -> Iterator[Logged]:
    """The changes that were not taken back, the newest first; undos are none."""
    undone: set[str] = set()
    for logged in log:
        # An undo that says of no change that it takes it back was cut off: it is to be completed.
        cut_off = logged.cause.verb == UNDO and not logged.cause.undoes
        if logged.id in undone or logged.cause.verb == BEGIN or cut_off:
            continue
        if not logged.cause.undoes:
            yield logged
        undone.update(logged.cause.undoes)


# What a change needs from the world. Members fit these shapes; nobody inherits from them.


class Scan(Protocol):
    """What one pass over a store saw."""

    memories: list[Memory]

    @property
    def findings(self) -> list[Finding]: ...


class Store(Protocol):
    """A set of memories with an index. Only the holder of the lock calls `put`, `drop`, `sweep`.

    `view` is a file as Markdown, whatever it is on disk; of other bytes where they are given.
    """

    root: str

    @property
    def layout(self) -> str: ...
    @property
    def shape(self) -> str: ...
    @property
    def index_path(self) -> str: ...
    def scan(self) -> Scan: ...
    def files(self) -> list[str]: ...
    def read(self, path: str) -> bytes: ...
    def view(self, path: str, data: bytes | None = None) -> bytes: ...
    def is_memory(self, path: str) -> bool: ...
    def exists(self, path: str = "") -> bool: ...
    def index(self) -> bytes | None: ...
    def standalone(self) -> bytes | None: ...
    def make(self) -> None: ...
    def put(self, path: str, data: bytes) -> None: ...
    def drop(self, path: str) -> None: ...
    def tree(self) -> dict[str, tuple[int, ...]]: ...
    def facts(self, path: str) -> tuple[int, ...] | None: ...
    def sweep(self) -> None: ...


@runtime_checkable
class IndexKeeper(Protocol):
    """A layout whose index has rules of its own; True where it had to change."""

    def keep_index(self, store: Store) -> bool: ...


TRASH, ARCHIVE = "trash", "archive"  # the rooms of a shelf


@dataclass(frozen=True)
class Shelved:
    """A memory that was put away: which shelf, when, and its path when it lived."""

    room: str
    number: int
    time: float
    path: str


class Shelf(Protocol):
    """Where retired and archived memories lie, outside the tree a client scans."""

    def lay(self, room: str, path: str, data: bytes, now: float) -> Shelved: ...
    def list(self, room: str) -> list[Shelved]: ...
    def read(self, shelved: Shelved) -> bytes: ...
    def clear(self, shelved: Shelved) -> None: ...


class History(Protocol):
    """Earlier versions. All writing happens under the store's lock."""

    @property
    def on(self) -> bool: ...
    @property
    def begun(self) -> bool: ...
    def catch_up(self, store: Store) -> list[str]: ...
    def announce(self, store: Store, cause: Cause) -> None: ...
    def unseen(self, store: Store) -> list[str]: ...
    def keeps(self, store: Store, path: str) -> bool: ...
    def expect(self, path: str, data: bytes | None) -> None: ...
    def record(self, store: Store, cause: Cause, written: Mapping[str, bytes | None]) -> str: ...
    def log(self) -> Iterator[Logged]: ...
    def find(self, text: str) -> Logged: ...
    def content(self, oid: str, path: str) -> bytes | None: ...
    def paths(self, oid: str) -> dict[str, str]: ...
    def check(self, enough: Callable[[], bool]) -> tuple[int, bool]: ...
    def set_aside(self) -> str: ...


class Lock(Protocol):
    """The right to write."""

    def held(self, who: str, tell: Callable[[str], None]) -> AbstractContextManager[int]: ...
    def held_if_free(self, who: str) -> AbstractContextManager[int | None]: ...
    def holder(self) -> str: ...


class Search(Protocol):
    """Finds the memories of one store that belong to a prompt."""

    def find(self, prompt: str, limit: int) -> Found: ...


class Sessions(Protocol):
    """What each session of a client was told."""

    def load(self, session: str, end: int = 0) -> SessionState: ...
    def add_told(self, session: str, told: list[str], injected: int) -> int: ...
