"""Broken promises, each with what happened, where and what to do next; and findings."""


class MemdirError(Exception):
    """Something a user can act on; surfaces print it as a sentence, never as a traceback."""

    code = "refused"
    exit_code = 1

    def __init__(self, message: str, *, path: str = "", next: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.next = next


class BadInput(MemdirError):
    """What was given cannot be taken; nothing was written."""

    code = "bad_input"


class Missing(MemdirError):
    """What was named does not exist."""

    code = "missing"


class Conflict(MemdirError):
    """Somebody else changed it first; both texts are here, nothing was written."""

    code = "conflict"

    def __init__(self, message: str, *, path: str, next: str, ours: bytes, theirs: bytes) -> None:
        super().__init__(message, path=path, next=next)
        self.ours = ours
        self.theirs = theirs


class Busy(MemdirError):
    """Another process holds the store's lock; nothing was written."""

    code = "busy"


class Unwritable(MemdirError):
    """The disk or its permissions refused; the message says which version stands."""

    code = "unwritable"


class HistoryBroken(MemdirError):
    """The history cannot be read or written; memories themselves are untouched."""

    code = "history_broken"


class KnowledgeAtRisk(MemdirError):
    """A line would disappear: the plan is wrong, so nothing of it is carried out."""

    code = "knowledge_at_risk"


class Finding:
    """What is wrong, where, and what to do; never a reason to hide the other memories."""

    __slots__ = ("fix", "kind", "line", "message", "path")

    def __init__(self, kind: str, path: str, message: str, fix: str = "", line: int = 0) -> None:
        self.kind = kind
        self.path = path
        self.line = line
        self.message = message
        self.fix = fix

    def _key(self) -> tuple[str, str, int, str]:
        return self.kind, self.path, self.line, self.message

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Finding) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"Finding({self.kind!r}, {self.path!r}, {self.message!r}, line={self.line})"
