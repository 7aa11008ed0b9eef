"""The stores that operations start from, and the roots that they are laid out in again and again.

The state folder's name is derived from the store's path, so each worker keeps one root for all its
points: a seed is made there once, remembered in memory, and laid out anew before every point.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from dataclasses import dataclass, field

from tests.faults import driver, texts

PREFIX = "memdir-faults-"
OLD_SECONDS = 2 * 86_400


@dataclass
class Tree:
    """A directory tree in memory: folders with modes, files with modes and bytes."""

    folders: dict[str, int] = field(default_factory=dict)
    files: dict[str, tuple[int, bytes]] = field(default_factory=dict)


def read_tree(root: str) -> Tree:
    """Everything below a root; links are left out, no seed has any."""
    tree = Tree()
    for folder, _, names in os.walk(root):
        tree.folders[os.path.relpath(folder, root)] = os.stat(folder).st_mode & 0o777
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                mode = os.fstat(file.fileno()).st_mode & 0o777
                tree.files[os.path.relpath(path, root)] = mode, file.read()
    return tree


def write_tree(tree: Tree, root: str) -> None:
    """The inverse of `read_tree`; what stood there is gone."""
    clear(root)
    fill(tree, root)


def clear(root: str) -> None:
    """An empty root; the directory itself stays, something may be mounted there."""
    os.makedirs(root, 0o700, exist_ok=True)
    for entry in list(os.scandir(root)):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path, ignore_errors=True)
        else:
            os.unlink(entry.path)


def turn(old: Tree, new: Tree, root: str) -> None:
    """Make one tree out of another by touching only what differs."""
    for path, row in old.files.items():
        if new.files.get(path) != row:
            os.unlink(os.path.join(root, path))
    for path in sorted(set(old.folders) - set(new.folders), reverse=True):
        os.rmdir(os.path.join(root, path))
    folders = {path: mode for path, mode in new.folders.items() if path not in old.folders}
    files = {path: row for path, row in new.files.items() if old.files.get(path) != row}
    fill(Tree(folders, files), root)


def fill(tree: Tree, root: str) -> None:
    """Lay out a tree in a root that is there and empty."""
    for path, mode in sorted(tree.folders.items()):
        if path != ".":
            os.mkdir(os.path.join(root, path), mode)
    for path, (mode, data) in tree.files.items():
        handle = os.open(os.path.join(root, path), os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        try:
            os.write(handle, data)
        finally:
            os.close(handle)


def work_folder() -> str:
    """A new folder in memory where there is such a place, so that only our own order counts."""
    fast = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    return os.path.realpath(tempfile.mkdtemp(prefix=PREFIX, dir=fast))


def sweep_old_folders() -> None:
    """Remove what harnesses left that were killed themselves, days ago."""
    base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else tempfile.gettempdir()
    for entry in os.scandir(base):
        if entry.name.startswith(PREFIX) and entry.stat().st_mtime < time.time() - OLD_SECONDS:
            shutil.rmtree(entry.path, ignore_errors=True)


def make_root(root: str) -> None:
    clear(root)
    for name in ("home", "project", "state"):
        os.mkdir(f"{root}/{name}", 0o700)


def store_of(root: str) -> str:
    """Where the store of this root lies."""
    return driver.open_root(root, print).config.store


def plant(root: str, files: dict[str, str]) -> None:
    """Write files into the store as somebody else does: in place, readable for all."""
    for path, text in files.items():
        place = os.path.join(store_of(root), path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "w", encoding="utf-8") as file:
            file.write(text)


def prepare(root: str, operation: str) -> None:
    """Lay out what an operation needs: alpha, beta, deep/delta, a hand-kept index, a history."""
    make_root(root)
    if operation == "first":
        return
    if operation == "standalone":
        plant(root, {"MEMORY.md": texts.STANDALONE})
        return
    plant(root, {**texts.MEMORIES, "MEMORY.md": texts.INDEX})
    app = driver.open_root(root, print, operation, now=driver.NOW - 900)
    app.snapshot()
    if operation in ("restore", "purge"):
        _shelve_zeta(root)
    elif operation == "undo":
        _drop(root, "alpha.md", "beta.md", "deep/delta.md")
    elif operation == "rebuild":
        plant(root, {"omega.md": texts.ORPHAN})
        _drop(root, "deep/delta.md")
    elif operation == "commit":
        plant(root, {"alpha.md": texts.OUTSIDE_EDIT, "omega.md": texts.ORPHAN})
        _drop(root, "beta.md")
    elif operation == "recovery":
        _leave_an_accident(root)
    elif operation == "capture":
        _talk(root)
    elif operation == "enqueue":
        _write(f"{root}/state/queue", texts.REQUESTED + b"\n")


def _talk(root: str) -> None:
    path = f"{root}/home/{texts.TRANSCRIPT}"
    os.makedirs(os.path.dirname(path), 0o700)
    _write(path, texts.transcript().encode())


def _write(path: str, data: bytes) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
        file.write(data)


def _shelve_zeta(root: str) -> None:
    """Two versions of one memory on the shelf, and one that stays there."""
    app = driver.open_root(root, print, now=driver.NOW - 600)
    for text in texts.ZETA:
        draft = driver.Draft(text, name="zeta", description="retired twice in the past")
        driver.changes.save(app, draft, driver.AS_IT_IS)
        driver.changes.retire(app, ["zeta"])


def _drop(root: str, *paths: str) -> None:
    for path in paths:
        os.unlink(os.path.join(store_of(root), path))


def _leave_an_accident(root: str) -> None:
    """What a killed writer leaves: debris, an index behind the files, a change not committed."""
    plant(
        root,
        {texts.DEBRIS: "half a memo", f"deep/{texts.DEBRIS}": "half", "omega.md": texts.ORPHAN},
    )
    _drop(root, "deep/delta.md")
    state = driver.open_root(root, print).history.folder
    with open(os.path.join(state, "announced"), "w", encoding="ascii") as file:
        file.write('{"verb": "save", "name": "omega", "actor": "memdir", "reason": "", "ba')
