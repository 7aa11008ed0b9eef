"""What a session was told: a file of lines per session, so that nothing is told twice."""

import os

from memdir.hot import disk, memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

SESSION_BYTES = 61_440  # injected per session
FOLDER = "sessions"
SECTION = ".section"
KEPT_SECONDS = 7 * 86_400
MAX_ID_CHARACTERS = 100  # of an id that is used unchanged as a file name
MAX_BYTES = 1 << 20  # read from the end of a file
SURFACED, POINTED, INJECTED = "surfaced", "pointed", "injected"
DIGITS = 9  # of a byte count; we never write more


class SessionState:
    def __init__(
        self,
        surfaced: "frozenset[str]" = frozenset(),
        injected: int = 0,
        end: int = 0,
        pointed: "frozenset[str]" = frozenset(),
    ) -> None:
        self.surfaced = surfaced  # versions of memories whose body it was told
        self.pointed = pointed  # versions of memories it was given a line of
        self.begun = injected > 0  # it knows what the frame means
        self.left = max(0, SESSION_BYTES - injected)  # bytes that may still be injected
        self.end = end  # size of its file when it was read
        self.tools: frozenset[str] = frozenset()  # in use, by name


class Sessions:
    """One file of lines per session; an empty id stores nothing.

    Lines are appended before a memory is told. If another hook has appended lines since this one
    read the file, it chooses again: two hooks at once repeat nothing, and neither waits. There is
    no fsync: a line lost in a power cut only means that a memory is told twice.
    """

    def __init__(self, state_dir: str) -> None:
        self.folder = os.path.join(state_dir, FOLDER)

    def load(self, session: str, end: int = 0) -> SessionState:
        if not session:
            return SessionState()
        data, end = disk.read_end_of_file(self._path(session), MAX_BYTES, end)
        told: dict[str, list[str]] = {SURFACED: [], POINTED: []}
        injected = 0
        for line in memory.decode(data).split("\n"):
            kind, _, value = line.partition(" ")
            if kind in told and value:
                # An escaped backslash does not start another escape.
                parts = [part.replace("\\n", "\n") for part in value.split("\\\\")]
                told[kind].append("\\".join(parts))
            elif kind == INJECTED and value[:DIGITS].isdecimal():
                injected += int(value[:DIGITS])
        return SessionState(frozenset(told[SURFACED]), injected, end, frozenset(told[POINTED]))

    def add_told(
        self, session: str, told: list[str], injected: int, pointed: "Sequence[str]" = ()
    ) -> int:
        """Returns the offset in the session's file where these lines begin."""
        if not session:
            return 0
        named = [*((SURFACED, name) for name in told), *((POINTED, name) for name in pointed)]
        lines = [
            kind + " " + name.replace("\\", "\\\\").replace("\n", "\\n") for kind, name in named
        ]
        lines.append(f"{INJECTED} {injected}\n")
        data = _encode("\n".join(lines))
        try:
            return disk.append_to_file(self._path(session), data) - len(data)
        except OSError:
            return 0  # telling twice is better than not at all

    def begin_anew(self, session: str) -> None:
        if session:
            disk.remove_file(self._path(session))
            disk.remove_file(self._path(session) + SECTION)

    def section(self, session: str, suffix: str = SECTION) -> str:
        data = disk.read_end_of_file(self._path(session) + suffix, MAX_BYTES)[0] if session else b""
        return memory.decode(data)

    def keep_section(self, session: str, text: str) -> None:
        """Keeps the first text; later ones are ignored."""
        data = _encode(text)
        if session and len(data) <= MAX_BYTES:
            try:
                disk.make_private_folder(self.folder)
                disk.create_file_once(self._path(session) + SECTION, data)
            except OSError:
                return  # it is made again each time

    def prune(self, now: float) -> None:
        try:
            with os.scandir(self.folder) as entries:
                for entry in entries:
                    if entry.stat(follow_symlinks=False).st_mtime < now - KEPT_SECONDS:
                        disk.remove_file(entry.path)
        except OSError:
            return

    def _path(self, session: str) -> str:
        """Ids come from outside: one that is not a plain name is replaced by its digest."""
        plain = session.replace("-", "").replace("_", "")
        if not plain.isascii() or not plain.isalnum() or len(session) > MAX_ID_CHARACTERS:
            session = f"odd.{disk.digest_of(_encode(session))[:32]}"
        return os.path.join(self.folder, session)


def _encode(text: str) -> bytes:
    """Accepts any text: a client may send lone surrogates."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")
