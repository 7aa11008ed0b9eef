"""Contents of files, and which of the wanted identifiers they have."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from memdir.claims.checkout import Bounds
from memdir.claims.tree import WorkTree, decode, is_below
from memdir.store.git import Ended, Git

# The contents of files as a commit has them, without the working tree and its filters.

MAX_SIZE_DIGITS = 15  # of a size
BATCH_OBJECTS = 2_000  # of one run of git; between two runs progress is told


@dataclass
class Progress:
    """How far a reading came, and whether it had to stop."""

    say: Callable[[str], None]
    cut: bool = False
    read: int = 0
    bytes: int = 0
    missing: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)  # too large


def read_blobs(
    git: Git, oids: Mapping[str, str], paths: Collection[str], bounds: Bounds, progress: Progress
) -> Iterator[tuple[str, bytes]]:
    """Path and content of each file that is not too large."""
    wanted = list(paths)
    until = time.monotonic() + bounds.scan_seconds
    for start in range(0, len(wanted), BATCH_OBJECTS):
        batch = wanted[start : start + BATCH_OBJECTS]
        left = until - time.monotonic()
        if left <= 0 or progress.bytes > bounds.scan_bytes:
            progress.cut = True
            return
        fitting = _fitting(git, oids, batch, bounds, progress)
        given = "".join(f"{oids[path]}\n" for path in fitting).encode()
        ended = Ended()
        stream = git.stream(
            "cat-file", "--batch", "--buffer",
            given=given, seconds=left, limit=len(batch) * (bounds.file_bytes + 200), ended=ended,
        )  # fmt: skip
        contents = _contents(stream)
        for path in fitting:
            data = next(contents, None)
            if data is None:
                progress.missing.append(path)
            else:
                yield path, data
        for _ in contents:
            pass  # to its end: only then is it known how the run went
        progress.cut = progress.cut or not ended.whole
        progress.read += len(batch)
        progress.say(f"read {progress.read:,} of {len(wanted):,} files")


def _fitting(
    git: Git, oids: Mapping[str, str], batch: list[str], bounds: Bounds, progress: Progress
) -> list[str]:
    """Those that are there and small enough; what is larger is data."""
    given = "".join(f"{oids[path]}\n" for path in batch).encode()
    out, ended = git.ask(
        "cat-file", "--batch-check=%(objecttype) %(objectsize)", "--buffer", given=given
    )
    progress.cut = progress.cut or not ended.whole
    fitting = []
    lines = [*out.split(b"\n"), *(b"" for _ in batch)]  # an answer that is too short has none
    for path, line in zip(batch, lines, strict=False):
        kind, _, size = line.partition(b" ")
        if kind != b"blob" or not _is_size(size):
            progress.missing.append(path)
        elif int(size) <= bounds.file_bytes:
            fitting.append(path)
            progress.bytes += int(size)
        else:
            progress.skipped.append(path)
    return fitting


def _is_size(text: bytes) -> bool:
    return text.isdigit() and len(text) <= MAX_SIZE_DIGITS


def _contents(stream: Iterator[bytes]) -> Iterator[bytes]:
    """The contents of `cat-file --batch`: a line that ends with the size, then that many bytes."""
    buffer, position = b"", 0
    for piece in stream:
        buffer, position = buffer[position:] + piece, 0
        while (end := buffer.find(b"\n", position)) >= 0:
            size = buffer[position:end].rpartition(b" ")[2]
            if not _is_size(size):  # gone since it was measured
                yield b""
                position = end + 1
                continue
            after = end + 1 + int(size)
            if after + 1 > len(buffer):
                break
            yield buffer[end + 1 : after]
            position = after + 1


# Which identifiers a text has: all of its words are taken apart at once and compared.
#
# With three thousand names over 50,000 files this is thirty times as fast as `git grep -F -w`,
# which tries one name after the other.

LFS_POINTER = b"version https://git-lfs"  # stands for a file that lies elsewhere
SNIFFED_BYTES = 8000  # bytes in which git looks for a NUL to tell data from text
LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"
WORD_BYTES = bytes(code if code in LETTERS else 32 for code in range(256))
PARTS = re.compile(rb"[A-Za-z0-9_]+")
MAX_DEFINITION_FILES = 50  # files in which a name's definition is looked for
MAX_SINGLE_NAMES = 12  # so few are looked for one by one

PROSE = frozenset(
    (
        *("md", "markdown", "mdx", "mdc", "txt", "rst", "adoc", "asciidoc", "org", "tex", "pod"),
        # Data that somebody or something wrote down: it names code, it is none.
        *("csv", "tsv", "log", "svg", "lock", "sum", "snap", "po", "pot", "map", "diff", "patch"),
    )
)
PROSE_NAMES = frozenset(
    (
        *("readme", "license", "licence", "copying", "changelog", "changes", "authors", "notice"),
        *("contributors", "todo", "news", "package-lock.json", "npm-shrinkwrap.json"),
        *("pnpm-lock.yaml", "composer.lock", "go.sum"),
    )
)
DEFINERS = frozenset(
    (
        *(b"def", b"class", b"function", b"func", b"fn", b"interface", b"type", b"struct"),
        *(b"enum", b"trait", b"const", b"let", b"var", b"val", b"module", b"macro", b"define"),
        *(b"fun", b"object", b"namespace", b"protocol", b"record", b"static", b"sub", b"impl"),
    )
)
MEMORY_INDEX = "MEMORY.md"
# Where agents keep memories: a memory must not prove itself.
OF_MEMORIES = re.compile(
    r"(?:^|/)(?:\.(?:claude|agents|gemini|codex|cursor|serena|kilocode|clinerules)/"
    r"(?:memory|memories|agent-memory|agent-memory-local)|\.memory|\.memories|memory-bank)/"
)


def is_prose(path: str) -> bool:
    """True for text about code."""
    name = path.rpartition("/")[2].lower()
    stem, dot, suffix = name.rpartition(".")
    return (
        suffix in PROSE
        if dot and stem and suffix in PROSE
        else name in PROSE_NAMES or stem in PROSE_NAMES
    )


class Memories:
    """Knows which files of a tree are memories themselves."""

    def __init__(self, paths: Iterable[str]) -> None:
        indexes = (path for path in paths if path.endswith("/" + MEMORY_INDEX))
        self.roots = tuple(path[: -len(MEMORY_INDEX)] for path in indexes)

    def hold(self, path: str) -> bool:
        """True below a known folder of memories; beside a MEMORY.md only for prose."""
        if OF_MEMORIES.search(path):
            return True
        return bool(self.roots) and path.startswith(self.roots) and is_prose(path)


def is_text(data: bytes) -> bool:
    """As git sees it; what only stands for a file is none."""
    return b"\0" not in data[:SNIFFED_BYTES] and not data.startswith(LFS_POINTER)


class Scanner:
    """Looks for numbered names in texts; one may be of several words, like `Store.put` or `$HOME`.

    A hit is twice the number of a name, plus one where its first place looks like a definition.
    """

    def __init__(self, names: Mapping[str, int]) -> None:
        self.words: dict[bytes, int] = {}
        self.compounds: dict[bytes, tuple[int, tuple[bytes, ...]]] = {}
        for name, number in names.items():
            text = name.encode("utf-8", "surrogateescape")
            parts = tuple(PARTS.findall(text))
            if parts == (text,):
                self.words[text] = 2 * number
            elif text.strip():
                self.compounds[text] = 2 * number, parts
        within = (part for _, parts in self.compounds.values() for part in parts)
        self.wanted = frozenset((*self.words, *within))
        self.only_within = self.wanted - self.words.keys()
        self.tries = dict.fromkeys(self.words, MAX_DEFINITION_FILES)
        bare = [text for text, (_, parts) in self.compounds.items() if not parts]
        self.few = [*self.wanted, *bare] if len(self.wanted) <= MAX_SINGLE_NAMES else None

    def scan(self, data: bytes) -> list[int]:
        """The hits in a text."""
        if self.few is not None and not any(word in data for word in self.few):
            return []
        words = data.translate(WORD_BYTES).split()
        hits = self.wanted.intersection(words)
        found = list(map(self.words.__getitem__, hits - self.only_within))
        if self.tries:
            found += self._defined(words, hits)
        if self.compounds:
            found += self._compounds(data, hits)
        return found

    def _defined(self, words: list[bytes], hits: frozenset[bytes]) -> list[int]:
        """The definitions among the hits, each beside its plain hit."""
        found = []
        for word in self.tries.keys() & hits:
            at = words.index(word)
            if at > 0 and words[at - 1] in DEFINERS:
                found.append(self.words[word] + 1)
            self.tries[word] -= 1
            if not self.tries[word]:
                del self.tries[word]
        return found

    def _compounds(self, data: bytes, hits: frozenset[bytes]) -> list[int]:
        return [
            hit
            for text, (hit, parts) in self.compounds.items()
            if hits.issuperset(parts) and stands_alone(text, data)
        ]


def stands_alone(text: bytes, data: bytes) -> bool:
    """True if the text is there and no word runs into it."""
    at = data.find(text)
    while at >= 0:
        end = at + len(text)
        starts = at == 0 or data[at - 1] not in LETTERS or text[0] not in LETTERS
        ends = end == len(data) or data[end] not in LETTERS or text[-1] not in LETTERS
        if starts and ends:
            return True
        at = data.find(text, at + 1)
    return False


def gone_parts(name: str, is_used: Callable[[str], bool]) -> list[str]:
    """The name; of one of several words, those that no code has."""
    text = name.encode("utf-8", "surrogateescape")
    parts = [part.decode("ascii") for part in PARTS.findall(text)]
    return parts if parts == [name] else [part for part in parts if not is_used(part)]


# Files whose words nobody counts, searched for the few words that would be called removed.
#
# Data, what is too large and what is untracked is not worth an index; but what has a word still
# must not be passed over in silence.

PIECE_BYTES = 1 << 20  # bytes that are taken apart at once
OVERLAP_BYTES = 512  # bytes of the piece before: no word is lost between two
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
    for start in range(0, len(data), PIECE_BYTES):
        piece = data[max(0, start - OVERLAP_BYTES) : start + PIECE_BYTES]
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
