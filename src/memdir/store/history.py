"""Commit what others did, then ours."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from memdir.errors import HistoryBroken, MemdirError
from memdir.hot.disk import Disk, failure
from memdir.store.git_objects import Objects, read_commit, write_commit, write_tree
from memdir.store.lock import force_names
from memdir.store.ports import ADDED, BEGIN, GONE, MODIFIED, OUTSIDE, Cause, Logged
from memdir.store.undo import Past

if TYPE_CHECKING:
    from memdir.store.ports import Store


# Word of a change under way, for the case that its writer is killed.


class Announcement:
    """Word of a change under way: its cause, then the id of each file's bytes. Not durable."""

    def __init__(self, path: str) -> None:
        self.path = path

    def begin(self, cause: Cause) -> None:
        """Start anew with the cause of a change."""
        self.remove()
        self._write({**cause.__dict__, "undoes": list(cause.undoes)})

    def add(self, path: str, oid: str) -> None:
        """Add a file that is about to be written."""
        self._write([path, oid])

    def mark(self) -> None:
        """Be there while anything is written, also where there is no change to tell of."""
        if not self.left_behind():
            self._write([])

    def left_behind(self) -> bool:
        """True when a writer was killed before it could record its change."""
        return os.path.exists(self.path)

    def read(self) -> tuple[Cause, dict[str, str]]:
        """The cause and the files of the change that was announced; damaged, it says nothing."""
        try:
            handle = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
            with open(handle, encoding="ascii") as file:
                facts, *rows = [json.loads(line) for line in file]
            cause = Cause(**{**facts, "undoes": tuple(facts["undoes"])})
            return cause, {str(path): str(oid) for path, oid in rows}
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return Cause(OUTSIDE), {}

    def remove(self) -> None:
        """The change is recorded: nothing needs to be said about it any more."""
        try:
            os.unlink(self.path)
        except OSError:
            return  # it names bytes; what does not match them is never taken for ours

    def _write(self, value: object) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK | os.O_NOFOLLOW
        try:
            handle = os.open(self.path, flags | os.O_CLOEXEC, 0o600)
            try:
                os.write(handle, json.dumps(value).encode("ascii") + b"\n")
            finally:
                os.close(handle)
        except OSError:
            return  # then that change would be called `outside`; its bytes are kept all the same


# What the history already has of each file, with the facts that tell whether it changed since.
#
# Derived: lost or damaged, it is read again from the newest commit, and the files are hashed once.

# A file may change again within the tick of the clock in which it changed, and look the same.
TICK_NS = 20_000_000


class Known:
    """path -> (blob id, facts); `facts` empty means: look at the bytes."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.head = ""
        self.stale = False  # something here is newer than the table on disk
        self.files: dict[str, tuple[str, tuple[int, ...]]] = {}
        try:
            # A pipe in its place must not make us wait.
            handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
            with open(handle, "rb") as file:
                data, _, check = (file.read() or b"").rpartition(b"\n")
            if b"%08x" % zlib.crc32(data) != check:
                raise ValueError("torn")  # a power cut may leave half of it new, and still JSON
            table = json.loads(data)
            self.head = str(table["head"])
            for name, (oid, *facts) in table["files"].items():
                self.files[name] = (str(oid), tuple(facts))
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            self.head, self.files = "", {}

    def adopt(self, head: str, tree: dict[str, str]) -> None:
        """Follow the history where this table is behind it."""
        old = self.files
        self.files = {
            path: old[path] if path in old and old[path][0] == oid else (oid, ())
            for path, oid in tree.items()
        }
        self.head = head
        self.stale = True

    def refresh(self, path: str, oid: str, facts: tuple[int, ...]) -> None:
        """Note what the history has of a path; facts that were looked up before its bytes."""
        self.files[path] = (oid, facts)
        self.stale = True

    def save(self) -> None:
        """Write the table; not durable on purpose, since it can be derived again."""
        if not self.stale:
            return
        table = {"head": self.head, "files": {k: [v[0], *v[1]] for k, v in self.files.items()}}
        data = json.dumps(table, separators=(",", ":")).encode("ascii")
        data += b"\n%08x" % zlib.crc32(data)
        try:
            # In place: a rename over the old table would make the file system flush it each time,
            # and a torn table is only one that is derived again.
            flags = os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
            handle = os.open(self.path, flags, 0o600)
            try:
                os.pwrite(handle, data, 0)
                os.ftruncate(handle, len(data))
            finally:
                os.close(handle)
            self.stale = False
        except OSError:
            return  # the next run finds an old table and looks at the bytes instead


def trusted(facts: tuple[int, ...], moment: int) -> tuple[int, ...]:
    """Facts looked up at this moment (ns), or none where the file has changed only just before."""
    return facts if facts[1] < moment - TICK_NS else ()


# The history in a real git repository outside the store, one commit per change.
#
# What others did to the store (Claude Code, an editor, rsync) is committed first, as `outside`:
# so nothing is ever overwritten that the history does not have.

# What one commit may bring in: far more than any store has, far less than a home directory.
MOST_FILES = 20_000
MOST_BYTES = 256 * 1024 * 1024


class GitHistory(Past):
    """Commits, and the versions they hold. All writing happens under the store's lock."""

    on = True

    def __init__(self, folder: str, now: Callable[[], float]) -> None:
        super().__init__(Objects(os.path.join(folder, "history.git")))
        self.folder = folder
        self.now = now
        self._table_path = os.path.join(folder, "known.json")
        self._announcement = Announcement(os.path.join(folder, "announced"))
        self._ours: dict[str, str] = {}  # path -> id: what the change under way has written
        self._changing = False  # between `announce` and the end of `record`
        self._table: Known | None = None  # as `catch_up` left it; valid while the lock is held

    @property
    def begun(self) -> bool:
        """True once this store has a history."""
        return self.objects.exists()

    def catch_up(self, store: Store) -> list[str]:
        """Commit what the history does not have yet; gives the ids of the new commits."""
        if not self._changing and self._announcement.left_behind():
            self._force(store)
        known = self._table = self._read_known()
        made = self._commit_others(store, known)
        if made:
            known.save()
        if not self._changing:
            self._announcement.remove()
        return made

    def unseen(self, store: Store) -> list[str]:
        """The paths that somebody changed since the newest commit; nothing is written."""
        if not self.objects.exists():
            return []
        return sorted(self._differences(store, self._read_known(), store.tree()))

    def announce(self, store: Store, cause: Cause) -> None:
        """Leave word of what is about to happen, so that a killed writer's change has a name."""
        self._table = self._read_known()
        if not self._table.head or self._announcement.left_behind():
            self.catch_up(store)
        self._ours, self._changing = {}, True
        self._announcement.begin(cause)

    def expect(self, path: str, data: bytes | None) -> None:
        """Leave word of the very bytes that are about to be written."""
        self._ours[path] = _id(data)
        self._announcement.add(path, _id(data))

    def keeps(self, store: Store, path: str) -> bool:
        """True once the bytes that stand at a path are in the history; asked before each write."""
        known = self._table or self._read_known()
        facts = store.facts(path)
        oid, seen = known.files.get(path, ("", ()))
        if facts is None or (facts and seen == facts and self.objects.has(oid)):
            return True
        standing = _id(store.read(path))
        if standing == self._ours.get(path):
            return True
        if standing == oid:
            self._rewrite_if_lost(oid, store.read(path))
            return True
        self._commit_others(store, known)
        return standing == known.files.get(path, ("", ()))[0]

    def _rewrite_if_lost(self, oid: str, data: bytes) -> None:
        """A damaged history may name bytes that it no longer has; here they still are."""
        if not self.objects.has(oid):
            try:
                self.objects.write("blob", data)
            except OSError as error:
                raise self._unwritable(error) from None

    def record(self, store: Store, cause: Cause, written: Mapping[str, bytes | None]) -> str:
        """Commit what others did meanwhile, then what we have written; gives our commit's id."""
        try:
            known = self._table or self._read_known()
            self._commit_others(store, known)
            contents = {
                path: data
                for path, data in written.items()
                if _id(data) != known.files.get(path, ("", ()))[0]
            }
            # No facts: somebody may have changed the file again since we wrote it.
            made = self._commit(store, known, contents, cause, {}) if contents else ""
            self._announcement.remove()
            known.save()
        finally:
            self._table, self._ours, self._changing = None, {}, False
        return made

    def check(self, enough: Callable[[], bool]) -> tuple[int, bool]:
        """See `Past`; the table beside the history must be a file, or it is derived each time."""
        if os.path.lexists(self._table_path) and not os.path.isfile(self._table_path):
            raise HistoryBroken(
                f"{self._table_path}: something that is no file stands there; it slows memdir down",
                path=self._table_path,
                next=f"move {self._table_path} away; it is derived again",
            )
        return super().check(enough)

    def _newest(self) -> str:
        return self._head(Known(self._table_path))

    def set_aside(self) -> str:
        """Keep a damaged history under another name and start anew; gives that name."""
        count = 1
        while os.path.lexists(f"{self.objects.folder}.damaged-{count}"):
            count += 1
        kept = f"{self.objects.folder}.damaged-{count}"
        try:
            os.rename(self.objects.folder, kept)
        except OSError as error:
            raise failure(error, self.objects.folder, "cannot be set aside") from None
        self._trees.clear()
        return kept

    def _read_known(self) -> Known:
        if not self.objects.exists():
            try:
                if os.path.exists(self._table_path):
                    os.unlink(self._table_path)  # it tells of another history
                self.objects.create()
                force_names(self.folder)
            except OSError as error:
                raise self._unwritable(error) from None
        known = Known(self._table_path)
        head = self._head(known)
        if head:
            read_commit(self.objects, head)  # nothing is built on a commit that is damaged
        if known.head != head:
            known.adopt(head, self.paths(head))
        return known

    def _head(self, known: Known) -> str:
        head = self.objects.head()
        if known.head and not head:
            raise self.objects.broken("its branch is gone")
        return head

    def _force(self, store: Store) -> None:
        """A writer was cut off: nothing may rest on names it gave that are on no disk yet."""
        try:
            Disk(self.folder).sweep(lambda path: True)
            for root in (self.folder, store.root):
                force_names(root)
        except OSError as error:
            raise self._unwritable(error) from None

    def _commit_others(self, store: Store, known: Known) -> list[str]:
        """Commit every difference but ours: what a killed writer announced, then the outside's."""
        moment = time.time_ns()
        found = store.tree()
        _refuse_flood(
            store.root, [facts for path, facts in found.items() if path not in known.files]
        )
        tree = {path: trusted(facts, moment) for path, facts in found.items()}
        store.sweep()
        contents = self._differences(store, known, tree)
        contents = {path: data for path, data in contents.items() if path not in self._ours}
        made = []
        if not known.head:
            begin = Cause(BEGIN, reason="the store as it was when memdir first saw it")
            made.append(self._commit(store, known, contents, begin, tree))
            contents = {}
        cause, announced = self._announcement.read()
        left = {path: data for path, data in contents.items() if announced.get(path) == _id(data)}
        theirs = {path: data for path, data in contents.items() if path not in left}
        if left:
            made.append(self._commit(store, known, left, cause, tree))
        if theirs:
            made.append(self._commit(store, known, theirs, Cause(OUTSIDE, actor="outside"), tree))
        return made

    def _differences(
        self, store: Store, known: Known, tree: Mapping[str, tuple[int, ...]]
    ) -> dict[str, bytes | None]:
        """The files whose bytes the history does not have; refreshes facts that only moved."""
        contents: dict[str, bytes | None] = {
            path: None for path in known.files if path not in tree and store.facts(path) is None
        }
        for path, facts in tree.items():
            oid, seen = known.files.get(path, ("", ()))
            if facts and seen == facts:
                continue
            try:
                data = store.read(path)
            except MemdirError:
                continue  # unreadable now: the scan reports it; it is not gone
            if _id(data) == oid:
                known.refresh(path, oid, facts)
            else:
                contents[path] = data
        return contents

    def _commit(
        self,
        store: Store,
        known: Known,
        contents: Mapping[str, bytes | None],
        cause: Cause,
        facts: Mapping[str, tuple[int, ...]],
    ) -> str:
        there = {path: data for path, data in sorted(contents.items()) if data is not None}
        paths = [(MODIFIED if path in known.files else ADDED, path) for path in there]
        paths += [(GONE, path) for path in contents if path not in there]
        cause = _named(cause, [path for _, path in paths], store.index_path)
        self._announcement.mark()
        try:
            for path, oid in zip(there, self.objects.write("blob", *there.values()), strict=True):
                known.refresh(path, oid, facts.get(path, ()))
            for path in contents.keys() - there.keys():
                del known.files[path]
            tree = write_tree(self.objects, {path: row[0] for path, row in known.files.items()})
            oid = write_commit(self.objects, tree, known.head, self.now(), cause, paths)
            self.objects.set_head(oid)
        except OSError as error:
            self._table = None  # it is ahead of what could be written
            raise self._unwritable(error) from None
        known.head = oid
        return oid

    def _unwritable(self, error: OSError) -> HistoryBroken:
        return HistoryBroken(
            f"{self.objects.folder}: the history cannot be written: {error.strerror}",
            path=self.objects.folder,
            next="free space or mend its permissions; the next command commits what is missing",
        )


def _named(cause: Cause, paths: list[str], index_path: str) -> Cause:
    """The cause; one that has no name is called by the only memory it concerns."""
    found = [path for path in paths if path != index_path] or paths
    named = cause.name or cause.verb == BEGIN or len(found) != 1
    return cause if named else dataclasses.replace(cause, name=found[0])


def _refuse_flood(root: str, fresh: list[tuple[int, ...]]) -> None:
    """A directory full of other things is no store: the history does not swallow it."""
    size = sum(facts[2] for facts in fresh)
    if len(fresh) > MOST_FILES or size > MOST_BYTES:
        much = f"{len(fresh):,} new files, {size // 1024**2:,} MiB"
        raise HistoryBroken(
            f"{root}: {much}; the history does not take so much at once",
            path=root,
            next="if it is no store, choose another --dir; else move out what is no memory",
        )


def _id(data: bytes | None) -> str:
    """The id git gives to these bytes; empty for a file that is not there."""
    if data is None:
        return ""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def open_history(folder: str, now: Callable[[], float]) -> GitHistory:
    """The history of the store whose state lies in this folder."""
    return GitHistory(folder, now)


# No history: switched off. Versions that are overwritten go to the trash instead.


class NoHistory:
    """Keeps nothing and says so when asked."""

    on = False
    begun = False

    def catch_up(self, store: Store) -> list[str]:
        """Nothing to catch up with."""
        return []

    def announce(self, store: Store, cause: Cause) -> None:
        """Nobody to tell."""

    def unseen(self, store: Store) -> list[str]:
        """There is nothing to compare with."""
        return []

    def keeps(self, store: Store, path: str) -> bool:
        """Nothing is kept here."""
        return False

    def expect(self, path: str, data: bytes | None) -> None:
        """Nobody to tell."""

    def record(self, store: Store, cause: Cause, written: Mapping[str, bytes | None]) -> str:
        """Nothing is kept; what a killed writer left is swept up all the same."""
        store.sweep()
        return ""

    def log(self) -> Iterator[Logged]:
        """There is no past to tell of."""
        raise _off()

    def find(self, text: str) -> Logged:
        """There is no change to find."""
        raise _off()

    def content(self, oid: str, path: str) -> bytes | None:
        """There are no versions."""
        raise _off()

    def paths(self, oid: str) -> dict[str, str]:
        """There are no versions."""
        raise _off()

    def check(self, enough: Callable[[], bool]) -> tuple[int, bool]:
        """There is nothing to look at."""
        raise _off()

    def set_aside(self) -> str:
        """There is nothing that could be damaged."""
        raise _off()


def _off() -> MemdirError:
    return MemdirError(
        "the history is switched off, so there is nothing to show or undo",
        next="remove `enabled = false` under [history] in config.toml, or unset MEMDIR_HISTORY",
    )


def open_no_history(folder: str, now: Callable[[], float]) -> NoHistory:
    """The same call as for the other members."""
    return NoHistory()
