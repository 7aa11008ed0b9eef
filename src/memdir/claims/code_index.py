"""Identifiers, removed words and renamed paths of a repository, kept in one SQLite file.

The file is a cache: it may be deleted, and a damaged, foreign or outdated one is rebuilt. Only new
commits are read.
"""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field

from memdir.claims.claim import Uses
from memdir.claims.tree import COMMIT, LOST, Bounds, Files, Tree, WorkTree, from_git, to_git
from memdir.hot.place import store_key
from memdir.store.git import Ended, Git

FOLDER, FILE = "repos", "index.sqlite"
VERSION = 4  # change it with the content
MAX_REPOSITORIES = 50  # the least recently used goes first
LOCK_SECONDS = 5.0  # wait for another look at the repository; then work without the file
# Names, words and paths are bytes, because not all are UTF-8. Newer commits have larger numbers.
SCHEMA = (
    "CREATE TABLE state (key TEXT PRIMARY KEY, value TEXT)",
    "CREATE TABLE names (name BLOB PRIMARY KEY)",
    "CREATE TABLE uses (name BLOB, path BLOB, PRIMARY KEY (name, path)) WITHOUT ROWID",
    "CREATE INDEX paths ON uses (path)",
    "CREATE TABLE skipped (path BLOB PRIMARY KEY)",
    "CREATE TABLE commits (number INTEGER PRIMARY KEY, log TEXT, oid TEXT, seconds INT)",
    "CREATE TABLE ends (old BLOB, new BLOB, number INT)",
    "CREATE TABLE removed (log TEXT, word BLOB, number INT, defined INT, PRIMARY KEY (log, word))",
    f"PRAGMA user_version = {VERSION}",
)
DAMAGED = (sqlite3.Error, ValueError)
Texts = Iterable[tuple[str, bytes]]


class CodeIndex:
    """Results of earlier looks at a repository, open in one transaction."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db

    def get(self, key: str) -> str:
        row = self.db.execute("SELECT value FROM state WHERE key = ?", (key,)).fetchone()
        return str(row[0]) if row else ""

    def put(self, key: str, value: str) -> None:
        self.db.execute("INSERT OR REPLACE INTO state VALUES (?, ?)", (key, value))

    def commit_of(self, key: str) -> str:
        """Raises ValueError for anything but a commit id, because it reaches a command line."""
        commit = self.get(key)
        if commit and not COMMIT.fullmatch(commit):
            raise ValueError("no commit of an index")
        return commit


@contextmanager
def open_code_index(cache_dir: str, root: str, max_bytes: int) -> Iterator[CodeIndex]:
    """Index for one look; in memory if the file cannot be used."""
    folder = os.path.join(cache_dir, FOLDER, store_key(os.path.realpath(root)))
    try:
        with closing(
            _open_file(folder, max_bytes) or sqlite3.connect(":memory:", isolation_level=None)
        ) as db:
            if not db.execute("SELECT 1 FROM sqlite_master").fetchone():
                for statement in SCHEMA:
                    db.execute(statement)
            elif db.execute("PRAGMA user_version").fetchone() != (VERSION,):
                raise ValueError("the index of another version")
            yield CodeIndex(db)
            with suppress(sqlite3.Error):  # disk full: the next look is slower
                db.execute("COMMIT")
    except DAMAGED:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _open_file(folder: str, max_bytes: int) -> sqlite3.Connection | None:
    """Locks the file; None if another look holds it or the folder is not writable."""
    path = os.path.join(folder, FILE)
    try:
        if not _is_usable(path, max_bytes):
            _make_folder(folder)
        db = sqlite3.connect(path, timeout=LOCK_SECONDS, isolation_level=None)
        db.execute("BEGIN IMMEDIATE")
        return db
    except (OSError, sqlite3.OperationalError):
        return None


def _is_usable(path: str, max_bytes: int) -> bool:
    try:
        facts = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISREG(facts.st_mode) and facts.st_size <= max_bytes


def _make_folder(folder: str) -> None:
    """Creates the folder and removes the oldest indexes of other repositories."""
    above = os.path.dirname(folder)
    os.makedirs(above, 0o700, exist_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
    folders = [entry for entry in os.scandir(above) if entry.is_dir(follow_symlinks=False)]
    folders.sort(key=lambda entry: entry.stat().st_mtime)
    for entry in folders[: max(0, len(folders) - MAX_REPOSITORIES + 1)]:
        shutil.rmtree(entry.path, ignore_errors=True)
    os.mkdir(folder, 0o700)
    os.close(os.open(os.path.join(folder, FILE), os.O_CREAT | os.O_EXCL, 0o600))


SNIFFED_BYTES = 8000  # git looks here for a NUL to tell data from text
LFS_POINTER = b"version https://git-lfs"  # placeholder for a file stored elsewhere
MEMORY_INDEX = "MEMORY.md"
_PROSE = """
md markdown mdx mdc txt rst adoc asciidoc org tex pod csv tsv log svg lock sum snap po pot map
diff patch
"""
PROSE = frozenset(_PROSE.split())  # endings of text, and of data that names code
_PROSE_NAMES = """
readme license licence copying changelog changes authors notice contributors todo news
package-lock.json npm-shrinkwrap.json pnpm-lock.yaml
"""
PROSE_NAMES = frozenset(_PROSE_NAMES.split())
_PACKED = """
png jpg jpeg gif webp ico icns bmp tif tiff avif heic mp3 mp4 m4a mov webm ogg wav flac avi mkv psd
ai woff woff2 ttf otf eot pdf zip gz tgz bz2 xz zst 7z rar jar whl br docx xlsx pptx parquet npz
"""
PACKED = frozenset(_PACKED.split())  # endings of binary files
# Folders of agents' memories: a memory must not prove itself.
_OF_MEMORIES = re.compile(
    r"(?:^|/)(?:\.(?:claude|agents|gemini|codex|cursor|serena|kilocode|clinerules)/"
    r"(?:memory|memories|agent-memory|agent-memory-local)|\.memory|\.memories|memory-bank)/"
)


def is_repo_prose(path: str) -> bool:
    name = path.rpartition("/")[2].lower()
    stem, _, suffix = name.rpartition(".")
    return suffix in PROSE or name in PROSE_NAMES or stem in PROSE_NAMES


def is_text_blob(data: bytes) -> bool:
    """Decides as git does; an LFS pointer is not text."""
    return b"\0" not in data[:SNIFFED_BYTES] and not data.startswith(LFS_POINTER)


class Memories:
    def __init__(self, paths: Iterable[str]) -> None:
        indexes = (path for path in paths if path.endswith("/" + MEMORY_INDEX))
        self.roots = tuple(path[: -len(MEMORY_INDEX)] for path in indexes)

    def hold(self, path: str) -> bool:
        """True below a known folder of memories; beside a MEMORY.md only for prose."""
        return bool(_OF_MEMORIES.search(path)) or (
            path.startswith(self.roots) and is_repo_prose(path)
        )


@dataclass
class Reading:
    """`cut`: not all files were read; `skipped`: files that are not text or too large."""

    cut: bool = False
    skipped: list[str] = field(default_factory=list)


def read_repo_blobs(
    git: Git, files: Files, paths: Iterable[str], max_bytes: int, bounds: Bounds, reading: Reading
) -> Iterator[tuple[str, bytes]]:
    fitting, total = [], 0
    for path in paths:
        size = files[path][1]
        if size > max_bytes:
            reading.skipped.append(path)
        elif size == LOST or total > bounds.scan_bytes:
            reading.cut = True
        else:
            fitting.append(path)
            total += size
    if not fitting:
        return
    ended = Ended()
    stream = git.stream(
        "cat-file", "--batch", "--buffer",
        given="".join(f"{files[path][0]}\n" for path in fitting).encode(),
        seconds=bounds.scan_seconds, limit=total + 200 * len(fitting), ended=ended,
    )  # fmt: skip
    contents = _contents(stream)
    for path in fitting:
        data = next(contents, None)
        if data is None:
            break
        yield path, data
    else:
        next(contents, None)  # read to the end: only then is the exit code known
    reading.cut = reading.cut or data is None or not ended.whole


def _contents(stream: Iterator[bytes]) -> Iterator[bytes]:
    """Parses `cat-file --batch`: a line that ends with the size, then that many bytes."""
    buffer, position = b"", 0
    for piece in stream:
        buffer, position = buffer[position:] + piece, 0
        while (end := buffer.find(b"\n", position)) >= 0:
            size = buffer[position:end].rpartition(b" ")[2]
            if not size.isdigit() or len(size) > 15:
                return  # object gone since it was measured, or invalid output
            after = end + 1 + int(size)
            if after + 1 > len(buffer):
                break
            yield buffer[end + 1 : after]
            position = after + 1


# Splitting each text into words once is 30 times as fast as `git grep -F -w` (3,000 names in
# 50,000 files), which tries one name after the other.

LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"
WORD_BYTES = bytes(code if code in LETTERS else 32 for code in range(256))
WORD = re.compile(rb"[A-Za-z0-9_]+")
MAX_SINGLE_NAMES = 12  # up to this many names are searched one by one
MAX_PLACES = 5  # files listed per identifier


class Scanner:
    """Finds names in texts; a name may have several words, like `dry-run` or `$HOME`."""

    def __init__(self, names: Collection[str]) -> None:
        texts = {to_git(name): name for name in names if name.strip()}
        self.words = {text: name for text, name in texts.items() if WORD.fullmatch(text)}
        rest = texts.keys() - self.words.keys()
        self.compounds = [(text, texts[text], WORD.findall(text)) for text in rest]
        within = (part for _, _, parts in self.compounds for part in parts)
        self.wanted = frozenset((*self.words, *within))
        self.few = [*texts] if len(texts) <= MAX_SINGLE_NAMES else None

    def scan(self, data: bytes) -> list[str]:
        if self.few is not None and not any(text in data for text in self.few):
            return []
        there = self.wanted.intersection(data.translate(WORD_BYTES).split())
        hits = [self.words[word] for word in there & self.words.keys()]
        for text, name, parts in self.compounds:
            if there.issuperset(parts) and _stands_alone(text, data):
                hits.append(name)
        return hits


def _stands_alone(text: bytes, data: bytes) -> bool:
    """True if the text occurs and is not part of a longer word."""
    start = data.find(text)
    while start >= 0:
        end = start + len(text)
        begins = start == 0 or data[start - 1] not in LETTERS or text[0] not in LETTERS
        ends = end == len(data) or data[end] not in LETTERS or text[-1] not in LETTERS
        if begins and ends:
            return True
        start = data.find(text, start + 1)
    return False


def update_code_symbols(
    index: CodeIndex, git: Git, tree: Tree, head: str, names: Collection[str],
    read: Callable[[list[str]], Texts], bounds: Bounds,
) -> None:  # fmt: skip
    db, old = index.db, index.commit_of("symbols commit")
    known = {from_git(row[0]) for row in db.execute("SELECT name FROM names")}
    changed = _find_changed(git, old, head) if old else None
    if (
        changed is None
        or (changed and index.get("symbols cut"))
        or len(known) > bounds.names
        or any(path.endswith("/" + MEMORY_INDEX) for path in changed)  # other files became memories
    ):
        for table in ("names", "uses", "skipped"):
            db.execute(f"DELETE FROM {table}")
        index.put("symbols cut", "")
        known, changed, old = set(), [], ""
    new = set(names) - known
    if old == head and not new:
        return
    db.executemany("INSERT INTO names VALUES (?)", [(to_git(name),) for name in new])
    for table in ("uses", "skipped"):
        keys = [(to_git(path),) for path in changed]
        db.executemany(f"DELETE FROM {table} WHERE path = ?", keys)
    memories, touched = Memories(tree.files), set(changed)
    paths = [path for path, (oid, _) in tree.files.items() if oid and not memories.hold(path)]
    if known:
        _scan(index, read([path for path in paths if path in touched]), known | new)
        paths = [path for path in paths if path not in touched]
    if new:
        _scan(index, read(paths), new)
    index.put("symbols commit", head)


def _find_changed(git: Git, old: str, new: str) -> list[str] | None:
    """Paths that differ between two commits; None if the old commit is gone."""
    if old == new:
        return []
    out, ended = git.ask("diff-tree", "-r", "-z", "--no-renames", "--name-only", old, new, "--")
    return [from_git(path) for path in out.split(b"\0") if path] if ended.whole else None


def _scan(index: CodeIndex, texts: Texts, names: Collection[str]) -> None:
    scanner = Scanner(names)
    rows = ((to_git(name), to_git(path)) for path, data in texts for name in scanner.scan(data))
    index.db.executemany("INSERT OR IGNORE INTO uses VALUES (?, ?)", rows)


def count_symbol_uses(
    index: CodeIndex, names: Collection[str], dirty: Collection[str], texts: Texts
) -> tuple[dict[str, Uses], dict[str, list[str]]]:
    """Uses of each name, with `texts` replacing dirty files; and the committed code with it."""
    uses, committed, scanner = dict[str, Uses](), dict[str, list[str]](), Scanner(names)
    changed = [(path, frozenset(scanner.scan(data))) for path, data in texts]
    for name in names:
        rows = index.db.execute("SELECT path FROM uses WHERE name = ?", (to_git(name),))
        there = [from_git(row[0]) for row in rows]
        committed[name] = [path for path in there if not is_repo_prose(path)]
        now = [path for path in there if path not in dirty]
        now += [path for path, hits in changed if name in hits]
        code = sorted(path for path in now if not is_repo_prose(path))
        prose = sorted(path for path in now if is_repo_prose(path))
        uses[name] = Uses(len(code), len(prose), tuple([*code, *prose][:MAX_PLACES]))
    return uses, committed


# Files outside the symbol index are searched before a word is called removed.

PIECE_BYTES = 1 << 20  # read at once
OVERLAP_BYTES = 512  # of the previous piece, so that no word is lost between two


def may_file_hold_code(path: str) -> bool:
    return not is_repo_prose(path) and path.rpartition(".")[2].lower() not in PACKED


def find_words_in_code(
    root: str, words: Collection[str], paths: Sequence[str], bounds: Bounds
) -> set[str] | None:
    """Words that occur in a file on disk; None if not all files could be searched."""
    if len(paths) > bounds.unread_files:
        return None
    scanner, there = Scanner(words), set[str]()
    work_tree, left = WorkTree(root), bounds.unread_bytes
    for path in paths:
        data = work_tree.read(path, left)
        if data is None:
            return None
        left -= len(data)
        for start in range(0, len(data), PIECE_BYTES):
            piece = data[max(0, start - OVERLAP_BYTES) : start + PIECE_BYTES]
            # UTF-16 in either byte order is letters with NULs in between.
            there.update(scanner.scan(piece), scanner.scan(piece.replace(b"\0", b"")))
    return there


# Code without its comments: a name that only comments still mention is not in the code. Text in
# quotes counts as code, because a name in it may be looked up at run time.

# Every alternative ends at the end of its line or of the file at the latest: no second try.
_QUOTED = rb"""'(?:[^'\\\n]|\\.)*(?:'|$)|"(?:[^"\\\n]|\\.)*(?:"|$)"""
_LONG = rb"""\"{3}(?s:.*?)(?:\"{3}|\Z)|'{3}(?s:.*?)(?:'{3}|\Z)"""
_TICKED = rb"`(?:[^`\\]|\\(?s:.))*(?:`|\Z)"
_HASH = re.compile(
    rb"(?P<comment>(?:\A|(?<=[^\"']:))\s*[rRuU]?(?:" + _LONG + rb")|(?:^|(?<=\s))#.*)"
    rb"|" + _LONG + rb"|" + _QUOTED,
    re.MULTILINE,
)
_SLASHES = re.compile(
    rb"(?P<comment>(?<![^\s;{}(),])/(?:/.*|\*(?s:.*?)(?:\*/|\Z)))|" + _QUOTED + rb"|" + _TICKED,
    re.MULTILINE,
)
_WITH_HASH = "bash ex exs fish jl nim pl py pyi r rb sh tf toml yaml yml zsh"
_WITH_SLASHES = """
c cc cjs cpp cs cts cxx dart go gradle groovy h hpp java js jsx kt kts mjs mts php proto rs scala
scss sol swift ts tsx zig
"""
_PATTERNS = {
    **dict.fromkeys(_WITH_HASH.split(), _HASH),
    **dict.fromkeys(_WITH_SLASHES.split(), _SLASHES),
}


def drop_code_comments(path: str, data: bytes) -> bytes:
    """The file without comments and docstrings; whole if its language is not known."""
    pattern = _PATTERNS.get(path.rpartition(".")[2].lower())
    return pattern.sub(lambda m: b"\n" if m["comment"] else m[0], data) if pattern else data
