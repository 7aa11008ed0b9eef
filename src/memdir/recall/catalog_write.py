"""Make a catalog, and bring one up to date: whoever writes holds the lock beside the file."""

import fcntl
import os

from memdir.errors import Finding, MemdirError, Missing
from memdir.hot import catalog as catalog_module
from memdir.hot.catalog import (
    VERSION,
    Catalog,
    Connection,
    Damaged,
    Facts,
    connect,
    is_rule,
    open_catalog,
    read_entries,
    seconds,
)
from memdir.hot.memory import Memory, encode, stem
from memdir.hot.words import Words
from memdir.recall.scan import Scan, Uncollected

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Mapping

    from memdir.hot.catalog import State
    from memdir.store.ports import Store


TABLES = (
    "CREATE TABLE memory (number INTEGER PRIMARY KEY, path BLOB UNIQUE, mtime INT, ctime INT,"
    " size INT, inode INT, head BLOB, line BLOB, rule INT, terms BLOB)",
    "CREATE INDEX rules ON memory (path) WHERE rule = 1",
    "CREATE TABLE posting (term BLOB PRIMARY KEY, holders INT, entries BLOB) WITHOUT ROWID",
    "CREATE TABLE folder (path BLOB PRIMARY KEY, changed INT)",
    "CREATE TABLE fact (name BLOB PRIMARY KEY, value BLOB)",
)
LOCK = "catalog.lock"
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
MEMORY_ROW = "INSERT INTO memory VALUES (?,?,?,?,?,?,?,?,?,?)"
POSTING_ROW = "INSERT OR REPLACE INTO posting VALUES (?,?,?)"


def write_new(path: str, scan: "Scan", state: "State") -> None:
    """A whole new catalog in the place of whatever is there."""
    temporary = f"{path}.tmp"
    if os.path.lexists(temporary):
        os.unlink(temporary)  # of a process that was killed: only the holder of the lock writes
    os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW, 0o600))
    connection = connect(temporary, isolation_level=None)
    try:
        for order in ("PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF", *TABLES, "BEGIN"):
            connection.execute(order)
        none = (0, 0, 0, 0)  # gone since it was read: looked at again the next time
        connection.executemany(
            MEMORY_ROW,
            (
                _row(number, memory, state.facts.get(memory.path, none), line, terms)
                for (number, memory), line, terms in sorted(
                    zip(scan.numbered.items(), scan.lines, scan.terms, strict=True),
                    key=lambda row: row[0][0],
                )
            ),
        )
        connection.executemany(
            POSTING_ROW, (_posting(*pair) for pair in sorted(scan.postings.items()))
        )
        _write_facts(connection, len(scan.numbered), state)
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
        connection.close()
        _move(temporary, path)
    except BaseException:
        connection.close()
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def update_rows(
    path: str,
    state: "State",
    gone: "set[str]",
    changed: "Mapping[str, tuple[Memory, bytes, str]]",
) -> None:
    """Take out what is gone, put in what changed: memory, bytes and line of the index by path."""
    catalog = open_catalog(path, write=True)
    words = Words()
    try:
        run = catalog.connection.execute
        run("BEGIN IMMEDIATE")
        removed: dict[str, set[int]] = {}
        added: dict[str, array[int]] = {}
        for name in (*gone, *changed):
            _take_out(catalog, name, removed)
        taken = {row[0] for row in run("SELECT number FROM memory")}
        for name, (memory, data, line) in changed.items():
            number = catalog_module.number_of(name, taken)
            taken.add(number)
            terms, weights = read_entries(words, memory, data, line)
            facts = state.facts.get(name, (0, 0, 0, 0))
            run(MEMORY_ROW, _row(number, memory, facts, line, " ".join(terms)))
            for term, weight in zip(terms, weights, strict=True):
                added.setdefault(term, catalog_module.none()).append(
                    catalog_module.entry(number, weight)
                )
        for term in removed.keys() | added.keys():
            _rewrite(
                catalog, term, removed.get(term, set()), added.get(term, catalog_module.none())
            )
        count = run("SELECT count(*) FROM memory").fetchone()[0]
        if count != len(state.facts.keys() - gone):
            raise Damaged("it has other memories than the store")
        _write_facts(catalog.connection, count, state)
        run("COMMIT")
    finally:
        catalog.close()


def _take_out(catalog: Catalog, path: str, removed: dict[str, set[int]]) -> None:
    found = catalog.terms(path)
    if found is not None:
        number, terms = found
        for term in terms:
            removed.setdefault(term, set()).add(number)
        catalog.connection.execute("DELETE FROM memory WHERE path = ?", (encode(path),))


def _rewrite(catalog: Catalog, term: str, removed: set[int], added: "array[int]") -> None:
    entries = catalog_module.none()
    kept = [one for one in catalog.entries(term) if one & catalog_module.NUMBER not in removed]
    entries.extend(kept)
    entries.extend(added)
    if entries:
        catalog.connection.execute(POSTING_ROW, _posting(term, entries))
    else:
        catalog.connection.execute("DELETE FROM posting WHERE term = ?", (encode(term),))


def _write_facts(connection: Connection, count: int, state: "State") -> None:
    connection.execute("DELETE FROM folder")
    folders = [(encode(path), changed) for path, changed in state.folders.items()]
    connection.executemany("INSERT INTO folder VALUES (?,?)", folders)
    facts = {"count": str(count), "index": state.index, "files": state.files}
    rows = [(encode(name), encode(value)) for name, value in facts.items()]
    connection.executemany("INSERT OR REPLACE INTO fact VALUES (?,?)", rows)


def _row(number: int, memory: Memory, facts: Facts, line: str, terms: str) -> tuple[object, ...]:
    path, head = encode(memory.path), encode(memory.head)
    return number, path, *facts, head, encode(line), int(is_rule(memory)), terms.encode()


def _posting(term: str, entries: "array[int]") -> tuple[object, ...]:
    return encode(term), len(entries), catalog_module.pack(entries)


def _move(temporary: str, path: str) -> None:
    """Durably whole before it takes the name: a torn catalog could lie."""
    handle = os.open(temporary, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
    journal = f"{path}-journal"
    if os.path.lexists(journal):
        # Of a writer that was killed: SQLite would play it into the new file. The old file goes
        # first, since without its journal it may be half of a change.
        if os.path.lexists(path):
            os.unlink(path)
        os.unlink(journal)
    os.replace(temporary, path)


class Busy(Exception):
    """Another process is writing the catalog."""


class Guard:
    """The right to write a catalog, held while the block runs."""

    def __init__(self, path: str) -> None:
        folder = os.path.dirname(path)
        _make(folder)
        self.handle = os.open(os.path.join(folder, LOCK), _FLAGS, 0o600)

    def __enter__(self) -> None:
        try:
            fcntl.flock(self.handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self.handle)
            raise Busy("another process is writing it") from None

    def __exit__(self, *_: object) -> None:
        os.close(self.handle)


def make(store: "Store", path: str, scan: Scan) -> None:
    """A new catalog from what a scan reads now: an earlier look would take back an update."""
    with Guard(path), Uncollected():
        state = catalog_module.look(store)
        scan.read()
        write_new(path, scan, state)


def update(store: "Store", path: str, findings: list[Finding]) -> None:
    """Read again what changed since the catalog was written, and nothing else."""
    with Guard(path):
        state = catalog_module.look(store)
        catalog = open_catalog(path)
        try:
            known = catalog.known()
            lines = catalog.lines() if catalog.fact("index") != state.index else None
        finally:
            catalog.close()
        new = {
            path
            for path, facts in state.facts.items()
            if catalog_module.is_unsure(facts) or facts != known.get(path)
        }
        said = catalog_module.lines_of(_index(store, findings))
        if lines is not None:
            new |= {path for path in state.facts if said.get(stem(path), "") != lines.get(path, "")}
        changed: dict[str, tuple[Memory, bytes, str]] = {}
        gone = set(known) - set(state.facts)
        for one in sorted(new):
            try:
                data = store.view(one)
            except Missing:
                gone.add(one)  # since we looked, or it is put away
                continue
            except MemdirError as error:
                findings.append(Finding(error.code, one, error.message, error.next))
                gone.add(one)
                continue
            memory = catalog_module.read_whole(one, data, seconds(state.facts[one][0]))
            changed[one] = memory, data, said.get(stem(one), "")
        update_rows(path, state, gone, changed)


def _index(store: "Store", findings: list[Finding]) -> bytes | None:
    try:
        return store.index()
    except MemdirError as error:
        findings.append(Finding(error.code, error.path, error.message, error.next))
        return None


def _make(folder: str) -> None:
    """The folder and those above it, private."""
    if not os.path.isdir(folder):
        above = os.path.dirname(folder)
        if above != folder:
            _make(above)
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            if not os.path.isdir(folder):
                raise
