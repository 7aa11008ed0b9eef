"""Creates and updates catalogs; the writer holds the lock beside the file."""

import fcntl
import os
from array import array

from memdir.errors import Finding, MemdirError, Missing
from memdir.hot.catalog import (
    NUMBER,
    PAGE_BYTES,
    UNSURE,
    VERSION,
    Connection,
    Damaged,
    connect,
    look_at_store,
    open_catalog,
    seconds,
)
from memdir.hot.disk import make_private
from memdir.hot.memory import Memory, decode, encode, stem
from memdir.hot.words import Words
from memdir.recall.scan import (
    Scan,
    Uncollected,
    log_count,
    log_holders,
    make_entry,
    number_memory,
    pack_entries,
    read_index_lines,
    read_whole,
    weigh_terms,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memdir.hot.catalog import Facts, State
    from memdir.store.ports import Store

    Changed = dict[str, tuple[Memory, str, str]]  # by path: memory, text, index line

# Columns that only updates need are separate, so a page holds more memories.
TABLES = (
    "CREATE TABLE memory (number INTEGER PRIMARY KEY, path BLOB UNIQUE, mtime INT, ctime INT,"
    " size INT, inode INT, head BLOB)",
    "CREATE INDEX rules ON memory (path) WHERE number & 1",
    "CREATE TABLE word (number INTEGER PRIMARY KEY, line BLOB, terms BLOB)",
    "CREATE TABLE posting (term BLOB PRIMARY KEY, log_holders REAL, entries BLOB) WITHOUT ROWID",
    "CREATE TABLE fact (name BLOB PRIMARY KEY, value BLOB)",
)
LOCK = "catalog.lock"
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
MEMORY_ROW = "INSERT INTO memory VALUES (?,?,?,?,?,?,?)"
WORD_ROW = "INSERT INTO word VALUES (?,?,?)"
POSTING_ROW = "INSERT OR REPLACE INTO posting VALUES (?,?,?)"
NO_FACTS = (0, 0, 0, 0)  # deleted since it was read: checked again next time


class Busy(Exception):
    """Another process is writing the catalog."""


class Guard:
    def __init__(self, path: str) -> None:
        folder = os.path.dirname(path)
        make_private(folder)
        self.handle = os.open(os.path.join(folder, LOCK), _FLAGS, 0o600)

    def __enter__(self) -> None:
        try:
            fcntl.flock(self.handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self.handle)
            raise Busy("another process is writing it") from None

    def __exit__(self, *_: object) -> None:
        os.close(self.handle)


def make_catalog(store: "Store", path: str, scan: Scan) -> None:
    """Scans under the lock: an earlier scan could undo another process's update."""
    with Guard(path), Uncollected():
        state = look_at_store(store)
        scan.read()
        temporary = f"{path}.tmp"
        if os.path.lexists(temporary):
            os.unlink(temporary)  # left by a killed process: we hold the lock
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW, 0o600))
        connection = connect(temporary, isolation_level=None)
        try:
            _fill(connection, scan, state)
            connection.close()
            _move(temporary, path)
        except BaseException:
            connection.close()
            if os.path.exists(temporary):
                os.unlink(temporary)
            raise


def _fill(connection: Connection, scan: Scan, state: "State") -> None:
    for setting in ("journal_mode = OFF", "synchronous = OFF", f"page_size = {PAGE_BYTES}"):
        connection.execute(f"PRAGMA {setting}")
    for order in (*TABLES, "BEGIN"):
        connection.execute(order)
    memories = sorted(scan.numbered.items())
    facts = state.facts
    rows = (_row(number, memory, facts.get(memory.path, NO_FACTS)) for number, memory in memories)
    connection.executemany(MEMORY_ROW, rows)
    words = zip(scan.numbered, map(encode, scan.lines), map(str.encode, scan.terms), strict=True)
    connection.executemany(WORD_ROW, words)
    postings = sorted(scan.postings.items())
    connection.executemany(POSTING_ROW, (_posting(*posting) for posting in postings))
    _write_facts(connection, len(scan.numbered), state)
    connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("COMMIT")


def _move(temporary: str, path: str) -> None:
    """The file is durable before the rename: a torn catalog could give wrong answers."""
    handle = os.open(temporary, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
    journal = f"{path}-journal"
    if os.path.lexists(journal):
        # Left by a killed writer: SQLite would apply it to the new file. The old file is removed
        # first, since without its journal it may contain half a change.
        if os.path.lexists(path):
            os.unlink(path)
        os.unlink(journal)
    os.replace(temporary, path)


def update_catalog(store: "Store", path: str, findings: list[Finding]) -> None:
    with Guard(path):
        state = look_at_store(store)
        catalog = open_catalog(path)
        try:
            known = catalog.known()
            lines = {}
            is_same_index = catalog.facts[b"index"] == encode(state.index)
            if not is_same_index:
                rows = catalog.rows(
                    (bytes, bytes), "SELECT path, line FROM memory JOIN word USING (number)"
                )
                lines = {decode(name): decode(line) for name, line in rows}
        finally:
            catalog.close()
        index = read_index_lines(store, findings)
        changed: Changed = {}
        gone = set(known) - set(state.facts)
        for name, facts in sorted(state.facts.items()):
            line = index.get(stem(name), "")
            is_same = facts[1] != UNSURE and facts == known.get(name)
            if is_same and (is_same_index or line == lines.get(name, "")):
                continue
            try:
                text = decode(store.view(name))
            except MemdirError as error:
                if not isinstance(error, Missing):  # deleted or archived in the meantime
                    findings.append(Finding(error.code, name, error.message, error.next))
                gone.add(name)
                continue
            changed[name] = read_whole(name, text, seconds(facts[0])), text, line
        _update_rows(path, state, gone, changed)


def _update_rows(path: str, state: "State", gone: set[str], changed: "Changed") -> None:
    catalog = open_catalog(path, write=True)
    words = Words()
    try:
        run = catalog.connection.execute
        run("BEGIN IMMEDIATE")
        removed: dict[str, set[int]] = {}
        added: dict[str, list[int]] = {}
        for name in (*gone, *changed):
            query = "SELECT number, terms FROM memory JOIN word USING (number) WHERE path = ?"
            for number, terms in catalog.rows((int, bytes), query, encode(name)):
                for term in terms.decode().split():
                    removed.setdefault(term, set()).add(number)
                run("DELETE FROM memory WHERE number = ?", (number,))
                run("DELETE FROM word WHERE number = ?", (number,))
        taken = {row[0] for row in run("SELECT number FROM memory")}
        for name, (memory, text, line) in changed.items():
            number = number_memory(memory, taken)
            taken.add(number)
            names, weights = weigh_terms(words, memory, text, line)
            facts = state.facts.get(name, NO_FACTS)
            run(MEMORY_ROW, _row(number, memory, facts))
            run(WORD_ROW, (number, encode(line), " ".join(names).encode()))
            for term, weight in zip(names, weights, strict=True):
                added.setdefault(term, []).append(make_entry(number, weight))
        for term in removed.keys() | added.keys():
            entries = array("Q")
            query = "SELECT entries FROM posting WHERE term = ?"
            for (data,) in catalog.rows((bytes,), query, encode(term)):
                entries.frombytes(data[: len(data) // entries.itemsize * entries.itemsize])
            numbers = removed.get(term, set())
            kept = [entry for entry in entries if entry & NUMBER not in numbers]
            if kept := kept + added.get(term, []):
                run(POSTING_ROW, _posting(term, array("Q", kept)))
            else:
                run("DELETE FROM posting WHERE term = ?", (encode(term),))
        if len(taken) != len(state.facts.keys() - gone):
            raise Damaged("it has other memories than the store")
        _write_facts(catalog.connection, len(taken), state)
        run("COMMIT")
    finally:
        catalog.close()


def _write_facts(connection: Connection, count: int, state: "State") -> None:
    folders = [f"{changed} {path}" for path, changed in state.folders.items()]
    facts = [
        (b"count", str(count).encode()),
        (b"log_count", str(log_count(count)).encode()),
        (b"index", encode(state.index)),
        (b"files", state.files()),
        (b"folders", encode("\0".join(folders))),
    ]
    connection.executemany("INSERT OR REPLACE INTO fact VALUES (?,?)", facts)


def _row(number: int, memory: Memory, facts: "Facts") -> tuple[object, ...]:
    return number, encode(memory.path), *facts, encode(memory.head)


def _posting(term: str, entries: "array[int]") -> tuple[object, ...]:
    return encode(term), log_holders(len(entries)), pack_entries(entries)
