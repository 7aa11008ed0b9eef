"""Verdicts on the claims of memories, stored by the worker and confirmed by a stat at a prompt.

A row is a claim found true or stale; its place is the file where it is, or was. At a prompt only
that file is checked: a path still exists or not, a file with a symbol is unchanged or not. A
missing, damaged or outdated file means a memory without verdicts, never a delay.
"""

import os

from memdir.hot import disk
from memdir.hot.inject import shorten_injected
from memdir.hot.memory import CREATED_KEYS, MODIFIED_KEYS, UNDATED, VERIFIED_KEYS
from memdir.hot.place import store_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from memdir.hot.inject import Recalled
    from memdir.hot.memory import Memory

    Facts = tuple[int, int] | None  # mtime and size of a file; None if it does not exist
    # verdict, kind, text, reason, place, facts of the place when it was checked
    Row = tuple[str, str, str, str, str, Facts]

STALE, PATH = "stale", "path"  # as in claims.claim, which is too slow to import here
FOLDER = "verdicts"
MARK = "memdir verdicts 1"
MAX_BYTES = 64 * 1024
MAX_ROWS = 60  # per memory
MAX_STALE, MAX_CONFIRMED = 6, 8  # shown per memory
MAX_TEXT_CHARACTERS, MAX_REASON_CHARACTERS = 60, 160
GIT_FILE_BYTES = 4096
DATES = "dates"
DATE_KEYS = (*VERIFIED_KEYS, *MODIFIED_KEYS, *CREATED_KEYS)
SAME_SECONDS = 3600
MAX_DATES_BYTES = 8 * 1024 * 1024
_SPACES = str.maketrans("\t\n\r", "   ")
_HEX = frozenset("0123456789abcdef")


def read_head_commit(root: str) -> str:
    """Read from files, since git would cost a process; empty if they do not tell."""
    gitdir = f"{root}/.git"
    link = read_git_file_line(gitdir)
    if link.startswith("gitdir:"):
        gitdir = os.path.join(root, link[7:].strip())
    head = read_git_file_line(f"{gitdir}/HEAD")
    if head.startswith("ref:"):
        name = head[4:].strip()
        if not name.startswith("refs/") or ".." in name:
            return ""
        common = os.path.join(gitdir, read_git_file_line(f"{gitdir}/commondir") or ".")
        head = read_git_file_line(f"{common}/{name}")
    return head if len(head) in (40, 64) and _HEX.issuperset(head) else ""


def read_git_file_line(path: str) -> str:
    try:
        data = disk.read_start(path, GIT_FILE_BYTES)[0]
    except (OSError, ValueError):
        return ""
    return data.decode("utf-8", "surrogateescape").strip()


class Kept:
    def __init__(self, facts: "tuple[int, int]", state: str, rows: "Sequence[Row]") -> None:
        self.facts = facts
        self.state = state  # the commit that was checked
        self.rows = rows


class Verdicts:
    def __init__(self, cache_folder: str, root: str) -> None:
        self.root = os.path.realpath(root)
        self.folder = os.path.join(cache_folder, FOLDER, store_key(self.root))

    def load(self, path: str, facts: "tuple[int, int]") -> Kept | None:
        data = disk.read_sealed_file(self._path(path), MARK, MAX_BYTES)
        if data is None:
            return None
        first, *lines = data.decode("utf-8", "surrogateescape").split("\n")
        time, size, state = first.split(" ")
        rows: list[Row] = []
        for line in lines:
            verdict, kind, text, reason, place, numbers = line.split("\t")
            changed, _, length = numbers.partition(" ")
            seen = (int(changed), int(length)) if numbers else None
            rows.append((verdict, kind, text, reason, place, seen))
        return Kept(facts, state, rows) if facts == (int(time), int(size)) else None

    def keep(self, path: str, kept: Kept) -> None:
        lines = [f"{kept.facts[0]} {kept.facts[1]} {kept.state}"]
        for *texts, facts in kept.rows[:MAX_ROWS]:
            numbers = f"{facts[0]} {facts[1]}" if facts else ""
            lines.append("\t".join([*(text.translate(_SPACES) for text in texts), numbers]))
        data = "\n".join(lines).encode("utf-8", "surrogateescape")
        disk.keep_derived_file(self._path(path), disk.seal_bytes(MARK, data))

    def tell(self, recalled: "Iterable[Recalled]") -> int:
        """Sets the verdicts of each memory; returns how many are missing or outdated."""
        outdated, head = 0, read_head_commit(self.root)
        for memory in recalled:
            kept, moved = self._load_for(memory.memory, head)
            if kept:
                memory.verdicts = describe_kept_verdicts(kept, self.glance, moved)
            outdated += moved
        return outdated

    def find_stale(self, memories: "Iterable[Memory]") -> dict[str, list[str]]:
        """Claims that no longer hold, by path, as far as they are known."""
        head, found = read_head_commit(self.root), {}
        for memory in memories:
            kept, moved = self._load_for(memory, head)
            if kept:
                found[memory.path] = sort_kept_verdicts(kept, self.glance, moved)[0]
        return found

    def _load_for(self, memory: "Memory", head: str) -> tuple[Kept | None, bool]:
        """True also if the code has moved on since."""
        kept = self.load(memory.path, verdict_facts(memory))
        return kept, not kept or (bool(head) and kept.state.partition("+")[0] != head)

    def glance(self, place: str) -> "Facts":
        parts = place.rstrip("/").split("/")  # the place comes from a memory, so it is untrusted
        if "\0" in place or any(part in ("", ".", "..") for part in parts):
            return None
        try:
            facts = os.lstat(f"{self.root}/{place}")
        except (OSError, ValueError):
            return None
        return facts.st_mtime_ns, facts.st_size

    def drop_all_but(self, paths: "Iterable[str]") -> None:
        names = {os.path.basename(self._path(path)) for path in paths}
        try:
            for name in os.listdir(self.folder):
                if name not in names:
                    os.unlink(os.path.join(self.folder, name))
        except OSError:
            return

    def _path(self, path: str) -> str:
        return os.path.join(self.folder, store_key(path)[-40:])


def sort_kept_verdicts(
    kept: Kept, glance: "Callable[[str], Facts]", moved: bool = False
) -> tuple[list[str], list[str]]:
    """Stale and confirmed claims; if the code has `moved` on, only what a stat confirms."""
    stale: dict[str, None] = {}
    confirmed: dict[str, None] = {}
    for verdict, kind, text, reason, place, facts in kept.rows:
        shown = shorten_injected(text, MAX_TEXT_CHARACTERS)
        if verdict == STALE:
            gone = not moved if kind != PATH or not place else glance(place) is None
            if gone:  # it may have come back
                stale[f"{shown} {shorten_injected(reason, MAX_REASON_CHARACTERS)}"] = None
            continue
        if not place or facts is None:
            continue
        now = glance(place)
        if kind == PATH and now is None:
            stale[f"{shown} is gone; it was there at {kept.state[:7]}"] = None
        elif now is not None and (kind == PATH or now == facts):
            confirmed[shown] = None
    return list(stale), list(confirmed)


def describe_kept_verdicts(
    kept: Kept, glance: "Callable[[str], Facts]", moved: bool = False
) -> tuple[str, ...]:
    """Stale claims first."""
    stale, confirmed = sort_kept_verdicts(kept, glance, moved)
    lines = stale[:MAX_STALE]
    if len(stale) > MAX_STALE:
        lines.append(f"{len(stale) - MAX_STALE} more no longer hold")
    if confirmed:
        more = len(confirmed) - MAX_CONFIRMED
        names = ", ".join(confirmed[:MAX_CONFIRMED])
        lines.append(names + (f" and {more} more found" if more > 0 else " found"))
    return tuple(lines)


def keep_dates(cache_folder: str, starts: "Iterable[tuple[Memory, float]]") -> None:
    """Keeps since when memories are as they are, where neither header nor mtime tells."""
    lines = []
    for memory, start in starts:
        if abs(start - memory.clock) > SAME_SECONDS or not memory.get(DATE_KEYS):
            time, size = verdict_facts(memory)
            lines.append(f"{time} {size} {int(start)} {memory.path}")
    data = "\n".join(lines).encode("utf-8", "surrogateescape")
    disk.keep_derived_file(os.path.join(cache_folder, DATES), disk.seal_bytes(MARK, data))


def tell_dates(cache_folder: str, recalled: "Sequence[Recalled]", cloned: bool) -> None:
    """Without a kept date, the mtime counts, except in a store that may have been cloned."""
    if not recalled:
        return
    data = disk.read_sealed_file(os.path.join(cache_folder, DATES), MARK, MAX_DATES_BYTES) or b""
    kept = {}
    for line in data.decode("utf-8", "surrogateescape").split("\n"):
        time, _, rest = line.partition(" ")
        size, _, rest = rest.partition(" ")
        start, _, path = rest.partition(" ")
        kept[path, time, size] = start
    for item in recalled:
        time, size = map(str, verdict_facts(item.memory))
        start = kept.get((item.memory.path, time, size), "")
        undated = UNDATED if cloned and not item.memory.get(DATE_KEYS) else 0.0
        item.memory.dated = float(start) if start else undated


def verdict_facts(memory: "Memory") -> "tuple[int, int]":
    return int(memory.mtime * 1000), memory.size
