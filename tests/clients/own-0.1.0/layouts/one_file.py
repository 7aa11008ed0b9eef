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

from memdir.adapters.disk import HEAD_BYTES, check_path
from memdir.adapters.layouts._files import Files, Scan, odd_content
from memdir.core.errors import Missing
from memdir.core.memory import INDEX, TEAM, is_memory, is_of_records, read_memory

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
        scan, alone = Scan(), [INDEX] if self.standalone() is not None else []
        for path in self.files() or alone:
            data, moment = self._row(path)
            odd = odd_content(path, data[:HEAD_BYTES], len(data))
            scan.skipped += [odd] if odd else []
            scan.memories.append(read_memory(path, data, moment / 1e9))
        return scan

    def files(self) -> list[str]:
        return [path for path, _ in self._facts() if is_memory(path)]

    def read(self, path: str) -> bytes:
        return self._row(path)[0]

    def exists(self, path: str = "") -> bool:
        return os.path.isfile(self.file) if not path else self.facts(path) is not None

    def make(self) -> None:
        os.makedirs(self.root, 0o700, exist_ok=True)
        self._write(TABLE)

    def put(self, path: str, data: bytes) -> None:
        check_path(path)
        self.make()
        moment = max([time.time_ns(), *(facts[0] + 1 for facts in [self.facts(path)] if facts)])
        self._write("INSERT OR REPLACE INTO file VALUES (?, ?, ?)", path, data, moment)

    def drop(self, path: str) -> None:
        self.read(path)
        self._write("DELETE FROM file WHERE path = ?", path)

    def tree(self) -> dict[str, Facts]:
        return {path: facts for path, facts in self._facts() if _is_kept(path)}

    def facts(self, path: str) -> Facts | None:
        return dict(self._facts()).get(path)

    def sweep(self) -> None:
        """A killed writer leaves nothing behind: SQLite rolls it back."""

    def _row(self, path: str) -> tuple[bytes, int]:
        check_path(path)
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
    return parts[0] != TEAM and all(part[0] != "." for part in parts) and not is_of_records(path)


def open_store(root: str, max_file_bytes: int) -> OneFile:
    """The store at a directory; called by its layout's name."""
    return OneFile(root)
