"""What a client's session was already told, so that it is told nothing twice. Hot path."""

SESSION_BYTES = 61_440  # of injected text in one session


class SessionState:
    """What a session has seen; a clear or a compact begins anew."""

    __slots__ = ("injected", "surfaced")

    def __init__(self, surfaced: "frozenset[str]" = frozenset(), injected: int = 0) -> None:
        self.surfaced = surfaced  # the versions of memories that it was told of
        self.injected = injected  # bytes of text that it was given

    @property
    def left(self) -> int:
        """Bytes that may still be injected."""
        return max(0, SESSION_BYTES - self.injected)
