"""Reads a store's repository with real git, and with nothing of memdir.

Every object that the branch reaches must be there and whole; every commit must name exactly the
paths that its tree changed. Asked once per distinct content of the repository.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field

from tests.faults import trees

BRANCH = "refs/heads/main"
CHECKS = ("--full", "--strict", "--no-progress", "--no-dangling")
TOLD = re.compile(r'^([AMD]): "(.*)"$', re.M)
ENVIRONMENT = {
    "PATH": os.environ.get("PATH", os.defpath),
    "HOME": "/nonexistent",
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
}
_pasts: dict[bytes, Past] = {}


@dataclass
class Past:
    """What a repository holds: the newest tree, every version ever, and what is wrong with it."""

    head: str = ""
    newest: dict[str, bytes] = field(default_factory=dict)
    versions: set[bytes] = field(default_factory=set)
    problems: list[str] = field(default_factory=list)


def why_not() -> str:
    return "" if shutil.which("git") else "there is no git"


def read_past(folder: str) -> Past:
    """All that the branch reaches; equal repositories are read once."""
    key = _content(folder)
    if key not in _pasts:
        _pasts[key] = _read_past(folder)
    return _pasts[key]


def _read_past(folder: str) -> Past:
    past = Past()
    try:
        past.head = trees.read(f"{folder}/{BRANCH}").decode("ascii").strip()
    except FileNotFoundError:
        return past
    except (OSError, UnicodeDecodeError) as error:
        past.problems.append(f"history: the branch cannot be read ({error})")
        return past
    fsck = _git(folder, "fsck", *CHECKS)
    if fsck.returncode:
        said = " ".join((fsck.stdout + fsck.stderr).decode("utf-8", "replace").split())
        past.problems.append(f"git fsck: {said[:160]}")
    try:
        _follow(past, _objects(folder))
    except KeyError as error:
        past.problems.append(f"history: the branch points at what is not there ({error})")
    return past


def _objects(folder: str) -> dict[str, bytes]:
    """Every object by its id, unpacked."""
    found, rest = {}, _git(folder, "cat-file", "--batch-all-objects", "--batch").stdout
    while rest:
        head, _, rest = rest.partition(b"\n")
        oid, _, *size = head.decode().split()
        if size:  # else git says that it is missing
            found[oid], rest = rest[: int(size[0])], rest[int(size[0]) + 1 :]
    return found


def _follow(past: Past, objects: dict[str, bytes]) -> None:
    oid, newer = past.head, None
    while oid:
        head, _, message = objects[oid].decode("utf-8").partition("\n\n")
        fields = dict(line.split(" ", 1) for line in head.split("\n"))
        files = _read_tree(objects, fields["tree"], "")
        blobs = {path: objects[blob] for path, blob in files.items()}
        past.versions.update(blobs.values())
        if newer is None:
            past.newest = blobs
        else:
            _compare(past, *newer, files)
        newer = oid, message, files
        oid = fields.get("parent", "")
    if newer is not None:
        _compare(past, *newer, {})


def _compare(
    past: Past, oid: str, message: str, files: dict[str, str], older: dict[str, str]
) -> None:
    """A commit says which paths it changed; undo and log believe it."""
    real = {("D", path) for path in older if path not in files}
    real |= {("M" if path in older else "A", path) for path in files}
    real -= {("M", path) for path, blob in files.items() if older.get(path) == blob}
    told = set(TOLD.findall(message))
    if real != told:
        past.problems.append(f"history: {oid[:8]} tells {sorted(told)}, it changed {sorted(real)}")


def _read_tree(objects: dict[str, bytes], oid: str, prefix: str) -> dict[str, str]:
    files: dict[str, str] = {}
    data = objects[oid]
    while data:
        mode, _, rest = data.partition(b" ")
        name, _, rest = rest.partition(b"\0")
        inner, data = rest[:20].hex(), rest[20:]
        path = prefix + os.fsdecode(name)
        if mode == b"40000":
            files |= _read_tree(objects, inner, path + "/")
        else:
            files[path] = inner
    return files


def _git(folder: str, *words: str) -> subprocess.CompletedProcess[bytes]:
    command = ["git", "--git-dir", folder, *words]
    return subprocess.run(command, capture_output=True, env=ENVIRONMENT, check=False)


def _content(folder: str) -> bytes:
    """The same for repositories with the same files; what was left half-written does not count."""
    digest = hashlib.sha256()
    for here, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            if not name.endswith(".tmp"):
                digest.update(f"{os.path.relpath(here, folder)}/{name} ".encode())
                digest.update(hashlib.sha256(trees.read(os.path.join(here, name))).digest())
    return digest.digest()
