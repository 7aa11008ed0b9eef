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
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field

from tests.faults.checker import DERIVED
from tests.faults.tracer import Call
from tests.faults.trees import Tree

ROOT = 0  # the inode of the root directory
HALF = "half"
ALL_COMBINATIONS = 256  # up to so many they are all tried, beyond it that many by chance
DATA, ENTRY, SYNC, ACK = "data", "entry", "sync", "ack"


@dataclass
class Inode:
    mode: int
    data: bytes = b""
    entries: dict[str, int] | None = None  # of a directory


@dataclass
class Step:
    """What is done to `inodes`, or that they are forced; a write `has_halves`."""

    kind: str
    inodes: tuple[int, ...] = ()
    path: str = ""
    apply: Callable[[list[Inode], bool], None] | None = None
    has_halves: bool = False

    @property
    def derived(self) -> bool:
        return os.path.basename(self.path) in DERIVED


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
        model.start = deepcopy(model.inodes)
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
                self.steps.append(Step(SYNC, (self.find(path),)))
            case "mkdir" | "mkdirat":
                self._make(path, Inode(0o700, entries={}))
            case "unlink" | "unlinkat" | "rmdir":
                self._enter(path, {path: None})
            case "rename" | "renameat" | "renameat2":
                self._enter(new, {path: None, new: self.find(path)})
            case "fchmod":
                self.inodes[self.find(path)].mode = call.args[1] & 0o777

    def _open(self, call: Call, path: str) -> None:
        self.places[call.result] = 0
        inode, flags = self.find(path), call.args[2]
        if inode < 0 and flags & os.O_CREAT:
            self._make(path, Inode(call.args[3] & ~0o022))
        elif flags & os.O_TRUNC:
            self._put(path, 0, None)
        elif flags & os.O_APPEND:
            self.places[call.result] = len(self.inodes[inode].data)

    def _put(self, path: str, offset: int, data: bytes | None) -> None:
        """Write there, or (without data) cut the file off there."""
        number = self.find(path)

        def apply(inodes: list[Inode], half: bool) -> None:
            old = inodes[number].data.ljust(offset, b"\0")
            if data is None:
                inodes[number].data = old[:offset]
                return
            new = data[: len(data) // 2] if half else data
            inodes[number].data = old[:offset] + new + old[offset + len(new) :]

        self._add(Step(DATA, (number,), path, apply, data is not None and len(data) > 1))

    def _make(self, path: str, inode: Inode) -> None:
        self.inodes.append(inode)
        # Reached by no entry yet, an inode starts empty on disk as well.
        self.start.append(Inode(inode.mode, b"", {} if inode.entries is not None else None))
        self._enter(path, {path: len(self.inodes) - 1})

    def _enter(self, path: str, targets: dict[str, int | None]) -> None:
        """Entries of directories, set or (None) taken away, in one step."""
        parts = [(place.rpartition("/"), target) for place, target in targets.items()]
        entries = [(self.find(folder), name, target) for (folder, _, name), target in parts]

        def apply(inodes: list[Inode], half: bool) -> None:
            for folder, name, target in entries:
                there = inodes[folder].entries
                if there is not None and target is None:
                    there.pop(name, None)
                elif there is not None and target is not None:
                    there[name] = target

        self._add(Step(ENTRY, tuple(folder for folder, _, _ in entries), path, apply))

    def _add(self, step: Step) -> None:
        self.steps.append(step)
        if step.apply:
            step.apply(self.inodes, False)

    # -- what a power cut may leave ----------------------------------------------------------

    def crashes(self, length: int, chance: random.Random) -> Iterator[Tree]:
        """Every state after the first `length` steps; derived files are there, absent or torn."""
        steps = self.steps[:length]
        every = _free(steps)
        free = [at for at in every if not steps[at].derived]
        derived = [at for at in every if steps[at].derived]
        choices = [(True, False, HALF) if steps[at].has_halves else (True, False) for at in free]
        for chosen in _combinations(choices, chance):
            for extra in (True, False, HALF) if derived else (True,):
                there = dict(zip(free, chosen, strict=True)) | dict.fromkeys(derived, extra)
                yield self._state(steps, there)

    def _state(self, steps: Sequence[Step], there: dict[int, bool | str]) -> Tree:
        inodes = [
            Inode(inode.mode, inode.data, None if inode.entries is None else dict(inode.entries))
            for inode in self.start
        ]
        for at, step in enumerate(steps):
            if step.apply and there.get(at, True):
                step.apply(inodes, there.get(at) == HALF)
        tree = Tree(folders={".": 0o700})
        _collect(inodes, ROOT, "", tree)
        return tree


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
    found, forced = [], set[int]()
    for at in range(len(steps) - 1, -1, -1):
        if steps[at].kind == SYNC:
            forced.update(steps[at].inodes)
        elif steps[at].apply and not forced.intersection(steps[at].inodes):
            found.append(at)
    return found[::-1]


def _collect(inodes: list[Inode], at: int, prefix: str, tree: Tree) -> None:
    for name, target in (inodes[at].entries or {}).items():
        inode, path = inodes[target], prefix + name
        if inode.entries is None:
            tree.files[path] = inode.mode, inode.data
        else:
            tree.folders[path] = inode.mode
            _collect(inodes, target, path + "/", tree)
