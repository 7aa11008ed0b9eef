"""The linked worktrees of a repository, from git's own small files."""

from __future__ import annotations

import os

from memdir.adapters.checkout import line_of

MOST = 200


def worktrees(root: str) -> list[str]:
    """Their directories, as git has them written down, whether they still are there or not."""
    top = os.path.join(root, ".git", "worktrees")
    top = top if os.path.isdir(top) else os.path.join(root, "worktrees")  # a bare repository
    try:
        names = sorted(os.listdir(top))[:MOST]
    except OSError:
        return []
    found = [_path(os.path.join(top, name, "gitdir")) for name in names]
    return [os.path.dirname(path) for path in found if path.endswith("/.git") and path[0] == "/"]


def _path(file: str) -> str:
    text = line_of(file)
    return "" if "\0" in text or "\n" in text else text
