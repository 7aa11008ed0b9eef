"""Search without a catalog: reads everything into memory. Catalogs are made from it.

The writer of a catalog holds the lock beside the file.
"""

import fcntl
import gc
import os
from _collections import defaultdict, deque  # type: ignore[import-not-found, unused-ignore]
from array import array
from binascii import crc32
from math import log

from memdir.errors import Finding, MemdirError, Missing
from memdir.format.pointer import parse_pointers, pointer_path
from memdir.hot import memory as memory_module
from memdir.hot.catalog import (
    HEAVIEST,
    MAX_HOLDERS,
    NUMBER,
    PAGE_BYTES,
    SHIFT,
    UNSURE,
    VERSION,
    Connection,
    Damaged,
    catalog_seconds,
    catalog_state,
    connect,
    open_catalog,
    rank_catalog_hits,
    read_catalog_weights,
)
from memdir.hot.disk import create_file_once, move, open_file_to_append, remove_file
from memdir.hot.memory import Memory, decode, encode, stem
from memdir.hot.recall import RULES, STEPS, Found, Matches, read_prompt_terms
from memdir.hot.words import Words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container

    from memdir.hot.catalog import Facts, State
    from memdir.store.ports import Store

    Changed = dict[str, tuple[Memory, str, str]]  # by path: memory, text, index line

MAX_INDEX_LINES, INDEX_LINE_CHARACTERS = 20, 1000  # index lines per memory
SPACES = str.maketrans("-_/", "   ")
# Weights of a word in the file name or name, and in the description; elsewhere it counts once.
NAMES, DESCRIPTION = 2, 3
LENGTH, USUAL_LENGTH = 0.6, 80  # influence of a body's length, and a usual length in words


def number_memory_to_recall(memory: Memory, taken: "Container[int]") -> int:
    """Derived from the path, so ties keep their order; odd for a rule."""
    number = crc32(memory.path.encode("utf-8", "surrogateescape")) & ~1 | (memory.kind in RULES)
    while number in taken:
        number = (number + 2) & NUMBER
    return number


def pack_postings(entries: "array[int]") -> bytes:
    return (array("Q", sorted(entries)) if len(entries) > MAX_HOLDERS else entries).tobytes()


def bm25_recall_term_factor(count: int) -> float:
    """The BM25 factor that depends on how many memories contain the term."""
    return log(count + 0.5)


def bm25_recall_store_factor(count: int) -> float:
    """The BM25 factor that depends on the size of the store."""
    return log(count + 1)


def weigh_recall_terms(
    words: Words, memory: Memory, text: str, line: str, number: int
) -> dict[str, int]:
    """The memory's posting for each of its terms."""
    document = memory.document  # may hold the header only
    header_only = document.closing and not document.body and text.startswith(memory.head)
    body = text[len(memory.head) :] if header_only else memory_module.read_header(text).body
    counts, length = words.count(body)
    share = STEPS / (1 - LENGTH + LENGTH * length / USUAL_LENGTH)
    names = f"{stem(memory.path).translate(SPACES)} {memory.values.get('name', '')} "
    heading, _ = words.count(names * NAMES + f"{memory.description} " * DESCRIPTION + line)
    postings = {count: _posting(number, count * share) for count in set(counts.values())}
    entries = dict(zip(counts, map(postings.__getitem__, counts.values()), strict=True))
    get = counts.get
    for term, count in heading.items():
        entries[term] = _posting(number, count * STEPS + get(term, 0) * share)
    return entries


def _posting(number: int, weight: float) -> int:
    # A word may occur hundreds of times.
    return HEAVIEST - (min(int(weight + 0.5), HEAVIEST) or 1) << SHIFT | number


def read_searched_memory(path: str, text: str, mtime: float) -> Memory:
    document = memory_module.read_header(text)
    head = text[: len(text) - len(document.body)] if document.closing else ""
    return Memory(path, head, mtime, len(memory_module.encode(text)))


def read_searched_index(store: "Store", findings: list[Finding]) -> dict[str, str]:
    try:
        index = store.index()
    except MemdirError as error:
        findings.append(Finding(error.code, error.path, error.message, error.next))
        index = None
    targets: dict[str, list[str]] = {}
    for number, line in enumerate(decode(index or b"").split("\n")):
        for pointer in parse_pointers(line, number):
            lines = targets.setdefault(stem(pointer_path(pointer.target) or pointer.target), [])
            if len(lines) < MAX_INDEX_LINES:
                lines.append(f"{pointer.title} {pointer.hook}"[:INDEX_LINE_CHARACTERS])
    return {target: " ".join(lines) for target, lines in targets.items()}


def _no_entries() -> "array[int]":
    return array("Q")  # a quarter of the memory of a list


class Scan:
    def __init__(self, store: "Store") -> None:
        self.store = store
        self.words = Words()
        self.numbered: dict[int, Memory] = {}
        self.words_of: list[tuple[int, bytes, bytes]] = []  # number, index text, terms
        self.postings: dict[str, array[int]] = defaultdict(_no_entries)
        self.findings: list[Finding] = []
        self._read = False

    def find(self, prompt: str, limit: int) -> Found:
        self.read()

        def look_up(term: str) -> tuple[float, dict[int, int]]:
            entries = self.postings.get(term) or _no_entries()
            data = pack_postings(entries)[: MAX_HOLDERS * entries.itemsize]
            return bm25_recall_term_factor(len(entries)), read_catalog_weights(data)

        numbered = self.numbered
        log_count = bm25_recall_store_factor(len(numbered))
        matches = Matches(read_prompt_terms(prompt, self.words), log_count, look_up)
        best = matches.best(limit)
        rules = [
            memory
            for number, memory in (numbered.items() if len(best) < limit else ())
            if number & 1 and number not in matches.scores
        ]
        hits = rank_catalog_hits(matches, best, numbered, rules, limit)
        return Found(hits, len(numbered), self.findings)

    def read(self) -> None:
        if self._read:
            return
        collects = gc.isenabled()
        gc.disable()  # collecting garbage would take a fifth of the time
        try:
            self._read_all()
        finally:
            if collects:
                gc.enable()
        self._read = True

    def _read_all(self) -> None:
        scan, postings = self.store.scan(), self.postings
        self.findings = list(scan.findings)
        lines = read_searched_index(self.store, self.findings)
        for memory in sorted(scan.memories, key=lambda memory: memory.path):
            try:
                text = decode(self.store.view(memory.path))
            except MemdirError as error:
                finding = Finding(error.code, memory.path, error.message, error.next)
                self.findings.append(finding)
                continue
            if memory.head and not memory.document.closing:
                memory = read_searched_memory(memory.path, text, memory.mtime)
            line = lines.get(stem(memory.path), "")
            number = number_memory_to_recall(memory, self.numbered)
            entries = weigh_recall_terms(self.words, memory, text, line, number)
            self.numbered[number] = memory
            self.words_of.append((number, encode(line), " ".join(entries).encode()))
            # Three times as fast as a loop.
            deque(map(array.append, map(postings.__getitem__, entries), entries.values()), 0)


class Fresh:
    """Reads the store for every search; use `Scan` for many searches of a store at rest."""

    def __init__(self, store: "Store") -> None:
        self.store = store

    def find(self, prompt: str, limit: int) -> "Found":
        return Scan(self.store).find(prompt, limit)


def open_search(store: "Store", folder: str) -> Fresh:
    return Fresh(store)


# Columns that only updates need are separate, so a page holds more memories.
TABLES = (
    "CREATE TABLE memory (number INTEGER PRIMARY KEY, path BLOB, mtime INT, ctime INT,"
    " size INT, inode INT, head BLOB)",
    "CREATE TABLE word (number INTEGER PRIMARY KEY, line BLOB, terms BLOB)",
    "CREATE TABLE posting (term BLOB PRIMARY KEY, log_holders REAL, entries BLOB) WITHOUT ROWID",
    "CREATE TABLE fact (name BLOB PRIMARY KEY, value BLOB)",
)
INDEXES = (  # made after the rows: a third of the time
    "CREATE UNIQUE INDEX paths ON memory (path)",
    "CREATE INDEX rules ON memory (path) WHERE number & 1",
)
LOCK = "catalog.lock"
MEMORY_ROW = "INSERT INTO memory VALUES (?,?,?,?,?,?,?)"
WORD_ROW = "INSERT INTO word VALUES (?,?,?)"
POSTING_ROW = "INSERT OR REPLACE INTO posting VALUES (?,?,?)"
NO_FACTS = (0, 0, 0, 0)  # deleted since it was read: checked again next time


class Busy(Exception):
    """Another process is writing the catalog."""


class Guard:
    def __init__(self, path: str) -> None:
        self.handle = open_file_to_append(os.path.join(os.path.dirname(path), LOCK))

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
    with Guard(path):
        state = catalog_state(store)
        scan.read()
        temporary = f"{path}.tmp"
        remove_file(temporary)  # left by a killed process: we hold the lock
        create_file_once(temporary, b"")
        connection = connect(temporary, isolation_level=None)
        try:
            _fill(connection, scan, state)
            connection.close()
            _move(temporary, path)
        except BaseException:
            connection.close()
            remove_file(temporary)
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
    connection.executemany(WORD_ROW, sorted(scan.words_of))
    postings = sorted(scan.postings.items())
    connection.executemany(POSTING_ROW, (_posting_row(*posting) for posting in postings))
    _write_facts(connection, len(scan.numbered), state)
    for order in INDEXES:
        connection.execute(order)
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
    move(temporary, path)


def update_catalog(store: "Store", path: str, findings: list[Finding]) -> None:
    with Guard(path):
        state = catalog_state(store)
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
        index = read_searched_index(store, findings)
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
            changed[name] = read_searched_memory(name, text, catalog_seconds(facts[0])), text, line
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
            number = number_memory_to_recall(memory, taken)
            taken.add(number)
            entries = weigh_recall_terms(words, memory, text, line, number)
            facts = state.facts.get(name, NO_FACTS)
            run(MEMORY_ROW, _row(number, memory, facts))
            run(WORD_ROW, (number, encode(line), " ".join(entries).encode()))
            for term, entry in entries.items():
                added.setdefault(term, []).append(entry)
        for term in removed.keys() | added.keys():
            old = array("Q")
            query = "SELECT entries FROM posting WHERE term = ?"
            for (data,) in catalog.rows((bytes,), query, encode(term)):
                old.frombytes(data[: len(data) // old.itemsize * old.itemsize])
            numbers = removed.get(term, set())
            kept = [entry for entry in old if entry & NUMBER not in numbers]
            if kept := kept + added.get(term, []):
                run(POSTING_ROW, _posting_row(term, array("Q", kept)))
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
        (b"log_count", str(bm25_recall_store_factor(count)).encode()),
        (b"index", encode(state.index)),
        (b"files", state.files()),
        (b"folders", encode("\0".join(folders))),
    ]
    connection.executemany("INSERT OR REPLACE INTO fact VALUES (?,?)", facts)


def _row(number: int, memory: Memory, facts: "Facts") -> tuple[object, ...]:
    return number, encode(memory.path), *facts, encode(memory.head)


def _posting_row(term: str, entries: "array[int]") -> tuple[object, ...]:
    return encode(term), bm25_recall_term_factor(len(entries)), pack_postings(entries)
