"""The eyes of the agent that captures: reads that were allowed, bounded in size and time."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase

from memdir.core.agent.telling import SECRET, masked
from memdir.core.permissions.deciding import BASH, GLOB, READ, UNSEEN, Allowed
from memdir.core.permissions.paths import Places, is_secret

LARGEST_BYTES = 64 * 1024  # of a file, and of what a command prints
LINES = 200  # of a file, where nobody says how many
SECONDS = 5.0  # for a command
ENTRIES = 20_000  # that a pattern is compared with
MATCHES = 100
PATH = "/usr/bin:/bin"
FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW | os.O_CLOEXEC
PRINTING = ("cat", "head", "tail", "grep")  # commands that print what stands in files
# A key of several lines is known by its first one only, which a command need not print.
KEYS = ("PRIVATE KEY", "PuTTY-User-Key")
MOST_KEYS = 100  # files with keys that are looked through
LEAST_LINE = 8  # characters of a key's line: shorter ones stand anywhere
UNSEEN_FOLDERS = ("node_modules", "__pycache__", ".venv")


class Looking:
    """Looks at one project and one store; what it cannot see is said in words."""

    def __init__(self, project: str, store: str) -> None:
        self.places = Places(os.path.realpath(project) if project else "", os.path.realpath(store))

    def resolve(self, path: str) -> str:
        """The real path; of what is not there, as far as it exists."""
        try:
            return os.path.realpath(path)
        except (OSError, ValueError):
            return ""

    def run(self, call: Allowed) -> str:
        """What is seen; a failure is a sentence for the one who asked."""
        try:
            if call.tool == READ:
                return self._read(call)
            if call.tool == GLOB:
                return self._glob(call)
            if call.tool == BASH:
                return self._command(call)
        except OSError as error:
            return f"(cannot be read: {error.strerror or type(error).__name__})"
        return "(nothing is written here)"

    def memory(self, name: str) -> bytes | None:
        """The bytes of a memory of the store."""
        try:
            return self._bytes(os.path.join(self.places.store, f"{name}.md"))
        except (OSError, ValueError):
            return None

    def names(self) -> list[str]:
        """The names of the memories in the store itself."""
        try:
            files = os.listdir(self.places.store)
        except OSError:
            return []
        return sorted(file[:-3] for file in files if file.endswith(".md"))

    def _bytes(self, path: str) -> bytes:
        with open(os.open(path, FLAGS), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise OSError(0, "it is no file")
            return file.read(LARGEST_BYTES + 1)

    def _read(self, call: Allowed) -> str:
        # A folder on the way may have become a link since the call was allowed.
        if self.resolve(call.path) != call.path:
            return "(it was moved just now)"
        data = self._bytes(call.path)
        lines = masked(data[:LARGEST_BYTES].decode("utf-8", "replace")).split("\n")
        first = max(call.start - 1, 0)
        shown = lines[first : first + (call.lines or LINES)]
        left = len(lines) - first - len(shown)
        more = [f"({left} more lines)"] if left > 0 or len(data) > LARGEST_BYTES else []
        return "\n".join([*shown, *more])

    def _glob(self, call: Allowed) -> str:
        found = [path for path in self._below(call.path) if _matches(path, call.pattern)]
        shown = sorted(found)[:MATCHES]
        more = [f"({len(found) - MATCHES} more)"] if len(found) > MATCHES else []
        return "\n".join([*shown, *more]) or "(no file fits)"

    def _below(self, root: str) -> Iterator[str]:
        """Paths of files below a folder; links are named and not followed."""
        seen = 0
        for folder, folders, files in os.walk(root):
            folders[:] = [
                one for one in folders if not is_secret(one) and one not in UNSEEN_FOLDERS
            ]
            for file in files:
                seen += 1
                if seen > ENTRIES:
                    return
                yield os.path.relpath(os.path.join(folder, file), root)

    def _command(self, call: Allowed) -> str:
        """What a command prints, without the lines of secrets."""
        words, files = self._plain(call.words)
        if not words:
            return "(it is no file)"
        out = self._printed(words)
        text = masked(out[:LARGEST_BYTES].decode("utf-8", "replace").rstrip("\n"))
        if words[0] in PRINTING:
            text = _without(text, self._key_lines(files))
        more = "\n(more was printed)" if len(out) > LARGEST_BYTES else ""
        return text + more or "(nothing was printed)"

    def _plain(self, words: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The command and its paths without pipes and devices, which have one wait for ever."""
        if "--" not in words:
            return tuple(words), ()
        at = words.index("--") + 1
        paths = tuple(words[at:])
        plain = tuple(one for one in paths if not self._waits(one))
        return ((*words[:at], *plain), plain) if plain or not paths else ((), ())

    def _waits(self, path: str) -> bool:
        with suppress(OSError, ValueError):
            mode = os.stat(os.path.join(self.places.base, path)).st_mode
            return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
        return False

    def _key_lines(self, paths: Sequence[str]) -> list[str]:
        """The lines of keys in these files, whichever of them a command prints."""
        wanted = [word for key in KEYS for word in ("-e", key)]
        words = ("grep", "-rlZsF", *wanted, *UNSEEN, "--", *(paths or (".",)))
        found: set[str] = set()
        for name in self._printed(words).split(b"\0")[:MOST_KEYS]:
            with suppress(OSError, ValueError):
                path = os.path.join(self.places.base, os.fsdecode(name))
                text = self._bytes(path).decode("utf-8", "replace")
                pairs = zip(text.split("\n"), masked(text).split("\n"), strict=False)
                found.update(line.strip() for line, shown in pairs if shown == SECRET)
        return [line for line in found if len(line) >= LEAST_LINE]

    def _printed(self, words: Sequence[str]) -> bytes:
        """What a command prints, without a shell, without our environment, for a short time."""
        env = {"PATH": PATH, "LC_ALL": "C.UTF-8", "TZ": "UTC"}
        with subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            cwd=self.places.base, env=env, start_new_session=True,
        ) as process:  # fmt: skip
            return _first_bytes(process)


def _without(text: str, hidden: Sequence[str]) -> str:
    """The text without the lines that hold one of these."""
    lines = text.split("\n") if hidden else []
    shown = [SECRET if any(one in line for one in hidden) else line for line in lines]
    return "\n".join(shown) if hidden else text


def _first_bytes(process: subprocess.Popen[bytes]) -> bytes:
    """What it prints at first; then it is ended."""
    import selectors
    import time

    assert process.stdout is not None
    out, end = bytearray(), time.monotonic() + SECONDS
    with selectors.DefaultSelector() as ready:
        ready.register(process.stdout, selectors.EVENT_READ)
        while len(out) <= LARGEST_BYTES and ready.select(max(end - time.monotonic(), 0)):
            chunk = os.read(process.stdout.fileno(), LARGEST_BYTES)
            if not chunk:
                break
            out += chunk
    with suppress(ProcessLookupError):
        process.kill()
    return bytes(out)


def _matches(path: str, pattern: str) -> bool:
    """As a shell has it, nearly: `**/` is any folders or none, `*` also crosses folders."""
    forms = {pattern, pattern.replace("**/", "")}
    return any(fnmatchcase(path, form) for form in forms) or (
        "/" not in pattern and fnmatchcase(os.path.basename(path), pattern)
    )
