"""The linked worktrees of a repository, from git's own small files."""

from __future__ import annotations

import os

MOST = 200
MOST_BYTES = 4096
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC


def worktrees(root: str) -> list[str]:
    """Their directories, as git has them written down, whether they still are there or not."""
    top = os.path.join(root, ".git", "worktrees")
    top = top if os.path.isdir(top) else os.path.join(root, "worktrees")  # a bare repository
    try:
        names = sorted(os.listdir(top))[:MOST]
    except OSError:
        return []
    found = [_line(os.path.join(top, name, "gitdir")) for name in names]
    return [os.path.dirname(path) for path in found if path.endswith("/.git") and path[0] == "/"]


def _line(path: str) -> str:
    try:
        handle = os.open(path, _READ)
        try:
            data = os.read(handle, MOST_BYTES)
        finally:
            os.close(handle)
    except OSError:
        return ""
    text = data.decode("utf-8", "surrogateescape").strip()
    return "" if "\0" in text or "\n" in text else text
