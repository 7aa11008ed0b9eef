"""A store around another one: everything passes through; wrappers change what they are for.

Read on the hot path.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memdir.core.ports import Scan, Store


class Around:
    """Delegates every call to the store inside."""

    def __init__(self, inside: "Store") -> None:
        self.inside = inside
        self.root = inside.root

    @property
    def layout(self) -> str:
        """See the store inside."""
        return self.inside.layout

    @property
    def shape(self) -> str:
        """See the store inside."""
        return self.inside.shape

    @property
    def index_path(self) -> str:
        """See the store inside."""
        return self.inside.index_path

    def scan(self) -> "Scan":
        """See the store inside."""
        return self.inside.scan()

    def files(self) -> list[str]:
        """See the store inside."""
        return self.inside.files()

    def read(self, path: str) -> bytes:
        """See the store inside."""
        return self.inside.read(path)

    def view(self, path: str, data: bytes | None = None) -> bytes:
        """See the store inside; what a wrapper reads counts."""
        return self.inside.view(path, self.read(path) if data is None else data)

    def is_memory(self, path: str) -> bool:
        """See the store inside."""
        return self.inside.is_memory(path)

    def exists(self, path: str = "") -> bool:
        """See the store inside."""
        return self.inside.exists(path)

    def index(self) -> bytes | None:
        """See the store inside."""
        return self.inside.index()

    def standalone(self) -> bytes | None:
        """See the store inside."""
        return self.inside.standalone()

    def make(self) -> None:
        """See the store inside."""
        self.inside.make()

    def put(self, path: str, data: bytes) -> None:
        """See the store inside."""
        self.inside.put(path, data)

    def drop(self, path: str) -> None:
        """See the store inside."""
        self.inside.drop(path)

    def tree(self) -> dict[str, tuple[int, ...]]:
        """See the store inside."""
        return self.inside.tree()

    def facts(self, path: str) -> tuple[int, ...] | None:
        """See the store inside."""
        return self.inside.facts(path)

    def sweep(self) -> None:
        """See the store inside."""
        self.inside.sweep()
