"""Directory trees in memory, and the folders where they are laid out again and again.

The state folder's name is derived from the store's path, so each worker keeps one root for all its
points: a seed is made there once, remembered in memory, and laid out anew before every point.
"""

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

PREFIX = "memdir-faults-"
OLD_SECONDS = 2 * 86_400
# In memory where there is such a place, so that only our own order counts.
FAST = "/dev/shm" if os.access("/dev/shm", os.W_OK) else tempfile.gettempdir()


@dataclass
class Tree:
    """Folders with modes, files with modes and bytes."""

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


def fill(tree: Tree, root: str) -> None:
    """Lay out a tree in a root that is there and empty."""
    for path, mode in sorted(tree.folders.items()):
        if path != ".":
            os.mkdir(os.path.join(root, path), mode)
    for path, (mode, data) in tree.files.items():
        write(os.path.join(root, path), data, mode)


def write(path: str, data: bytes, mode: int = 0o600) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "wb") as file:
        file.write(data)


def read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def make_root(root: str) -> None:
    clear(root)
    for name in ("home", "project", "state"):
        os.mkdir(f"{root}/{name}", 0o700)


@contextmanager
def work_folder() -> Iterator[str]:
    folder = os.path.realpath(tempfile.mkdtemp(prefix=PREFIX, dir=FAST))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def sweep_old_folders() -> None:
    """Remove what harnesses left that were killed themselves, days ago."""
    for entry in os.scandir(FAST):
        if entry.name.startswith(PREFIX) and entry.stat().st_mtime < time.time() - OLD_SECONDS:
            shutil.rmtree(entry.path, ignore_errors=True)
