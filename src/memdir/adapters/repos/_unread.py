"""Files whose words nobody counts, searched for the few words that would be called removed.

Data, what is too large and what is untracked is not worth an index; but what has a word still must
not be passed over in silence.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from memdir.adapters.repos._bounds import Bounds
from memdir.adapters.repos._process import Git
from memdir.adapters.repos._tree import decode
from memdir.adapters.repos._words import Memories, Scanner, is_prose
from memdir.adapters.repos._work_tree import WorkTree, is_below

PIECE = 1 << 20  # bytes that are taken apart at once
OVERLAP = 512  # bytes of the piece before: no word is lost between two
# Pictures, sounds, fonts and archives: packed bytes, in which no word can be read.
PACKED = frozenset(
    (
        *("png", "jpg", "jpeg", "gif", "webp", "ico", "icns", "bmp", "tif", "tiff", "avif", "heic"),
        *("mp3", "mp4", "m4a", "mov", "webm", "ogg", "wav", "flac", "avi", "mkv", "psd", "ai"),
        *("woff", "woff2", "ttf", "otf", "eot", "pdf", "zip", "gz", "tgz", "bz2", "xz", "zst"),
        *("7z", "rar", "jar", "whl", "br", "docx", "xlsx", "pptx", "parquet", "npz"),
    )
)


def may_hold_code(path: str) -> bool:
    """False for prose and for what is packed."""
    return not is_prose(path) and path.rpartition(".")[2].lower() not in PACKED


def words_there(
    git: Git, words: Collection[str], skipped: Iterable[str], dirty: Mapping[str, str],
    memories: Memories, bounds: Bounds,
) -> frozenset[str] | None:  # fmt: skip
    """Those of the words that a file has; None if not all files could be searched."""
    untracked = _untracked(git, bounds)
    if untracked is None:
        return None
    changed = [path for path, letters in dirty.items() if "D" not in letters]
    work_tree, left = WorkTree(git.root), bounds.unread_bytes
    tracked = sorted(path for path in skipped if path not in changed)
    loose = [path for path in (*changed, *untracked) if work_tree.is_regular(path)]
    paths = [path for path in (*tracked, *loose) if may_hold_code(path) and not memories.hold(path)]
    if len(paths) > bounds.unread_files:
        return None
    found: set[str] = set()
    names = {word: number for number, word in enumerate(sorted(words))}
    numbered, scanner = list(names), Scanner(names)
    for path in paths:
        data = work_tree.read(path, left)
        if data is None:
            return None
        left -= len(data)
        found.update(numbered[hit // 2] for hit in _hits(scanner, data))
    return frozenset(found)


def _hits(scanner: Scanner, data: bytes) -> set[int]:
    hits: set[int] = set()
    for start in range(0, len(data), PIECE):
        piece = data[max(0, start - OVERLAP) : start + PIECE]
        hits.update(scanner.scan(piece))
        if b"\0" in piece:  # UTF-16 of either order is its letters with a NUL between them
            hits.update(scanner.scan(piece.replace(b"\0", b"")))
    return hits


def _untracked(git: Git, bounds: Bounds) -> list[str] | None:
    """What is neither tracked nor ignored; None if that is unknown, or a repository of its own."""
    if not git.work_tree:
        return []
    out, ended = git.ask(
        *("ls-files", "--others", "--exclude-standard", "-z"),
        seconds=bounds.quick_seconds,
        limit=bounds.tree_bytes,
    )
    paths = [decode(path) for path in out.split(b"\0") if path]
    return paths if ended.whole and all(map(is_below, paths)) else None
