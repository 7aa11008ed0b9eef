"""A disk that keeps only what was forced onto it: all states a power cut may leave (after ALICE).

The calls of a traced run become steps: data of an inode, entries of a directory, fsync of either.
After a crash, each step that no later fsync has forced is there or not, data also by half.
Assumed is only what POSIX gives: a rename changes its entries in one step; fsync of a file forces
its data and size, fsync of a directory its entries so far.
"""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tests.faults.checker import DERIVED
from tests.faults.tracer import Call
from tests.faults.trees import Tree

ROOT = 0  # the inode of the root directory
HALF = "half"
ALL_COMBINATIONS = 256  # up to so many they are all tried, beyond it that many by chance
DATA, ENTRY, SYNC, ACK = "data", "entry", "sync", "ack"


@dataclass
class Step:
    """`inode` is the file or directory; `entries` are (directory, name, inode or None)."""

    kind: str
    inode: int = -1
    entries: tuple[tuple[int, str, int | None], ...] = ()
    offset: int = 0
    data: bytes | None = None  # None: cut to `offset` bytes
    derived: bool = False


@dataclass
class Inode:
    mode: int
    data: bytes = b""
    entries: dict[str, int] | None = None  # of a directory


@dataclass
class Model:
    """The tree as the calls have built it, and the steps that led there."""

    root: str
    inodes: list[Inode] = field(default_factory=list)
    before: int = 0  # inodes that were there from the start
    steps: list[Step] = field(default_factory=list)
    start: list[Inode] = field(default_factory=list)
    places: dict[int, int] = field(default_factory=dict)  # open handle -> offset of the next write

    @classmethod
    def of(cls, tree: Tree, root: str) -> Model:
        model = cls(root)
        model.inodes.append(Inode(0o700, entries={}))
        for path, mode in sorted(tree.folders.items()):
            if path != ".":
                model._enter(path, Inode(mode, entries={}))
        for path, (mode, data) in tree.files.items():
            model._enter(path, Inode(mode, data))
        model.start = [_copy(inode) for inode in model.inodes]
        return model

    def _enter(self, path: str, inode: Inode) -> None:
        parent, name = self._parent(path)
        self.inodes.append(inode)
        parent.entries[name] = len(self.inodes) - 1

    def _parent(self, path: str) -> tuple[Inode, str]:
        folder, _, name = path.rpartition("/")
        return self.inodes[self.find(folder)], name

    def find(self, path: str) -> int:
        """The inode at a path below the root; -1 where there is none."""
        here = ROOT
        for part in [part for part in path.split("/") if part]:
            entries = self.inodes[here].entries or {}
            if part not in entries:
                return -1
            here = entries[part]
        return here

    # -- calls become steps ----------------------------------------------------------------

    def follow(self, calls: Sequence[Call]) -> None:
        """Add the steps of a traced run."""
        for call in calls:
            if call.result < 0 or not call.paths:
                continue
            if call.name == "write" and call.paths[0] == f"{self.root}.ack":
                self.steps.append(Step(ACK))
            elif all(path.startswith(f"{self.root}/") for path in call.paths):
                self._step(call, [path[len(self.root) + 1 :] for path in call.paths])

    def _step(self, call: Call, paths: list[str]) -> None:
        name = call.name
        if name == "openat":
            self._open(call, paths[0])
        elif name in ("write", "pwrite64"):
            self._write(call, paths[0])
        elif name == "ftruncate":
            self._cut(self.find(paths[0]), call.args[1])
        elif name in ("fsync", "fdatasync"):
            self._add(Step(SYNC, self.find(paths[0])))
        elif name in ("mkdir", "mkdirat"):
            self._make(paths[0], Inode(0o700, entries={}))
        elif name in ("unlink", "unlinkat", "rmdir"):
            self._remove(paths[0])
        elif name in ("rename", "renameat", "renameat2"):
            self._rename(*paths)
        elif name == "fchmod":
            self.inodes[self.find(paths[0])].mode = call.args[1] & 0o777

    def _open(self, call: Call, path: str) -> None:
        self.places[call.result] = 0
        inode = self.find(path)
        flags = call.args[2]
        if inode < 0 and flags & os.O_CREAT:
            self._make(path, Inode(call.args[3] & ~0o022))
        elif flags & os.O_TRUNC:
            self._cut(inode, 0)
        elif flags & os.O_APPEND:
            self.places[call.result] = len(self.inodes[inode].data)

    def _write(self, call: Call, path: str) -> None:
        inode, handle = self.find(path), call.args[0]
        at = call.args[3] if call.name == "pwrite64" else self.places.get(handle, 0)
        data = call.data[: call.result]
        if call.name == "write":
            self.places[handle] = at + len(data)
        self._add(Step(DATA, inode, offset=at, data=data, derived=_is_derived(path)))

    def _cut(self, inode: int, size: int) -> None:
        self._add(Step(DATA, inode, offset=size, derived=self._named_derived(inode)))

    def _make(self, path: str, inode: Inode) -> None:
        self.inodes.append(inode)
        # Reached by no entry yet, an inode starts empty on disk as well.
        self.start.append(Inode(inode.mode, b"", {} if inode.entries is not None else None))
        folder, _, name = path.rpartition("/")
        entry = (self.find(folder), name, len(self.inodes) - 1)
        self._add(Step(ENTRY, entries=(entry,), derived=_is_derived(path)))

    def _remove(self, path: str) -> None:
        folder, _, name = path.rpartition("/")
        entry = (self.find(folder), name, None)
        self._add(Step(ENTRY, entries=(entry,), derived=_is_derived(path)))

    def _rename(self, old: str, new: str) -> None:
        (a, _, b), (c, _, d) = old.rpartition("/"), new.rpartition("/")
        entries = ((self.find(a), b, None), (self.find(c), d, self.find(old)))
        self._add(Step(ENTRY, entries=entries, derived=_is_derived(new)))

    def _add(self, step: Step) -> None:
        self.steps.append(step)
        _apply(self.inodes, step, True)

    def _named_derived(self, inode: int) -> bool:
        named = [
            name
            for one in self.inodes
            for name, target in (one.entries or {}).items()
            if target == inode
        ]
        return any(name in DERIVED for name in named)

    # -- what a power cut may leave ----------------------------------------------------------

    def crashes(self, length: int, chance: random.Random) -> Iterator[Tree]:
        """Every state after the first `length` steps; derived files are there, absent or torn."""
        steps = self.steps[:length]
        forced = _forced(steps)
        free = [at for at in range(length) if steps[at].kind in (DATA, ENTRY) and not forced[at]]
        ours = [at for at in free if not steps[at].derived]
        theirs = [at for at in free if steps[at].derived]
        choices = [_choices(steps[at]) for at in ours]
        for chosen in _combinations(choices, chance):
            for extra in (True, False, HALF) if theirs else (True,):
                there: list[bool | str] = [True] * length
                for at, value in zip(ours, chosen, strict=True):
                    there[at] = value
                for at in theirs:
                    there[at] = extra
                yield self._state(steps, there)

    def _state(self, steps: Sequence[Step], there: Sequence[bool | str]) -> Tree:
        inodes = [_copy(inode) for inode in self.start]
        for step, value in zip(steps, there, strict=True):
            _apply(inodes, step, value)
        tree = Tree(folders={".": 0o700})
        _collect(inodes, ROOT, "", tree)
        return tree


def _is_derived(path: str) -> bool:
    return os.path.basename(path) in DERIVED


def _copy(inode: Inode) -> Inode:
    entries = None if inode.entries is None else dict(inode.entries)
    return Inode(inode.mode, inode.data, entries)


def _choices(step: Step) -> tuple[bool | str, ...]:
    whole = step.kind == ENTRY or step.data is None or len(step.data) < 2
    return (True, False) if whole else (True, False, HALF)


def _combinations(
    choices: Sequence[tuple[bool | str, ...]], chance: random.Random
) -> Iterator[tuple[bool | str, ...]]:
    size = 1
    for options in choices:
        size *= len(options)
    if size <= ALL_COMBINATIONS:
        yield from itertools.product(*choices)
        return
    for at in range(len(choices)):  # each step alone missing, each alone there
        yield tuple(index != at for index in range(len(choices)))
        yield tuple(index == at for index in range(len(choices)))
    for _ in range(ALL_COMBINATIONS):
        yield tuple(chance.choice(options) for options in choices)


def _forced(steps: Sequence[Step]) -> list[bool]:
    """Which steps an fsync among them has put on disk."""
    forced = [False] * len(steps)
    for at, sync in enumerate(steps):
        if sync.kind != SYNC:
            continue
        for earlier in range(at):
            step = steps[earlier]
            same = step.kind == DATA and step.inode == sync.inode
            if same or any(entry[0] == sync.inode for entry in step.entries):
                forced[earlier] = True
    return forced


def _apply(inodes: list[Inode], step: Step, value: bool | str) -> None:
    if not value:
        return
    if step.kind == ENTRY:
        for folder, name, target in step.entries:
            entries = inodes[folder].entries
            if entries is not None and target is None:
                entries.pop(name, None)
            elif entries is not None and target is not None:
                entries[name] = target
    elif step.kind == DATA:
        inode = inodes[step.inode]
        if step.data is None:
            inode.data = inode.data[: step.offset].ljust(step.offset, b"\0")
            return
        data = step.data[: len(step.data) // 2] if value == HALF else step.data
        old = inode.data.ljust(step.offset, b"\0")
        inode.data = old[: step.offset] + data + old[step.offset + len(data) :]


def _collect(inodes: list[Inode], at: int, prefix: str, tree: Tree) -> None:
    for name, target in (inodes[at].entries or {}).items():
        inode, path = inodes[target], prefix + name
        if inode.entries is None:
            tree.files[path] = inode.mode, inode.data
        else:
            tree.folders[path] = inode.mode
            _collect(inodes, target, path + "/", tree)
