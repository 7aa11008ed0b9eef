"""A layout of your own: copy this file to ~/.config/memdir/layouts/.

Set store.layout = "one_file". All memories of a store in one SQLite file: easy to copy, to mail,
to put on a slow network disk. The clients' own memory directories stay Markdown; use it
for stores that only memdir reads.
"""

import os
import sqlite3
import time
from contextlib import closing
from typing import Any

from memdir.errors import Missing
from memdir.hot.disk import HEAD_BYTES, check_path_on_disk
from memdir.hot.layout import Files, Scan, describe_odd_content
from memdir.hot.memory import INDEX, TEAM, is_memory_file, is_record_file, read_memory

FILE = "memories.sqlite"
TABLE = "CREATE TABLE IF NOT EXISTS file (path TEXT PRIMARY KEY, data BLOB, moment INTEGER)"
Facts = tuple[int, ...]


class OneFile(Files):
    """The rules of a directory of Markdown files, over the rows of a table."""

    layout = "one_file"

    def __init__(self, root: str) -> None:
        self.root = root
        self.file = os.path.join(root, FILE)

    def scan(self) -> Scan:
        """Every memory's header; what is odd is a finding and hides nothing."""
        scan, alone = Scan(), [INDEX] if self.standalone() is not None else []
        for path in self.files() or alone:
            data, moment = self._row(path)
            odd = describe_odd_content(path, data[:HEAD_BYTES], len(data))
            scan.skipped += [odd] if odd else []
            scan.memories.append(read_memory(path, data, moment / 1e9))
        return scan

    def files(self) -> list[str]:
        """The paths of all memories, sorted."""
        return [path for path, _ in self._facts() if is_memory_file(path)]

    def read(self, path: str) -> bytes:
        """The bytes of one file."""
        return self._row(path)[0]

    def exists(self, path: str = "") -> bool:
        """True where there is such a file; the empty path is the store itself."""
        return os.path.isfile(self.file) if not path else self.facts(path) is not None

    def make(self) -> None:
        """Create the store, private."""
        os.makedirs(self.root, 0o700, exist_ok=True)
        self._write(TABLE)

    def put(self, path: str, data: bytes) -> None:
        """Replace or create one file; SQLite makes it durable, whole or not at all."""
        check_path_on_disk(path)
        self.make()
        moment = max([time.time_ns(), *(facts[0] + 1 for facts in [self.facts(path)] if facts)])
        self._write("INSERT OR REPLACE INTO file VALUES (?, ?, ?)", path, data, moment)

    def drop(self, path: str) -> None:
        """Take one file out."""
        self.read(path)
        self._write("DELETE FROM file WHERE path = ?", path)

    def tree(self) -> dict[str, Facts]:
        """Every file that the history keeps, with the facts that change when it does."""
        return {path: facts for path, facts in self._facts() if _is_kept(path)}

    def facts(self, path: str) -> Facts | None:
        """The same of one file, None where there is none."""
        return dict(self._facts()).get(path)

    def sweep(self) -> None:
        """A killed writer leaves nothing behind: SQLite rolls it back."""

    def _row(self, path: str) -> tuple[bytes, int]:
        check_path_on_disk(path)
        rows = self._rows("SELECT data, moment FROM file WHERE path = ?", path)
        if not rows:
            raise Missing(f"{path}: no such memory", path=path, next="memdir list shows them")
        return bytes(rows[0][0]), rows[0][1]

    def _facts(self) -> list[tuple[str, Facts]]:
        rows = self._rows("SELECT path, moment, length(data) FROM file ORDER BY path")
        return [(path, (moment, moment, size, 0)) for path, moment, size in rows]

    def _rows(self, question: str, *values: object) -> list[tuple[Any, ...]]:
        if not self.exists():
            return []
        with closing(sqlite3.connect(self.file)) as opened:
            return opened.execute(question, values).fetchall()

    def _write(self, order: str, *values: object) -> None:
        with closing(sqlite3.connect(self.file)) as opened, opened:
            opened.execute(order, values)


def _is_kept(path: str) -> bool:
    parts = path.split("/")
    return parts[0] != TEAM and all(part[0] != "." for part in parts) and not is_record_file(path)


def open_store(root: str, max_file_bytes: int) -> OneFile:
    """The store at a directory; called by its layout's name."""
    return OneFile(root)
