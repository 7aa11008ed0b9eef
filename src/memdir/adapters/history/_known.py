"""What the history already has of each file, with the facts that tell whether it changed since.

Derived: lost or damaged, it is read again from the newest commit, and the files are hashed once.
"""

from __future__ import annotations

import json
import os
import zlib

# A file may change again within the tick of the clock in which it changed, and look the same.
TICK_NS = 20_000_000


class Known:
    """path -> (blob id, facts); `facts` empty means: look at the bytes."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.head = ""
        self.stale = False  # something here is newer than the table on disk
        self.files: dict[str, tuple[str, tuple[int, ...]]] = {}
        try:
            # A pipe in its place must not make us wait.
            handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
            with open(handle, "rb") as file:
                data, _, check = (file.read() or b"").rpartition(b"\n")
            if b"%08x" % zlib.crc32(data) != check:
                raise ValueError("torn")  # a power cut may leave half of it new, and still JSON
            table = json.loads(data)
            self.head = str(table["head"])
            for name, (oid, *facts) in table["files"].items():
                self.files[name] = (str(oid), tuple(facts))
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            self.head, self.files = "", {}

    def adopt(self, head: str, tree: dict[str, str]) -> None:
        """Follow the history where this table is behind it."""
        old = self.files
        self.files = {
            path: old[path] if path in old and old[path][0] == oid else (oid, ())
            for path, oid in tree.items()
        }
        self.head = head
        self.stale = True

    def refresh(self, path: str, oid: str, facts: tuple[int, ...]) -> None:
        """Note what the history has of a path; facts that were looked up before its bytes."""
        self.files[path] = (oid, facts)
        self.stale = True

    def save(self) -> None:
        """Write the table; not durable on purpose, since it can be derived again."""
        if not self.stale:
            return
        table = {"head": self.head, "files": {k: [v[0], *v[1]] for k, v in self.files.items()}}
        data = json.dumps(table, separators=(",", ":")).encode("ascii")
        data += b"\n%08x" % zlib.crc32(data)
        try:
            # In place: a rename over the old table would make the file system flush it each time,
            # and a torn table is only one that is derived again.
            flags = os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
            handle = os.open(self.path, flags, 0o600)
            try:
                os.pwrite(handle, data, 0)
                os.ftruncate(handle, len(data))
            finally:
                os.close(handle)
            self.stale = False
        except OSError:
            return  # the next run finds an old table and looks at the bytes instead


def trusted(facts: tuple[int, ...], moment: int) -> tuple[int, ...]:
    """Facts looked up at this moment (ns), or none where the file has changed only just before."""
    return facts if facts[1] < moment - TICK_NS else ()
