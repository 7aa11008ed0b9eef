"""Paths of a checkout (tracked, changed, untracked, ignored), and the limits of one look."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import translate
from itertools import islice

from memdir.hot.disk import Disk
from memdir.store.git import Git, find_git_program


@dataclass(frozen=True)
class Bounds:
    files: int = 2_000_000  # paths of the tree
    tree_bytes: int = 256 << 20
    scan_seconds: float = 120.0  # to scan all files for words
    scan_bytes: int = 4 << 30
    file_bytes: int = 1_500_000  # a larger file counts as data
    dirty_files: int = 2_000  # uncommitted; read at every look
    commits: int = 50_000
    log_seconds: float = 60.0  # for renames and removals
    patch_seconds: float = 60.0  # for the words of removed lines
    patch_bytes: int = 2 << 30
    removed_words: int = 500_000
    manifests: int = 300
    manifest_bytes: int = 100_000  # per file
    unread_files: int = 2_000  # searched before a word is called removed
    unread_bytes: int = 64 << 20
    quick_seconds: float = 30.0  # for calls that should take milliseconds
    cache_bytes: int = 512 << 20  # of the index
    names: int = 50_000  # names kept in the index


MAX_PATHS = 20  # paths and past paths returned per name
COMMIT = re.compile(r"[0-9a-f]{40,64}")


def from_git(data: bytes) -> str:
    """Path as text; bytes that are not UTF-8 survive."""
    return data.decode("utf-8", "surrogateescape")


def to_git(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


@dataclass
class Checkout:
    """Repository that git can read, or the `problem` that prevents it."""

    git: Git
    commit: str = ""
    problem: str = ""
    remarks: list[str] = field(default_factory=list)


def open_repo_checkout(root: str) -> Checkout:
    """Never takes a repository above the folder instead."""
    program = find_git_program(os.environ.get("PATH", os.defpath))
    git = Git(os.path.realpath(root) if root else "", program, work_tree=False)
    if not root:
        problem = "this project is no git repository: no claim about the code was checked"
        return Checkout(git, problem=problem)
    if not os.path.isdir(git.root):
        return Checkout(git, problem=f"{root} is not there: no claim was checked")
    if not program:
        return Checkout(git, problem="git is not installed: no claim about the code was checked")
    out, ended = git.ask("rev-parse", "--is-bare-repository", "--is-shallow-repository")
    facts = out.decode("ascii", "replace").split()
    if not ended.whole or len(facts) != 2 or not {"true", "false"}.issuperset(facts):
        return Checkout(git, problem=_why(root, ended.said))
    git.disarm()
    if facts[0] == "true":
        return Checkout(git, problem=f"{root} has no working tree: no claim was checked")
    git.work_tree = True
    head, _ = git.ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    commit = head.decode("ascii", "replace").strip()
    if commit and not COMMIT.fullmatch(commit):
        return Checkout(git, problem=_why(root, "its HEAD is no commit"))
    checkout = Checkout(git, commit)
    if not commit:
        checkout.remarks.append(f"{root} has no commit yet: there is no past to look at")
    elif facts[1] == "true":
        checkout.remarks.append(f"{root} is a shallow clone: its older history was not looked at")
    if git.partial:
        checkout.remarks.append(f"{root} is a partial clone: removed lines were not looked at")
    return checkout


def _why(root: str, message: str) -> str:
    if "dubious ownership" in message or "safe.directory" in message:
        trust = f"git config --global --add safe.directory {shlex.quote(root)}"
        return f"git does not trust the owner of {root}: no claim was checked. Next: {trust}"
    line = next((line for line in message.splitlines() if line.strip()), "it does not say why")
    return f"git cannot read {root} ({line[:200]}): no claim was checked"


# No link may lead out of the checkout or into git's own folder.

REFUSED = frozenset(("", ".", "..", ".git"))  # a forged tree object may contain such parts
MAX_PATH_CHARACTERS = 4096


def is_safe_repo_path(path: str) -> bool:
    parts = path.lower().split("/")
    return len(path) <= MAX_PATH_CHARACTERS and REFUSED.isdisjoint(parts) and "\0" not in path


class WorkTree:
    def __init__(self, root: str) -> None:
        self.root = root

    def leads_to(self, path: str) -> str:
        """Path inside the checkout that links lead to; empty if none."""
        if not is_safe_repo_path(path):
            return ""
        try:
            real = os.path.realpath(os.path.join(self.root, path), strict=True)
        except (OSError, ValueError):
            return ""
        below = os.path.relpath(real, self.root)
        return below if is_safe_repo_path(below) else ""

    def has_file(self, path: str, *, folder: bool = False) -> bool:
        """True for a file, or a link to a file or non-empty folder; `folder` allows no file."""
        real = self.leads_to(path)
        if real and os.path.isdir(os.path.join(self.root, real)):
            return real != path and self._is_filled(real)
        return bool(real) and not folder

    def has_folder(self, path: str) -> bool:
        return is_safe_repo_path(path) and self.leads_to(path) == path and self._is_filled(path)

    def is_beyond_link(self, path: str) -> bool:
        """True if a folder of the path is a link: git refuses such paths."""
        folder = os.path.join(self.root, os.path.dirname(path)).rstrip("/")
        return os.path.realpath(folder) != folder

    def read(self, path: str, limit: int) -> bytes | None:
        """Content of a regular file, empty for anything else; None if it is too large."""
        if not is_safe_repo_path(path):
            return b""
        try:
            data, facts = Disk(self.root).read(path, limit)
        except (OSError, ValueError):
            return b""
        return None if facts.st_size > limit else data

    def facts(self, path: str) -> tuple[int, ...]:
        """Values that change when the file does."""
        if not is_safe_repo_path(path):
            return ()
        try:
            facts = Disk(self.root).stat(path)
        except (OSError, ValueError):
            return ()
        return facts.st_mtime_ns, facts.st_ctime_ns, facts.st_size, facts.st_ino

    def _is_filled(self, path: str) -> bool:
        try:
            with os.scandir(os.path.join(self.root, path)) as entries:
                return next(entries, None) is not None
        except OSError:
            return False


_ENTRY = re.compile(rb"([0-7]{6}) (?:blob|commit) ([0-9a-f]{40,64})(?: +([0-9]{1,15}|-|BAD))?")
_CHANGE = re.compile(rb"[ MTADRCU?!]{2} ")
_LINK, _SUBMODULE = b"120000", b"160000"
LOST = -1  # size of a missing object

Files = dict[str, tuple[str, int]]  # path: object id and size; the id is empty for a link


@dataclass
class Tree:
    files: Files = field(default_factory=dict)
    submodules: set[str] = field(default_factory=set)
    cut: bool = False

    def folders(self, files: Iterable[str]) -> set[str]:
        folders = set(self.submodules)
        for path in files:
            above = path.rpartition("/")[0]
            while above and above not in folders:
                folders.add(above)
                above = above.rpartition("/")[0]
        return folders


def read_tracked_paths(git: Git, commit: str, bounds: Bounds) -> Tree:
    tree = Tree()
    sizes = () if git.partial else ("-l",)  # git would fetch objects to measure them
    out, ended = git.ask(
        *("ls-tree", "-r", "-z", *sizes, "--full-tree", commit),
        seconds=bounds.quick_seconds,
        limit=bounds.tree_bytes,
    )
    *entries, rest = out.split(b"\0")
    for entry in entries[: bounds.files]:
        facts, _, name = entry.partition(b"\t")
        known, path = _ENTRY.fullmatch(facts), from_git(name)
        if known is None or not path:
            tree.cut = True
        elif not is_safe_repo_path(path):
            continue
        elif known[1] == _SUBMODULE:
            tree.submodules.add(path)
        else:
            size = int(known[3]) if known[3] and known[3].isdigit() else LOST
            oid = "" if known[1] == _LINK else known[2].decode("ascii")
            tree.files[path] = oid, size
    tree.cut = tree.cut or bool(rest) or not ended.whole or len(entries) > bounds.files
    return tree


def read_dirty_paths(git: Git, bounds: Bounds) -> tuple[dict[str, str], bool]:
    """Tracked paths that differ from the commit, with git's two letters; False if incomplete."""
    out, ended = git.ask(
        *("status", "--porcelain=v1", "-z", "--untracked-files=no", "--no-renames"),
        *("--ignore-submodules=all", "--no-ahead-behind"),
        seconds=bounds.quick_seconds,
        limit=bounds.tree_bytes,
    )
    entries = [entry for entry in out.split(b"\0") if entry]
    known = [entry for entry in entries if _CHANGE.match(entry) and len(entry) > 3]
    dirty = {from_git(entry[3:]): entry[:2].decode("ascii") for entry in known}
    whole = ended.whole and len(known) == len(entries)
    return {path: letters for path, letters in dirty.items() if is_safe_repo_path(path)}, whole


def read_untracked_paths(git: Git, bounds: Bounds) -> list[str] | None:
    """Paths that are neither tracked nor ignored; None if git cannot tell."""
    out, ended = git.ask(
        *("ls-files", "--others", "--exclude-standard", "-z"),
        seconds=bounds.quick_seconds,
        limit=bounds.tree_bytes,
    )
    paths = [from_git(path) for path in out.split(b"\0") if path]
    return paths if ended.whole and all(map(is_safe_repo_path, paths)) else None


MAX_PATTERNS = 200  # per look


def path_in_repo(name: str, root: str) -> str:
    """The name as a path below the root; empty if it cannot be one."""
    name = name.removeprefix(root + "/")
    while name.startswith("./"):
        name = name[2:]
    path = name.rstrip("/")
    return path if is_safe_repo_path(path) else ""


def match_repo_endings(
    names: Mapping[str, str], paths: Iterable[str], *, folders: bool
) -> dict[str, list[str]]:
    """Paths that equal the name or end with it; `docs/` matches folders only."""
    by_last: dict[str, list[tuple[str, str]]] = {}
    for name, form in names.items():
        if form and (folders or not name.endswith("/")):
            by_last.setdefault(form.rpartition("/")[2], []).append((name, form))
    matches: dict[str, list[str]] = {}
    for path in paths:
        for name, form in by_last.get(path.rpartition("/")[2], ()):
            if path == form or path.endswith("/" + form):
                matches.setdefault(name, []).append(path)
    return matches


def match_repo_patterns(patterns: Iterable[str], paths: Collection[str]) -> dict[str, list[str]]:
    """A few paths for each name with stars; a star may cross folders."""
    matches = {}
    for pattern in islice(sorted(patterns), MAX_PATTERNS):
        name = pattern.removeprefix("./").strip("/")
        longest = max(name.split("*"), key=len)  # most paths do not have it
        fits = re.compile(translate(f"*/{name}/*".replace("[", "[[]"))).match
        fitting = (path for path in paths if longest in path and fits(f"/{path}/"))
        if few := list(islice(fitting, MAX_PATHS if longest else 0)):
            matches[pattern] = few
    return matches


def pick_nearest_repo_paths(paths: list[str], form: str) -> tuple[str, ...]:
    """A few paths: an equal one first, then the least nested."""
    ordered = sorted(paths, key=lambda path: (path != form, path.count("/"), path))
    return tuple(ordered[:MAX_PATHS])


def find_paths_git_ignores(
    git: Git, names: Mapping[str, str], submodules: Collection[str]
) -> frozenset[str]:
    """Names that ignore rules exclude; each with its path below the root."""
    work_tree = WorkTree(git.root)
    inside = tuple(f"{each}/" for each in submodules)
    asked: dict[str, str] = {}
    for name, path in names.items():
        # Git stops at a path outside the repository and leaves the rest unanswered.
        if path and not path.startswith(inside) and not work_tree.is_beyond_link(path):
            asked[f"./{path}"] = asked[f"./{path}/"] = name  # a leading `:` has a meaning for git
    given = to_git("".join(f"{path}\0" for path in asked))
    out = git.ask("check-ignore", "--no-index", "--stdin", "-z", given=given)[0] if asked else b""
    return frozenset(asked[path] for path in map(from_git, out.split(b"\0")) if path in asked)
