"""The catalog: the search index of a store, in a SQLite file that may be deleted at any time.

If it is missing, damaged, locked, read-only or of another version, a scan gives the same answer,
with a finding. No WAL and no mmap: many SQLite versions may lose a write there. Only one writer, by
a lock beside the file (recall/scan.py); readers open it read-only. Text is stored as
bytes, since it may not be UTF-8.
"""

import errno
import os
import stat
import sys
from marshal import dumps
from time import time, time_ns

from memdir.hot.memory import INDEX, NOT_MEMORIES, TEAM, Memory, decode, encode
from memdir.hot.recall import RULE_START, Found, Hit, Matches, read_prompt_terms
from memdir.hot.words import Words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from memdir.errors import Finding
    from memdir.recall.scan import Scan
    from memdir.store.ports import Store

    Facts = tuple[int, ...]  # mtime, ctime, size, inode
    Row = tuple[int, Memory, Facts]  # number, memory, facts of its file

# `_sqlite3` imports `functools` (2 ms) only for `lru_cache`. Unless it is imported already, a
# stand-in with the C part of that cache is enough.
if "functools" in sys.modules or "_sqlite3" in sys.modules:
    from _sqlite3 import Connection, connect
    from _sqlite3 import Error as SqlError
else:
    from _functools import _lru_cache_wrapper  # type: ignore[import-not-found, unused-ignore]

    _stand_in = type(sys)("functools")
    _stand_in.lru_cache = lambda size: lambda made: _lru_cache_wrapper(made, size, False, tuple)  # type: ignore[attr-defined]
    sys.modules["functools"] = _stand_in
    try:
        from _sqlite3 import Connection, connect
        from _sqlite3 import Error as SqlError
    finally:
        del sys.modules["functools"]  # later imports get the real module

__all__ = ["Connection", "SqlError", "connect"]

NAME = "catalog.sqlite"
VERSION = 5  # of tables, words and weights; a catalog of another version is rebuilt
PAGE_BYTES = 4096
READ_WAIT_SECONDS = 0.05  # for a writer
WRITE_WAIT_SECONDS = 0.5  # for readers: each holds the lock while it answers
LARGEST = 1 << 63  # first integer that SQLite cannot store
OLDEST = -23 * 10**17  # nanoseconds; times before 1898 are wrapped times after 2480
FACTS = (b"count", b"index", b"files", b"folders", b"log_count")
MEMORY_TYPES = (bytes, bytes, int, int, int, int, int)  # column types of a memory

# Entries of a term: an integer per memory, the inverted weight above the memory's number. Sorted,
# the largest weights come first, so a search can stop early. Memory numbers of rules are odd.
SHIFT = 32
NUMBER = (1 << SHIFT) - 1
HEAVIEST = 65_535
ENTRY_BYTES = 8
MAX_HOLDERS = 500  # memories per term that are read, those with the largest weights

# In a small store every file is checked with a stat. In a large one the folders are checked, whose
# times change when a file is added, removed or replaced, then the memories found, and some of the
# others in turn: an edit in place is noticed after a few prompts.
SMALL = 1000  # largest number of memories that are all checked
TURN = 200  # memories of a large store checked per prompt
STRIDE = 2_654_435_761  # spreads the starting number evenly, changing every second
TICK_NANOSECONDS = 50_000_000  # a second change within a tick may go unnoticed
UNSURE = 0  # instead of the ctime


def read_catalog_weights(data: bytes) -> dict[int, int]:
    """Weight by memory number; trailing bytes that are no whole entry are ignored."""
    entries = memoryview(data)[: len(data) // ENTRY_BYTES * ENTRY_BYTES].cast("Q").tolist()
    return {entry & NUMBER: HEAVIEST - (entry >> SHIFT) for entry in entries}


class Damaged(Exception):
    """The file is broken or not a catalog of this version."""


class Catalog:
    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        if self.rows((int,), "PRAGMA user_version") != [(VERSION,)]:
            raise Damaged("it was made by another version of memdir")
        self.facts = dict(self.rows((bytes, bytes), "SELECT name, value FROM fact"))
        if not self.facts.keys() >= set(FACTS):
            raise Damaged("it has lost what it says about the store")
        self.count = int(self.facts[b"count"])

    def close(self) -> None:
        self.connection.close()

    def known(self, where: str = "", *values: object) -> "dict[str, Facts]":
        query = f"SELECT path, mtime, ctime, size, inode FROM memory {where}"
        rows = self.rows((bytes, int, int, int, int), query, *values)
        return {decode(row[0]): row[1:] for row in rows}

    def look_up(self, term: str) -> tuple[float, dict[int, int]]:
        """Logarithm of the number of memories with the term, and the largest weights."""
        query = "SELECT log_holders, substr(entries, 1, ?) FROM posting WHERE term = ?"
        rows = self.rows((float, bytes), query, MAX_HOLDERS * ENTRY_BYTES, encode(term))
        return (rows[0][0], read_catalog_weights(rows[0][1])) if rows else (0.0, {})

    def memories(self, where: str, *values: object) -> "list[Row]":
        query = f"SELECT path, head, number, mtime, ctime, size, inode FROM memory WHERE {where}"
        return [
            (number, Memory(decode(path), decode(head), catalog_seconds(facts[0]), facts[2]), facts)
            for path, head, number, *facts in self.rows(MEMORY_TYPES, query, *values)
        ]

    def rows(self, types: tuple[type, ...], query: str, *values: object) -> "list[Any]":
        """Checks column types: SQLite detects a broken file, but not wrong values in it."""
        try:
            rows = self.connection.execute(query, values).fetchall()
        except UnicodeDecodeError:  # SQLite's message about damage may not be UTF-8
            raise Damaged("it cannot be read") from None
        for row in rows:
            if tuple(map(type, row)) != types:
                raise Damaged("it holds something else than what was written")
        return rows


def fold_into_64_bits(facts: "Sequence[int]") -> list[int]:
    """Wraps numbers beyond 64 bits signed, which SQLite cannot store (year 2300, odd disks)."""
    return [fact - 2 * LARGEST if fact >= LARGEST else fact for fact in facts]


def catalog_seconds(nanoseconds: int) -> float:
    return (nanoseconds + 2 * LARGEST if nanoseconds < OLDEST else nanoseconds) / 1e9


def open_catalog(path: str, *, write: bool = False) -> Catalog:
    """With `write`, the caller holds the lock beside the file."""
    address = "file:" + path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    mode, wait = ("rw", WRITE_WAIT_SECONDS) if write else ("ro", READ_WAIT_SECONDS)
    connection = connect(f"{address}?mode={mode}", timeout=wait, isolation_level=None, uri=True)
    try:
        if not write:
            connection.execute("BEGIN")  # one lock for all queries
        return Catalog(connection)
    except BaseException:
        connection.close()
        raise


def rank_catalog_hits(
    matches: Matches,
    best: list[tuple[float, int]],
    memories: dict[int, Memory],
    rules: "Iterable[Memory]",
    limit: int,
) -> list[Hit]:
    hits = [Hit(memories[number], score, *matches.explain(number)) for score, number in best]
    hits += [Hit(memory, RULE_START, 0.0, {}) for memory in rules]
    hits.sort(key=lambda hit: (-hit.score, hit.memory.path))
    return [hit for hit in hits[:limit] if hit.score > 0]


class State:
    def __init__(self, facts: "dict[str, Facts]", folders: dict[str, int], index: str) -> None:
        self.facts = facts
        self.folders = folders  # mtimes, only for a large store
        self.index = index

    def files(self) -> bytes:
        # Version 2 of marshal writes equal values as equal bytes.
        return dumps(sorted(self.facts.items()), 2) if len(self.facts) <= SMALL else b""

    def is_unsure(self) -> bool:
        return any(facts[1] == UNSURE for facts in self.facts.values())


def catalog_state(store: "Store") -> State:
    """Files that changed within the last tick are marked UNSURE and read again next time."""
    now = time_ns()
    young = now - TICK_NANOSECONDS
    state = {}
    for path, facts in store.tree().items():
        plain = path[-3:] == ".md" and "/" not in path and path.lower() not in NOT_MEMORIES
        if plain or store.is_memory(path):
            state[path] = facts
            if facts[1] > young or facts[0] >= LARGEST or facts[3] >= LARGEST:
                mtime, ctime, *rest = fold_into_64_bits(facts)
                state[path] = (mtime, UNSURE if facts[1] > young else ctime, *rest)
    if not state and store.standalone() is not None:
        state[INDEX] = store.facts(INDEX) or (0, 0, 0, 0)
    folders = catalog_folder_times(store.root, now) if len(state) > SMALL else {}
    return State(state, folders, catalog_index_facts(store))


def catalog_index_facts(store: "Store") -> str:
    path = store.index_path
    facts = store.facts(path)
    now = time_ns()
    young = facts and now - facts[1] < TICK_NANOSECONDS
    return f"{path} {now if young else facts}"


def is_same_file_as_in_catalog(root: str, path: str, facts: "Facts") -> bool:
    try:
        now = os.lstat(f"{root}/{path}")
    except OSError:
        return False
    times = now.st_mtime_ns, now.st_ctime_ns
    return fold_into_64_bits((*times, now.st_size, now.st_ino)) == list(facts)


def catalog_folder_times(root: str, now: int) -> dict[str, int]:
    """Modification time of each folder; 0 if it changed within the last tick."""
    times: dict[str, int] = {}
    waiting = [""]
    while waiting:
        path = waiting.pop()
        where = os.path.join(root, path) if path else root
        changed = _changed(where)
        times[path] = changed if now - changed >= TICK_NANOSECONDS else 0
        try:
            with os.scandir(where) as entries:
                names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        except OSError:
            continue  # deleted or unreadable: its memories are not seen either
        below = [f"{path}/{name}" if path else name for name in names if name[0] != "."]
        waiting += [folder for folder in below if folder != TEAM]
    return times


def _changed(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return -1


class Fts:
    def __init__(self, store: "Store", folder: str) -> None:
        self.store = store
        self.path = os.path.join(folder, NAME)
        self.findings: list[Finding] = []

    def find(self, prompt: str, limit: int) -> Found:
        self.findings = []
        scan = None
        try:
            answer = self._ask(prompt, limit)
            if answer is None and self._update():
                answer = self._ask(prompt, limit, again=True)
            if answer is not None:
                return answer
        except (Damaged, SqlError, OSError, ArithmeticError, ValueError) as error:
            scan = self._make_anew(error)
        from memdir.recall.scan import Scan

        answer = (scan or Scan(self.store)).find(prompt, limit)
        return Found(answer.hits, answer.searched, answer.findings + self.findings)

    def _ask(self, prompt: str, limit: int, *, again: bool = False) -> Found | None:
        modes = []
        for path in (f"{self.path}-journal", self.path):
            try:
                facts = os.lstat(path)
                modes.append(facts.st_mode)
            except FileNotFoundError:
                if path == self.path:
                    raise FileNotFoundError(errno.ENOENT, "there was none", path) from None
        if not all(map(stat.S_ISREG, modes)):
            raise Damaged("it is no file")  # opening a pipe would block forever
        if facts.st_size % PAGE_BYTES:  # SQLite detects only whole missing pages
            raise Damaged("a part of it is missing")
        catalog = open_catalog(self.path)
        try:
            large = catalog.count > SMALL
            if not again and not (self._is_unchanged if large else self._is_fresh)(catalog):
                return None
            log_count = float(catalog.facts[b"log_count"])
            matches = Matches(read_prompt_terms(prompt, Words()), log_count, catalog.look_up)
            best = matches.best(limit)
            numbers = [number for _, number in best]
            rows = catalog.memories(f"number IN ({','.join('?' * len(best))})", *numbers)
            if len(rows) != len(best):
                raise Damaged("it names memories that it does not have")
            doubtful = rows if large and not again else []
            if not all(
                is_same_file_as_in_catalog(self.store.root, memory.path, facts)
                for _, memory, facts in doubtful
            ):
                return None
            rules: list[Row] = []
            if len(best) < limit:
                rules = catalog.memories("number & 1 ORDER BY path LIMIT ?", limit + len(best))
        finally:
            catalog.close()
        memories = {number: memory for number, memory, _ in rows}
        rest = [memory for number, memory, _ in rules if number not in matches.scores]
        hits = rank_catalog_hits(matches, best, memories, rest, limit)
        return Found(hits, catalog.count, self.findings)

    def _is_fresh(self, catalog: Catalog) -> bool:
        state = catalog_state(self.store)
        facts = catalog.facts
        if facts[b"index"] != encode(state.index) or facts[b"files"] != state.files():
            return False
        return not state.is_unsure()

    def _is_unchanged(self, catalog: Catalog) -> bool:
        root = self.store.root
        if catalog.facts[b"index"] != encode(catalog_index_facts(self.store)):
            return False
        for folder in decode(catalog.facts[b"folders"]).split("\0"):
            changed, _, path = folder.partition(" ")
            if str(_changed(os.path.join(root, path) if path else root)) != changed:
                return False
        start = int(time()) * STRIDE % (NUMBER + 1)
        some = catalog.known("WHERE number >= ? ORDER BY number LIMIT ?", start, TURN)
        return all(is_same_file_as_in_catalog(root, path, facts) for path, facts in some.items())

    def _update(self) -> bool:
        from memdir.recall.scan import Busy, update_catalog

        try:
            update_catalog(self.store, self.path, self.findings)
        except Busy as error:
            self._report("catalog-not-written", f"is behind and was not written: {error}")
            return False
        return True

    def _make_anew(self, error: Exception) -> "Scan":
        """Writes a new catalog; returns the scan it was made from."""
        from memdir.recall.scan import Busy, Scan, make_catalog

        scan = Scan(self.store)
        cause = error.strerror if isinstance(error, OSError) else str(error)
        try:
            make_catalog(self.store, self.path, scan)
            self._report("catalog-made", f"was made anew: {cause}")
        except (Busy, SqlError, OSError, ArithmeticError, ValueError) as why:
            self._report("catalog-not-written", f"could not be used ({cause}) nor written: {why}")
        return scan

    def _report(self, kind: str, message: str) -> None:
        from memdir.errors import Finding

        fix = "nothing to do: it is derived, and the answer is the same without it"
        self.findings.append(Finding(kind, self.path, f"the catalog {message}", fix))


def open_search(store: "Store", folder: str) -> Fts:
    return Fts(store, folder)
