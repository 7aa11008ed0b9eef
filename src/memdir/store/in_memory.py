"""A store that exists only in this process: for tests of agents, and for experiments."""

from __future__ import annotations

import time

from memdir.errors import Missing
from memdir.hot.disk import HEAD_BYTES, check_path_on_disk
from memdir.hot.layout import Files, Scan, describe_odd_content
from memdir.hot.memory import INDEX, TEAM, is_memory_file, is_record_file, read_memory


class InMemory(Files):
    layout = "in_memory"

    def __init__(self, root: str = "memory:") -> None:
        self.root = root
        self._contents: dict[str, tuple[bytes, int]] = {}

    def scan(self) -> Scan:
        scan = Scan()
        alone = [INDEX] if self.standalone() is not None else []
        for path in self.files() or alone:
            data, moment = self._contents[path]
            odd = describe_odd_content(path, data[:HEAD_BYTES], len(data))
            scan.skipped += [odd] if odd else []
            scan.memories.append(read_memory(path, data, moment / 1e9))
        return scan

    def files(self) -> list[str]:
        return sorted(path for path in self._contents if is_memory_file(path))

    def read(self, path: str) -> bytes:
        check_path_on_disk(path)
        if path not in self._contents:
            raise Missing(f"{path}: no such memory", path=path, next="memdir list shows them")
        return self._contents[path][0]

    def exists(self, path: str = "") -> bool:
        return not path or path in self._contents

    def make(self) -> None:
        """Nothing to make."""

    def put(self, path: str, data: bytes) -> None:
        check_path_on_disk(path)
        self._contents[path] = (data, time.time_ns())

    def drop(self, path: str) -> None:
        self.read(path)
        del self._contents[path]

    def tree(self) -> dict[str, tuple[int, ...]]:
        return {
            path: facts for path in self._contents if _is_kept(path) and (facts := self.facts(path))
        }

    def facts(self, path: str) -> tuple[int, ...] | None:
        data, moment = self._contents.get(path, (b"", 0))
        return (moment, moment, len(data), 0) if moment else None

    def sweep(self) -> None:
        """Nothing can be half-written."""


def _is_kept(path: str) -> bool:
    parts = path.split("/")
    hidden = any(part[0] == "." for part in parts)
    return parts[0] != TEAM and not hidden and not is_record_file(path)


def open_store(root: str, max_file_bytes: int) -> InMemory:
    return InMemory(root)
