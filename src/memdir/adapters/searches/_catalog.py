"""The catalog: what a search needs of a store, in one SQLite file that may vanish at any time.

No WAL and no mmap: many SQLite versions may lose a write there. One writer at a time, by a lock
beside the file; readers open it read-only. Sums tell bytes that rotted from bytes that we wrote;
a term that is not found is looked for a second time, by its number.
Text is kept as bytes: what is not UTF-8 must not stop it.
Hot path: `_sqlite3` alone costs 3 ms, `sqlite3` 9.
"""

import os
from binascii import crc32

from memdir.adapters.searches import _postings
from memdir.adapters.searches._sqlite import Connection, connect
from memdir.core.frontmatter import decode, encode
from memdir.core.memory import Memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    Row = tuple[int, Memory, bool, tuple[int, ...]]  # number, memory, is it a rule, its facts

VERSION = 3  # of the tables, and of the words and weights in them; another one is made anew
WAIT = 0.05  # seconds for another process that is writing
PATIENCE = 0.5  # the same for those that read: each holds it as long as its answer takes
LARGEST = 1 << 63  # beyond what SQLite can keep
OLDEST = -23 * 10**17  # nanoseconds; a file from before 1898 is one from after 2480, folded
Facts = tuple[int, ...]


class Damaged(Exception):
    """The file is no catalog of this version, or its bytes are not those that were written."""


class Catalog:
    """One open catalog."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._facts: dict[str, str] = {}
        if self._rows("PRAGMA user_version") != [(VERSION,)]:
            raise Damaged("it was made by another version of memdir")

    def close(self) -> None:
        """Let go of the file."""
        self.connection.close()

    def size(self) -> int:
        """How many bytes its file should have."""
        ((pages,),) = self._rows("PRAGMA page_count")
        ((each,),) = self._rows("PRAGMA page_size")
        return int(pages * each)

    def fact(self, name: str) -> str:
        """What was noted under that name."""
        if not self._facts:
            for key, value, total in self._rows("SELECT name, value, sum FROM fact"):
                if crc32(_bytes(key) + _bytes(value)) != total:
                    raise Damaged("its facts are not what was written")
                self._facts[decode(key)] = decode(value)
        if name not in self._facts:
            raise Damaged(f"it has lost what it says about {name}")
        return self._facts[name]

    def known(self, where: str = "", *values: object) -> dict[str, Facts]:
        """The facts of the memories when they were read."""
        rows = self._rows(f"SELECT path, mtime, ctime, size, inode FROM memory {where}", *values)
        return {decode(_bytes(row[0])): row[1:] for row in rows}

    def folders(self) -> dict[str, int]:
        """When each folder had last changed, at the time it was read."""
        rows = self._rows("SELECT path, changed FROM folder")
        return {decode(_bytes(path)): changed for path, changed in rows}

    def lines(self) -> dict[str, str]:
        """What the index said about each memory."""
        rows = self._rows("SELECT path, line FROM memory")
        return {decode(_bytes(path)): decode(_bytes(line)) for path, line in rows}

    def look_up(self, term: str) -> tuple[int, dict[int, int]]:
        """How many memories hold a term, and the weights of those it says most about."""
        key = encode(term)
        rows = self._rows(
            "SELECT holders, sum, substr(entries, 1, ?) FROM posting WHERE term = ?",
            *(_postings.ENOUGH * _postings.BYTES, key),
        )
        if not rows:
            others = self._rows("SELECT term FROM posting WHERE number = ?", crc32(key))
            if (key,) in others:
                raise Damaged(f"the entry of {term!r} is not where it was written")
            return 0, {}
        holders, total, data = rows[0]
        if sum_of(key, holders, _bytes(data)) != total:
            raise Damaged(f"the entry of {term!r} is not what was written")
        return holders, _postings.read(_postings.unpack(data))

    def memories(self, numbers: "Sequence[int]") -> "list[Row]":
        """The memories with these numbers."""
        marks = ",".join("?" * len(numbers))
        return self._memories(f"number IN ({marks})", *numbers)

    def rules(self, limit: int) -> "list[Row]":
        """Memories that apply to a kind of task, whatever its words."""
        found = self._memories("rule = 1 ORDER BY path LIMIT ?", limit)
        if len(found) != min(limit, int(self.fact("rules"))):
            raise Damaged("it has lost rules")
        return found

    def _memories(self, where: str, *values: object) -> "list[Row]":
        columns = "number, sum, rule, path, head, mtime, ctime, size, inode"
        rows = self._rows(f"SELECT {columns} FROM memory WHERE {where}", *values)
        found = []
        for number, total, rule, path, head, *facts in rows:
            if sum_of_row(path, head, (number, rule, *facts)) != total:
                raise Damaged(f"the entry of {decode(path)!r} is not what was written")
            memory = Memory(decode(path), decode(head), seconds(facts[0]), facts[2])
            found.append((number, memory, rule == 1, tuple(facts)))
        return found

    def _rows(self, query: str, *values: object) -> "list[tuple[Any, ...]]":
        try:
            return self.connection.execute(query, values).fetchall()
        except UnicodeDecodeError:  # in what SQLite says about damage
            raise Damaged("it cannot be read") from None


def fold(facts: Facts) -> Facts:
    """Numbers that SQLite can keep: the year 2300 and odd file systems have larger ones."""
    return tuple([one - 2 * LARGEST if one >= LARGEST else one for one in facts])


def seconds(nanoseconds: int) -> float:
    """A file's time, unfolded."""
    return (nanoseconds + 2 * LARGEST if nanoseconds < OLDEST else nanoseconds) / 1e9


def sum_of(*parts: bytes | int) -> int:
    """The sum over what belongs together; a part of another type is damage."""
    total = 0
    for part in parts:
        if type(part) is int:
            part = b"%d," % part
        elif type(part) is not bytes:
            raise Damaged("it holds something else than what was written")
        total = crc32(part, total)
    return total


def sum_of_row(path: bytes, head: bytes, numbers: Facts) -> int:
    """The same for a memory, of which an answer needs dozens."""
    try:
        return crc32(b"%d %d %d %d %d %d" % numbers, crc32(head, crc32(path)))
    except TypeError:
        raise Damaged("it holds something else than what was written") from None


def _bytes(value: object) -> bytes:
    if not isinstance(value, bytes):
        raise Damaged("it holds something else than what was written")
    return value


def open_catalog(path: str, *, write: bool = False) -> Catalog:
    """The catalog at that path; whoever writes holds the lock beside it."""
    address = "file:" + path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    mode, wait = ("rw", PATIENCE) if write else ("ro", WAIT)
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
