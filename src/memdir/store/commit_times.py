"""When and by whom the files of a checkout were committed."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Generator, Mapping
from contextlib import closing
from dataclasses import dataclass, field

from memdir.store import state
from memdir.store.git import Ended, Git, find_git

SECONDS = 5.0  # for one question
MAX_LOG_BYTES = 1 << 30
SHALLOW = "this clone is shallow: memories may be older than their ages say"
_MARK = b"\x01"  # stands in front of a commit's time; no path of a store starts so


@dataclass(frozen=True)
class Committed:
    """`times` of files that stand as they were committed; `remarks` say what git could not tell."""

    times: Mapping[str, float] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


def find_repository(store: str) -> str:
    """The work tree that a directory lies in; empty where it lies in none."""
    here = store
    while here != os.path.dirname(here):
        if os.path.lexists(os.path.join(here, ".git")):
            return here
        here = os.path.dirname(here)
    return ""


def commit_times(store: str, wanted: Collection[str]) -> Committed:
    """When the present version of these files was committed."""
    root = find_repository(store)
    if not root or not wanted:
        return Committed()
    try:
        times = _ask_log(root, store, wanted, "%ct")
    except FileNotFoundError:
        return Committed(remarks=("there is no git here: ages come from the files alone",))
    except OSError:
        return Committed(remarks=("git gave no answer: ages come from the files alone",))
    shallow = times and os.path.exists(os.path.join(root, ".git", "shallow"))
    remarks = (SHALLOW,) if shallow else ()
    return Committed({path: float(time) for path, time in times.items()}, remarks)


def commit_authors(store: str, wanted: Collection[str]) -> dict[str, str]:
    """Who last committed each of these files, where it stands as it was committed."""
    root = find_repository(store)
    if not root or not wanted:
        return {}
    try:
        return _ask_log(root, store, wanted, "%an")
    except OSError:
        return {}


def find_ignored(store: str, paths: Collection[str]) -> frozenset[str]:
    """Those of these files that git leaves out; none where git cannot say."""
    root = find_repository(store)
    if not root or not paths:
        return frozenset()
    below = os.path.relpath(store, root)
    asked = b"\0".join(os.fsencode(os.path.normpath(f"{below}/{path}")) for path in paths)
    try:
        output = _ask(root, "check-ignore", "-z", "--stdin", given=asked)
    except OSError:
        return frozenset()
    named = [os.fsdecode(path) for path in output.split(b"\0") if path]
    return frozenset(os.path.relpath(path, below) for path in named)


def _open(root: str) -> Git:
    program = find_git(os.environ.get("PATH", ""))
    if not program:
        raise FileNotFoundError("git")
    return Git(root, program)


def _ask(root: str, *words: str, given: bytes = b"") -> bytes:
    output, ended = _open(root).ask(*words, given=given, seconds=SECONDS)
    if ended.late or ended.cut:
        raise TimeoutError
    return output


def _ask_log(root: str, store: str, wanted: Collection[str], field: str) -> dict[str, str]:
    """What the newest commit of each file says in a field, where it stands as committed.

    Git is asked no further back than needed.
    """
    below = os.path.relpath(store, root)
    prefix = "" if below == "." else f"{below}/"
    output = _ask(root, "ls-tree", "-r", "-z", "HEAD", "--", prefix or ".")
    rows = [row.partition(b"\t") for row in output.split(b"\0") if row]
    tracked = {os.fsdecode(path): head.split()[2].decode() for head, _, path in rows}
    left = {path for path in wanted if _is_same(store, path, tracked.get(prefix + path, ""))}
    said: dict[str, str] = {}
    if not left:
        return said
    with closing(_read_commits(root, prefix, field)) as commits:
        for value, paths in commits:
            for path in left.intersection(path.removeprefix(prefix) for path in paths):
                said[path] = value
                left.remove(path)
            if not left:
                break
    return said


def _is_same(store: str, path: str, oid: str) -> bool:
    """Does this file hold the very bytes that git calls so?"""
    try:
        data = state.read_bytes(store, path) if oid else None
    except OSError:
        return False
    kind = hashlib.sha256 if len(oid) == 64 else hashlib.sha1
    return data is not None and kind(b"blob %d\0" % len(data) + data).hexdigest() == oid


def _read_commits(
    root: str, prefix: str, field: str
) -> Generator[tuple[str, list[str]], None, None]:
    """A field and the paths of each commit, the newest first."""
    words = ["log", f"--format=%x01{field}", "--name-only", "-z", "--no-renames", "HEAD", "--"]
    pieces = _open(root).stream(
        *words, prefix or ".", seconds=SECONDS, limit=MAX_LOG_BYTES, ended=Ended()
    )
    rest = b""
    for piece in pieces:
        *commits, rest = (rest + piece).split(_MARK)
        yield from map(_read_commit, filter(None, commits))
    if rest:
        yield _read_commit(rest)


def _read_commit(text: bytes) -> tuple[str, list[str]]:
    head, *paths = [part.strip(b"\n") for part in text.split(b"\0")]
    first, _, more = head.partition(b"\n")
    return first.decode("utf-8", "replace"), [os.fsdecode(path) for path in (more, *paths) if path]
