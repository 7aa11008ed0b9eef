"""Reads a store's git repository without memdir and without git, then lets real git judge it.

Every object that the branch reaches must be there and whole; every commit must name exactly the
paths that its tree changed. Real git (`fsck`, `cat-file`) is asked where it is installed, once per
distinct content of the repository.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import zlib
from dataclasses import dataclass, field
from functools import cache
from glob import glob

from tests.faults import trees

BRANCH = "refs/heads/main"
KINDS = ("", "commit", "tree", "blob")
GIT = shutil.which("git")
TOLD = re.compile(r'^([AMD]): "(.*)"$', re.M)
ENVIRONMENT = {
    "PATH": os.environ.get("PATH", os.defpath),
    "HOME": "/nonexistent",
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
}
_pasts: dict[bytes, Past] = {}
_shown: dict[str, str] = {}


@dataclass
class Past:
    """What a repository holds: the newest tree, every version ever, and what is wrong with it."""

    head: str = ""
    newest: dict[str, bytes] = field(default_factory=dict)
    versions: set[bytes] = field(default_factory=set)
    problems: list[str] = field(default_factory=list)


class Damaged(Exception):
    """An object that the branch needs is missing or torn."""


def read_past(folder: str) -> Past:
    """All that the branch reaches, and what git says of it; equal repositories are read once."""
    key = _content(folder)
    if key not in _pasts:
        _pasts[key] = _read_past(folder)
        problem = _ask_git(folder, _pasts[key])
        _pasts[key].problems += [problem] if problem else []
    return _pasts[key]


def _read_past(folder: str) -> Past:
    past = Past()
    try:
        past.head = trees.read(os.path.join(folder, BRANCH)).decode("ascii").strip()
    except FileNotFoundError:
        return past
    except (OSError, UnicodeDecodeError) as error:
        past.problems.append(f"history: the branch cannot be read ({error})")
        return past
    try:
        _follow(folder, past)
    except Damaged as error:
        past.problems.append(f"history: the branch points at what is not there ({error})")
    return past


def _follow(folder: str, past: Past) -> None:
    oid, newer, objects = past.head, None, _packed(folder)
    while oid:
        head, _, message = _read(objects, oid, "commit").decode("utf-8").partition("\n\n")
        fields = [line.partition(" ")[::2] for line in head.split("\n")]
        tree = next(value for key, value in fields if key == "tree")
        files = _read_tree(objects, tree, "")
        blobs = {path: _read(objects, blob, "blob") for path, blob in files.items()}
        past.versions.update(blobs.values())
        if newer is None:
            past.newest = blobs
        else:
            _compare(past, newer, files)
        newer = oid, files, message
        oid = next((value for key, value in fields if key == "parent"), "")
    if newer is not None:
        _compare(past, newer, {})


def _compare(past: Past, newer: tuple[str, dict[str, str], str], older: dict[str, str]) -> None:
    """A commit says which paths it changed; undo and log believe it."""
    oid, files, message = newer
    real = {("D", path) for path in older if path not in files}
    real |= {("M" if path in older else "A", path) for path in files}
    real -= {("M", path) for path, blob in files.items() if older.get(path) == blob}
    if real != set(TOLD.findall(message)):
        told = sorted(TOLD.findall(message))
        past.problems.append(f"history: {oid[:8]} tells {told}, it changed {sorted(real)}")


def _read(objects: dict[str, tuple[str, bytes]], oid: str, kind: str) -> bytes:
    if oid not in objects:
        raise Damaged(f"{kind} {oid[:8]}: in no pack")
    actual, data = objects[oid]
    whole = f"{kind} {len(data)}\0".encode() + data
    if hashlib.sha1(whole, usedforsecurity=False).hexdigest() != oid or actual != kind:
        raise Damaged(f"{kind} {oid[:8]}: torn")
    return data


def _packed(folder: str) -> dict[str, tuple[str, bytes]]:
    """Every object by its id, out of packs that have an index."""
    found = {}
    for index in sorted(glob(f"{folder}/objects/pack/*.idx")):
        path = index.removesuffix("idx") + "pack"
        if os.path.exists(path):
            try:
                entries = _entries_of(trees.read(path))
            except IndexError:  # git has joined packs, with differences
                return _ask_git_for_all(folder)
            except zlib.error:
                continue
            for kind, data in entries:
                whole = f"{kind} {len(data)}\0".encode() + data
                found[hashlib.sha1(whole, usedforsecurity=False).hexdigest()] = kind, data
    return found


def _ask_git_for_all(folder: str) -> dict[str, tuple[str, bytes]]:
    found, rest = {}, _git(folder, "cat-file", "--batch-all-objects", "--batch").stdout
    while rest:
        head, _, rest = rest.partition(b"\n")
        oid, kind, *size = head.decode().split()
        if size:  # else git says that it is missing
            found[oid] = kind, rest[: int(size[0])]
            rest = rest[int(size[0]) + 1 :]
    return found


@cache
def _entries_of(pack: bytes) -> list[tuple[str, bytes]]:
    """Objects of a pack without differences, in the order in which they lie there."""
    at, found = 12, []
    for _ in range(int.from_bytes(pack[8:12], "big")):
        kind = KINDS[pack[at] >> 4 & 7]
        while pack[at] & 0x80:
            at += 1
        unpack = zlib.decompressobj()
        data = unpack.decompress(pack[at + 1 :])
        at = len(pack) - len(unpack.unused_data)
        found.append((kind, data))
    return found


def _read_tree(objects: dict[str, tuple[str, bytes]], oid: str, prefix: str) -> dict[str, str]:
    files: dict[str, str] = {}
    data = _read(objects, oid, "tree")
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


def _ask_git(folder: str, past: Past) -> str:
    """What real git says against this repository; empty when it is fine, or git is not here."""
    if GIT is None or not past.head:
        return ""
    checks = ("--full", "--strict", "--no-progress", "--no-dangling")
    fsck = _git(folder, "fsck", *checks)
    if fsck.returncode:
        said = " ".join((fsck.stdout + fsck.stderr).decode("utf-8", "replace").split())
        return f"git fsck: {said[:160]}"
    if past.head not in _shown:
        _shown[past.head] = _show(folder, past.newest)
    return _shown[past.head]


def _show(folder: str, files: dict[str, bytes]) -> str:
    """Bytes in, the same bytes out: asked of git itself, once per commit."""
    wanted = "".join(f"{BRANCH}:{path}\n" for path in files)
    rest = _git(folder, "cat-file", "--batch", given=wanted.encode()).stdout
    for path, data in files.items():
        head, _, rest = rest.partition(b"\n")
        if not head.endswith(b" %d" % len(data)) or rest[: len(data)] != data:
            return f"git cat-file shows other bytes of {path}"
        rest = rest[len(data) + 1 :]
    return ""


def _git(folder: str, *words: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [GIT, "--git-dir", folder, *words]
    return subprocess.run(command, input=given, capture_output=True, env=ENVIRONMENT, check=False)


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
