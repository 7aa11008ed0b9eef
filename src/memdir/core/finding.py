"""A finding: something about a store that a person should know, with the way to mend it."""


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
