"""Protocols of layouts and searches, and the values shared by the modules of a store."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from memdir.errors import BadInput, Missing
from memdir.hot.layout import Scan
from memdir.hot.memory import quote_value, unquote_value

if TYPE_CHECKING:
    from memdir.hot.recall import Found

BEGIN, OUTSIDE, UNDO = "begin", "outside", "undo"
ADDED, MODIFIED, GONE = "A", "M", "D"


@dataclass(frozen=True)
class Cause:
    """Who changed what, how and why."""

    verb: str
    name: str = ""  # what was changed, in words
    actor: str = "memdir"  # `cli`, `library`, `mcp`, …; `outside` for others
    reason: str = ""
    batch: str = ""
    undoes: tuple[str, ...] = ()  # ids of the changes that this one takes back


class Touched(NamedTuple):
    change: str  # A, M or D
    path: str


@dataclass(frozen=True)
class Logged(Cause):
    """A change in the history; `time` is in seconds since 1970."""

    id: str = ""
    parent: str = ""
    tree: str = ""
    time: float = 0.0
    paths: tuple[Touched, ...] = ()
    scope: str = ""

    def __repr__(self) -> str:
        return f"<Change {self.id[:8]}: {self.actor}: {self.verb} {self.name}>"


def write_history_message(cause: Cause, paths: list[tuple[str, str]]) -> str:
    subject = f"{cause.verb} {cause.name}".strip()
    facts = [("verb", cause.verb), ("actor", cause.actor), ("name", cause.name)]
    facts += [("reason", cause.reason), ("batch", cause.batch)]
    facts += [("undoes", oid) for oid in cause.undoes] + [(kind, path) for kind, path in paths]
    lines = [f"{key}: {quote_value(value, always=True)}" for key, value in facts if value]
    return " ".join(subject.split())[:100] + "\n\n" + "\n".join(lines) + "\n"


def read_history_message(text: str) -> tuple[Cause, tuple[Touched, ...]]:
    facts: dict[str, str] = {}
    undoes, paths = [], []
    for line in text.partition("\n\n")[2].split("\n"):
        key, _, value = line.partition(": ")
        value = unquote_value(value)
        if key in (ADDED, MODIFIED, GONE):
            paths.append(Touched(key, value))
        elif key == "undoes":
            undoes.append(value)
        else:
            facts[key] = value
    verb, actor = facts.get("verb", OUTSIDE), facts.get("actor", "unknown")
    name, reason, batch = (facts.get(key, "") for key in ("name", "reason", "batch"))
    return Cause(verb, name, actor, reason, batch, tuple(undoes)), tuple(paths)


def changes_to_undo(
    log: Iterable[Logged], change: str, batch: str, since: float | None, now: float = math.inf
) -> list[Logged]:
    if change:
        chosen = [logged for logged in log if logged.id.startswith(change.strip().lower())]
        if len(chosen) > 1:
            raise BadInput(f"{change!r} is the start of several changes", next="memdir log")
    elif batch:
        chosen = [logged for logged in log if logged.batch == batch]
    elif since is not None:
        chosen = list(log)
        # A change dated in the future (the clock was ahead) does not mark the start.
        while chosen and not since <= chosen[-1].time <= now:
            chosen.pop()
    else:
        # The newest change not undone, with its whole batch: one run is one undo.
        changes = list_standing_changes(log)
        chosen = list(itertools.islice(changes, 1))
        if chosen and chosen[0].batch:
            chosen += [logged for logged in changes if logged.batch == chosen[0].batch]
    later = [logged for logged in chosen if logged.verb != BEGIN]
    wanted = change or batch
    message = f"there is no change {wanted!r}" if wanted else "there is nothing to undo"
    if change and len(later) < len(chosen):
        message = f"{change!r} is the first snapshot; nothing stood before it"
    elif later:
        return later
    raise Missing(message, next="memdir log lists the changes")


def list_standing_changes(log: Iterable[Logged]) -> Iterator[Logged]:
    undone: set[str] = set()
    for logged in log:
        # An undo without `undoes` was killed: the changes that it was to undo still stand.
        cut_off = logged.verb == UNDO and not logged.undoes
        if logged.id in undone or logged.verb == BEGIN or cut_off:
            continue
        if not logged.undoes:
            yield logged
        undone.update(logged.undoes)


class Store(Protocol):
    """Memories with an index; only the holder of the lock calls `put`, `drop` and `sweep`.

    `view` is a file, or `data` in its place, as Markdown.
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
    def keep_index(self, store: Store) -> bool: ...


TRASH, ARCHIVE = "trash", "archive"  # the rooms of a shelf


@dataclass(frozen=True)
class Shelved:
    room: str
    number: int
    time: float
    path: str


class Search(Protocol):
    def find(self, prompt: str, limit: int) -> Found: ...


def read_if_stored(store: Store, path: str) -> bytes | None:
    try:
        return store.read(path)
    except Missing:
        return None


def name_few_store_paths(paths: Sequence[str], limit: int = 3) -> str:
    more = f" and {len(paths) - limit} more" if len(paths) > limit else ""
    return ", ".join(paths[:limit]) + more
