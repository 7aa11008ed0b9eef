"""Paths by how they end: what is tracked, and what once was."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from memdir.claims.claim import Past

_STARS = re.compile(r"\*{1,3}")
FEW = 20  # places that one name is answered with
CHAIN = 50  # renames after each other
MOST_BELOW = 200  # files of a lost folder that are given


class Paths:
    """Files and folders that end in a name."""

    def __init__(self, rows: Iterable[Sequence[str]]) -> None:
        self.files = [row[0] for row in rows]
        self._by_name: dict[str, list[str]] = {}
        for path in dict.fromkeys(one for file in self.files for one in _upwards(file)):
            self._by_name.setdefault(path.rsplit("/", 1)[-1], []).append(path)

    def find(self, name: str) -> tuple[str, ...]:
        """The whole path first, then those that end so; a pattern gives what it matches."""
        if "*" in name:
            return tuple(self._matching(name))[:FEW]
        ending = self._by_name.get(name.rsplit("/", 1)[-1], [])
        exact = [path for path in ending if path == name]
        return (*exact, *[one for one in ending if one.endswith("/" + name)][:FEW])

    def _matching(self, pattern: str) -> Iterator[str]:
        parts = _STARS.split(pattern)
        yield from (path for path in self.files if _fits(path, parts))


def _fits(path: str, parts: Sequence[str]) -> bool:
    """The parts between stars one after another; a star may cross folders."""
    text, at = f"/{path}/", 0
    for part in (f"/{parts[0]}" if parts[0] else "", *parts[1:-1], f"{parts[-1]}/"):
        at = text.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return True


class Pasts:
    """What once was there, by how it ends; a folder's name gives what was below it."""

    def __init__(self, rows: Iterable[Sequence[str]], tracked: Collection[str]) -> None:
        self._by_name: dict[str, list[tuple[str, list[Past]]]] = {}
        known: dict[str, list[Past]] = {}
        whole = [row for row in rows if len(row) > 3]
        went = {row[0]: row[4] if len(row) > 4 else "" for row in whole}
        for row in whole:
            past = Past(row[0], row[1], row[2], _today(row[0], went, tracked))
            for path in _upwards(row[0]):
                below = known.get(path)
                if below is None:
                    below = known[path] = []
                    self._by_name.setdefault(path.rsplit("/", 1)[-1], []).append((path, below))
                if len(below) < MOST_BELOW:
                    below.append(past)

    def find(self, name: str) -> tuple[Past, ...]:
        """Everything that ended so, files and folders; the whole path first, then the newest."""
        some = self._by_name.get(name.rsplit("/", 1)[-1], [])
        found = [
            below[0] if below[0].name == path else _folder(path, below)
            for path, below in some
            if path == name or path.endswith("/" + name)
        ]
        found.sort(key=lambda one: one.date, reverse=True)
        return tuple(sorted(found, key=lambda one: one.name != name)[:FEW])


def _folder(path: str, below: Sequence[Past]) -> Past:
    """Ended with its last file; moved to wherever more than half of its files went."""
    newest = max(below, key=lambda one: one.date)
    rests = [(one.now, one.name[len(path) :]) for one in below]
    votes = Counter(now[: -len(rest)] for now, rest in rests if now.endswith(rest))
    best, count = votes.most_common(1)[0] if votes else ("", 0)
    return Past(path, newest.commit, newest.date, best if count * 2 > len(below) else "")


def _today(path: str, went: Mapping[str, str], tracked: Collection[str]) -> str:
    """Along the renames to a path that is tracked; empty if they end nowhere."""
    for _ in range(CHAIN):
        path = went.get(path, "")
        if path in tracked:
            return path
    return ""


def _upwards(path: str) -> Iterator[str]:
    """The path itself and every folder above it."""
    while path:
        yield path
        path = path.rpartition("/")[0]
