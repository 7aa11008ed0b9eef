"""The past of a store: its changes read back, and taken back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memdir.errors import Conflict, HistoryBroken, Missing
from memdir.hot.memory import decode, encode, stem
from memdir.store.git_objects import Objects, read_commit, read_tree
from memdir.store.ports import History, Logged, Store

if TYPE_CHECKING:
    from memdir.format.draft import Change

MERGED = "is without what this change did to it; later lines stay"
KEPT = "was changed again at the same place; there it keeps its present text"
SHORTEST_ID = 4
TREES_KEPT = 8  # an undo asks the same few trees for every path


class Past:
    """A history to be read: one damaged change hides only what lies behind it."""

    def __init__(self, objects: Objects) -> None:
        self.objects = objects
        self._trees: dict[str, dict[str, str]] = {}

    def _newest(self) -> str:
        raise NotImplementedError

    def log(self) -> Iterator[Logged]:
        """All changes, the newest first."""
        oid = self._newest() if self.objects.exists() else ""
        while oid:
            logged = read_commit(self.objects, oid)
            yield logged
            oid = logged.parent

    def find(self, text: str) -> Logged:
        """The change whose id starts like this; damage behind it does no harm."""
        wanted = text.strip().lower()
        hits: list[Logged] = []
        if len(wanted) >= SHORTEST_ID and not wanted.strip("0123456789abcdef"):
            try:
                for logged in self.log():
                    hits += [logged] if logged.id.startswith(wanted) else []
            except HistoryBroken:
                if not hits:
                    raise
        if len(hits) == 1:
            return hits[0]
        problem = "is the start of several changes" if hits else "is not a change of this store"
        where = self.objects.folder
        raise Missing(f"{text!r} {problem}", path=where, next="memdir log lists them")

    def content(self, oid: str, path: str) -> bytes | None:
        """The bytes a path had in that commit, None where it was not there."""
        blob = self.paths(oid).get(path)
        return None if blob is None else self.objects.read(blob, "blob")

    def paths(self, oid: str) -> dict[str, str]:
        """The paths that a commit holds, with their blob ids; no commit, no paths."""
        if oid and oid not in self._trees:
            if len(self._trees) >= TREES_KEPT:
                self._trees.clear()
            self._trees[oid] = read_tree(self.objects, read_commit(self.objects, oid).tree)
        return self._trees.get(oid, {})

    def check(self, enough: Callable[[], bool]) -> tuple[int, bool]:
        """Read changes back with all their bytes, until there are no more or it is enough.

        Gives how many were read and whether that is all; damage is raised, with its object.
        """
        seen: set[str] = set()
        count = 0
        for logged in self.log():
            if enough():
                return count, False
            for blob in self.paths(logged.id).values():
                if blob not in seen:
                    self.objects.read(blob, "blob")
                    seen.add(blob)
            count += 1
        return count, True


@dataclass
class Plan:
    """What an undo is about to write; `files` fills up before the first file is touched."""

    files: list[str] = field(default_factory=list)
    merged: bool = False  # the index has later lines too, so its pointers must be looked at
    kept: bool = False  # in places it could not be put back


def undo(changes: Sequence[Logged], store: Store, history: History, plan: Plan) -> list[Change]:
    """Put back what stood before these changes; all of it, or nothing on a conflict."""
    index_path = store.index_path
    wanted: dict[str, bytes | None] = {}
    standing: dict[str, bytes | None] = {}
    for logged in changes:
        for _, path in logged.paths:
            if path not in standing:
                try:
                    standing[path] = wanted[path] = store.read(path)
                except Missing:
                    standing[path] = wanted[path] = None
            after, before = (history.content(oid, path) for oid in (logged.id, logged.parent))
            if wanted[path] == after:
                wanted[path] = before
            elif wanted[path] != before:
                fits = path == index_path and _merge_index(wanted, path, after, before, plan)
                if not fits and (path != index_path or len(logged.paths) == 1):
                    raise _conflict(logged, path, before, standing[path])
    # The index comes last: until then it is only behind, and it is healed when it must be.
    order = sorted(wanted, key=lambda path: (path == index_path, wanted[path] is None, path))
    plan.files += [path for path in order if wanted[path] != standing[path]]
    if not plan.files:
        message = f"{changes[0].id[:8]} is taken back already; nothing was written"
        hint = "memdir undo ID takes back an older change: memdir log lists them"
        raise Missing(message, next=hint)
    from memdir.format.draft import SKIPPED, UNDONE, Change

    done = []
    for path in plan.files:
        data = wanted[path]
        if data is None:
            store.drop(path)
        else:
            store.put(path, data)
        reason = "gone again" if data is None else ""
        done.append(Change(UNDONE, stem(path), path, reason=reason))
    if not plan.merged:
        return done
    # An index that is not simply back says so.
    others = [change for change in done if change.path != index_path]
    kind = UNDONE if index_path in plan.files else SKIPPED
    reason = KEPT if plan.kept else MERGED
    return [*others, Change(kind, stem(index_path), index_path, reason=reason)]


def _merge_index(
    wanted: dict[str, bytes | None],
    path: str,
    after: bytes | None,
    before: bytes | None,
    plan: Plan,
) -> bool:
    """Take back the lines of one change, leave later ones; False where a place does not fit."""
    plan.merged = True
    texts = [decode(data or b"") for data in (after, wanted[path], before)]
    from memdir.text.merge import merge

    merged, conflicts = merge(*texts)
    if wanted[path] is None or conflicts:
        plan.kept = True
    if wanted[path] is not None:
        wanted[path] = encode(merged)
    return not conflicts


def _conflict(logged: Logged, path: str, ours: bytes | None, theirs: bytes | None) -> Conflict:
    return Conflict(
        f"{path} was changed again after {logged.id[:8]}; nothing was undone",
        path=path,
        next=f"undo the newer change first (memdir log {stem(path)}), or edit it by hand",
        ours=ours or b"",
        theirs=theirs or b"",
    )
