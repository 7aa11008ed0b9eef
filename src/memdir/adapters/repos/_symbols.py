"""Which files have which identifiers: kept per commit, and only changed files are read again."""

from __future__ import annotations

import json
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from operator import itemgetter

from memdir.adapters.repos._bounds import PLACES, Bounds
from memdir.adapters.repos._cache import DAMAGED, Parts, pack_json, unpack_numbers
from memdir.adapters.repos._log import is_commit
from memdir.adapters.repos._process import Git
from memdir.adapters.repos._tree import Tree, decode
from memdir.adapters.repos._words import INDEX, Memories, Scanner, is_prose
from memdir.core.claim import Uses

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


def bring_up(
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
