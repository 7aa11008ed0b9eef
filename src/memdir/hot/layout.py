"""The default layout: a folder of Markdown files."""

import errno
import os
import stat

from memdir.hot import memory
from memdir.hot.disk import HEAD_BYTES, READ, Disk, close_quietly, disk_failure, unreadable_file
from memdir.hot.memory import Memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from memdir.errors import Finding, MemdirError
    from memdir.format.index import Survey
    from memdir.store.ports import Store

MAX_FILE_BYTES = 4 * 1024 * 1024
MAX_HEADER_BYTES = 64 * 1024


def usual_path(root: str, path: str, entry: "os.DirEntry[str]") -> str:
    """As people write it, where a disk shows names with accents taken apart (HFS+ on a Mac)."""
    if path.isascii():
        return path
    from unicodedata import normalize  # few have such names

    usual = normalize("NFC", path)
    try:
        if usual == path or os.lstat(os.path.join(root, usual)).st_ino != entry.inode():
            return path
    except OSError:
        return path  # two names there
    return usual


def describe_odd_content(path: str, start: bytes, size: int) -> "Finding | None":
    if start.isascii() and size:
        return None  # fast path for nearly every file
    kind, problem = "empty", "it has no content"
    fix = f"write something into {path}, or retire it"
    if size:
        try:
            start.decode()
            return None
        except UnicodeDecodeError as error:
            if error.end == len(start) < size and error.reason == "unexpected end of data":
                return None  # the last character continues after the bytes we have
            kind, problem = "not-utf-8", f"byte {error.start} is not UTF-8; shown as it can be read"
            fix = f"save {path} as UTF-8"
    from memdir.errors import Finding

    return Finding(kind, path, f"{path}: {problem}", fix)


class Scan:
    def __init__(self) -> None:
        self.memories: list[Memory] = []
        self.skipped: list[Finding] = []

    def skip(self, kind: str, path: str, message: str, fix: str, line: int = 0) -> None:
        from memdir.errors import Finding

        self.skipped.append(Finding(kind, path, message, fix, line))

    @property
    def findings(self) -> list["Finding"]:
        from memdir.errors import Finding

        known = {finding.path for finding in self.skipped}
        odd = [
            Finding("malformed-header", memory.path, problem, f"edit {memory.path} by hand", line)
            for memory in self.memories
            if memory.path not in known
            for line, problem in memory.document.problems
        ]
        return self.skipped + odd


class Files:
    layout = "markdown"

    def files(self) -> list[str]:
        raise NotImplementedError

    def read(self, path: str) -> bytes:
        raise NotImplementedError

    def view(self, path: str, data: bytes | None = None) -> bytes:
        return self.read(path) if data is None else data

    def is_memory(self, path: str) -> bool:
        return memory.is_memory_file(path)

    def exists(self, path: str = "") -> bool:
        """The empty path is the store itself."""
        raise NotImplementedError

    @property
    def index_path(self) -> str:
        """MEMORY.md, or a README.md that serves as the index if there is no MEMORY.md."""
        if self.exists(memory.INDEX) or not self.exists(memory.README):
            return memory.INDEX
        from memdir.errors import MemdirError

        try:
            text = memory.decode(self.read(memory.README))
        except MemdirError:
            return memory.INDEX
        return memory.README if _survey(text, self.files()).pointers else memory.INDEX

    def index(self) -> bytes | None:
        """None if there is no index, or it is being replaced right now."""
        from memdir.errors import Missing

        try:
            return self.read(self.index_path)
        except Missing:
            return None

    def standalone(self) -> bytes | None:
        if not self.exists(memory.INDEX) or self.files():
            return None
        from memdir.errors import MemdirError

        try:
            data = self.read(memory.INDEX)
        except MemdirError:
            return None  # an unreadable index is reported by its users
        survey = _survey(memory.decode(data), [])
        # Without a pointer, the first paragraphs introduce nothing.
        return data if (survey.inline or survey.intro) and not survey.dangling else None

    @property
    def shape(self) -> str:
        if not self.exists():
            return "no directory"
        if self.files():
            has_index = self.exists(self.index_path)
            return "index + files" if has_index else "files without an index"
        return "standalone index" if self.standalone() is not None else "empty"


class OnDisk(Files):
    """Reads never wait; writers hold the lock."""

    def __init__(self, root: str, max_file_bytes: int = MAX_FILE_BYTES) -> None:
        self.root = root
        self.disk = Disk(root)
        self.max_file_bytes = max_file_bytes

    def read(self, path: str) -> bytes:
        try:
            return self.disk.read(path)[0]
        except OSError as error:
            raise self._failure(error, path, "cannot be read") from None

    def _failure(self, error: OSError, path: str, problem: str) -> "MemdirError":
        return disk_failure(error, os.path.join(self.root, path), problem)

    def exists(self, path: str = "") -> bool:
        """True for anything at that path; raises if it cannot be determined."""
        try:
            os.lstat(os.path.join(self.root, path))
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:
            raise self._failure(error, path, "cannot be looked at") from None
        return True

    def make(self) -> None:
        try:
            self.disk.make_root()
        except OSError as error:
            raise disk_failure(error, self.root, "the directory cannot be created") from None

    def put(self, path: str, data: bytes) -> None:
        self.make()
        try:
            self.disk.put(path, data)
        except OSError as error:
            raise self._failure(error, path, "cannot be written") from None

    def drop(self, path: str) -> None:
        try:
            self.disk.drop(path)
        except OSError as error:
            raise self._failure(error, path, "cannot be removed") from None

    def facts(self, path: str) -> tuple[int, ...] | None:
        """None if there is no such file, empty if its facts cannot be read."""
        try:
            facts = self.disk.stat(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            return None if error.errno == errno.ELOOP else ()
        return file_fingerprint(facts) if stat.S_ISREG(facts.st_mode) else None

    def _fingerprint(self, path: str, entry: "os.DirEntry[str]") -> tuple[int, ...] | None:
        try:
            facts = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            return None  # deleted since its folder was listed
        except OSError as error:
            raise self._failure(error, path, "cannot be looked at") from None
        kept = stat.S_ISREG(facts.st_mode) and facts.st_size <= self.max_file_bytes
        return file_fingerprint(facts) if kept else None


def file_fingerprint(facts: os.stat_result) -> tuple[int, ...]:
    """Changes whenever the file does: tools that restore mtime cannot restore ctime."""
    return facts.st_mtime_ns, facts.st_ctime_ns, facts.st_size, facts.st_ino


def _survey(text: str, files: list[str]) -> "Survey":
    from memdir.format.index import survey_pointers  # five modules, not needed with a MEMORY.md

    return survey_pointers(text, files)


class RecordFolders(OnDisk):
    layout = "records"

    @property
    def index_path(self) -> str:
        return memory.RECORD_INDEX

    def is_memory(self, path: str) -> bool:
        return path != memory.RECORD_SETTINGS and memory.is_record_file(path)

    def standalone(self) -> bytes | None:
        return None

    def tree(self) -> dict[str, tuple[int, ...]]:
        tree: dict[str, tuple[int, ...]] = {}
        for _, path, entry in self.disk.walk(memory.RECORD_FOLDERS.__contains__, []):
            ours = path == memory.RECORD_INDEX or memory.is_record_file(path)
            if ours and (facts := self._fingerprint(path, entry)):
                tree[path] = facts
        return tree


class Markdown(OnDisk):
    layout = "markdown"

    def scan(self) -> Scan:
        scan = Scan()
        for folder, name, path in self._walk(scan.skipped):
            self._peek(folder, name, path, scan)
        if not scan.memories and (data := self.standalone()) is not None:
            moment = (self.facts(memory.INDEX) or (0,))[0] / 1e9
            scan.memories.append(memory.read_memory(memory.INDEX, data, moment))
        return scan

    def files(self) -> list[str]:
        return sorted([path for _, _, path in self._walk([])])

    def tree(self) -> dict[str, tuple[int, ...]]:
        """Facts of every file in the history; records in the same directory are another store."""
        tree: dict[str, tuple[int, ...]] = {}
        records = False
        for _, path, entry in self.disk.walk(lambda path: path != memory.TEAM, []):
            path = usual_path(self.root, path, entry)
            if path[-5:] == ".json" and memory.is_record_file(path):
                records = True
            elif facts := self._fingerprint(path, entry):
                tree[path] = facts
        if records:
            tree.pop(memory.RECORD_INDEX, None)
        return tree

    def sweep(self) -> None:
        """Removes temporary files of killed writers; the caller holds the lock."""
        self.disk.sweep(lambda path: path != memory.TEAM and path[0] != "." and "/." not in path)

    def _walk(self, findings: list["Finding"]) -> "Iterator[tuple[int, str, str]]":

        def enter(path: str) -> bool:
            if path[-3:].lower() == ".md":
                findings.append(_special(path, "a directory"))
                return False
            return path not in memory.FOREIGN_FOLDERS

        for folder, path, entry in self.disk.walk(enter, findings):
            name = entry.name
            if name[-3:] != ".md" and name[-3:].lower() != ".md":
                continue
            if name.lower() in memory.NOT_MEMORIES:
                continue
            path = usual_path(self.root, path, entry)
            if entry.is_file(follow_symlinks=False):
                yield folder, name, path
            else:
                link = entry.is_symlink()
                findings.append(_special(path, "a symbolic link" if link else "a special file"))

    def _peek(self, folder: int, name: str, path: str, scan: Scan) -> None:
        handle = -1
        try:
            handle = os.open(name, READ, dir_fd=folder)
            facts = os.fstat(handle)
            start = os.read(handle, HEAD_BYTES)
            head = _header(start, handle)
        except OSError as error:
            scan.skipped.append(unreadable_file(path, error))
            return
        finally:
            close_quietly(handle)
        if len(head) > MAX_HEADER_BYTES:
            text = f"{path}: no closing `---` in the first {MAX_HEADER_BYTES:,} bytes; read as text"
            scan.skip("malformed-header", path, text, f"edit {path} by hand", 1)
        if facts.st_size > self.max_file_bytes:
            scan.skipped.append(too_big(path, facts.st_size, self.max_file_bytes))
            return
        if odd := describe_odd_content(path, start, facts.st_size):
            scan.skipped.append(odd)
        scan.memories.append(Memory(path, memory.decode(head), facts.st_mtime, facts.st_size))


def _header(head: bytes, handle: int) -> bytes:
    if head[:3] != memory.FENCE.encode():
        first = head.partition(b"\n")[0].decode("utf-8", "replace")
        if first.lstrip("\ufeff").strip() != memory.FENCE:
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
    """End of the closing fence; 0 if there is none or its line may continue."""
    fence = head.find(b"\n---")
    while fence >= 0:
        end = head.find(b"\n", fence + 4)
        if end < 0 or head[fence + 1 : end].decode("utf-8", "replace").rstrip() == memory.FENCE:
            return max(end, 0)
        fence = head.find(b"\n---", fence + 4)
    return 0


def _special(path: str, kind: str) -> "Finding":
    from memdir.errors import Finding

    fix = "put the file itself there; memdir neither reads nor writes through it"
    return Finding("special-file", path, f"{path} is {kind}; skipped", fix)


def too_big(path: str, size: int, limit: int) -> "Finding":
    from memdir.errors import Finding

    message = f"{path} has {size:,} bytes (limit: {limit:,}); skipped, and not in the history: "
    message += "if it changes or goes, nothing brings it back"
    return Finding("too-big", path, message, "split it, or raise max_file_bytes in config.toml")


def open_store(root: str, max_file_bytes: int) -> Markdown:
    return Markdown(root, max_file_bytes)


if TYPE_CHECKING:
    _Store = Markdown  # what is passed on
else:
    _Store = object


class Around(_Store):
    """A store around another one; what it does not do itself, the other one does."""

    def __init__(self, inside: "Store") -> None:
        self.inside = inside
        self.root = inside.root

    def __getattr__(self, name: str) -> "Any":
        return getattr(self.inside, name)

    def view(self, path: str, data: bytes | None = None) -> bytes:
        return self.inside.view(path, self.read(path) if data is None else data)
