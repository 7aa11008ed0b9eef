"""What of a repository or a team the person has accepted: by path and content. Hot path.

Strangers write what lies there, so nothing of it is told before somebody has looked at it, and
then with its source. A file that changes is another one: it waits again.
"""

from memdir.core.inert import inert_line
from memdir.core.scope import RECORDS, below
from memdir.core.store_key import digest_of

REPOSITORY, TEAM = "this repository", "your team"
ACCEPTED, REJECTED = "accepted", "rejected"
NOT_YET = "not accepted yet"
AUTHOR_BYTES = 60
# What these write is as good as what it was made from; the others write what a person said.
UPKEEP = ("archive", "dream", "index", "purge", "rename", "restructure", "retire", "touch")
PUT_BACK = ("begin", "outside", "restore", "undo")  # old bytes: accepted before, or not at all

TYPE_CHECKING = False
if TYPE_CHECKING:
    Decisions = dict[tuple[str, str], tuple[str, str]]  # (path, digest) -> (decision, author)


def origin_of(scope: str, root: str, checkout: str, shared: bool) -> str:
    """Who else writes the memories of a scope; empty where they are the user's own."""
    if scope == "team":
        return TEAM
    if scope in ("local", RECORDS):
        return REPOSITORY
    inside = scope == "project" and shared and below(root, checkout)
    return REPOSITORY if inside else ""


class Acceptance:
    """What was decided on the memories of one store, and what to call their source."""

    __slots__ = ("decisions", "origin")

    def __init__(self, origin: str, decisions: "Decisions | None" = None) -> None:
        self.origin = origin
        self.decisions = decisions or {}

    def decision(self, path: str, digest: str) -> str:
        """`accepted`, `rejected`, or nothing while it waits."""
        return self.decisions.get((path, digest), ("", ""))[0]

    def accepts(self, path: str, digest: str) -> bool:
        """True where the person said yes to this very content, or had memdir write it."""
        return self.decision(path, digest) == ACCEPTED

    def source(self, path: str, digest: str) -> str:
        """Where it comes from, as an agent is told."""
        decision, author = self.decisions.get((path, digest), ("", ""))
        by = f", by {inert_line(author, AUTHOR_BYTES)}" if author else ""
        return f"from {self.origin}{by}" + ("" if decision == ACCEPTED else f", {NOT_YET}")

    def add(self, path: str, data: bytes, decision: str = ACCEPTED, author: str = "") -> None:
        """Put a decision down."""
        self.decisions[path, digest_of(data)] = (decision, author)


def written(decisions: "Decisions") -> bytes:
    """Fields between zeros, which no path and no name can hold."""
    fields = [part for key, value in decisions.items() for part in (*key, *value)]
    return "\0".join(fields).encode("utf-8", "surrogateescape")


def read(data: bytes) -> "Decisions":
    """The inverse of `written`."""
    fields = data.decode("utf-8", "surrogateescape").split("\0") if data else []
    keys = zip(fields[0::4], fields[1::4], strict=True)
    return dict(zip(keys, zip(fields[2::4], fields[3::4], strict=True), strict=True))
