"""After a writer was cut off: what it has named may be on no disk yet."""

from __future__ import annotations

import os

from memdir.adapters.disk import sync_directory


def force_names(root: str) -> None:
    """Force onto the disk what a writer that was cut off has named below a root, or above it."""
    for folder, _, _ in os.walk(root):
        sync_directory(folder)
    here = root
    while here != os.path.dirname(here) and _ours(here):
        here = os.path.dirname(here)
        if os.access(here, os.R_OK):
            sync_directory(here)


def _ours(path: str) -> bool:
    """True for a directory that we may have made, also where it is not made yet."""
    try:
        return os.stat(path).st_uid == os.getuid()
    except FileNotFoundError:
        return True
