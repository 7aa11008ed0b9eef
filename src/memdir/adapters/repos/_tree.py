"""The paths of a commit with the changes that are not committed yet, and which names they match."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from memdir.adapters.repos._bounds import FEW, Bounds
from memdir.adapters.repos._process import Ended, Git
from memdir.adapters.repos._work_tree import is_below

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
