"""What each session of a client was told, one small file each in the state directory. Hot path.

A line is added when a memory was told; a clear or a compact begins anew. Losing a line to a power
cut costs a memory told twice, so nothing is forced to the disk.
"""

import os
from time import sleep

from memdir.core.session_state import SessionState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

FOLDER = "sessions"
KEPT_DAYS = 7
DAY = 86_400  # seconds
LONGEST = 100  # characters of an id that is used as it is
MOST_BYTES = 1 << 20  # of a file that are read, from its end
TRIES, PAUSE = 20, 0.01  # to hold a session; seconds between two of them
SURFACED, INJECTED = "surfaced", "injected"
SECTION = ".section"
DIGITS = 9  # of a number of bytes; more of them are not ours
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Sessions:
    """The sessions of one user; an empty id is a session that nobody continues."""

    def __init__(self, state_dir: str) -> None:
        self.folder = os.path.join(state_dir, FOLDER)

    def load(self, session: str) -> SessionState:
        """What a session has seen so far; nothing where that cannot be told."""
        seen: dict[str, list[str]] = {SURFACED: [], INJECTED: []}
        for line in self._read(session).split("\n"):
            kind, mark, value = line.partition(" ")
            if mark and kind in seen:
                seen[kind].append(value)
        numbers = [value[:DIGITS] for value in seen[INJECTED]]
        injected = sum(int(value) for value in numbers if value.isdecimal())
        return SessionState(frozenset(map(_unescape, seen[SURFACED])), injected)

    def add_told(self, session: str, told: list[str], injected: int) -> None:
        """Remember what it was told just now."""
        lines = [f"{SURFACED} {_escape(path)}\n" for path in told]
        if session:
            data = _encode("".join([*lines, f"{INJECTED} {injected}\n"]))
            self._append(self._path(session), data)

    def held(self, session: str) -> "Held":
        """While it is held, no other hook of the session tells anything; see there."""
        return Held(self, self._path(session) if session else "")

    def begin_anew(self, session: str) -> None:
        """Begin anew: the agent has lost what it was told."""
        for path in (self._path(session), self._path(session) + SECTION) if session else ():
            _try(os.unlink, path)

    def section(self, session: str) -> str:
        """The text that the session started with; empty before it has one."""
        return self._read(session, SECTION)

    def keep_section(self, session: str, text: str) -> None:
        """Keep the text that the session starts with."""
        data = _encode(text)
        if not session or len(data) > MOST_BYTES:
            return
        path = self._path(session) + SECTION
        part = f"{path}.{os.urandom(4).hex()}"
        if self._append(part, data):
            _try(os.link, part, path)  # whole or not at all, and the first one counts
        _try(os.unlink, part)

    def prune(self, now: float) -> None:
        """Remove the files of sessions that ended long ago."""
        try:
            names = os.listdir(self.folder)
        except OSError:
            return
        for name in names:
            path = os.path.join(self.folder, name)
            try:
                if os.lstat(path).st_mtime < now - KEPT_DAYS * DAY:
                    os.unlink(path)
            except OSError:
                continue  # somebody else was faster

    def _read(self, session: str, kind: str = "") -> str:
        if not session:
            return ""
        try:
            handle = os.open(self._path(session) + kind, _READ)
        except OSError:
            return ""
        try:
            before = os.fstat(handle).st_size - MOST_BYTES
            data = os.pread(handle, MOST_BYTES, max(0, before))
            if before > 0:  # the last ones count, and only whole lines
                data = data.partition(b"\n")[2]
            return data.decode("utf-8", "surrogateescape")
        except OSError:
            return ""
        finally:
            os.close(handle)

    def _append(self, path: str, data: bytes) -> bool:
        try:
            handle = self.open(path)
        except OSError:
            return False  # a memory told twice is better than a session without memory
        try:
            return os.write(handle, data) == len(data)
        except OSError:
            return False  # the disk is full, or somebody put a pipe there
        finally:
            os.close(handle)

    def open(self, path: str) -> int:
        """A handle to add to a file, which is made where there is none."""
        try:
            return os.open(path, _FLAGS, 0o600)
        except FileNotFoundError:
            _make_private(self.folder)
            return os.open(path, _FLAGS, 0o600)

    def _path(self, session: str) -> str:
        return os.path.join(self.folder, _file_name(session))


class Held:
    """One teller at a time in a session; who waited too long goes on, and may tell twice."""

    def __init__(self, sessions: Sessions, path: str) -> None:
        self.sessions = sessions
        self.path = path
        self.handle = -1

    def __enter__(self) -> None:
        if not self.path:
            return
        import fcntl  # a prompt that no memory fits has nothing to tell, and no use for it

        try:
            self.handle = self.sessions.open(self.path)
        except OSError:
            return
        for _ in range(TRIES):
            try:
                return fcntl.flock(self.handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                sleep(PAUSE)
            except OSError:
                return None  # not every file system has locks

    def __exit__(self, *_: object) -> None:
        if self.handle >= 0:
            os.close(self.handle)  # and with it the lock


def _try(change: "Callable[..., None]", *paths: str) -> None:
    try:
        change(*paths)
    except OSError:
        return  # there was none, or somebody else was faster


def _make_private(folder: str) -> None:
    """A folder for nobody else, and so each one above it that is missing."""
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        return
    except FileNotFoundError:
        above = os.path.dirname(folder)
        if above in ("", folder):
            raise
        _make_private(above)
        os.mkdir(folder, 0o700)


def _file_name(session: str) -> str:
    """The id where it is a plain name, else a number made of it: an id comes from outside."""
    plain = session.replace("-", "").replace("_", "")
    if plain.isascii() and plain.isalnum() and len(session) <= LONGEST:
        return session
    from binascii import crc32

    data = _encode(session)
    return f"odd.{crc32(data):08x}{crc32(data[::-1]):08x}.{len(data)}"


def _encode(text: str) -> bytes:
    """Bytes for any text: a client may send half of a character."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n")


def _unescape(value: str) -> str:
    parts = value.split("\\\\")  # an escaped backslash begins no other escape
    return "\\".join(part.replace("\\n", "\n") for part in parts)
