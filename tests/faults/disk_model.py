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
    path: str = ""

    @property
    def derived(self) -> bool:
        return os.path.basename(self.path) in DERIVED


@dataclass
class Inode:
    mode: int
    data: bytes = b""
    entries: dict[str, int] | None = None  # of a directory


@dataclass
class Model:
    """The tree as the calls have built it, and the steps that led there."""

    root: str
    inodes: list[Inode] = field(default_factory=lambda: [Inode(0o700, entries={})])
    steps: list[Step] = field(default_factory=list)
    start: list[Inode] = field(default_factory=list)  # as the inodes were
    places: dict[int, int] = field(default_factory=dict)  # open handle -> offset of the next write

    @classmethod
    def of(cls, tree: Tree, root: str) -> Model:
        model = cls(root)
        for path, mode in sorted(tree.folders.items()):
            if path != ".":
                model._make(path, Inode(mode, entries={}))
        for path, (mode, data) in tree.files.items():
            model._make(path, Inode(mode, data))
        model.steps.clear()
        model.start = [_copy(inode) for inode in model.inodes]
        return model

    def find(self, path: str) -> int:
        """The inode at a path below the root; -1 where there is none."""
        here = ROOT
        for part in path.split("/") if path else ():
            here = (self.inodes[here].entries or {}).get(part, -1)
            if here < 0:
                break
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
                self._step(call, *[path[len(self.root) + 1 :] for path in call.paths])

    def _step(self, call: Call, path: str, new: str = "") -> None:
        match call.name:
            case "openat":
                self._open(call, path)
            case "write":
                offset = self.places.get(call.args[0], 0)
                self.places[call.args[0]] = offset + call.result
                self._put(path, offset, call.data[: call.result])
            case "pwrite64":
                self._put(path, call.args[3], call.data[: call.result])
            case "ftruncate":
                self._put(path, call.args[1], None)
            case "fsync" | "fdatasync":
                self._add(Step(SYNC, self.find(path)))
            case "mkdir" | "mkdirat":
                self._make(path, Inode(0o700, entries={}))
            case "unlink" | "unlinkat" | "rmdir":
                self._add(Step(ENTRY, entries=(self._entry(path, None),), path=path))
            case "rename" | "renameat" | "renameat2":
                entries = (self._entry(path, None), self._entry(new, self.find(path)))
                self._add(Step(ENTRY, entries=entries, path=new))
            case "fchmod":
                self.inodes[self.find(path)].mode = call.args[1] & 0o777

    def _open(self, call: Call, path: str) -> None:
        self.places[call.result] = 0
        inode = self.find(path)
        flags = call.args[2]
        if inode < 0 and flags & os.O_CREAT:
            self._make(path, Inode(call.args[3] & ~0o022))
        elif flags & os.O_TRUNC:
            self._put(path, 0, None)
        elif flags & os.O_APPEND:
            self.places[call.result] = len(self.inodes[inode].data)

    def _put(self, path: str, offset: int, data: bytes | None) -> None:
        self._add(Step(DATA, self.find(path), offset=offset, data=data, path=path))

    def _make(self, path: str, inode: Inode) -> None:
        self.inodes.append(inode)
        # Reached by no entry yet, an inode starts empty on disk as well.
        self.start.append(Inode(inode.mode, b"", {} if inode.entries is not None else None))
        entry = self._entry(path, len(self.inodes) - 1)
        self._add(Step(ENTRY, entries=(entry,), path=path))

    def _entry(self, path: str, inode: int | None) -> tuple[int, str, int | None]:
        folder, _, name = path.rpartition("/")
        return self.find(folder), name, inode

    def _add(self, step: Step) -> None:
        self.steps.append(step)
        _apply(self.inodes, step, True)

    # -- what a power cut may leave ----------------------------------------------------------

    def crashes(self, length: int, chance: random.Random) -> Iterator[Tree]:
        """Every state after the first `length` steps; derived files are there, absent or torn."""
        steps = self.steps[:length]
        every = _free(steps)
        free = [at for at in every if not steps[at].derived]
        derived = [at for at in every if steps[at].derived]
        for chosen in _combinations([_choices(steps[at]) for at in free], chance):
            for extra in (True, False, HALF) if derived else (True,):
                there = dict(zip(free, chosen, strict=True)) | dict.fromkeys(derived, extra)
                yield self._state(steps, there)

    def _state(self, steps: Sequence[Step], there: dict[int, bool | str]) -> Tree:
        inodes = [_copy(inode) for inode in self.start]
        for at, step in enumerate(steps):
            _apply(inodes, step, there.get(at, True))
        tree = Tree(folders={".": 0o700})
        _collect(inodes, ROOT, "", tree)
        return tree


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


def _free(steps: Sequence[Step]) -> list[int]:
    """The steps that no fsync among them has put on disk."""
    found = []
    for at, step in enumerate(steps):
        touched = {step.inode} if step.kind == DATA else {entry[0] for entry in step.entries}
        later = {sync.inode for sync in steps[at + 1 :] if sync.kind == SYNC}
        if step.kind in (DATA, ENTRY) and not touched & later:
            found.append(at)
    return found


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
