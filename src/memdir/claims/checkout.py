"""What kind of checkout this is; its log, read step by step; limits of a look."""

from __future__ import annotations

import datetime
import os
import re
import shlex
from dataclasses import dataclass, field

from memdir.store.git import Git, find_git

# How much of a repository one look takes in; whatever is left out is said aloud.


@dataclass(frozen=True)
class Bounds:
    """The largest repository that is looked at as a whole."""

    files: int = 2_000_000  # paths of the tree
    tree_bytes: int = 256 << 20
    scan_seconds: float = 120.0  # for the words of all files
    scan_bytes: int = 4 << 30
    file_bytes: int = 1_500_000  # a larger one is data
    dirty_files: int = 2_000  # changed and not committed; read at every look
    commits: int = 50_000
    log_seconds: float = 60.0  # for what was renamed and removed
    patch_seconds: float = 60.0  # for the words of removed lines
    patch_bytes: int = 2 << 30
    removed_words: int = 500_000
    manifests: int = 300
    manifest_bytes: int = 100_000  # of one
    manifest_seconds: float = 5.0  # to parse them all
    unread_files: int = 2_000  # searched only for what would be called removed
    unread_bytes: int = 64 << 20
    unread_names: int = 200_000  # files of checked-out submodules
    quick_seconds: float = 30.0  # for everything that should take milliseconds
    cache_bytes: int = 512 << 20  # of the index
    names: int = 50_000  # asked for in all looks so far


FEW = 20  # paths and past paths that are answered for one name
PLACES = 5  # files that are named for one identifier


# Which commits a log has to read again when the newest one is another than the last time.

MAX_DROPPED = 20_000  # commits that the old state had and the new one has not
SHORT = 7  # letters of a commit's id that people read
COMMIT = re.compile(r"[0-9a-f]{40,64}")
MAX_SECOND_DIGITS = 15
# Every log: no merges (each side was read), nothing of the settings, nothing that runs a program.
LOG = (
    *("log", "--no-merges", "--no-color", "--no-ext-diff", "--no-textconv", "--no-decorate"),
    *("--no-notes", "--no-show-signature", "--no-mailmap", "--ignore-submodules=all"),
    "--format=%x01%H %ct",
)


@dataclass(frozen=True)
class Move:
    """From the state of the cache to that of now: commits to forget, and those to read."""

    dropped: frozenset[str]
    revisions: tuple[str, ...]
    afresh: bool = False


def move(git: Git, old: str, new: str) -> Move:
    """What leads from one commit to the other; everything afresh if the old one is gone."""
    if old == new:
        return Move(frozenset(), ())
    out, ended = git.ask("rev-list", f"--max-count={MAX_DROPPED}", old, f"^{new}", "--")
    dropped = frozenset(out.decode("ascii", "replace").split())
    if not old or not ended.whole or len(dropped) == MAX_DROPPED:
        return Move(frozenset(), (new,), afresh=True)
    return Move(dropped, (new, f"^{old}"))


def day(seconds: int) -> str:
    """A commit's date; one that no calendar has is none."""
    try:
        return datetime.datetime.fromtimestamp(seconds, datetime.UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return ""


def numbered(header: bytes) -> tuple[str, int]:
    """The commit and the second of a line that `LOG` begins a commit with."""
    oid, _, seconds = header.strip(b"\x01\n").partition(b" ")
    is_number = seconds.isdigit() and len(seconds) <= MAX_SECOND_DIGITS
    return oid.decode("ascii", "replace"), int(seconds) if is_number else 0


def is_commit(value: object) -> bool:
    """True for a whole id, and for none: what reaches a command line is nothing else."""
    return isinstance(value, str) and (not value or bool(COMMIT.fullmatch(value)))


# What kind of repository stands there, or why it cannot be looked at.


@dataclass
class Opened:
    """A repository that git can read; `problem` says why it cannot."""

    git: Git
    commit: str = ""
    problem: str = ""
    remarks: list[str] = field(default_factory=list)

    @property
    def bare(self) -> bool:
        """True without a working tree."""
        return not self.git.work_tree


def open_checkout(root: str) -> Opened:
    """Ask git what it sees there; never one of the folders above."""
    program = find_git(os.environ.get("PATH", os.defpath))
    git = Git(os.path.realpath(root) if root else "", program, work_tree=False)
    if not root or not os.path.isdir(git.root):
        return Opened(git, problem=f"{root or 'the project'} is not there: no claim was checked")
    if not program:
        return Opened(git, problem="git is not installed: no claim was checked")
    out, ended = git.ask("rev-parse", "--is-bare-repository", "--is-shallow-repository")
    facts = out.decode("ascii", "replace").split()
    if not ended.whole or len(facts) != 2 or not {"true", "false"}.issuperset(facts):
        return Opened(git, problem=_why(root, ended.said))
    git.disarm()
    opened = Opened(git)
    git.work_tree = facts[0] != "true"
    head, _ = git.ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    opened.commit = head.decode("ascii", "replace").strip()
    if not is_commit(opened.commit):
        return Opened(git, problem=_why(root, "it names no commit that could be one"))
    if not git.work_tree:
        opened.remarks.append(f"{root} has no working tree: only commits were looked at")
    if not opened.commit:
        opened.remarks.append(f"{root} has no commit yet: there is no past to look at")
    elif facts[1] == "true":
        opened.remarks.append(f"{root} is a shallow clone: its older history was not looked at")
    if git.partial:
        opened.remarks.append(f"{root} is a partial clone: removed lines were not looked at")
    return opened


def _why(root: str, said: str) -> str:
    if "dubious ownership" in said or "safe.directory" in said:
        trust = f"git config --global --add safe.directory {shlex.quote(root)}"
        return f"git does not trust the owner of {root}: no claim was checked. Next: {trust}"
    line = next((line for line in said.splitlines() if line.strip()), "it does not say why")
    return f"git cannot read {root} ({line[:200]}): no claim was checked"
