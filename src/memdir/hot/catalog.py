"""The catalog: what a search needs of a store, in one SQLite file that may vanish at any time.

Where it is missing, damaged, locked, read-only or of another version the answer comes from a scan
and is the same; one finding says so. No WAL and no mmap: many SQLite versions may lose a write
there. One writer at a time, by a lock beside the file; readers open it read-only. Text is kept as
bytes: what is not UTF-8 must not stop it.
"""

import errno
import os
import stat
import sys
from binascii import crc32
from marshal import dumps
from time import time, time_ns

from memdir.hot import memory as memory_module
from memdir.hot.memory import INDEX, NOT_MEMORIES, TEAM, TYPE_KEYS, Memory, decode, encode, stem
from memdir.hot.recall import HEAVIEST, RULES, Found, Hit, Matches, final, read_prompt, weights
from memdir.hot.words import Words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Container, Iterable, Sequence
    from typing import Any

    from memdir.errors import Finding
    from memdir.recall.scan import Scan
    from memdir.store.ports import Store

    Row = tuple[int, Memory, bool, tuple[int, ...]]  # number, memory, is it a rule, its facts
    Candidate = tuple[int, Memory, bool]  # its number, itself, and whether it is a rule

# The C module asks `functools`, 2 ms of Python modules, for nothing but `lru_cache`. Where nobody
# has imported it yet, SQLite gets the C part of that cache and nothing else.
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
        del sys.modules["functools"]  # whoever wants it gets the real one

__all__ = ["Connection", "SqlError", "connect"]

NAME = "catalog.sqlite"
VERSION = 4  # of the tables, and of the words and weights in them; another one is made anew
READ_WAIT_SECONDS = 0.05  # for another process that is writing
WRITE_WAIT_SECONDS = 0.5  # for those that read: each holds it as long as its answer takes
LARGEST = 1 << 63  # beyond what SQLite can keep
OLDEST = -23 * 10**17  # nanoseconds; a file from before 1898 is one from after 2480, folded
Facts = tuple[int, ...]
MEMORY_TYPES = (bytes, bytes, *(int,) * 6)  # of the columns of a memory that is told

# Who holds a term, and how much it says about them: one whole number for each memory, with the
# weight, turned round, above the memory's number. Sorted, the memories that a term says most about
# come first, and a search may stop there.
SHIFT = 32
NUMBER = (1 << SHIFT) - 1
ENTRY_BYTES = 8
MAX_HOLDERS = 500  # of one term that are looked at: those it says most about
MORE = 12  # candidates beyond the limit whose type may still lift them
MAX_INDEX_LINES, INDEX_LINE_CHARACTERS = 20, 1000  # of the index, about one memory
SPACES = str.maketrans("-_/", "   ")

# A small store is looked at whole: one stat for each file. A large one by its folders, whose times
# change when a file comes, goes or is replaced, by the memories that a search found, and by some
# of the others in turn: an edit in place is seen there after a few prompts.
SMALL = 1000  # memories up to which every one is looked at
TURN = 200  # memories of a large store that are looked at in turn
STRIDE = 2_654_435_761  # each second another part of the numbers, all parts alike
TICK_NANOSECONDS = 50_000_000  # a file that changed so lately may change again unseen
UNSURE = 0  # in the place of the time of change
LONGEST_OTHER = max(map(len, NOT_MEMORIES))


def number_of(path: str, taken: "Container[int]") -> int:
    """A memory's number: made of its path, so that equals come in the same order every time."""
    number = crc32(path.encode("utf-8", "surrogateescape"))
    while number in taken:
        number = (number + 1) & NUMBER
    return number


def entry(number: int, weight: int) -> int:
    return (HEAVIEST - min(weight, HEAVIEST)) << SHIFT | number


def read(entries: "Iterable[int]") -> dict[int, int]:
    return {one & NUMBER: HEAVIEST - (one >> SHIFT) for one in entries}


def none() -> "array[int]":
    """No entries yet; an array holds them in a quarter of the space."""
    from array import array  # whoever asks a catalog makes none

    return array("Q")


def front(entries: "array[int]") -> "Sequence[int]":
    return entries if len(entries) <= MAX_HOLDERS else sorted(entries)[:MAX_HOLDERS]


def pack(entries: "array[int]") -> bytes:
    """As the catalog keeps them; in order where a search looks only at the first."""
    if len(entries) > MAX_HOLDERS:
        return type(entries)("Q", sorted(entries)).tobytes()
    return entries.tobytes()


def unpack(data: bytes) -> list[int]:
    """The entries again; a rest that is no entry is left out."""
    return memoryview(data)[: len(data) // ENTRY_BYTES * ENTRY_BYTES].cast("Q").tolist()


class Damaged(Exception):
    """The file is no catalog of this version, or it is broken."""


class Catalog:
    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._facts: dict[str, str] = {}
        if self._rows((int,), "PRAGMA user_version") != [(VERSION,)]:
            raise Damaged("it was made by another version of memdir")

    def close(self) -> None:
        self.connection.close()

    def size(self) -> int:
        ((pages,),) = self._rows((int,), "PRAGMA page_count")
        ((each,),) = self._rows((int,), "PRAGMA page_size")
        return int(pages * each)

    def fact(self, name: str) -> str:
        """What was noted under that name."""
        if not self._facts:
            rows = self._rows((bytes, bytes), "SELECT name, value FROM fact")
            self._facts = {decode(key): decode(value) for key, value in rows}
        if name not in self._facts:
            raise Damaged(f"it has lost what it says about {name}")
        return self._facts[name]

    def known(self, where: str = "", *values: object) -> dict[str, Facts]:
        """The facts of the memories when they were read."""
        query = f"SELECT path, mtime, ctime, size, inode FROM memory {where}"
        rows = self._rows((bytes, int, int, int, int), query, *values)
        return {decode(row[0]): row[1:] for row in rows}

    def folders(self) -> dict[str, int]:
        """When each folder had last changed, at the time it was read."""
        rows = self._rows((bytes, int), "SELECT path, changed FROM folder")
        return {decode(path): changed for path, changed in rows}

    def lines(self) -> dict[str, str]:
        """What the index said about each memory."""
        rows = self._rows((bytes, bytes), "SELECT path, line FROM memory")
        return {decode(path): decode(line) for path, line in rows}

    def terms(self, path: str) -> tuple[int, list[str]] | None:
        """The number and the terms of a memory; None where it has none of that path."""
        query = "SELECT number, terms FROM memory WHERE path = ?"
        rows = self._rows((int, bytes), query, encode(path))
        return (rows[0][0], rows[0][1].decode().split()) if rows else None

    def look_up(self, term: str) -> tuple[int, dict[int, int]]:
        """How many memories hold a term, and the weights of those it says most about."""
        query = "SELECT holders, substr(entries, 1, ?) FROM posting WHERE term = ?"
        limit = MAX_HOLDERS * ENTRY_BYTES
        rows = self._rows((int, bytes), query, limit, encode(term))
        return (rows[0][0], read(unpack(rows[0][1]))) if rows else (0, {})

    def entries(self, term: str) -> list[int]:
        query = "SELECT entries FROM posting WHERE term = ?"
        rows = self._rows((bytes,), query, encode(term))
        return unpack(rows[0][0]) if rows else []

    def memories(self, numbers: "Sequence[int]") -> "list[Row]":
        return self._memories(f"number IN ({','.join('?' * len(numbers))})", *numbers)

    def rules(self, limit: int) -> "list[Row]":
        """Memories that apply to a kind of task, whatever its words."""
        return self._memories("rule = 1 ORDER BY path LIMIT ?", limit)

    def _memories(self, where: str, *values: object) -> "list[Row]":
        columns = "path, head, number, rule, mtime, ctime, size, inode"
        query = f"SELECT {columns} FROM memory WHERE {where}"
        rows = []
        for path, head, number, rule, *facts in self._rows(MEMORY_TYPES, query, *values):
            memory = Memory(decode(path), decode(head), seconds(facts[0]), facts[2])
            rows.append((number, memory, rule == 1, tuple(facts)))
        return rows

    def _rows(self, types: tuple[type, ...], query: str, *values: object) -> "list[Any]":
        """SQLite notices a broken file, but gives back whatever stands in a column."""
        try:
            rows = self.connection.execute(query, values).fetchall()
        except UnicodeDecodeError:  # in what SQLite says about damage
            raise Damaged("it cannot be read") from None
        if any(tuple(map(type, row)) != types for row in rows):
            raise Damaged("it holds something else than what was written")
        return rows


def fold(facts: Facts) -> Facts:
    """Numbers that SQLite can keep: the year 2300 and odd file systems have larger ones."""
    return tuple([one - 2 * LARGEST if one >= LARGEST else one for one in facts])


def seconds(nanoseconds: int) -> float:
    return (nanoseconds + 2 * LARGEST if nanoseconds < OLDEST else nanoseconds) / 1e9


def open_catalog(path: str, *, write: bool = False) -> Catalog:
    """The catalog at that path; whoever writes holds the lock beside it."""
    address = "file:" + path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    mode, wait = ("rw", WRITE_WAIT_SECONDS) if write else ("ro", READ_WAIT_SECONDS)
    connection = connect(f"{address}?mode={mode}", timeout=wait, isolation_level=None, uri=True)
    try:
        if not write:
            connection.execute("BEGIN")  # one lock for all that is read, not one for each query
        catalog = Catalog(connection)
        if catalog.size() != os.stat(path).st_size:
            raise Damaged("a part of it is missing")
        return catalog
    except BaseException:
        connection.close()
        raise


def read_entries(
    words: "Words", memory: Memory, data: bytes, line: str
) -> tuple[list[str], list[int]]:
    """The terms of a memory and their weights; `line` is what the index says about it."""
    values = memory.values
    file = stem(memory.path).translate(SPACES)
    text = decode(data)
    read = memory.document  # of the header alone, or of the whole file
    header_only = read.closing and not read.body and text.startswith(memory.head)
    body = text[len(memory.head) :] if header_only else memory_module.read(text).body
    return weights(words, (file, values.get("name", ""), values.get("description", ""), line, body))


def read_whole(path: str, data: bytes, mtime: float) -> Memory:
    """A memory from its whole bytes, also where its header is longer than a scan looks."""
    text = decode(data)
    document = memory_module.read(text)
    head = text[: len(text) - len(document.body)] if document.closing else ""
    return Memory(path, head, mtime, len(data))


def is_rule(memory: Memory) -> bool:
    """True for a memory that applies to a kind of task, whatever its words."""
    return kind_of(memory) in RULES


def kind_of(memory: Memory) -> str:
    """The type as it is written: whether it is known would take eleven modules to say."""
    return memory.get(TYPE_KEYS).strip().lower()


def lines_of(index: bytes | None) -> dict[str, str]:
    """What the index says about each memory: its lines by the stem they point at."""
    from memdir.format.pointer import below_store, read_pointers

    targets: dict[str, list[str]] = {}
    for number, line in enumerate(decode(index or b"").split("\n")):
        for pointer in read_pointers(line, number):
            lines = targets.setdefault(stem(below_store(pointer.target) or pointer.target), [])
            if len(lines) < MAX_INDEX_LINES:
                lines.append(f"{pointer.title} {pointer.hook}"[:INDEX_LINE_CHARACTERS])
    return {target: " ".join(lines) for target, lines in targets.items()}


def hits(
    matches: Matches, found: "Iterable[Candidate]", rest: "Iterable[Memory]", limit: int
) -> list[Hit]:
    """In the order of their final scores, then rules that share no word with the prompt."""
    ranked = [
        (-final(matches.scores[number], rule), memory.path, number, memory)
        for number, memory, rule in found
    ]
    ranked += [(-final(0.0, True), memory.path, -1, memory) for memory in rest]
    ranked.sort(key=lambda one: one[:2])
    return [
        Hit(memory, -score, matches.sure(number), matches.words(number))
        for score, _, number, memory in ranked[:limit]
        if score < 0
    ]


def is_fresh(store: "Store", catalog: "Catalog") -> bool:
    """True where every memory of a small store is as it was when it was read."""
    state = look(store)
    if catalog.fact("index") != state.index or catalog.fact("files") != state.files:
        return False
    return not any(map(is_unsure, state.facts.values()))


def is_unsure(facts: "Facts") -> bool:
    """True where a file changed so lately that it may change again unseen."""
    return facts[1] == UNSURE


class State:
    """What a store looked like before it was read."""

    def __init__(self, facts: "dict[str, Facts]", folders: dict[str, int], index: str) -> None:
        self.facts = facts
        self.folders = folders
        self.index = index

    @property
    def files(self) -> str:
        """The sum of all facts: to compare them one by one would take four times as long."""
        data = dumps(sorted(self.facts.items()), 2)  # the version that writes equals alike
        return f"{len(self.facts)} {crc32(data)} {crc32(data[::-1])}"


def look(store: "Store") -> State:
    """The facts of everything; what is too young to be sure of will be looked at again."""
    now = time_ns()
    young = now - TICK_NANOSECONDS
    found = {
        path: facts
        for path, facts in store.tree().items()
        if _is_simple(path) or store.is_memory(path)
    }
    if not found and store.standalone() is not None:
        found[INDEX] = store.facts(INDEX) or (0, 0, 0, 0)
    for path, facts in found.items():
        if facts[1] > young or facts[0] >= LARGEST or facts[3] >= LARGEST:
            mtime, ctime, *rest = fold(facts)
            found[path] = (mtime, UNSURE if facts[1] > young else ctime, *rest)
    folders = folder_times(store.root, now) if len(found) > SMALL else {}
    return State(found, folders, index_of(store))


def _is_simple(path: str) -> bool:
    """True for what nearly every memory is called; a tree has no hidden names."""
    if path[-3:] != ".md" or "/" in path:
        return False
    return len(path) > LONGEST_OTHER or path.lower() not in NOT_MEMORIES


def index_of(store: "Store") -> str:
    """Which file is the index, and its facts."""
    path = store.index_path
    facts = store.facts(path)
    now = time_ns()
    young = facts and now - facts[1] < TICK_NANOSECONDS
    return f"{path} {now if young else facts}"


def unchanged(store: "Store", catalog: "Catalog") -> bool:
    """True where a quick look at a large store shows nothing new."""
    folders = catalog.folders()
    if not folders or catalog.fact("index") != index_of(store):
        return False
    for path, changed in folders.items():
        if _changed(os.path.join(store.root, path) if path else store.root) != changed:
            return False
    start = int(time()) * STRIDE % (NUMBER + 1)
    some = catalog.known("WHERE number >= ? ORDER BY number LIMIT ?", start, TURN)
    return all(same(store.root, path, facts) for path, facts in some.items())


def same(root: str, path: str, facts: "Facts") -> bool:
    """True where a file is as it was when it was read."""
    try:
        now = os.lstat(f"{root}/{path}")
    except OSError:
        return False
    return fold((now.st_mtime_ns, now.st_ctime_ns, now.st_size, now.st_ino)) == facts


def folder_times(root: str, now: int) -> dict[str, int]:
    """When each folder changed; 0 where that was just now."""
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
            continue  # gone, or closed to us: its memories are not seen either
        below = [f"{path}/{name}" if path else name for name in names if name[0] != "."]
        waiting += [folder for folder in below if folder != TEAM]
    return times


def _changed(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return -1


class Fts:
    """Searches one store by its catalog in `folder`."""

    def __init__(self, store: "Store", folder: str) -> None:
        self.store = store
        self.path = os.path.join(folder, NAME)
        self.findings: list[Finding] = []

    def find(self, prompt: str, limit: int) -> Found:
        """The memories that fit, best first."""
        self.findings = []
        try:
            found = self._ask(prompt, limit)
            if found is None and self._update():
                found = self._ask(prompt, limit, again=True)
        except (Damaged, SqlError, OSError, ArithmeticError, ValueError) as error:
            return self._anew(prompt, limit, error)
        if found is not None:
            return found
        return self._scan(prompt, limit)

    def _ask(self, prompt: str, limit: int, *, again: bool = False) -> Found | None:
        """The answer of the catalog; None where the store has changed since it was written."""
        for path in (self.path, f"{self.path}-journal"):
            try:
                if not stat.S_ISREG(os.lstat(path).st_mode):
                    raise Damaged("it is no file")  # to open a pipe would wait for ever
            except FileNotFoundError:
                if path == self.path:
                    raise FileNotFoundError(errno.ENOENT, "there was none", path) from None
        catalog = open_catalog(self.path)
        try:
            large = int(catalog.fact("count") or 0) > SMALL
            fresh = unchanged if large else is_fresh
            if not again and not fresh(self.store, catalog):
                return None
            return self._rank(catalog, prompt, limit, large and not again)
        finally:
            catalog.close()

    def _rank(self, catalog: Catalog, prompt: str, limit: int, doubt: bool) -> Found | None:
        terms = read_prompt(prompt, Words())
        count = int(catalog.fact("count") or 0)
        matches = Matches(terms, count, catalog.look_up)
        best = matches.best(limit + MORE)
        rows = catalog.memories(best)
        if len(rows) != len(best):
            raise Damaged("it names memories that it does not have")
        if doubt and not all(same(self.store.root, row[1].path, row[3]) for row in rows):
            return None
        rest = []
        if len(best) < limit:
            rules = catalog.rules(limit + len(best))
            rest = [memory for number, memory, *_ in rules if number not in matches.scores]
        found = [(number, memory, rule) for number, memory, rule, _ in rows]
        return Found(hits(matches, found, rest, limit), count, self.findings)

    def _update(self) -> bool:
        """Bring the catalog up to date; False where somebody else is writing."""
        from memdir.recall.catalog_write import Busy, update

        try:
            update(self.store, self.path, self.findings)
        except Busy as error:
            self._say("catalog-not-written", f"is behind and was not written: {error}")
            return False
        return True

    def _anew(self, prompt: str, limit: int, error: Exception) -> Found:
        """Answer from a scan, and leave a new catalog behind."""
        from memdir.recall.catalog_write import Busy, make
        from memdir.recall.scan import Scan

        scan = Scan(self.store)
        cause = error.strerror if isinstance(error, OSError) else str(error)
        try:
            make(self.store, self.path, scan)
            self._say("catalog-made", f"was made anew: {cause}")
        except (Busy, SqlError, OSError, ArithmeticError, ValueError) as why:
            self._say("catalog-not-written", f"could not be used ({cause}) nor written: {why}")
        return self._scan(prompt, limit, scan)

    def _say(self, kind: str, what: str) -> None:
        from memdir.errors import Finding

        fix = "nothing to do: it is derived, and the answer is the same without it"
        self.findings.append(Finding(kind, self.path, f"the catalog {what}", fix))

    def _scan(self, prompt: str, limit: int, scan: "Scan | None" = None) -> Found:
        from memdir.recall.scan import Scan

        found = (scan or Scan(self.store)).find(prompt, limit)
        return Found(found.hits, found.searched, found.findings + self.findings)


def open_search(store: "Store", folder: str) -> Fts:
    """The search of one store, with its catalog in `folder`."""
    return Fts(store, folder)
