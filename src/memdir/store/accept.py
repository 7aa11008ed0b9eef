"""Review of memories from repositories and teams: accepted or rejected by the user.

Also who wrote each of them, and the authors whom the user accepts: their memories are told at once,
with their source, unless one gives an agent orders; all others wait in `memdir review`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from memdir.errors import HistoryBroken, MemdirError
from memdir.hot.acceptance import (
    PUT_BACK,
    REJECTED,
    UPKEEP,
    Acceptance,
    open_acceptance,
    save_acceptance,
)
from memdir.hot.disk import digest_of
from memdir.hot.memory import Memory, read_memory
from memdir.store import state
from memdir.store.accepted import AcceptanceSearch, AcceptanceView
from memdir.store.history import History
from memdir.store.ports import GONE
from memdir.store.writer import App, store_state_folder

ID_CHARACTERS = 12
RESTORE = "restore"
GIVERS = "givers.json"
UNVERIFIED = "not verified"


@dataclass(frozen=True)
class Giver:
    """The author of exactly this content; `verified` if the remote checked who it was."""

    digest: str
    name: str
    id: str
    verified: bool = False
    time: float = 0.0

    @property
    def label(self) -> str:
        name = self.name or self.id
        return name if self.verified or not name else f"{name} ({UNVERIFIED})"


@dataclass
class Givers:
    folder: str
    files: dict[str, Giver] = field(default_factory=dict)
    accepted: dict[str, str] = field(default_factory=dict)  # id -> name

    def of(self, path: str, data: bytes) -> Giver | None:
        giver = self.files.get(path)
        return giver if giver is not None and giver.digest == digest_of(data) else None

    def save(self) -> None:
        value = {
            "files": {path: asdict(giver) for path, giver in self.files.items()},
            "accepted": self.accepted,
        }
        with state.state_errors(os.path.join(self.folder, GIVERS), "cannot be written"):
            state.replace_state_json(self.folder, GIVERS, value)


def read_givers(folder: str) -> Givers:
    """Damaged or missing: nobody is accepted, and everything waits."""
    try:
        value = state.read_state_json(folder, GIVERS, dict) or {}
        files = {path: Giver(**row) for path, row in value["files"].items()}
        return Givers(folder, files, dict(value["accepted"]))
    except (OSError, *state.DAMAGE):
        return Givers(folder)


def own_written_paths(history: History, contents: dict[str, bytes], *, upkeep: bool) -> set[str]:
    """Paths whose current bytes memdir wrote; `upkeep` also counts commands that only tidy."""
    left, own = set(contents), set[str]()
    passed: Collection[str] = PUT_BACK if upkeep else (*PUT_BACK, *UPKEEP)
    try:
        for logged in history.log():
            if not left:
                break
            if logged.verb in passed:
                continue
            for kind, path in logged.paths:
                wanted = contents[path] if kind != GONE and path in left else None
                if wanted is not None and history.content(logged.id, path) == wanted:
                    own.add(path)
                    left.discard(path)
    except HistoryBroken:
        pass  # the rest of the history is unreadable
    return own


@dataclass(frozen=True)
class Waiting:
    """A memory by somebody else that waits for a decision; `id` changes with its content."""

    id: str
    scope: str
    memory: Memory
    data: bytes
    author: str
    decision: str  # empty, or `rejected`


@dataclass(frozen=True)
class Source:
    id: str
    scope: str
    app: App
    waiting: tuple[Waiting, ...]


def store_acceptance(app: App) -> Acceptance:
    return open_acceptance(store_state_folder(app.config), app.config.origin, app.store)


def accepted_view(app: App) -> AcceptanceView:
    return AcceptanceView(app.store, store_acceptance(app))


def hide_unaccepted(app: App) -> App:
    if not app.config.origin:
        return app
    view = accepted_view(app)
    return replace(app, store=view, search=AcceptanceSearch(app.search, view))


def stored_memory_source(app: App) -> Callable[[str], str] | None:
    """Returns a function from path to author and state; None if all memories are the user's."""
    return accepted_view(app).source if app.config.origin else None


def unaccepted_paths(app: App) -> frozenset[str]:
    if not app.config.origin:
        return frozenset()
    view, memories = accepted_view(app), app.store.scan().memories
    return frozenset(memory.path for memory in memories if not view.accepts(memory.path))


def find_source_in_store(scope: str, app: App, *, rejected: bool = False) -> Source:
    accept_own_writes(app)
    acceptance, undecided = store_acceptance(app), list[tuple[Memory, bytes, str]]()
    for memory in app.store.scan().memories:
        try:
            data = app.store.read(memory.path)
        except MemdirError:
            continue  # the scan reports it
        decision = acceptance.decision(memory.path, digest_of(data))
        if decision == (REJECTED if rejected else ""):
            shown = read_memory(memory.path, app.store.view(memory.path, data), memory.mtime)
            undecided.append((shown, data, decision))
    from memdir.store.git import commit_authors_in_store  # subprocess, which a recall spares

    authors = commit_authors_in_store(app.store.root, [memory.path for memory, *_ in undecided])
    waiting, givers = [], read_givers(store_state_folder(app.config))
    for memory, data, decision in undecided:
        giver, id = givers.of(memory.path, data), _id(scope, memory.path, digest_of(data))
        author = giver.label if giver else authors.get(memory.path, "")
        waiting.append(Waiting(id, scope, memory, data, author, decision))
    return Source(_id(scope, *(item.id for item in waiting)), scope, app, tuple(waiting))


def keep_decision(
    app: App, chosen: Sequence[Waiting], decision: str, *, authors: bool = False
) -> list[str]:
    """With `authors`, what they write from now on is accepted, too; returns who they are."""
    folder = store_state_folder(app.config)
    givers = read_givers(folder)
    known = [givers.of(item.memory.path, item.data) for item in chosen] if authors else []
    people = {giver.id: giver.label for giver in known if giver and giver.id}
    if app.dry_run or not chosen:
        return [*people.values()]
    from memdir.store.guards import guards_of_store  # only a decision needs it

    with app.lock.held("memdir review", app.tell):
        acceptance = store_acceptance(app)
        for item in chosen:
            acceptance.add(item.memory.path, item.data, decision, item.author)
        save_acceptance(folder, acceptance.decisions)
        guards_of_store(app)
        if people:
            givers.accepted |= people
            givers.save()
    return [*people.values()]


class OwnWrites:
    """Accepts memdir's own writes in a shared store; created under the lock, before any write."""

    def __init__(self, app: App, verb: str) -> None:
        self.app = app
        self.counts = verb == RESTORE or verb not in PUT_BACK
        self.unaccepted: set[str] = set()
        self.only: set[str] | None = None
        if self.counts and (verb in UPKEEP or verb == RESTORE):
            view, there = accepted_view(app), set(filter(app.store.is_memory, app.store.tree()))
            self.unaccepted = {path for path in there if not view.accepts(path)}
            if verb == RESTORE:  # a restored file keeps its old decision; a record changes in place
                self.only = there - self.unaccepted

    def accept(self, written: Mapping[str, bytes | None]) -> None:
        made = {
            path: data
            for path, data in written.items()
            if data is not None
            and self.app.store.is_memory(path)
            and (self.only is None or path in self.only)
        }
        if not self.counts or not made or not self.unaccepted.isdisjoint(written):
            return
        acceptance = store_acceptance(self.app)
        for path, data in made.items():
            acceptance.add(path, data)
        try:
            save_acceptance(store_state_folder(self.app.config), acceptance.decisions)
        except MemdirError as error:
            self.app.tell(f"the change stands, but {error.message}. Next: memdir review")


def accept_own_writes(app: App) -> None:
    """Accept memories that the history proves are ours, in case a killed writer did not."""
    if not app.config.origin or app.dry_run:
        return
    undecided = {path: app.store.read(path) for path in accepted_view(app).waiting()}
    own = own_written_paths(app.history, undecided, upkeep=False) if undecided else set()
    if not own:
        return
    with app.lock.held_if_free("memdir review") as handle:
        if handle is not None:
            acceptance = store_acceptance(app)
            for path in own:
                acceptance.add(path, undecided[path])
            save_acceptance(store_state_folder(app.config), acceptance.decisions)


def _id(*parts: str) -> str:
    return digest_of("\0".join(parts).encode("utf-8", "surrogateescape"))[:ID_CHARACTERS]
