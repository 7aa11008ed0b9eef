"""A shared store as agents see it: only memories that the user has accepted."""

from memdir.errors import MemdirError, Missing
from memdir.format.pointer import format_pointer
from memdir.hot.disk import digest_of
from memdir.hot.layout import Around

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memdir.hot.acceptance import Acceptance
    from memdir.hot.layout import Scan
    from memdir.hot.recall import Found
    from memdir.store.ports import Search, Store

EVERYTHING = 100_000  # hits, more than a store has memories


class AcceptanceView(Around):
    """Hides waiting memories; builds the index from memories, since anybody may edit MEMORY.md."""

    def __init__(self, inside: "Store", acceptance: "Acceptance") -> None:
        super().__init__(inside)
        self.acceptance = acceptance
        self._digests: dict[str, str] = {}

    def digest(self, path: str) -> str:
        if path not in self._digests:
            try:
                self._digests[path] = digest_of(self.inside.read(path))
            except MemdirError:
                self._digests[path] = ""
        return self._digests[path]

    def accepts(self, path: str) -> bool:
        return bool(self.acceptance.decisions) and self.acceptance.accepts(path, self.digest(path))

    def source(self, path: str) -> str:
        return self.acceptance.source(path, self.digest(path))

    def waiting(self) -> list[str]:
        paths = [memory.path for memory in self.inside.scan().memories]
        decision = self.acceptance.decision
        return [
            item for item in paths if self.digest(item) and not decision(item, self.digest(item))
        ]

    def scan(self) -> "Scan":
        scan = self.inside.scan()
        scan.memories = [item for item in scan.memories if self.accepts(item.path)]
        return scan

    def files(self) -> list[str]:
        return [path for path in self.inside.files() if self.accepts(path)]

    def read(self, path: str) -> bytes:
        """Checks again, since git may change the file at any time."""
        data = self.inside.read(path)
        if not self.acceptance.accepts(path, digest_of(data)):
            raise Missing(f"{path}: not accepted yet", path=path, next="memdir review")
        return data

    def index(self) -> bytes | None:
        lines = [
            format_pointer(item.name, item.path, f"{item.description} ({self.source(item.path)})")
            for item in self.scan().memories
        ]
        return "\n".join(lines).encode("utf-8", "surrogateescape") if lines else None

    def standalone(self) -> bytes | None:
        return None


class AcceptanceSearch:
    def __init__(self, inside: "Search", view: AcceptanceView) -> None:
        self.inside = inside
        self.view = view

    def find(self, prompt: str, limit: int) -> "Found":
        if not self.view.acceptance.decisions:
            from memdir.hot.recall import Found

            return Found([], 0, [])
        result = self.inside.find(prompt, limit)
        hits = [hit for hit in result.hits if self.view.accepts(hit.memory.path)]
        if len(hits) < limit <= len(result.hits):
            result = self.inside.find(prompt, EVERYTHING)
            hits = [hit for hit in result.hits if self.view.accepts(hit.memory.path)][:limit]
        result.hits = hits
        return result
