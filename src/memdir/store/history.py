"""The history of a store: a real git repository outside it, one commit per change.

Changes by others (Claude Code, an editor, rsync) are committed first, as `outside`, so nothing is
ever overwritten that the history does not have.
"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
import os
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NoReturn

from memdir.errors import HistoryBroken, MemdirError, Missing
from memdir.hot.disk import Disk, move
from memdir.store import git_objects, state
from memdir.store.ports import ADDED, BEGIN, GONE, MODIFIED, OUTSIDE, Cause, Logged

if TYPE_CHECKING:
    from memdir.store.ports import Store

TABLE, ANNOUNCED = "known.json", "announced"
SHORTEST_ID = 4
TREES_KEPT = 8  # an undo reads the same few trees for every path

# A file that changes twice within one tick of the clock has the same stat facts.
TICK_NS = 20_000_000
# Limits of one commit: far above any store, far below a home directory.
MAX_FILES = 20_000
MAX_BYTES = 256 * 1024 * 1024
Facts = tuple[int, ...]  # stat facts of a file, as its layout returns them


class Announcement:
    """Cause and file ids of the change in progress, in case its writer is killed.

    Not durable and never an obstacle: if it is lost, that change is recorded as `outside`.
    """

    def __init__(self, folder: str) -> None:
        self.folder, self.path = folder, os.path.join(folder, ANNOUNCED)

    def add(self, *values: object) -> None:
        with suppress(OSError):
            state.append_state_json(self.folder, ANNOUNCED, values, durable=False)

    def left_behind(self) -> bool:
        return os.path.exists(self.path)

    def read(self) -> tuple[Cause, dict[str, str]]:
        """Cause and files of the announced change; `outside` and no files if damaged."""
        try:
            # What a torn line announced was not written yet.
            first, *rest = state.read_state_lines(self.folder, ANNOUNCED)[0]
            facts, (rows, _) = json.loads(first), state.parse_state_lines(rest, list)
            cause = Cause(**{**facts, "undoes": tuple(facts["undoes"])})
            return cause, {str(path): str(oid) for path, oid in rows}
        except (OSError, *state.DAMAGE):
            return Cause(OUTSIDE), {}

    def remove(self) -> None:
        with suppress(OSError):  # harmless: a change counts as announced only if its bytes match
            os.unlink(self.path)


class HistoryTable:
    """Cache of the newest commit: path -> (blob id, stat facts); no facts: hash the bytes."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.head = ""
        self.stale = False  # newer than the table on disk
        self.files: dict[str, tuple[str, Facts]] = {}
        try:
            data, _, check = (state.read_state_bytes(folder, TABLE) or b"").rpartition(b"\n")
            if b"%08x" % zlib.crc32(data) != check:
                raise ValueError("torn")  # a power cut may mix old and new bytes into valid JSON
            table = json.loads(data)
            self.head = str(table["head"])
            for name, (oid, *facts) in table["files"].items():
                self.files[name] = (str(oid), tuple(facts))
        except (OSError, *state.DAMAGE):
            self.head, self.files = "", {}

    def id(self, path: str) -> str:
        return self.files.get(path, ("", ()))[0]

    def adopt(self, head: str, tree: dict[str, str]) -> None:
        old = self.files
        self.files = {
            path: old[path] if path in old and old[path][0] == oid else (oid, ())
            for path, oid in tree.items()
        }
        self.head = head
        self.stale = True

    def refresh(self, path: str, oid: str, facts: Facts) -> None:
        """Record a blob id with stat facts that were read before the bytes."""
        self.files[path] = (oid, facts)
        self.stale = True

    def save(self) -> None:
        """Not durable on purpose: if the table is old, the next run reads the bytes."""
        if not self.stale:
            return
        table = {"head": self.head, "files": {k: [v[0], *v[1]] for k, v in self.files.items()}}
        data = json.dumps(table, separators=(",", ":")).encode("ascii")
        with suppress(OSError):
            state.overwrite_state(self.folder, TABLE, data + b"\n%08x" % zlib.crc32(data))
            self.stale = False


class GitHistory:
    """Reads the history; writes it while it holds the store's lock."""

    on = True

    def __init__(self, folder: str, now: Callable[[], float]) -> None:
        self.folder, self.now = folder, now
        self.objects = git_objects.Objects(os.path.join(folder, "history.git"))
        self._trees: dict[str, dict[str, str]] = {}
        self._announcement = Announcement(folder)
        self._ours: dict[str, str] = {}  # path -> blob id, written by the current change
        self._changing = False  # between `announce` and the end of `record`
        self._table: HistoryTable | None = None  # valid while the lock is held

    @property
    def begun(self) -> bool:
        return self.objects.exists()

    def _head(self, table: HistoryTable) -> str:
        head = self.objects.head()
        if table.head and not head:
            raise self.objects.broken("its branch is gone")
        return head

    def log(self) -> Iterator[Logged]:
        oid = self._head(HistoryTable(self.folder)) if self.objects.exists() else ""
        while oid:
            logged = git_objects.read_history_commit(self.objects, oid)
            yield logged
            oid = logged.parent

    def find(self, text: str) -> Logged:
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
        blob = self.paths(oid).get(path)
        return None if blob is None else self.objects.read(blob, "blob")

    def paths(self, oid: str) -> dict[str, str]:
        if oid and oid not in self._trees:
            if len(self._trees) >= TREES_KEPT:
                self._trees.clear()
            tree = git_objects.read_history_commit(self.objects, oid).tree
            entries = git_objects.read_tree(self.objects, tree)
            self._trees[oid] = {path: blob for path, (_, blob) in entries.items()}
        return self._trees.get(oid, {})

    def check(self, enough: Callable[[], bool]) -> tuple[int, bool]:
        """Read changes back until `enough()`; returns their number and whether these were all."""
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

    def catch_up(self, store: Store) -> list[str]:
        if not self._changing and self._announcement.left_behind():
            # A writer was killed: fsync the names it created before anything depends on them.
            with self._writing():
                Disk(self.folder).sweep(lambda path: True)
                for root in (self.folder, store.root):
                    state.force_store_leftovers_to_disk(root)
        table = self._table = self._open_table()
        made = self._commit_others(store, table)
        if made:
            table.save()
        if not self._changing:
            self._announcement.remove()
        return made

    def unseen(self, store: Store) -> list[str]:
        if not self.objects.exists():
            return []
        return sorted(self._differences(store, self._read_table(), store.tree()))

    def announce(self, store: Store, cause: Cause) -> None:
        """Record the cause first, so that a killed writer's change keeps its name."""
        self._table = self._open_table()
        if not self._table.head or self._announcement.left_behind():
            self.catch_up(store)
        self._ours, self._changing = {}, True
        self._announcement.remove()
        self._announcement.add({**cause.__dict__, "undoes": list(cause.undoes)})

    def expect(self, path: str, data: bytes | None) -> None:
        self._ours[path] = _id(data)
        self._announcement.add([path, _id(data)])

    def keeps(self, store: Store, path: str) -> bool:
        """True if the current bytes at a path are in the history; asked before each write."""
        table = self._table or self._read_table()
        facts = store.facts(path)
        oid, seen = table.files.get(path, ("", ()))
        if facts is None or (facts and seen == facts and self.objects.has(oid)):
            return True
        standing = _id(store.read(path))
        if standing == self._ours.get(path):
            return True
        if standing == oid:
            if not self.objects.has(oid):  # the history lost this object: store it again
                with self._writing():
                    self.objects.write("blob", store.read(path))
                    self.objects.keep(f"pack-{oid}")
            return True
        self._commit_others(store, table)
        return standing == table.id(path)

    def record(self, store: Store, cause: Cause, written: Mapping[str, bytes | None]) -> str:
        try:
            table = self._table or self._read_table()
            self._commit_others(store, table)
            contents = {path: data for path, data in written.items() if _id(data) != table.id(path)}
            # No facts: somebody may have changed the file since we wrote it. An undo without a
            # change completes a killed one: the next undo takes back an older change.
            wanted = contents or cause.undoes
            made = self._commit(store, table, contents, cause, {}) if wanted else ""
            self._announcement.remove()
            table.save()
            with suppress(OSError, MemdirError):
                self.objects.join_packs()
            return made
        finally:
            self._table, self._ours, self._changing = None, {}, False

    def set_aside(self) -> str:
        names = (f"{self.objects.folder}.damaged-{number}" for number in itertools.count(1))
        kept = next(name for name in names if not os.path.lexists(name))
        with state.state_errors(self.objects.folder, "cannot be set aside"):
            move(self.objects.folder, kept)
        self._trees.clear()
        return kept

    def _read_table(self) -> HistoryTable:
        if not self.objects.exists():
            with self._writing():
                state.remove_state(self.folder, TABLE)  # it belongs to another history
                self.objects.create()
                state.force_store_leftovers_to_disk(self.folder)
        table = HistoryTable(self.folder)
        head = self._head(table)
        if head:
            git_objects.read_history_commit(
                self.objects, head
            )  # raises if damaged: never build on it
        if table.head != head:
            table.adopt(head, self.paths(head))
        return table

    def _open_table(self) -> HistoryTable:
        """To write; a branch that a power cut left behind its commits is moved on."""
        table = self._read_table()
        with self._writing():
            self.objects.move_branch(table.head)
        return table

    def _commit_others(self, store: Store, table: HistoryTable) -> list[str]:
        """Commit every difference but ours: first a killed writer's, then the ones from outside."""
        moment = time.time_ns()
        standing = store.tree()
        fresh = [row[2] for path, row in standing.items() if path not in table.files]
        if len(fresh) > MAX_FILES or sum(fresh) > MAX_BYTES:
            much = f"{len(fresh):,} new files, {sum(fresh) // 1024**2:,} MiB"
            raise HistoryBroken(
                f"{store.root}: {much}; the history does not take so much at once",
                path=store.root,
                next="if it is no store, choose another --dir; else move out what is no memory",
            )
        # No facts for a file that changed just now: it may change again within the same tick.
        tree = {path: row if row[1] < moment - TICK_NS else () for path, row in standing.items()}
        store.sweep()
        contents = self._differences(store, table, tree)
        contents = {path: data for path, data in contents.items() if path not in self._ours}
        made = []
        if not table.head:
            begin = Cause(BEGIN, reason="the store as it was when memdir first saw it")
            made.append(self._commit(store, table, contents, begin, tree))
            contents = {}
        cause, announced = self._announcement.read()
        left = {path: data for path, data in contents.items() if announced.get(path) == _id(data)}
        theirs = {path: data for path, data in contents.items() if path not in left}
        if left:
            made.append(self._commit(store, table, left, cause, tree))
        if theirs:
            made.append(self._commit(store, table, theirs, Cause(OUTSIDE, actor="outside"), tree))
        return made

    def _differences(
        self, store: Store, table: HistoryTable, tree: Mapping[str, Facts]
    ) -> dict[str, bytes | None]:
        """Files whose bytes the history lacks; refreshes stat facts of the others."""
        contents: dict[str, bytes | None] = {
            path: None for path in table.files if path not in tree and store.facts(path) is None
        }
        for path, facts in tree.items():
            oid, seen = table.files.get(path, ("", ()))
            if facts and seen == facts:
                continue
            try:
                data = store.read(path)
            except MemdirError:
                continue  # unreadable, not deleted; the scan reports it
            if _id(data) == oid:
                table.refresh(path, oid, facts)
            else:
                contents[path] = data
        return contents

    def _commit(
        self,
        store: Store,
        table: HistoryTable,
        contents: Mapping[str, bytes | None],
        cause: Cause,
        facts: Mapping[str, Facts],
    ) -> str:
        there = {path: data for path, data in sorted(contents.items()) if data is not None}
        paths = [(MODIFIED if path in table.files else ADDED, path) for path in there]
        paths += [(GONE, path) for path in contents if path not in there]
        memories = [path for _, path in paths if path != store.index_path] or [*contents]
        if not cause.name and cause.verb != BEGIN and len(memories) == 1:
            cause = dataclasses.replace(cause, name=memories[0])
        if not self._announcement.left_behind():  # it must exist while anything is written
            self._announcement.add([])
        with self._writing():
            for path, oid in zip(there, self.objects.write("blob", *there.values()), strict=True):
                table.refresh(path, oid, facts.get(path, ()))
            for path in contents.keys() - there.keys():
                del table.files[path]
            mode = git_objects.FILE_MODE
            entries = {path: (mode, row[0]) for path, row in table.files.items()}
            tree = git_objects.write_tree(self.objects, entries)
            oid = git_objects.write_history_commit(
                self.objects, tree, table.head, self.now(), cause, paths
            )
            self.objects.set_head(oid, table.head)
        table.head = oid
        return oid

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            self._table = None  # it may be ahead of the disk
            if not isinstance(error, OSError):
                raise
            folder = self.objects.folder
            raise HistoryBroken(
                f"{folder}: the history cannot be written: {error.strerror}",
                path=folder,
                next="free space or mend its permissions; the next command commits what is missing",
            ) from None


def _id(data: bytes | None) -> str:
    if data is None:
        return ""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


class NoHistory:
    on = begun = False

    def catch_up(self, store: Store) -> list[str]:
        return []

    def announce(self, store: Store, cause: Cause) -> None:
        """Nothing to do without a history."""

    def unseen(self, store: Store) -> list[str]:
        return []

    def keeps(self, store: Store, path: str) -> bool:
        return False

    def expect(self, path: str, data: bytes | None) -> None:
        """Nothing to do without a history."""

    def record(self, store: Store, cause: Cause, written: Mapping[str, bytes | None]) -> str:
        store.sweep()
        return ""

    def _refuse(self, *asked: object) -> NoReturn:
        raise MemdirError(
            "the history is switched off, so there is nothing to show or undo",
            next="remove `enabled = false` under [history] in config.toml, or unset MEMDIR_HISTORY",
        )

    log = find = content = paths = check = set_aside = _refuse


History = GitHistory | NoHistory
