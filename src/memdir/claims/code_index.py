"""Identifiers, removed words and renamed paths of a repository, kept in one SQLite file.

The file is derived: it may be deleted, and one that is damaged, foreign or of another version is
made anew. It follows the commits: only what is new is read.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import stat
import zlib
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain

from memdir.claims.checkout import PLACES, SHORT, Bounds, day, is_commit
from memdir.claims.claim import Uses
from memdir.claims.scanner import MEMORY_INDEX, Memories, Scanner, is_prose
from memdir.claims.tree import Tree, decode
from memdir.hot.place import store_key
from memdir.store.git import Git

FOLDER, FILE, SUM = "repos", "index.sqlite", "index.sum"
VERSION = 1  # another number for every other content
MAX_REPOSITORIES = 50  # kept; the one that was used longest ago goes first
LOCK_SECONDS = 5.0  # for another look at the same repository; then this one does without the file
# Names, words and paths are bytes: not all of them are UTF-8. A larger `position` is an older
# commit; `hits` are numbers of names times two, plus one where a name is defined.
SCHEMA = (
    "CREATE TABLE state (key TEXT PRIMARY KEY, value TEXT)",
    "CREATE TABLE names (number INTEGER PRIMARY KEY, name BLOB, code INT, prose INT, places TEXT)",
    "CREATE TABLE files (path BLOB PRIMARY KEY, hits BLOB)",
    "CREATE TABLE skipped (path BLOB PRIMARY KEY)",
    "CREATE TABLE commits (log TEXT, position INT, oid TEXT, seconds INT)",
    "CREATE UNIQUE INDEX commit_positions ON commits (log, position)",
    "CREATE TABLE ends (old BLOB, new BLOB, position INT)",
    "CREATE TABLE removed (word BLOB PRIMARY KEY, first INT, second INT)",
)
DAMAGED = (sqlite3.Error, ValueError)
Hits = Sequence[int]
Texts = Iterator[tuple[str, bytes]]


def encode(text: str) -> bytes:
    """Twin of `decode`: bytes that are no UTF-8 survive."""
    return text.encode("utf-8", "surrogateescape")


# The file, and beside it the sum of its bytes: SQLite would not notice a bit that flipped.


@contextmanager
def open_index(cache_dir: str, root: str, max_bytes: int) -> Iterator[CodeIndex]:
    """The index of a repository, for this look alone; in memory where the file cannot be used."""
    folder = os.path.join(cache_dir, FOLDER, store_key(os.path.realpath(root)))
    db = _open_file(folder, max_bytes)
    on_disk = db is not None
    db = db or sqlite3.connect(":memory:", isolation_level=None)
    try:
        if not db.execute("SELECT 1 FROM sqlite_master").fetchone():
            for statement in SCHEMA:
                db.execute(statement)
        yield CodeIndex(db)
        if on_disk and db.total_changes:
            with suppress(OSError, sqlite3.Error):  # a full disk: the next look is slower
                db.execute("COMMIT")
                db.close()  # before the file is read: closing it would drop the lock
                with open(os.path.join(folder, SUM), "w", encoding="ascii") as file:
                    file.write(_sum(folder))
    except DAMAGED:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    finally:
        db.close()


def _open_file(folder: str, max_bytes: int) -> sqlite3.Connection | None:
    """The file, locked; None if another look holds it, or nothing can be written there."""
    path = os.path.join(folder, FILE)
    try:
        if not _is_intact(folder, max_bytes):
            _make_folder(folder)
        db = sqlite3.connect(path, timeout=LOCK_SECONDS, isolation_level=None)
    except (OSError, sqlite3.Error):
        return None
    try:
        db.execute("BEGIN IMMEDIATE")
        return db
    except sqlite3.Error:
        db.close()
        return None


def _is_intact(folder: str, max_bytes: int) -> bool:
    try:
        sizes = [os.lstat(os.path.join(folder, name)) for name in (FILE, SUM)]
        if not all(stat.S_ISREG(facts.st_mode) and facts.st_size <= max_bytes for facts in sizes):
            return False
        with open(os.path.join(folder, SUM), encoding="ascii", errors="replace") as file:
            return file.read() == _sum(folder)
    except OSError:
        return False


def _sum(folder: str) -> str:
    total = 0
    with open(os.path.join(folder, FILE), "rb") as file:
        while piece := file.read(1 << 20):
            total = zlib.crc32(piece, total)
    return f"memdir code index {VERSION}, crc32 {total:08x}\n"


def _make_folder(folder: str) -> None:
    """An empty folder for the file; the oldest ones of other repositories make room."""
    above = os.path.dirname(folder)
    os.makedirs(above, 0o700, exist_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
    folders = [entry for entry in os.scandir(above) if entry.is_dir(follow_symlinks=False)]
    folders.sort(key=lambda entry: entry.stat().st_mtime)
    for entry in folders[: max(0, len(folders) - MAX_REPOSITORIES + 1)]:
        shutil.rmtree(entry.path, ignore_errors=True)
    os.mkdir(folder, 0o700)
    for name in (FILE, SUM):
        os.close(os.open(os.path.join(folder, name), os.O_CREAT | os.O_EXCL, 0o600))


class CodeIndex:
    """What earlier looks at a repository read, in one transaction."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db

    def get(self, key: str) -> str:
        """A value of the state, empty where there is none."""
        row = self.db.execute("SELECT value FROM state WHERE key = ?", (key,)).fetchone()
        return str(row[0]) if row else ""

    def put(self, key: str, value: str) -> None:
        """Set a value of the state."""
        self.db.execute("INSERT OR REPLACE INTO state VALUES (?, ?)", (key, value))

    def skip_files(self, paths: Iterable[str]) -> None:
        """Remember files that may have any word: they were not read."""
        rows = [(encode(path),) for path in paths]
        self.db.executemany("INSERT OR IGNORE INTO skipped VALUES (?)", rows)

    def skipped(self) -> list[str]:
        """Files that were not read."""
        return [decode(path) for (path,) in self.db.execute("SELECT path FROM skipped")]

    def commit_of(self, key: str) -> str:
        """A commit of the state; ValueError for anything else: it reaches a command line."""
        commit = self.get(key)
        if not is_commit(commit):
            raise ValueError("no commit of an index")
        return commit

    def find_commit(self, log: str, position: int) -> tuple[str, str]:
        """The short id and the day of a commit of a log."""
        query = "SELECT oid, seconds FROM commits WHERE log = ? AND position = ?"
        oid, seconds = self.db.execute(query, (log, position)).fetchone()
        return oid[:SHORT], day(seconds)

    def add_commits(self, log: str, commits: Sequence[tuple[str, int]]) -> int:
        """Put commits before those that are known; the position of the first."""
        query = "SELECT coalesce(min(position), 0) FROM commits WHERE log = ?"
        first = int(self.db.execute(query, (log,)).fetchone()[0]) - len(commits)
        rows = [(log, first + i, *commit) for i, commit in enumerate(commits)]
        self.db.executemany("INSERT INTO commits VALUES (?, ?, ?, ?)", rows)
        return first

    def finish_log(self, log: str, head: str, floor: str, *, read: bool, afresh: bool) -> None:
        """Remember how far a log was read; `floor` is the day before which nothing was."""
        known = "" if afresh else self.get(f"{log} floor")
        self.put(f"{log} floor", max(floor, known, key=lambda text: (text == "-", text)))
        self.put(f"{log} commit", head if read or not floor else "")  # nothing read: try again

    def forget(self, log: str, oids: Collection[str]) -> list[int]:
        """The positions of commits that are no more."""
        query = "SELECT position, oid FROM commits WHERE log = ?"
        return [position for position, oid in self.db.execute(query, (log,)) if oid in oids]


# Which files have which identifiers; only changed files are read again.


def update_symbols(
    index: CodeIndex, git: Git, tree: Tree, head: str, names: Collection[str],
    read: Callable[[list[str]], Texts], bounds: Bounds,
) -> None:  # fmt: skip
    """Bring the symbols to that commit, with these names among them."""
    db, old = index.db, index.commit_of("symbols commit")
    known = _numbers(index)
    changed = _find_changed(git, old, head) if old else None
    if changed is None or _starts_anew(index, changed, len(known), bounds):
        for table in ("names", "files", "skipped"):
            db.execute(f"DELETE FROM {table}")
        index.put("symbols cut", "")
        known, changed, old = {}, [], ""
    new = {name: len(known) + i for i, name in enumerate(sorted(set(names) - known.keys()))}
    if old == head and not new:
        return
    db.executemany(
        "INSERT INTO names VALUES (?, ?, 0, 0, '[]')",
        [(number, encode(name)) for name, number in new.items()],
    )
    touched = set(changed)
    for table in ("files", "skipped"):
        keys = [(encode(path),) for path in touched]
        db.executemany(f"DELETE FROM {table} WHERE path = ?", keys)
    memories = Memories(tree.files)
    paths = [path for path in tree.files if path not in tree.links and not memories.hold(path)]
    if known:
        _scan(index, read([path for path in paths if path in touched]), {**known, **new})
        paths = [path for path in paths if path not in touched]
    if new:
        _scan(index, read(paths), new)
    index.put("symbols commit", head)
    rows = [
        (use.code, use.prose, json.dumps(use.places), number)
        for number, use in enumerate(count_uses(index).values())
    ]
    db.executemany("UPDATE names SET code = ?, prose = ?, places = ? WHERE number = ?", rows)


def read_uses(index: CodeIndex) -> dict[str, Uses]:
    """How often each name is used in the commit."""
    query = "SELECT name, code, prose, places FROM names"
    return {
        decode(name): Uses(code, prose, tuple(json.loads(places)))
        for name, code, prose, places in index.db.execute(query)
    }


def overlay_uses(index: CodeIndex, dirty: Collection[str], texts: Texts) -> dict[str, Uses]:
    """The uses as they are with the changes that nobody has committed."""
    scanner = Scanner(_numbers(index))
    return count_uses(index, dirty, [(path, scanner.scan(data)) for path, data in texts])


def _numbers(index: CodeIndex) -> dict[str, int]:
    query = "SELECT name, number FROM names ORDER BY number"
    return {decode(name): number for name, number in index.db.execute(query)}


def _starts_anew(index: CodeIndex, changed: list[str], names: int, bounds: Bounds) -> bool:
    """True where only a fresh start gives what it would give without an index."""
    moved = any(path.endswith("/" + MEMORY_INDEX) for path in changed)  # others are memories now
    return moved or bool(index.get("symbols cut") and changed) or names > bounds.names


def _find_changed(git: Git, old: str, new: str) -> list[str] | None:
    """The paths in which two commits differ; None if the old one is gone."""
    if old == new:
        return []
    out, ended = git.ask("diff-tree", "-r", "-z", "--no-renames", "--name-only", old, new, "--")
    return [decode(path) for path in out.split(b"\0") if path] if ended.whole else None


def _scan(index: CodeIndex, texts: Texts, names: Mapping[str, int]) -> None:
    scanner = Scanner(names)
    scanned = ((path, scanner.scan(data)) for path, data in texts)
    rows = ((encode(path), array("i", hits).tobytes()) for path, hits in scanned if hits)
    joined = "CAST(files.hits || excluded.hits AS BLOB)"
    upsert = f"INSERT INTO files VALUES (?, ?) ON CONFLICT (path) DO UPDATE SET hits = {joined}"
    index.db.executemany(upsert, rows)


def count_uses(
    index: CodeIndex, without: Collection[str] = (), more: Iterable[tuple[str, Hits]] = ()
) -> dict[str, Uses]:
    """How often each name is used; `without` these files, but with `more` of them."""
    numbers = _numbers(index)
    files = list(more)
    for raw, hits in index.db.execute("SELECT path, hits FROM files"):
        path = decode(raw)
        if path not in without:
            some = array("i")
            some.frombytes(hits)
            files.append((path, some))
    files.sort(key=lambda file: file[0])
    code = [file for file in files if not is_prose(file[0])]
    prose = [file for file in files if is_prose(file[0])]
    in_code, in_prose = (
        Counter(chain.from_iterable(hits for _, hits in some)) for some in (code, prose)
    )
    hits = range(0, 2 * len(numbers), 2)
    defined = _find_places(code, {hit + 1 for hit in hits})
    used, named = _find_places(code, set(hits)), _find_places(prose, set(hits))
    uses = {}
    for name, hit in zip(numbers, hits, strict=True):
        places = dict.fromkeys((*defined[hit + 1], *used[hit], *named[hit]))
        uses[name] = Uses(in_code[hit], in_prose[hit], tuple(places)[:PLACES])
    return uses


def _find_places(files: list[tuple[str, Hits]], wanted: set[int]) -> defaultdict[int, list[str]]:
    """The first few files of each hit."""
    places: defaultdict[int, list[str]] = defaultdict(list)
    for path, hits in files:
        for hit in wanted.intersection(hits):
            places[hit].append(path)
            if len(places[hit]) == PLACES:
                wanted.discard(hit)
    return places
