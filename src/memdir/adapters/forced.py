"""After a writer was cut off: what it has named may be on no disk yet."""

from __future__ import annotations

import os

from memdir.adapters.disk import sync_directory


def force_names(root: str) -> None:
    """Force onto the disk what a writer that was cut off has named below a root, or above it."""
    for folder, _, _ in os.walk(root):
        sync_directory(folder)
    here, mine = root, os.getuid()
    while here != os.path.dirname(here) and os.stat(here).st_uid == mine:
        here = os.path.dirname(here)
        if os.access(here, os.R_OK):
            sync_directory(here)
