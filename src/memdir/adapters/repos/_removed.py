"""Words that removed lines had: for each the newest commits that removed one, read once and kept.

All words are kept, not only those that were asked for: a new memory must not cost a new pass over
the whole history.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from memdir.adapters.repos._bounds import Bounds
from memdir.adapters.repos._cache import Parts, pack_json, unpack_numbers
from memdir.adapters.repos._log import LOG, SHORT, day, move, numbered, read_head
from memdir.adapters.repos._process import Ended, Git
from memdir.adapters.repos._words import APART, PARTS, PROSE
from memdir.core.claim import Past

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


def bring_up(
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
    fresh = _read_log(git, revisions, bounds, say)
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


def _read_log(
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
        _take(read, block)
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


def _take(read: Removed, block: bytes) -> None:
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
