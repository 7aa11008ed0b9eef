"""When and by whom the files of a checkout were committed."""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import threading
from collections.abc import Collection, Generator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import cast

from memdir.store.git import ENVIRONMENT, KEPT, SETTINGS

SECONDS = 5.0  # for one question
CHUNK = 65_536  # bytes
_SAFE = tuple(word for key, value in SETTINGS.items() for word in ("-c", f"{key}={value}"))
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
        standing, prefix = _standing(root, store, wanted)
        said = _log(root, prefix, standing, "%ct")
    except FileNotFoundError:
        return Committed(remarks=("there is no git here: ages come from the files alone",))
    except (OSError, subprocess.SubprocessError):
        return Committed(remarks=("git gave no answer: ages come from the files alone",))
    times = {path: float(time) for path, time in said.items()}
    shallow = times and os.path.exists(os.path.join(root, ".git", "shallow"))
    remarks = (SHALLOW,) if shallow else ()
    return Committed({path[len(prefix) :]: time for path, time in times.items()}, remarks)


def commit_authors(store: str, wanted: Collection[str]) -> dict[str, str]:
    """Who last committed each of these files, where it stands as it was committed."""
    root = find_repository(store)
    if not root or not wanted:
        return {}
    try:
        standing, prefix = _standing(root, store, wanted)
        found = _log(root, prefix, standing, "%an")
    except (OSError, subprocess.SubprocessError):
        return {}
    return {path[len(prefix) :]: author for path, author in found.items()}


def find_ignored(store: str, paths: Collection[str]) -> frozenset[str]:
    """Those of these files that git leaves out; none where git cannot say."""
    root = find_repository(store)
    if not root or not paths:
        return frozenset()
    below = os.path.relpath(store, root)
    asked = b"\0".join(os.fsencode(os.path.normpath(f"{below}/{path}")) for path in paths)
    try:
        # 1 means that none of them is ignored, 128 that git does not know.
        done = _git(root, "check-ignore", "-z", "--stdin", input=asked)
    except (OSError, subprocess.SubprocessError):
        return frozenset()
    named = [os.fsdecode(path) for path in done.stdout.split(b"\0") if path]
    return frozenset(os.path.relpath(path, below) for path in named)


def _git(root: str, *words: str, input: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["git", *_SAFE, *words],
        cwd=root,
        input=input,
        capture_output=True,
        env=_environment(),
        timeout=SECONDS,
    )


def _environment() -> dict[str, str]:
    """Without variables that would lead git elsewhere, let it ask a person, or fetch."""
    return {name: os.environ[name] for name in KEPT if name in os.environ} | ENVIRONMENT


def _blobs(root: str, prefix: str) -> dict[str, str]:
    """The id that each tracked file below the store has in the newest commit."""
    done = _git(root, "ls-tree", "-r", "-z", "HEAD", "--", prefix or ".")
    rows = [row.partition(b"\t") for row in done.stdout.split(b"\0") if row]
    return {os.fsdecode(path): head.split()[2].decode() for head, _, path in rows}


def _same(path: str, oid: str) -> bool:
    """Does this file hold the very bytes that git calls so?"""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            data = file.read()
    except OSError:
        return False
    kind = hashlib.sha256 if len(oid) == 64 else hashlib.sha1
    return kind(b"blob %d\0" % len(data) + data).hexdigest() == oid


def _standing(root: str, store: str, wanted: Collection[str]) -> tuple[set[str], str]:
    """Those of these files that stand as committed, by their path in the repository."""
    below = os.path.relpath(store, root)
    prefix = "" if below == "." else f"{below}/"
    tracked = _blobs(root, prefix)
    standing = {
        prefix + path
        for path in wanted
        if prefix + path in tracked and _same(os.path.join(store, path), tracked[prefix + path])
    }
    return standing, prefix


def _log(root: str, prefix: str, wanted: Collection[str], field: str) -> dict[str, str]:
    """What the newest commit of each says in a field, asking no further back than needed."""
    left, found = set(wanted), dict[str, str]()
    if not left:
        return found
    with closing(_commits(root, prefix, field)) as commits:
        for said, paths in commits:
            for path in left.intersection(paths):
                found[path] = said
                left.remove(path)
            if not left:
                break
    return found


def _commits(root: str, prefix: str, field: str) -> Generator[tuple[str, list[str]], None, None]:
    """A field and the paths of each commit, the newest first; the process ends with the asking."""
    words = ["log", f"--format=%x01{field}", "--name-only", "-z", "--no-renames", "HEAD", "--"]
    process = subprocess.Popen(
        ["git", *_SAFE, *words, prefix or "."],
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=_environment(),
    )
    patience = threading.Timer(SECONDS, process.kill)
    patience.start()
    rest, out = b"", cast(io.BufferedReader, process.stdout)
    try:
        while more := out.read1(CHUNK):
            *commits, rest = (rest + more).split(_MARK)
            yield from map(_commit, filter(None, commits))
        if rest:
            yield _commit(rest)
    finally:
        patience.cancel()
        process.kill()
        process.wait()
        out.close()


def _commit(text: bytes) -> tuple[str, list[str]]:
    head, *paths = [part.strip(b"\n") for part in text.split(b"\0")]
    first, _, more = head.partition(b"\n")
    return first.decode("utf-8", "replace"), [os.fsdecode(path) for path in (more, *paths) if path]
