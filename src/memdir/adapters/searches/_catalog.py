"""The catalog: what a search needs of a store, in one SQLite file that may vanish at any time.

No WAL and no mmap: many SQLite versions may lose a write there. One writer at a time, by a lock
beside the file; readers open it read-only. SQLite notices a broken file, and it is made anew; a
bit that rots unnoticed costs a place in one ranking.
Text is kept as bytes: what is not UTF-8 must not stop it.
Hot path: `_sqlite3` alone costs 3 ms, `sqlite3` 9.
"""

import os

from memdir.adapters.searches import _postings
from memdir.adapters.searches._sqlite import Connection, connect
from memdir.core.frontmatter import decode, encode
from memdir.core.memory import Memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    Row = tuple[int, Memory, bool, tuple[int, ...]]  # number, memory, is it a rule, its facts

VERSION = 4  # of the tables, and of the words and weights in them; another one is made anew
WAIT = 0.05  # seconds for another process that is writing
PATIENCE = 0.5  # the same for those that read: each holds it as long as its answer takes
LARGEST = 1 << 63  # beyond what SQLite can keep
OLDEST = -23 * 10**17  # nanoseconds; a file from before 1898 is one from after 2480, folded
Facts = tuple[int, ...]
MEMORY = (bytes, bytes, *(int,) * 6)  # types of the columns of a memory that is told


class Damaged(Exception):
    """The file is no catalog of this version, or it is broken."""


class Catalog:
    """One open catalog."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._facts: dict[str, str] = {}
        if self._rows((int,), "PRAGMA user_version") != [(VERSION,)]:
            raise Damaged("it was made by another version of memdir")

    def close(self) -> None:
        """Let go of the file."""
        self.connection.close()

    def size(self) -> int:
        """How many bytes its file should have."""
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
        limit = _postings.ENOUGH * _postings.BYTES
        rows = self._rows((int, bytes), query, limit, encode(term))
        return (rows[0][0], _postings.read(_postings.unpack(rows[0][1]))) if rows else (0, {})

    def entries(self, term: str) -> list[int]:
        """All entries of a term."""
        query = "SELECT entries FROM posting WHERE term = ?"
        rows = self._rows((bytes,), query, encode(term))
        return _postings.unpack(rows[0][0]) if rows else []

    def memories(self, numbers: "Sequence[int]") -> "list[Row]":
        """The memories with these numbers."""
        marks = ",".join("?" * len(numbers))
        return self._memories(f"number IN ({marks})", *numbers)

    def rules(self, limit: int) -> "list[Row]":
        """Memories that apply to a kind of task, whatever its words."""
        return self._memories("rule = 1 ORDER BY path LIMIT ?", limit)

    def _memories(self, where: str, *values: object) -> "list[Row]":
        columns = "path, head, number, rule, mtime, ctime, size, inode"
        query = f"SELECT {columns} FROM memory WHERE {where}"
        found = []
        for path, head, number, rule, *facts in self._rows(MEMORY, query, *values):
            memory = Memory(decode(path), decode(head), seconds(facts[0]), facts[2])
            found.append((number, memory, rule == 1, tuple(facts)))
        return found

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
    """A file's time, unfolded."""
    return (nanoseconds + 2 * LARGEST if nanoseconds < OLDEST else nanoseconds) / 1e9


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
