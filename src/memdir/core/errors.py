"""Broken promises. Each says what happened, where, and what to do next."""


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
