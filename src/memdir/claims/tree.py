"""Paths: tracked, dirty, untracked, patterns."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice

from memdir.claims.checkout import FEW, Bounds
from memdir.store.git import Ended, Git

# Paths that fit a name with stars: a few are enough to know that something does.

STARS = re.compile(r"\*{1,3}")
MOST_PARTS = 4  # between stars
MOST_PATTERNS = 1_000  # of one look
MOST_TRIED = 20_000  # paths that hold the longest part of a pattern
APART = "\0"


class Patterns:
    """All paths as one text, in which the longest plain part of a pattern is found quickly."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.text = APART + APART.join(paths) + APART

    def find_all(self, patterns: Iterable[str]) -> dict[str, list[str]]:
        """What fits each pattern, where anything does."""
        few = islice(sorted(patterns), MOST_PATTERNS)
        found = {pattern: self.find(pattern) for pattern in few}
        return {pattern: paths for pattern, paths in found.items() if paths}

    def find(self, pattern: str) -> list[str]:
        """A few paths that fit; a star may cross folders, and a folder means what is below."""
        parts = STARS.split(pattern.removeprefix("./").strip("/"))
        if not 1 < len(parts) <= MOST_PARTS or not any(parts) or APART in pattern:
            return []
        found: list[str] = []
        for tried, path in enumerate(self._holding(max(parts, key=len))):
            if _fits(parts, path):
                found.append(path)
            if len(found) == FEW or tried == MOST_TRIED:
                break
        return found

    def _holding(self, part: str) -> Iterator[str]:
        position = self.text.find(part)
        while position >= 0:
            end = self.text.index(APART, position)
            yield self.text[self.text.rindex(APART, 0, position) + 1 : end]
            position = self.text.find(part, end)


def _fits(parts: Sequence[str], path: str) -> bool:
    """One part after the other, each at its first place: a regex would try all places of all."""
    text, position = f"/{path}/", 0
    first = f"/{parts[0]}" if parts[0] else ""
    for part in (first, *parts[1:-1], f"{parts[-1]}/"):
        position = text.find(part, position)
        if position < 0:
            return False
        position += len(part)
    return True


# Files of the working tree, reached part by part: no link leads out of the checkout.

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
# Parts that lead out of the tree, or into what is git's own; a raw tree object may have them.
OWN = ".git"
REFUSED = frozenset(("", ".", "..", OWN))
LONGEST_PATH = 4096  # bytes that a system call takes


def is_below(path: str) -> bool:
    """True for a plain path of the tree: none that leads out, or that no disk can hold."""
    return len(path) <= LONGEST_PATH and REFUSED.isdisjoint(path.lower().split("/"))


class WorkTree:
    """Looks at plain paths below the root; a folder that is a link is not entered."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._real: dict[str, bool] = {"": True}  # folders that were looked at: no link, and there

    def has_file(self, path: str) -> bool:
        """True if a file stands there, tracked or not; a link counts if it leads to something."""
        if not is_below(path) or not self.enters(path.rpartition("/")[0]):
            return False
        mode = self._mode(path)
        if mode is not None and stat.S_ISLNK(mode):
            return os.path.exists(os.path.join(self.root, path))
        return mode is not None and not stat.S_ISDIR(mode)

    def has_folder(self, path: str) -> bool:
        """True if a folder stands there that is not empty."""
        return is_below(path) and self.enters(path) and self._is_filled(path)

    def is_there(self, path: str, *, folder: bool) -> bool:
        """True if a file stands there, or links lead to one or to a folder."""
        return (not folder and self.has_file(path)) or self.leads_to(path, folder=folder)

    def is_regular(self, path: str) -> bool:
        """True for a file that can be read: no link, pipe or device."""
        mode = self._mode(path) if self.enters(path.rpartition("/")[0]) else None
        return mode is not None and stat.S_ISREG(mode)

    def leads_to(self, path: str, *, folder: bool) -> bool:
        """True if links that stay in the checkout lead from there to a file or a filled folder."""
        if not is_below(path) or not self.through_link(path + "/"):  # cheap, and nearly always so
            return False
        whole = os.path.join(self.root, path)
        try:
            real = os.path.realpath(whole, strict=True)
        except (OSError, ValueError):
            return False
        start = self.root.rstrip("/") + "/"
        if real == whole or not real.startswith(start) or not is_below(real[len(start) :]):
            return False
        return self._is_filled(real) if os.path.isdir(real) else not folder

    def enters(self, folder: str) -> bool:
        """True if the folder is there and no part of its path is a link."""
        unknown: list[str] = []
        while (known := self._real.get(folder)) is None:
            unknown.append(folder)
            folder = folder.rpartition("/")[0]
        for below in reversed(unknown):
            mode = self._mode(below) if known else None
            known = self._real[below] = mode is not None and stat.S_ISDIR(mode)
        return known

    def through_link(self, path: str) -> bool:
        """True if a part of the path above its end is a link: git refuses to talk of it."""
        above = path.rpartition("/")[0]
        while above:
            mode = self._mode(above) if self.enters(above.rpartition("/")[0]) else None
            if mode is not None and stat.S_ISLNK(mode):
                return True
            above = above.rpartition("/")[0]
        return False

    def read(self, path: str, most: int) -> bytes | None:
        """The bytes of a regular file that is not too large; None for anything else."""
        *folders, last = path.split("/")
        if not is_below(path):
            return None
        try:
            handle = os.open(self.root, FOLDER)
            for folder in folders:
                handle = _enter(handle, folder)
            with open(_open_file(handle, last), "rb") as file:
                facts = os.fstat(file.fileno())
                if not stat.S_ISREG(facts.st_mode) or facts.st_size > most:
                    return None
                return file.read(most)
        except (OSError, ValueError):
            return None

    def facts(self, path: str) -> tuple[int, ...]:
        """What changes when the file does."""
        if is_below(path) and self.enters(path.rpartition("/")[0]):
            with suppress(OSError, ValueError):
                found = os.lstat(os.path.join(self.root, path))
                return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino
        return ()

    def _is_filled(self, path: str) -> bool:
        try:
            with os.scandir(os.path.join(self.root, path)) as entries:
                return next(entries, None) is not None
        except OSError:
            return False

    def _mode(self, path: str) -> int | None:
        if not is_below(path):
            return None
        try:
            return os.lstat(os.path.join(self.root, path)).st_mode
        except (OSError, ValueError):  # ValueError: a name that no file system can hold
            return None


def _enter(handle: int, folder: str) -> int:
    try:
        return os.open(folder, FOLDER, dir_fd=handle)
    finally:
        os.close(handle)


def _open_file(handle: int, name: str) -> int:
    try:
        return os.open(name, FILE, dir_fd=handle)
    finally:
        os.close(handle)


# The paths of a commit with the changes that are not committed yet, and which names they match.

# What git says of an entry, and of a path that is changed; anything else is no answer of git.
ENTRY = re.compile(rb"([0-7]{6}) (?:blob|commit) ([0-9a-f]{40,64})")
CHANGE = re.compile(rb"[ MTADRCU?!]{2} ")
LINK, SUBMODULE = "120000", "160000"  # git's modes of what is no file


@dataclass
class Tree:
    """What is tracked: files with their object ids, and the folders that they make."""

    files: dict[str, str] = field(default_factory=dict)
    links: set[str] = field(default_factory=set)
    submodules: set[str] = field(default_factory=set)
    cut: bool = False

    def folders(self) -> set[str]:
        """Every directory above a file; a submodule is one too."""
        found = set(self.submodules)
        for path in self.files:
            above = path.rpartition("/")[0]
            while above and above not in found:
                found.add(above)
                above = above.rpartition("/")[0]
        return found


def decode(data: bytes) -> str:
    """A path as text; bytes that are no UTF-8 survive."""
    return data.decode("utf-8", "surrogateescape")


def read_tree(git: Git, commit: str, bounds: Bounds) -> Tree:
    """All paths of a commit."""
    tree, ended, rest = Tree(), Ended(), b""
    stream = git.stream(
        *("ls-tree", "-r", "-z", "--full-tree", commit),
        seconds=bounds.quick_seconds,
        limit=bounds.tree_bytes,
        ended=ended,
    )
    for piece in stream:
        *entries, rest = (rest + piece).split(b"\0")
        for entry in entries:
            _add(tree, entry)
        if len(tree.files) > bounds.files:
            tree.cut = True
            break
    tree.cut = tree.cut or bool(rest) or not ended.whole
    return tree


def _add(tree: Tree, entry: bytes) -> None:
    facts, _, name = entry.partition(b"\t")
    known, path = ENTRY.fullmatch(facts), decode(name)
    if known is None or not path:
        tree.cut = True
        return
    if not is_below(path):
        return
    mode, oid = known.group(1).decode("ascii"), known.group(2).decode("ascii")
    if mode == SUBMODULE:
        tree.submodules.add(path)
        return
    tree.files[path] = oid
    if mode == LINK:
        tree.links.add(path)


def read_dirty(git: Git, bounds: Bounds) -> tuple[dict[str, str], Ended]:
    """Tracked paths that differ from the commit, with git's two letters for how."""
    out, ended = git.ask(
        *("status", "--porcelain=v1", "-z", "--untracked-files=no", "--no-renames"),
        *("--ignore-submodules=all", "--no-ahead-behind"),
        seconds=bounds.quick_seconds,
        limit=bounds.tree_bytes,
    )
    entries = [entry for entry in out.split(b"\0") if entry]
    known = [entry for entry in entries if CHANGE.match(entry) and len(entry) > 3]
    ended.cut = ended.cut or len(known) < len(entries)
    dirty = {decode(entry[3:]): entry[:2].decode("ascii") for entry in known}
    return {path: letters for path, letters in dirty.items() if is_below(path)}, ended


def plain(name: str, root: str) -> str:
    """The wanted name as a path below the root; empty if it cannot be one."""
    if name.startswith(root + "/"):
        name = name[len(root) + 1 :]
    while name.startswith("./"):
        name = name[2:]
    parts = name.rstrip("/").split("/")
    path = "/".join(parts)
    return path if is_below(path) and "\0" not in name else ""


class Matcher:
    """Finds among many paths those that equal a name or end with it."""

    def __init__(self, names: Mapping[str, str]) -> None:
        """Takes each wanted name with its plain form."""
        self.ends: dict[str, list[tuple[str, str]]] = {}
        for name, form in names.items():
            if form:
                last = form.rpartition("/")[2]
                self.ends.setdefault(last, []).append((name, form))

    def match(self, paths: Iterable[str], *, folders: bool) -> dict[str, list[str]]:
        """The paths of each name; a name with a `/` at its end means folders only."""
        found: dict[str, list[str]] = {}
        ends = self.ends
        for path in paths:
            wanted = ends.get(path.rpartition("/")[2])
            if wanted is None:
                continue
            for name, form in wanted:
                if not folders and name.endswith("/"):
                    continue
                if path == form or path.endswith("/" + form):
                    found.setdefault(name, []).append(path)
        return found


def nearest(paths: list[str], form: str) -> tuple[str, ...]:
    """A few of them: the equal one, then those that lie highest."""
    ordered = sorted(paths, key=lambda path: (path != form, path.count("/"), path))
    return tuple(ordered[:FEW])
