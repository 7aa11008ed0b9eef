"""The default layout: one Markdown file per memory and MEMORY.md, as Claude Code has it.

Reading is on the hot path: the standard library's light modules only, one pass, no lock.
"""

import os

from memdir.adapters.disk import HEAD_BYTES, READ, close_quietly, failure, unreadable
from memdir.adapters.layouts._files import OnDisk, Scan, fingerprint, odd_content
from memdir.core.frontmatter import FENCE
from memdir.core.memory import (
    FOREIGN_FOLDERS,
    INDEX,
    NOT_MEMORIES,
    RECORD_INDEX,
    TEAM,
    Memory,
    is_of_records,
    read_memory,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from memdir.core.finding import Finding

MAX_HEADER_BYTES = 64 * 1024
LONGEST_OTHER = max(map(len, NOT_MEMORIES))


class Markdown(OnDisk):
    """A directory of memories. Reading never waits; writing is for the holder of the lock."""

    layout = "markdown"

    def scan(self) -> Scan:
        """Every memory's header in one pass; a broken one is reported and hides no other."""
        scan = Scan()
        for folder, name, path in self._walk(scan.skipped):
            self._peek(folder, name, path, scan)
        if not scan.memories:
            self._add_standalone(scan)
        return scan

    def files(self) -> list[str]:
        """The paths of all memories, sorted, without reading any."""
        return sorted([path for _, _, path in self._walk([])])

    def tree(self) -> dict[str, tuple[int, ...]]:
        """Every file the history keeps, with the facts that change when it does.

        Records that lie in the same directory are another store's: they have their own history.
        """
        facts: dict[str, tuple[int, ...]] = {}
        most, records = self.max_file_bytes, False
        for _, path, entry in self.disk.walk(lambda path: path != TEAM, []):
            if path[-5:] == ".json" and is_of_records(path):
                records = True
            elif entry.is_file(follow_symlinks=False):
                try:
                    found = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue  # gone since its folder was read
                except OSError as error:
                    where = os.path.join(self.root, path)
                    raise failure(error, where, "cannot be looked at") from None
                if found.st_size <= most:
                    facts[path] = fingerprint(found)
        if records:
            facts.pop(RECORD_INDEX, None)
        return facts

    def sweep(self) -> None:
        """Remove temporary files that a killed writer left."""
        self.disk.sweep(lambda path: path != TEAM and path[0] != "." and "/." not in path)

    def _add_standalone(self, scan: Scan) -> None:
        data = self.standalone()
        if data is not None:
            moment = (self.facts(INDEX) or (0,))[0] / 1e9
            scan.memories.append(read_memory(INDEX, data, moment))

    def _walk(self, findings: list["Finding"]) -> "Iterator[tuple[int, str, str]]":
        """The files that may be memories: handle of the folder, name, path below the store."""

        def enter(path: str) -> bool:
            if path[-3:].lower() == ".md":
                findings.append(_special(path, "a directory"))
                return False
            return path not in FOREIGN_FOLDERS

        for folder, path, entry in self.disk.walk(enter, findings):
            name = entry.name
            if name[-3:] != ".md" and name[-3:].lower() != ".md":
                continue
            if len(name) <= LONGEST_OTHER and name.lower() in NOT_MEMORIES:
                continue
            if entry.is_file(follow_symlinks=False):
                yield folder, name, path
            else:
                link = entry.is_symlink()
                findings.append(_special(path, "a symbolic link" if link else "a special file"))

    def _peek(self, folder: int, name: str, path: str, scan: Scan) -> None:
        """Read the first bytes of one file and add it, or say why not."""
        handle = -1
        try:
            handle = os.open(name, READ, dir_fd=folder)
            facts = os.fstat(handle)
            start = os.read(handle, HEAD_BYTES)
            head = _header(start, handle)
        except OSError as error:
            scan.skipped.append(unreadable(path, error))
            return
        finally:
            close_quietly(handle)
        if len(head) > MAX_HEADER_BYTES:
            scan.skipped.append(_endless(path))
        if facts.st_size > self.max_file_bytes:
            scan.skipped.append(_too_big(path, facts.st_size, self.max_file_bytes))
            return
        odd = odd_content(path, start, facts.st_size)
        if odd is not None:
            scan.skipped.append(odd)
        text = head.decode("utf-8", "surrogateescape")
        scan.memories.append(Memory(path, text, facts.st_mtime, facts.st_size))


def _header(head: bytes, handle: int) -> bytes:
    """The bytes up to the closing fence; more than one block only where the header is longer."""
    if head[:3] != FENCE.encode():
        first = head.partition(b"\n")[0].decode("utf-8", "replace")
        if first.lstrip("\ufeff").strip() != FENCE:
            return b""
    end = _closing(head)
    while not end and len(head) <= MAX_HEADER_BYTES:
        more = os.read(handle, MAX_HEADER_BYTES)
        if not more:
            break
        head += more
        end = _closing(head)
    return head[:end] if end else head


def _closing(head: bytes) -> int:
    """Where the closing fence ends; 0 where there is none, or its line may go on."""
    at = head.find(b"\n---")
    while at >= 0:
        end = head.find(b"\n", at + 4)
        if end < 0 or head[at + 1 : end].decode("utf-8", "replace").rstrip() == FENCE:
            return max(end, 0)
        at = head.find(b"\n---", at + 4)
    return 0


def _special(path: str, what: str) -> "Finding":
    from memdir.core.finding import Finding

    fix = "put the file itself there; memdir neither reads nor writes through it"
    return Finding("special-file", path, f"{path} is {what}; skipped", fix)


def _too_big(path: str, size: int, limit: int) -> "Finding":
    from memdir.core.finding import Finding

    message = f"{path} has {size:,} bytes (limit: {limit:,}); skipped"
    return Finding("too-big", path, message, "split it, or raise max_file_bytes in config.toml")


def _endless(path: str) -> "Finding":
    from memdir.core.finding import Finding

    message = f"{path}: no closing `---` in the first {MAX_HEADER_BYTES:,} bytes; read as text"
    return Finding("malformed-header", path, message, f"edit {path} by hand", 1)


def open_store(root: str, max_file_bytes: int) -> Markdown:
    """The memories in a directory."""
    return Markdown(root, max_file_bytes)
