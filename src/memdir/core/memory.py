"""A memory: one Markdown file below a store, known by its path, described by its header.

A scan on the hot path asks for neither type nor age, so what they need is imported with them:
a module costs a quarter of a millisecond there.
"""

from memdir.core import frontmatter
from memdir.core.frontmatter import Document

UNKNOWN = "unknown"
INDEX = "MEMORY.md"
README = "README.md"
TEAM = "team"
NOT_MEMORIES = frozenset(("memory.md", "readme.md", "index.md"))
# Folders that hold no memories: another store, logs, what other tools archived, records.
RECORD_FOLDERS = ("sessions", "decisions", "runbooks", "constraints", "tech-debt", "preferences")
RECORD_INDEX = "index.md"
RECORD_SETTINGS = "memory-config.json"
FOREIGN_FOLDERS = frozenset((TEAM, "logs", "archive", *RECORD_FOLDERS))
# Where a value may stand: the seeds' form first, then the form Claude Code writes today.
TYPE_KEYS = ("type", "metadata.type")
CREATED_KEYS = ("metadata.created", "created")
MODIFIED_KEYS = ("metadata.modified", "modified")
VERIFIED_KEYS = ("metadata.last_verified", "last_verified")
PINNED_KEYS = ("metadata.pinned", "pinned")
SOURCE_KEYS = ("metadata.source", "source")


class Memory:
    """What a scan knows of a memory: its header, size and time; the body stays on disk.

    The header is parsed when somebody asks for a value: most callers ask a few of many.
    """

    __slots__ = ("_document", "head", "mtime", "path", "size")

    def __init__(self, path: str, head: str, mtime: float, size: int) -> None:
        self.path = path
        self.head = head
        self.mtime = mtime
        self.size = size
        self._document: Document | None = None

    @property
    def document(self) -> Document:
        """The parsed header."""
        if self._document is None:
            self._document = frontmatter.read(self.head)
        return self._document

    @property
    def values(self) -> dict[str, str]:
        """Every value of the header by its key."""
        return self.document.values

    def get(self, keys: tuple[str, ...]) -> str:
        """The first value that the header has under one of these keys."""
        return self.document.get(*keys)

    @property
    def name(self) -> str:
        """The label; a memory without one is called by its file."""
        return self.values.get("name") or stem(self.path)

    @property
    def type(self) -> str:
        """One of the known types, else `unknown`; case and spaces are forgiven."""
        from memdir.core import types

        found = self.get(TYPE_KEYS).strip().lower()
        return found if found in types.names() else UNKNOWN

    @property
    def description(self) -> str:
        """The one line that says what this is about."""
        return self.values.get("description", "")

    @property
    def pinned(self) -> bool:
        """True where the user asked to keep it on top of the index."""
        return self.get(PINNED_KEYS).lower() in ("true", "yes", "1")

    @property
    def clock(self) -> float:
        """The moment staleness counts from: verified or modified, else created, else mtime."""
        from memdir.core import dates

        later = [dates.parse_time(self.get(keys)) for keys in (VERIFIED_KEYS, MODIFIED_KEYS)]
        known = [moment for moment in later if moment is not None]
        if known:
            return max(known)
        created = dates.parse_time(self.get(CREATED_KEYS))
        return self.mtime if created is None else created


def read_memory(path: str, data: bytes, mtime: float) -> Memory:
    """A memory from its whole bytes."""
    return Memory(path, frontmatter.decode(data), mtime, len(data))


def stem(path: str) -> str:
    """The file's name without its folder and `.md`, or the `.json` of a record."""
    name = path.rpartition("/")[2]
    if name[-3:].lower() == ".md":
        return name[:-3]
    return name[:-5] if name[-5:] == ".json" else name


def is_memory(path: str) -> bool:
    """True for a path below a store that a scan takes for a memory."""
    folder, slash, name = path.rpartition("/")
    if name[-3:].lower() != ".md" or name[0] == "." or name.lower() in NOT_MEMORIES:
        return False
    if not folder:
        return not slash
    folders = folder.split("/")
    if any(part[:1] in ("", ".") or part[-3:].lower() == ".md" for part in folders):
        return False
    return folders[0] not in FOREIGN_FOLDERS


def is_of_records(path: str) -> bool:
    """True for a record's file, and for the settings of a store of records."""
    folder, _, name = path.rpartition("/")
    if folder not in RECORD_FOLDERS:
        return path == RECORD_SETTINGS
    return name[-5:] == ".json" and name[0] != "." and len(name) > 5
