"""What layouts have in common: those of Markdown files wherever they are, and those on disk."""

import errno
import os
import stat

from memdir.adapters.disk import Disk, failure
from memdir.core import frontmatter
from memdir.core.memory import (
    INDEX,
    README,
    RECORD_FOLDERS,
    RECORD_INDEX,
    RECORD_SETTINGS,
    is_memory,
    is_of_records,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memdir.core.finding import Finding
    from memdir.core.index import Survey
    from memdir.core.memory import Memory

MAX_FILE_BYTES = 4 * 1024 * 1024


def odd_content(path: str, start: bytes, size: int) -> "Finding | None":
    """A finding on a file that is empty, or whose first bytes are no UTF-8; it stays readable."""
    if start.isascii() and size:
        return None  # nearly every file; the rest costs only those that need it
    kind, what, fix = "empty", "it has no content", f"write something into {path}, or retire it"
    if size:
        try:
            start.decode()
            return None
        except UnicodeDecodeError as error:
            if error.end == len(start) < size and error.reason == "unexpected end of data":
                return None  # a character that goes on after the bytes we have
            kind, what = "not-utf-8", f"byte {error.start} is not UTF-8; shown as it can be read"
            fix = f"save {path} as UTF-8"
    from memdir.core.finding import Finding

    return Finding(kind, path, f"{path}: {what}", fix)


class Scan:
    """What one pass over a store saw: the memories, and what it could not take."""

    __slots__ = ("memories", "skipped")

    def __init__(self) -> None:
        self.memories: list[Memory] = []
        self.skipped: list[Finding] = []

    @property
    def findings(self) -> list["Finding"]:
        """What was skipped, and the lines of headers that are not as they should be."""
        from memdir.core.finding import Finding

        known = {finding.path for finding in self.skipped}
        odd = [
            Finding("malformed-header", memory.path, problem, f"edit {memory.path} by hand", line)
            for memory in self.memories
            if memory.path not in known
            for line, problem in memory.document.problems
        ]
        return self.skipped + odd


class Files:
    """The index and the shape of a store, from `files`, `read` and `exists` of the layout."""

    layout = "markdown"

    def files(self) -> list[str]:
        """The paths of all memories, sorted."""
        raise NotImplementedError

    def read(self, path: str) -> bytes:
        """The bytes of one file."""
        raise NotImplementedError

    def view(self, path: str, data: bytes | None = None) -> bytes:
        """The memory as Markdown: here the file itself."""
        return self.read(path) if data is None else data

    def is_memory(self, path: str) -> bool:
        """True for a path that a scan takes for a memory."""
        return is_memory(path)

    def exists(self, path: str = "") -> bool:
        """True where something stands at that path; the empty path is the store itself."""
        raise NotImplementedError

    @property
    def index_path(self) -> str:
        """MEMORY.md, or a README.md that serves as the index where there is no other."""
        if self.exists(INDEX) or not self.exists(README):
            return INDEX
        from memdir.core.errors import MemdirError

        try:
            text = frontmatter.decode(self.read(README))
        except MemdirError:
            return INDEX
        return README if _survey(text, self.files()).pointers else INDEX

    def index(self) -> bytes | None:
        """The index as it stands, None where there is none."""
        path = self.index_path
        return self.read(path) if self.exists(path) else None

    def standalone(self) -> bytes | None:
        """The content of an index that is itself the only memory, else None."""
        if not self.exists(INDEX) or self.files():
            return None
        from memdir.core.errors import MemdirError

        try:
            data = self.read(INDEX)
        except MemdirError:
            return None  # an index that cannot be read is reported where it is needed
        survey = _survey(frontmatter.decode(data), [])
        # Without a pointer there is nothing that the first paragraphs could introduce.
        return data if (survey.inline or survey.intro) and not survey.dangling else None

    @property
    def shape(self) -> str:
        """Which of the known forms the directory has."""
        if not self.exists():
            return "no directory"
        if self.files():
            has_index = self.exists(self.index_path)
            return "index + files" if has_index else "files without an index"
        return "standalone index" if self.standalone() is not None else "empty"


class OnDisk(Files):
    """A directory. Reading never waits; writing is for the holder of the lock."""

    def __init__(self, root: str, max_file_bytes: int = MAX_FILE_BYTES) -> None:
        self.root = root
        self.disk = Disk(root)
        self.max_file_bytes = max_file_bytes

    def read(self, path: str) -> bytes:
        """The bytes of one file below the store."""
        try:
            return self.disk.read(path)[0]
        except OSError as error:
            raise failure(error, os.path.join(self.root, path), "cannot be read") from None

    def index(self) -> bytes | None:
        """The index as it stands, None where there is none, or none for a moment."""
        path = self.index_path
        try:
            return self.disk.read(path)[0]
        except FileNotFoundError:
            return None
        except OSError as error:
            raise failure(error, os.path.join(self.root, path), "cannot be read") from None

    def exists(self, path: str = "") -> bool:
        """True where something stands at that path, whatever it is; not knowing is an error."""
        where = os.path.join(self.root, path)
        try:
            os.lstat(where)
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:
            raise failure(error, where, "cannot be looked at") from None
        return True

    def make(self) -> None:
        """Create the directory where there is none, private and durable."""
        try:
            self.disk.make_root()
        except OSError as error:
            raise failure(error, self.root, "the directory cannot be created") from None

    def put(self, path: str, data: bytes) -> None:
        """Replace or create one file, durably."""
        self.make()
        try:
            self.disk.put(path, data)
        except OSError as error:
            raise failure(error, os.path.join(self.root, path), "cannot be written") from None

    def drop(self, path: str) -> None:
        """Take one file out of the store, durably."""
        try:
            self.disk.drop(path)
        except OSError as error:
            raise failure(error, os.path.join(self.root, path), "cannot be removed") from None

    def facts(self, path: str) -> tuple[int, ...] | None:
        """The same facts of one file, None where there is none, empty where nobody can tell."""
        try:
            found = self.disk.stat(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            return None if error.errno == errno.ELOOP else ()
        return fingerprint(found) if stat.S_ISREG(found.st_mode) else None


def fingerprint(facts: os.stat_result) -> tuple[int, ...]:
    """Changes whenever the file does: ctime cannot be set back by a tool that keeps mtime."""
    return facts.st_mtime_ns, facts.st_ctime_ns, facts.st_size, facts.st_ino


def _survey(text: str, files: list[str]) -> "Survey":
    from memdir.core.index import survey  # five modules that a store with a MEMORY.md never needs

    return survey(text, files)


class RecordFolders(OnDisk):
    """The six folders below a directory; whatever else lies there is somebody else's."""

    layout = "records"

    @property
    def index_path(self) -> str:
        """index.md, whatever else there is."""
        return RECORD_INDEX

    def is_memory(self, path: str) -> bool:
        """True for a path at which a record lies."""
        return path != RECORD_SETTINGS and is_of_records(path)

    def standalone(self) -> bytes | None:
        """An index of records is never a memory itself."""
        return None

    def tree(self) -> dict[str, tuple[int, ...]]:
        """The records, their index and settings, with the facts that change when they do."""
        found: dict[str, tuple[int, ...]] = {}
        for _, path, entry in self.disk.walk(RECORD_FOLDERS.__contains__, []):
            if path != RECORD_INDEX and not is_of_records(path):
                continue
            if entry.is_file(follow_symlinks=False):
                try:
                    facts = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue  # gone since its folder was read
                except OSError as error:
                    where = os.path.join(self.root, path)
                    raise failure(error, where, "cannot be looked at") from None
                if facts.st_size <= self.max_file_bytes:
                    found[path] = fingerprint(facts)
        return found
