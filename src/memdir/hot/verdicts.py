"""Kept verdicts, confirmed by a stat."""

import os
from binascii import crc32

from memdir.hot.place import store_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from memdir.hot.inject import Recalled
    from memdir.hot.memory import Memory

    Facts = tuple[int, int] | None  # of a place: time of change and size; None: it is not there
    # verdict, kind, text, reason, place, its facts when it was looked at
    Row = tuple[str, str, str, str, str, Facts]


# Which commit a checkout is at, from a few small files: git would cost a process. Hot path.

CHECKOUT_MOST_BYTES = 4096
_CHECKOUT_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
_HEX = frozenset("0123456789abcdef")


def head_of(root: str) -> str:
    """The commit's id; empty where these files do not tell it, as with packed references."""
    gitdir = f"{root}/.git"
    link = line_of(gitdir)
    if link.startswith("gitdir:"):
        gitdir = os.path.join(root, link[7:].strip())
    head = line_of(f"{gitdir}/HEAD")
    if not head.startswith("ref:"):
        return _id(head)
    name = head[4:].strip()
    if not name.startswith("refs/") or ".." in name:
        return ""
    common = os.path.join(gitdir, line_of(f"{gitdir}/commondir") or ".")
    return _id(line_of(f"{common}/{name}"))


def _id(text: str) -> str:
    return text if len(text) in (40, 64) and _HEX.issuperset(text) else ""


def line_of(path: str) -> str:
    """A file of git's that holds one line; empty for anything else."""
    try:
        handle = os.open(path, _CHECKOUT_READ)
        try:
            data = os.read(handle, CHECKOUT_MOST_BYTES)
        finally:
            os.close(handle)
    except (OSError, ValueError):
        return ""
    return data.decode("utf-8", "surrogateescape").strip()


# Verdicts kept for recall: what a look at the code found, so that a glance can confirm it later.
#
# A row is one claim that was found true or stale; its place is where it was found, or once was. A
# glance asks the file system for that place only: a path is still there or is not, a file with a
# symbol in it is unchanged or is not.
# Hot path: plain tuples, and text in and out.

TRUE, STALE, PATH = "true", "stale", "path"  # as core.claim says them; that one is too heavy here
MARK = "memdir verdicts 1"
SHORT = 7  # digits of a commit
MOST_ROWS = 60  # of one memory
MOST_STALE, MOST_FOUND = 6, 8  # that are said
LONGEST_TEXT, LONGEST_REASON = 60, 160  # characters


class Kept:
    """The rows of one memory, and the state of both when they were made."""

    __slots__ = ("facts", "rows", "state")

    def __init__(self, facts: "tuple[int, int]", state: str, rows: "Sequence[Row]") -> None:
        self.facts = facts  # of the memory's file
        self.state = state  # the commit that was looked at
        self.rows = rows


def write(kept: Kept) -> bytes:
    """The form on disk; `read` is its inverse."""
    lines = [f"{kept.facts[0]} {kept.facts[1]} {kept.state}"]
    for *texts, facts in kept.rows[:MOST_ROWS]:
        numbers = f"{facts[0]} {facts[1]}" if facts else ""
        lines.append("\t".join([*map(_plain, texts), numbers]))
    data = "\n".join(lines).encode("utf-8", "surrogateescape")
    return f"{MARK} {crc32(data):08x}\n".encode() + data


def read(data: bytes) -> Kept | None:
    """What was written; None where these are not the bytes that were."""
    head, _, rest = data.partition(b"\n")
    if head != f"{MARK} {crc32(rest):08x}".encode():
        return None
    first, *lines = rest.decode("utf-8", "surrogateescape").split("\n")
    time, size, state = first.split(" ")
    rows: list[Row] = []
    for line in lines:
        verdict, kind, text, reason, place, numbers = line.split("\t")
        pair = numbers.split(" ")
        facts = (int(pair[0]), int(pair[1])) if numbers else None
        rows.append((verdict, kind, text, reason, place, facts))
    return Kept((int(time), int(size)), state, rows)


def told(kept: Kept, glance: "Callable[[str], Facts]", moved: bool = False) -> tuple[str, ...]:
    """What can be said of the claims at this moment, what misleads first.

    Where the code has moved on since the look, what a glance cannot confirm is not said.
    """
    stale: list[str] = []
    found: list[str] = []
    for verdict, kind, text, reason, place, facts in kept.rows:
        shown = _clip(text, LONGEST_TEXT)
        if verdict == STALE:
            gone = not moved if kind != PATH or not place else glance(place) is None
            if gone:  # it may have come back
                stale.append(f"{shown} {_clip(reason, LONGEST_REASON)}")
            continue
        if not place or facts is None:
            continue
        now = glance(place)
        if kind == PATH and now is None:
            stale.append(f"{shown} is gone; it was there at {kept.state[:SHORT]}")
        elif now is not None and (kind == PATH or now == facts):
            found.append(shown)
    return (*_few(list(dict.fromkeys(stale)), MOST_STALE), *_found(list(dict.fromkeys(found))))


def _few(said: list[str], most: int) -> list[str]:
    more = len(said) - most
    return [*said[:most], f"{more} more no longer hold"] if more > 0 else said


def _found(names: list[str]) -> list[str]:
    if not names:
        return []
    more = len(names) - MOST_FOUND
    listed = ", ".join(names[:MOST_FOUND]) + (f" and {more} more" if more > 0 else "")
    return [f"{listed} found"]


def _clip(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _plain(text: str) -> str:
    """On one line and in one column."""
    for mark in ("\t", "\n", "\r"):
        text = text.replace(mark, " ")
    return text


# Verdicts that were left for recall: one small file per memory in the cache directory. Hot path.
#
# Derived: a missing, damaged or outdated file means a memory without verdicts, never a delay.

FOLDER = "verdicts"
MOST_BYTES = 64 * 1024
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Verdicts:
    """The verdicts on one store's memories, against one checkout."""

    def __init__(self, cache_folder: str, root: str) -> None:
        self.root = os.path.realpath(root)
        self.folder = os.path.join(cache_folder, FOLDER, store_key(self.root))

    def load(self, path: str, facts: "tuple[int, int]") -> "Kept | None":
        """What was kept for a memory; None where it has changed since."""
        try:
            handle = os.open(self._path(path), _READ)
            try:
                kept = read(os.read(handle, MOST_BYTES))
            finally:
                os.close(handle)
        except (OSError, ValueError):
            return None
        return kept if kept is not None and kept.facts == facts else None

    def keep(self, path: str, kept: "Kept") -> None:
        """Whole or not at all; nothing is lost where it cannot be written."""
        target = self._path(path)
        part = f"{target}.{os.urandom(4).hex()}"
        try:
            os.makedirs(self.folder, 0o700, exist_ok=True)
            handle = os.open(part, _WRITE, 0o600)
            try:
                os.write(handle, write(kept))
            finally:
                os.close(handle)
            os.replace(part, target)
        except OSError:
            try:
                os.unlink(part)
            except OSError:
                return

    def tell(self, recalled: "Iterable[Recalled]") -> int:
        """Let each say which of its claims hold now; how many should be looked at again."""
        cold, head = 0, head_of(self.root)
        for one in recalled:
            kept = self.load(one.memory.path, facts_of(one.memory))
            if kept is None:
                cold += 1
                continue
            moved = bool(head) and kept.state.partition("+")[0] != head
            one.verdicts = told(kept, self.glance, moved)
            cold += moved
        return cold

    def glance(self, place: str) -> "Facts":
        """Time and size of a file below the checkout; None where there is none."""
        if not _inside(place):
            return None
        try:
            found = os.lstat(f"{self.root}/{place}")
        except (OSError, ValueError):
            return None
        return found.st_mtime_ns, found.st_size

    def drop_all_but(self, paths: "Iterable[str]") -> None:
        """Let go of what was kept for memories that are no more."""
        names = {os.path.basename(self._path(path)) for path in paths}
        try:
            for name in os.listdir(self.folder):
                if name not in names:
                    os.unlink(os.path.join(self.folder, name))
        except OSError:
            return

    def _path(self, path: str) -> str:
        return os.path.join(self.folder, store_key(path)[-40:])


def facts_of(memory: "Memory") -> "tuple[int, int]":
    """What tells one version of a memory from the next."""
    return int(memory.mtime * 1000), memory.size


def _inside(place: str) -> bool:
    """Below the checkout by its text; a memory may name anything."""
    parts = place.rstrip("/").split("/")
    return bool(place) and "\0" not in place and not any(part in ("", ".", "..") for part in parts)
