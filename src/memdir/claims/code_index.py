"""Symbols, removals, renames of a repository in one SQLite file."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import struct
import tempfile
import time
import zlib
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from operator import itemgetter
from typing import TypeVar

from memdir.claims.checkout import (
    COMMIT,
    FEW,
    LOG,
    PLACES,
    SHORT,
    Bounds,
    day,
    is_commit,
    move,
    numbered,
    read_head,
)
from memdir.claims.claim import Past, Uses
from memdir.claims.tree import Matcher, Tree, WorkTree, decode, is_below
from memdir.hot.place import store_key
from memdir.store.git import Ended, Git

# The contents of files as a commit has them, without the working tree and its filters.

MOST_DIGITS = 15  # of a size
CROWD = 2_000  # objects of one run of git; between two of them somebody may be told how far it is


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
    for start in range(0, len(wanted), CROWD):
        crowd = wanted[start : start + CROWD]
        left = until - time.monotonic()
        if left <= 0 or progress.bytes > bounds.scan_bytes:
            progress.cut = True
            return
        fitting = _fitting(git, oids, crowd, bounds, progress)
        given = "".join(f"{oids[path]}\n" for path in fitting).encode()
        ended = Ended()
        stream = git.stream(
            "cat-file", "--batch", "--buffer",
            given=given, seconds=left, limit=len(crowd) * (bounds.file_bytes + 200), ended=ended,
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
        progress.read += len(crowd)
        progress.say(f"read {progress.read:,} of {len(wanted):,} files")


def _fitting(
    git: Git, oids: Mapping[str, str], crowd: list[str], bounds: Bounds, progress: Progress
) -> list[str]:
    """Those that are there and small enough; what is larger is data."""
    given = "".join(f"{oids[path]}\n" for path in crowd).encode()
    out, ended = git.ask(
        "cat-file", "--batch-check=%(objecttype) %(objectsize)", "--buffer", given=given
    )
    progress.cut = progress.cut or not ended.whole
    fitting = []
    lines = [*out.split(b"\n"), *(b"" for _ in crowd)]  # an answer that is too short has none
    for path, line in zip(crowd, lines, strict=False):
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
    return text.isdigit() and len(text) <= MOST_DIGITS


def _contents(stream: Iterator[bytes]) -> Iterator[bytes]:
    """The contents of `cat-file --batch`: a line that ends with the size, then that many bytes."""
    buffer, at = b"", 0
    for piece in stream:
        buffer, at = buffer[at:] + piece, 0
        while (end := buffer.find(b"\n", at)) >= 0:
            size = buffer[at:end].rpartition(b" ")[2]
            if not _is_size(size):  # gone since it was measured
                yield b""
                at = end + 1
                continue
            after = end + 1 + int(size)
            if after + 1 > len(buffer):
                break
            yield buffer[end + 1 : after]
            at = after + 1


# What earlier looks found, in files that may vanish, rot or be of another version at any time.
#
# Each file is replaced whole and carries the sums of its parts: a torn or foreign one counts as
# none.

FOLDER = "repos"
MAGIC = b"memdir repository cache 2\n"  # another number for every other content
PART = struct.Struct("<QI")  # bytes and sum of a part
REPOSITORIES = 50  # kept; the one that was used longest ago goes first
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # a pipe would wait for ever
RATIO = 4  # bytes that a byte of a file may stand for, over all of it
# Sums hold against rot; a version that wrote something else is caught by its shape.
DAMAGED = (
    *(OSError, ValueError, TypeError, KeyError, IndexError, OverflowError, AttributeError),
    *(RecursionError, MemoryError, zlib.error, struct.error),
)
Parts = list[bytes]
T = TypeVar("T")


class Cache:
    """The files of one repository."""

    def __init__(self, cache_dir: str, root: str, most: int) -> None:
        self.above = os.path.join(cache_dir, FOLDER)
        self.folder = os.path.join(self.above, store_key(os.path.realpath(root)))
        self.most = most

    def load(self, name: str, read: Callable[[Parts], T]) -> T | None:
        """What `read` makes of the parts that were stored; None without them."""
        try:
            with open(os.open(os.path.join(self.folder, name), READ), "rb") as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    return None
                data = file.read(self.most + 1)
            return read(_unpack(data, self.most * RATIO)) if len(data) <= self.most else None
        except DAMAGED:
            return None

    def store(self, name: str, parts: Sequence[bytes]) -> None:
        """Put the parts in the place of the old ones; if that fails, the next look is slower."""
        data = MAGIC + b"".join(map(_pack, parts))
        if len(data) > self.most or sum(map(len, parts)) > self.most * RATIO:
            return
        with suppress(OSError):
            os.makedirs(self.above, 0o700, exist_ok=True)
            if not os.path.isdir(self.folder):
                self._make_room()
                os.mkdir(self.folder, 0o700)
            handle, temporary = tempfile.mkstemp(prefix=f".{name}-", dir=self.folder)
            try:
                with open(handle, "wb") as file:
                    file.write(data)
                os.replace(temporary, os.path.join(self.folder, name))
            except OSError:
                os.unlink(temporary)
                raise

    def _make_room(self) -> None:
        folders = [entry for entry in os.scandir(self.above) if entry.is_dir(follow_symlinks=False)]
        folders.sort(key=lambda entry: entry.stat().st_mtime)
        for entry in folders[: max(0, len(folders) - REPOSITORIES + 1)]:
            shutil.rmtree(entry.path, ignore_errors=True)


def pack_json(value: object) -> bytes:
    """A part of anything that JSON can say."""
    return json.dumps(value, separators=(",", ":")).encode()


def unpack_numbers(part: bytes) -> array[int]:
    """Twin of `array("i", …).tobytes()`."""
    numbers = array("i")
    numbers.frombytes(part)
    return numbers


def _pack(part: bytes) -> bytes:
    small = zlib.compress(part, 1)
    return PART.pack(len(small), zlib.crc32(small)) + small


def _unpack(data: bytes, most: int) -> Parts:
    if not data.startswith(MAGIC):
        raise ValueError("not of this version")
    parts, at = [], len(MAGIC)
    while at < len(data):
        size, total = PART.unpack_from(data, at)
        at += PART.size
        small = data[at : at + size]
        if len(small) != size or zlib.crc32(small) != total:
            raise ValueError("not what was written")
        unpacker = zlib.decompressobj()
        parts.append(unpacker.decompress(small, most + 1))
        most -= len(parts[-1])
        if most < 0 or not unpacker.eof:
            raise ValueError("larger than anything that is written")
        at += size
    return parts


# Paths that once were: every removal and rename of the history, read once and kept.

SIMILAR = "-l200"  # removed times added files of one commit that are compared with each other
EQUAL = "-M100%"  # what is alike but not equal can only be told from contents
STATUS = re.compile(rb"D|R[0-9]{1,3}")
CHAIN = 50  # renames after each other


@dataclass
class Ends:
    """How paths ended: (path, where it went, number of the commit), newest first."""

    commit: str = ""
    floor: str = ""  # the day before which nothing was read; `-` if nobody knows
    commits: list[tuple[str, int]] = field(default_factory=list)
    ends: list[tuple[str, str, int]] = field(default_factory=list)


def write_ends(known: Ends) -> list[bytes]:
    """As parts of the cache."""
    head = [known.commit, known.floor, known.commits]
    paths = [end[:2] for end in known.ends]
    return [pack_json(head), pack_json(paths), array("i", [end[2] for end in known.ends]).tobytes()]


def read_ends(parts: Parts) -> Ends:
    """Twin of `write_ends`."""
    commit, floor, commits = read_head(parts[0])
    numbers = unpack_numbers(parts[2])
    pairs = json.loads(parts[1])
    ends = [(old, new, number) for (old, new), number in zip(pairs, numbers, strict=True)]
    if any(not isinstance(old, str) or not isinstance(new, str) for old, new, _ in ends):
        raise ValueError("no paths of a cache")
    if numbers and not 0 <= min(numbers) <= max(numbers) < len(commits):
        raise ValueError("no numbers of a cache")
    return Ends(commit, floor, commits, ends)


def bring_up_renames(
    known: Ends | None, git: Git, head: str, bounds: Bounds, say: Callable[[str], None]
) -> Ends:
    """The ends up to that commit; only commits that are new are read."""
    known = known or Ends()
    step = move(git, known.commit, head)
    if not step.revisions:
        return known
    fresh = _read_log(git, step.revisions, bounds, say)
    fresh.commit = head if fresh.commits or not fresh.floor else ""  # nothing read: try again
    if step.afresh:
        return fresh
    shift = len(fresh.commits)
    fresh.commits += known.commits
    fresh.ends += [
        (old, new, number + shift)
        for old, new, number in known.ends
        if known.commits[number][0] not in step.dropped
    ]
    fresh.floor = max(fresh.floor, known.floor, key=lambda floor: (floor == "-", floor))
    return fresh


def _read_log(
    git: Git, revisions: tuple[str, ...], bounds: Bounds, say: Callable[[str], None]
) -> Ends:
    read, ended, rest = Ends(), Ended(), b""
    stream = git.stream(
        *(*LOG, "-z", "--name-status", EQUAL if git.partial else "-M", SIMILAR, "--diff-filter=DR"),
        *(f"--max-count={bounds.commits}", *revisions, "--"),
        seconds=bounds.log_seconds,
        limit=bounds.tree_bytes,
        ended=ended,
    )
    tokens: list[bytes] = []
    for piece in stream:
        *more, rest = (rest + piece).split(b"\0")
        try:
            tokens = _take(read, [*tokens, *more])
        except ValueError:
            ended.cut = True
            break
        say(f"read {len(read.commits):,} commits with renames and removals")
    if not ended.whole or len(read.commits) >= bounds.commits:
        read.floor = day(read.commits[-1][1]) if read.commits else "-"
    return read


def _take(read: Ends, tokens: list[bytes]) -> list[bytes]:
    """Put in what is complete, the rest waits; ValueError for what no log says."""
    at = 0
    while at < len(tokens):
        token = tokens[at].lstrip(b"\n")
        needed = 1 if token.startswith(b"\x01") else 3 if token.startswith(b"R") else 2
        if at + needed > len(tokens):
            break
        if needed == 1:
            commit = numbered(token)
            if not COMMIT.fullmatch(commit[0]):
                raise ValueError("no commit")
            read.commits.append(commit)
        elif not STATUS.fullmatch(token) or not read.commits:
            raise ValueError("no removal or rename")
        else:
            old, new = decode(tokens[at + 1]), decode(tokens[at + 2]) if needed == 3 else ""
            if is_below(old) and (not new or is_below(new)):
                read.ends.append((old, new, len(read.commits) - 1))
        at += needed
    return tokens[at:]


class Pasts:
    """Answers for names from all the ends and the tree of today."""

    def __init__(self, known: Ends, files: Mapping[str, str], folders: set[str]) -> None:
        self.known, self.files, self.folders = known, files, folders
        self.newest: dict[str, tuple[str, int]] = {}
        for old, new, number in known.ends:
            if old not in self.newest:
                self.newest[old] = new, number

    def find(self, matcher: Matcher) -> dict[str, tuple[Past, ...]]:
        """What each name was, newest first."""
        gone = [path for path in self.newest if path not in self.files]
        found = matcher.match(gone, folders=False)
        answers: dict[str, list[tuple[int, Past]]] = {}
        for name, paths in found.items():
            answers[name] = [self._past(path) for path in paths]
        below = self._folders(gone)
        for name, paths in matcher.match(below, folders=True).items():
            answers.setdefault(name, []).extend(self._folder(path, below[path]) for path in paths)
        return {
            name: tuple(past for _, past in sorted(some, key=lambda one: one[0])[:FEW])
            for name, some in answers.items()
        }

    def _past(self, path: str) -> tuple[int, Past]:
        """Along the renames to the path of today, or to the commit that removed it."""
        now, number = self.newest[path]
        first, here = number, now
        for _ in range(CHAIN):
            if not here or here in self.files:
                return first, self._say(path, first if here else number, here)
            if here not in self.newest or self.newest[here][1] > number:
                break  # it left no trace after that: a merge or a cut history
            here, number = self.newest[here]
        return first, self._say(path, first, "")

    def _say(self, path: str, number: int, now: str) -> Past:
        oid, seconds = self.known.commits[number]
        return Past(path, oid[:SHORT], day(seconds), now)

    def _folders(self, gone: Iterable[str]) -> dict[str, list[str]]:
        """The folders that are no more, with the paths that lay below them."""
        below: dict[str, list[str]] = {}
        for path in gone:
            above = path.rpartition("/")[0]
            while above and above not in self.folders:
                below.setdefault(above, []).append(path)
                above = above.rpartition("/")[0]
        return below

    def _folder(self, folder: str, paths: list[str]) -> tuple[int, Past]:
        """The last of what lay there decides; where most of it went is where it is now."""
        last = min(paths, key=lambda path: self.newest[path][1])
        number = self.newest[last][1]
        votes: dict[str, int] = {}
        for path in paths:
            now, rest = self._past(path)[1].now, path[len(folder) :]
            if now.endswith(rest) and now != rest.lstrip("/"):
                votes[now[: -len(rest)]] = votes.get(now[: -len(rest)], 0) + 1
        best = max(votes, key=lambda one: votes[one], default="")
        return number, self._say(
            folder, number, best if votes.get(best, 0) * 2 > len(paths) else ""
        )


# Which identifiers a text has: all of its words are taken apart at once and compared.
#
# With three thousand names over 50,000 files this is thirty times as fast as `git grep -F -w`,
# which tries one name after the other.

LFS = b"version https://git-lfs"  # stands for a file that lies elsewhere
SNIFFED = 8000  # bytes in which git looks for a NUL to tell data from text
LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"
APART = bytes(code if code in LETTERS else 32 for code in range(256))
PARTS = re.compile(rb"[A-Za-z0-9_]+")
DEFINITIONS = 50  # files in which a name's definition is looked for
FEW_NAMES = 12  # so few are looked for one by one

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
INDEX = "MEMORY.md"
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
        indexes = (path for path in paths if path.endswith("/" + INDEX))
        self.roots = tuple(path[: -len(INDEX)] for path in indexes)

    def hold(self, path: str) -> bool:
        """True below a known folder of memories; beside a MEMORY.md only for prose."""
        if OF_MEMORIES.search(path):
            return True
        return bool(self.roots) and path.startswith(self.roots) and is_prose(path)


def is_text(data: bytes) -> bool:
    """As git sees it; what only stands for a file is none."""
    return b"\0" not in data[:SNIFFED] and not data.startswith(LFS)


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
        self.tries = dict.fromkeys(self.words, DEFINITIONS)
        bare = [text for text, (_, parts) in self.compounds.items() if not parts]
        self.few = [*self.wanted, *bare] if len(self.wanted) <= FEW_NAMES else None

    def scan(self, data: bytes) -> list[int]:
        """The hits in a text."""
        if self.few is not None and not any(word in data for word in self.few):
            return []
        words = data.translate(APART).split()
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


# Words that removed lines had: for each the newest commits that removed one, read once and kept.
#
# All words are kept, not only those that were asked for: a new memory must not cost a new pass over
# the whole history.

SHORTEST, LONGEST = 3, 80  # letters of a word that is worth keeping
NONE = -1
# Words of a memory, of prose and of data are no evidence.
FOLDERS = (".claude/memory", ".claude/agent-memory", ".agents/memory", ".memory", "memory-bank")
NOT_CODE = (
    *(f":(exclude,icase)*.{suffix}" for suffix in sorted(PROSE)),
    *(f":(exclude,glob)**/{folder}/**" for folder in FOLDERS),
    *(":(exclude)*.min.js", ":(exclude)*package-lock.json", ":(exclude)*pnpm-lock.yaml"),
)
# Before the path of a file's header, so that it is not taken for a removed line.
MARK = "//memdir//"
HEADER = re.compile(rb"^\x01[0-9a-f]{40,64} [0-9]{1,15}$", re.MULTILINE)
REMOVED = re.compile(rb'^-(?!-- "?//memdir//)(.{1,2000})', re.MULTILINE)
WORTH = re.compile(rb"[A-Za-z_][A-Za-z0-9_]{%d,%d}" % (SHORTEST - 1, LONGEST - 1))


@dataclass
class Removed:
    """For each word the numbers of the two newest commits that removed a line with it."""

    commit: str = ""
    floor: str = ""
    commits: list[tuple[str, int]] = field(default_factory=list)
    words: dict[bytes, tuple[int, int]] = field(default_factory=dict)

    def find(self, name: str, is_used: Callable[[str], bool]) -> Past | None:
        """The newest removal of a name; of several words, of one that no code has any more."""
        parts = [part.encode("ascii") for part in gone_parts(name, is_used)]
        ends = [self.words[part][0] for part in parts if part in self.words]
        if not ends:
            return None
        oid, seconds = self.commits[min(ends)]
        return Past(name, oid[:SHORT], day(seconds))


def gone_parts(name: str, is_used: Callable[[str], bool]) -> list[str]:
    """The name; of one of several words, those that no code has."""
    text = name.encode("utf-8", "surrogateescape")
    parts = [part.decode("ascii") for part in PARTS.findall(text)]
    return parts if parts == [name] else [part for part in parts if not is_used(part)]


def write_removed(known: Removed) -> list[bytes]:
    """As parts of the cache."""
    head = [known.commit, known.floor, known.commits]
    numbers = array("i", [number for pair in known.words.values() for number in pair])
    return [pack_json(head), b"\n".join(known.words), numbers.tobytes()]


def read_removed(parts: Parts) -> Removed:
    """Twin of `write_removed`."""
    commit, floor, commits = read_head(parts[0])
    words, numbers = parts[1].split(b"\n") if parts[1] else [], unpack_numbers(parts[2])
    first, second = numbers[::2], numbers[1::2]
    if numbers and (min(first) < 0 or min(second) < NONE or max(numbers) >= len(commits)):
        raise ValueError("no numbers of a cache")
    pairs = zip(first, second, strict=True)
    return Removed(commit, floor, commits, dict(zip(words, pairs, strict=True)))


def bring_up_removals(
    known: Removed | None, git: Git, head: str, bounds: Bounds, say: Callable[[str], None]
) -> Removed:
    """The removed words up to that commit; only commits that are new are read."""
    known = known or Removed()
    step = move(git, known.commit, head)
    if not step.revisions:
        return known
    revisions = step.revisions
    words = None if step.afresh else _without(known, step.dropped)
    if words is None:
        known, words, revisions = Removed(), {}, (head,)
    fresh = _removed_read_log(git, revisions, bounds, say)
    shift = len(fresh.commits)
    for word, (first, second) in words.items():
        newer = fresh.words.get(word, (NONE, NONE))
        older = [number + shift for number in (first, second) if number != NONE]
        one, two, *_ = *(number for number in newer if number != NONE), *older, NONE, NONE
        fresh.words[word] = one, two
    fresh.commits += known.commits
    fresh.commit = head if fresh.commits or not fresh.floor else ""  # nothing read: try again
    fresh.floor = max(fresh.floor, known.floor, key=lambda floor: (floor == "-", floor))
    return fresh


def _without(known: Removed, dropped: frozenset[str]) -> dict[bytes, tuple[int, int]] | None:
    """The words without commits that are no more; None if an older one may have to be found."""
    lost = {number for number, (oid, _) in enumerate(known.commits) if oid in dropped}
    if not lost:
        return known.words
    kept: dict[bytes, tuple[int, int]] = {}
    for word, (first, second) in known.words.items():
        left = [number for number in (first, second) if number != NONE and number not in lost]
        if not left and second != NONE:
            return None
        if left:
            kept[word] = left[0], left[1] if len(left) > 1 else NONE
    return kept


def _removed_read_log(
    git: Git, revisions: tuple[str, ...], bounds: Bounds, say: Callable[[str], None]
) -> Removed:
    read, ended = Removed(), Ended()
    stream = git.stream(
        *(*LOG, "-p", "-U0", "--no-renames", "--diff-filter=MD", f"--src-prefix={MARK}"),
        *(f"--max-count={bounds.commits}", *revisions, "--", ".", *NOT_CODE),
        seconds=bounds.patch_seconds,
        limit=bounds.patch_bytes,
        ended=ended,
    )
    for block in _blocks(stream):
        _removed_take(read, block)
        say(f"read {len(read.commits):,} commits for words that were removed")
        if len(read.words) > bounds.removed_words:
            ended.cut = True
            break
    cut = ended.late or ended.cut or ended.code or len(read.commits) >= bounds.commits
    if cut:
        read.floor = day(read.commits[-1][1]) if read.commits else "-"
    return read


def _blocks(stream: Iterator[bytes]) -> Iterator[bytes]:
    """Whole lines."""
    rest = b""
    for piece in stream:
        whole, end, rest = (rest + piece).rpartition(b"\n")
        if end:
            yield whole + end
    yield rest


def _removed_take(read: Removed, block: bytes) -> None:
    at = 0
    for header in HEADER.finditer(block):
        _put(read, block[at : header.start()])
        read.commits.append(numbered(header.group()))
        at = header.end()
    _put(read, block[at:])


def _put(read: Removed, patch: bytes) -> None:
    lines = REMOVED.findall(patch)
    if not lines or not read.commits:
        return
    number, words = len(read.commits) - 1, read.words
    for word in set(b"\n".join(lines).translate(APART).split()):
        first, second = words.get(word, (NONE, NONE))
        if first == NONE:
            if WORTH.fullmatch(word):
                words[word] = number, NONE
        elif second == NONE and first != number:
            words[word] = first, number


# Which files have which identifiers: kept per commit, and only changed files are read again.

Hits = list[int]  # twice the number of each name, and that plus one where it is defined
HITS = itemgetter(1)  # of a path and its hits
Texts = Iterator[tuple[str, bytes]]
Read = Callable[[list[str]], Texts]


@dataclass
class Symbols:
    """The names that were ever asked for, and where they are in one commit."""

    commit: str = ""
    cut: str = ""  # what was not read, in words
    names: dict[str, int] = field(default_factory=dict)
    uses: dict[str, Uses] = field(default_factory=dict)
    skipped: set[str] = field(default_factory=set)  # files that may have any of them: no text
    parts: Parts = field(default_factory=list)  # what `files` is made of when it is needed

    @cached_property
    def files(self) -> dict[str, Hits]:
        """The hits of each file; a look that finds nothing changed does without them."""
        return _read_files(self.parts) if self.parts else {}

    def holds(self, commit: str, names: Collection[str], *, dirty: bool) -> bool:
        """False if hits are needed and are not what was written."""
        if self.commit == commit and self.names.keys() >= set(names) and not dirty:
            return True
        try:
            return self.files is not None
        except DAMAGED:
            return False


def write_symbols(known: Symbols) -> list[bytes]:
    """As parts of the cache."""
    uses = [[use.code, use.prose, use.places] for use in map(known.uses.get, known.names) if use]
    lengths = array("i", map(len, known.files.values()))
    hits = array("i", [hit for hits in known.files.values() for hit in hits])
    head = [known.commit, known.cut, list(known.names), uses, sorted(known.skipped)]
    return [pack_json(head), pack_json(list(known.files)), lengths.tobytes(), hits.tobytes()]


def read_symbols(parts: Parts) -> Symbols:
    """Twin of `write_symbols`."""
    commit, cut, names, uses, skipped = json.loads(parts[0])
    made = [Uses(code, prose, tuple(places)) for code, prose, places in uses]
    texts = [cut, *names, *skipped, *(place for use in made for place in use.places)]
    counts = [count for use in made for count in (use.code, use.prose)]
    if not is_commit(commit) or not all(isinstance(text, str) for text in texts):
        raise ValueError("no names of a cache")
    if not all(type(count) is int and count >= 0 for count in counts) or len(parts) != 4:
        raise ValueError("no uses of a cache")
    numbers = {name: number for number, name in enumerate(names)}
    found = dict(zip(names, made, strict=True))
    return Symbols(commit, cut, numbers, found, set(skipped), parts[1:4])


def _read_files(parts: Parts) -> dict[str, Hits]:
    lengths, hits = unpack_numbers(parts[1]), unpack_numbers(parts[2])
    files: dict[str, Hits] = {}
    at, paths = 0, json.loads(parts[0])
    if not all(isinstance(path, str) for path in paths) or sum(lengths) != len(hits):
        raise ValueError("no files of a cache")
    if min(lengths, default=0) < 0 or min(hits, default=0) < 0:
        raise ValueError("no hits of a cache")
    for path, length in zip(paths, lengths, strict=True):
        files[path] = hits[at : at + length].tolist()
        at += length
    return files


def bring_up_symbols(
    known: Symbols | None, git: Git, tree: Tree, head: str, names: Collection[str],
    read: Read, bounds: Bounds,
) -> Symbols:  # fmt: skip
    """The symbols of that commit, with these names among them."""
    changed = _changed(git, known.commit, head) if known else None
    if known is None or changed is None or not _goes_on(known, changed, bounds):
        known, changed = Symbols(), []
    new = [name for name in names if name not in known.names]
    if known.commit == head and not new:
        return known
    goes_on = bool(known.names)
    for name in new:
        known.names[name] = len(known.names)
    touched = set(changed)
    for path in touched:
        known.files.pop(path, None)
        known.skipped.discard(path)
    memories = Memories(tree.files)
    paths = [path for path in tree.files if path not in tree.links and not memories.hold(path)]
    if goes_on:
        _scan(known, read([path for path in paths if path in touched]), known.names)
        paths = [path for path in paths if path not in touched]
    if new:
        _scan(known, read(paths), {name: known.names[name] for name in new})
    known.commit = head
    known.uses = count(known)
    return known


def _goes_on(known: Symbols, changed: list[str], bounds: Bounds) -> bool:
    """False where only a fresh start gives what it would give without a cache."""
    moved = any(path.endswith("/" + INDEX) for path in changed)  # other files are memories now
    return not (moved or (known.cut and changed) or len(known.names) > bounds.names)


def _changed(git: Git, old: str, new: str) -> list[str] | None:
    """The paths in which two commits differ; None if the old one is gone."""
    if old == new:
        return []
    out, ended = git.ask("diff-tree", "-r", "-z", "--no-renames", "--name-only", old, new, "--")
    return [decode(path) for path in out.split(b"\0") if path] if old and ended.whole else None


def _scan(known: Symbols, texts: Texts, names: Mapping[str, int]) -> None:
    scanner, files = Scanner(names), known.files
    for path, data in texts:
        if found := scanner.scan(data):
            files.setdefault(path, []).extend(found)


def count(
    known: Symbols, without: Collection[str] = (), more: Iterable[tuple[str, Hits]] = ()
) -> dict[str, Uses]:
    """How often each name is used; `without` these files, but with `more` of them."""
    kept = ((path, hits) for path, hits in known.files.items() if path not in without)
    files = sorted((*more, *kept))
    code = [file for file in files if not is_prose(file[0])]
    prose = [file for file in files if is_prose(file[0])]
    in_code, in_prose = (Counter(chain.from_iterable(map(HITS, some))) for some in (code, prose))
    hits = range(0, 2 * len(known.names), 2)
    defined = _places(code, {hit + 1 for hit in hits})
    used, named = _places(code, set(hits)), _places(prose, set(hits))
    uses = {}
    for name, hit in zip(known.names, hits, strict=True):
        places = dict.fromkeys((*defined[hit + 1], *used[hit], *named[hit]))
        uses[name] = Uses(in_code[hit], in_prose[hit], tuple(places)[:PLACES])
    return uses


def _places(files: list[tuple[str, Hits]], wanted: set[int]) -> defaultdict[int, list[str]]:
    """The first few files of each hit."""
    places: defaultdict[int, list[str]] = defaultdict(list)
    for path, hits in files:
        for hit in wanted.intersection(hits):
            places[hit].append(path)
            if len(places[hit]) == PLACES:
                wanted.discard(hit)
    return places


def overlay(known: Symbols, dirty: Collection[str], texts: Texts) -> dict[str, Uses]:
    """The uses as they are with the changes that nobody has committed."""
    apart = Symbols(names=known.names)
    _scan(apart, texts, known.names)
    return count(known, frozenset(dirty), apart.files.items())


# Files whose words nobody counts, searched for the few words that would be called removed.
#
# Data, what is too large and what is untracked is not worth an index; but what has a word still
# must not be passed over in silence.

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
