"""Paths that once were: every removal and rename of the history, read once and kept."""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from memdir.adapters.repos._bounds import FEW, Bounds
from memdir.adapters.repos._cache import Parts, pack_json, unpack_numbers
from memdir.adapters.repos._log import COMMIT, LOG, SHORT, day, move, numbered, read_head
from memdir.adapters.repos._process import Ended, Git
from memdir.adapters.repos._tree import Matcher, decode
from memdir.adapters.repos._work_tree import is_below
from memdir.core.claim import Past

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


def bring_up(
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
