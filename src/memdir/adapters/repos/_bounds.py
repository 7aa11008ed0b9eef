"""How much of a repository one look takes in; whatever is left out is said aloud."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Bounds:
    """The largest repository that is looked at as a whole."""

    files: int = 2_000_000  # paths of the tree
    tree_bytes: int = 256 << 20
    scan_seconds: float = 120.0  # for the words of all files
    scan_bytes: int = 4 << 30
    file_bytes: int = 1_500_000  # a larger one is data
    dirty_files: int = 2_000  # changed and not committed; read at every look
    commits: int = 50_000
    log_seconds: float = 60.0  # for what was renamed and removed
    patch_seconds: float = 60.0  # for the words of removed lines
    patch_bytes: int = 2 << 30
    removed_words: int = 500_000
    manifests: int = 300
    manifest_bytes: int = 100_000  # of one
    manifest_seconds: float = 5.0  # to parse them all
    unread_files: int = 2_000  # searched only for what would be called removed
    unread_bytes: int = 64 << 20
    unread_names: int = 200_000  # files of checked-out submodules
    quick_seconds: float = 30.0  # for everything that should take milliseconds
    cache_bytes: int = 128 << 20  # of one file of the cache
    names: int = 50_000  # asked for in all looks so far


FEW = 20  # paths and past paths that are answered for one name
PLACES = 5  # files that are named for one identifier
