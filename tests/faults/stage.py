"""Where operations are broken, point by point, and judged: one stage per worker process.

A verdict depends only on what lies on disk and on what was acknowledged, so equal states (a kill
before a read and before the next one) are judged once.
"""

from __future__ import annotations

import gc
import hashlib
import json
import os
import pickle
import re
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TypeVar

from tests.faults import accounts, defects, driver, kernel, memories, records, tracer, trees
from tests.faults.checker import Answer, Expected, Files, View
from tests.faults.driver import App, World

USABLE_SECONDS = 2.0  # I6, in processor time: a busy machine is no fault of the store
RECORDS = "records "  # before the name of an operation on records
Job = TypeVar("Job")


@dataclass
class Outcome:
    """One run of an operation that something happened to."""

    code: int
    acknowledged: Answer
    said: str
    fired: bool = True
    hung: bool = False


@dataclass
class Tally:
    """What a harness counts; `examples` are the violations, as sentences with their point."""

    points: int = 0
    fired: int = 0
    violations: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, where: str, problems: Iterable[str], fired: bool = True) -> None:
        found = list(dict.fromkeys(problems))
        self.count(1, fired)
        self.violations += bool(found)
        if found:
            self.examples.append(f"{where}: {'; '.join(found)}")

    def count(self, points: int, fired: bool = True) -> None:
        """Points at which nothing was wrong, or at which nobody looked for it again."""
        self.points += points
        self.fired += points * fired

    def merge(self, other: Tally) -> None:
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)


class Stage(ExitStack):
    """A root of its own; `defect` breaks the operations, never the checks or the recovery."""

    def __init__(self, world: World = memories.WORLD, defect: str = "") -> None:
        super().__init__()
        driver.forget_how_old_files_are()
        self.folder = self.enter_context(trees.work_folder())
        self.root = os.path.join(self.folder, "root")
        self.world = world
        self.defect = defect
        self.seeds: dict[str, trees.Tree] = {}
        self.expected: dict[str, Expected] = {}
        self.memories: Files = {}  # those it held when it was judged last
        self.verdicts: dict[tuple[str, Answer, bytes], tuple[list[str], Files]] = {}

    def learn(self, operation: str) -> Expected:
        """The store before and after the operation, when nothing happens to it."""
        if operation not in self.expected:
            self.world.prepare(self.root, operation)
            self.seeds[operation] = trees.read_tree(self.root)
            before = self.world.view.look(self.root)
            code, said = driver.perform(self.world, self.root, operation, lambda paths: None)
            if code or said:
                raise RuntimeError(f"{operation} fails undisturbed: {said}")
            after = self.world.view.look(self.root)
            self.expected[operation] = Expected(operation, before, after)
        return self.expected[operation]

    def lay(self, operation: str) -> None:
        """The seed of an operation, fresh."""
        self.learn(operation)
        trees.write_tree(self.seeds[operation], self.root)
        for ending in ("ack", "said"):
            if os.path.exists(f"{self.root}.{ending}"):
                os.unlink(f"{self.root}.{ending}")

    def run(self, operation: str) -> int:
        """In a forked child: the operation, broken as this stage says."""
        defects.switch_off(self.defect)
        return driver.run_once(self.world, self.root, operation)

    def calls(self, operation: str) -> list[tracer.Call]:
        """Every system call of the operation, in order."""
        self.lay(operation)
        return tracer.trace(lambda: self.run(operation)).calls

    def strike(self, operation: str, blow: tracer.Strike) -> Outcome:
        """Run the operation and kill it, or fail a call of it."""
        self.lay(operation)
        traced = tracer.strike(lambda: self.run(operation), blow)
        return Outcome(traced.code, *self.heard(), traced.fired, traced.hung)

    def heard(self) -> tuple[Answer, str]:
        """What was acknowledged (None: nothing was), and what was said."""
        texts = []
        for ending in ("ack", "said"):
            path = f"{self.root}.{ending}"
            texts.append(trees.read(path).decode() if os.path.exists(path) else "")
        words = texts[0].split()
        return tuple(words[1:]) if words[:1] == [driver.ACK] else None, texts[1]

    def verdict(self, operation: str, acknowledged: Answer) -> list[str]:
        """All that is wrong with the root as it lies there, now and after the next write."""
        tree = trees.read_tree(self.root)
        key = operation, acknowledged, fingerprint(tree)
        if key not in self.verdicts:
            view = self.world.view.look(self.root)
            self.verdicts[key] = self._judge(operation, acknowledged, view, tree), view.memories
        found, self.memories = self.verdicts[key]
        return found

    def _judge(
        self, operation: str, acknowledged: Answer, view: View, tree: trees.Tree
    ) -> list[str]:
        expected = self.expected[operation]
        found = view.judge(expected, acknowledged)
        found += accounts.judge(self.root, operation, acknowledged is not None)
        found += self.recover(expected)
        if acknowledged is None and operation in self.world.again:
            trees.write_tree(tree, self.root)
            found += self._run_again(expected)
        return found

    def recover(self, expected: Expected, new: Sequence[str] = ()) -> list[str]:
        """The next write, as a person would make it; then once more, which must change nothing."""
        world, start = self.world, time.process_time()
        if error := self.attempt(world.later):
            return [f"the next write is refused: {error!r}"]
        late = time.process_time() - start > USABLE_SECONDS
        found = ["the next write took too long"] * late
        recovered = world.view.look(self.root)
        found += recovered.judge_recovered(expected, [world.new, *new])
        found += self._rebuild()
        found += recovered.difference(world.view.look(self.root))
        if world.view.index_is_derived:  # then, made out of nothing, it is what it was
            os.unlink(os.path.join(self.root, world.view.store, world.view.index_file))
            found += self._rebuild()
            same = world.view.look(self.root).index == recovered.index
            found += [] if same else ["index: rebuilt to other bytes"]
        return found

    def _rebuild(self) -> list[str]:
        error = self.attempt(self.world.rebuild)
        return [f"the second recovery is refused: {error!r}"] if error else []

    def judge_next(
        self, expected: Expected, told: Mapping[str, bytes | None], new: str
    ) -> list[str]:
        """All that is wrong after a power cut during the next write, which brings `new`."""
        view = self.world.view.look(self.root)
        found = view.judge_next(expected, [new])
        found += [
            f"{path}: acknowledged, but not so on disk"
            for path, data in told.items()
            if view.files.get(path) != data
        ]
        return found + self.recover(expected, [new])

    def _run_again(self, expected: Expected) -> list[str]:
        """The same command once more: it completes, or says that it is done already."""
        operation = expected.operation
        if error := self.attempt(self.world.operations[operation], operation):
            fine = self.world.is_right(error)
            return [] if fine else [f"run again, it is refused: {error!r}"]
        view = self.world.view.look(self.root)
        done = view.memories == expected.after.memories
        left = [] if done else ["it says done, but is not"]
        left += view.in_step() + accounts.judge_done(self.root, operation)
        return [f"run again: {problem}" for problem in left]

    def attempt(self, act: Callable[[App], object], operation: str = "") -> Exception | None:
        """What something that must work raised; None when it worked."""
        app = self.world.open(self.root, operation)
        try:
            with kernel.time_limit(tracer.HANG_SECONDS):
                act(app)
        except Exception as error:
            return error
        return None


def fingerprint(tree: trees.Tree) -> bytes:
    """The same for trees that nobody could tell apart: chance names and stat facts left out."""
    rows = [
        (
            re.sub(r"\.memdir-\d+-[0-9a-f]+\.tmp", "TEMPORARY", path),
            mode,
            _without_facts(path, data),
        )
        for path, (mode, data) in tree.files.items()
    ]
    return hashlib.sha256(repr((sorted(tree.folders.items()), sorted(rows))).encode()).digest()


def _without_facts(path: str, data: bytes) -> bytes:
    """known.json by its head and blobs: the rest are times and inode numbers of this run."""
    if os.path.basename(path) == "lock":
        return b""
    if os.path.basename(path) not in ("known.json", ".memdir-known.tmp"):
        return data
    try:
        table = json.loads(data.partition(b"\n")[0])
        rows = sorted((path, row[0], len(row)) for path, row in table["files"].items())
        return repr((table["head"], rows)).encode()
    except (ValueError, KeyError, TypeError, IndexError):
        return data


# -- several workers ---------------------------------------------------------------------------


def run_jobs(
    act: Callable[[Stage, Job, Tally], None],
    jobs: Sequence[Job],
    defect: str = "",
    world: World = memories.WORLD,
    begin: Callable[[], None] = lambda: None,
) -> Tally:
    """Share the jobs among workers, each with a stage; a control is found once it is found."""

    def share(mine: Sequence[Job]) -> Tally:
        begin()
        tally = Tally()
        with Stage(world, defect) as here:
            for job in mine:
                act(here, job, tally)
                if defect and tally.violations:
                    break
        return tally

    return parallel(share, jobs)


def run_in_worlds(
    act: Callable[[Stage, Job, Tally], None],
    operations: Sequence[str],
    jobs_of: Callable[[str], Iterable[Job]],
    defect: str = "",
    world: World = memories.WORLD,
    begin: Callable[[], None] = lambda: None,
) -> Tally:
    """The jobs of operations on memories, and on records."""
    mine = [name for name in operations if not name.startswith(RECORDS)]
    theirs = [name.removeprefix(RECORDS) for name in operations if name not in mine]
    total = Tally()
    for here, names in ((world, mine), (records.WORLD, theirs)):
        jobs = [job for name in names for job in jobs_of(name)]
        total.merge(run_jobs(act, jobs, defect, here, begin) if jobs else Tally())
    return total


def workers() -> int:
    return max(1, min(8, len(kernel.processors())))


def parallel(work: Callable[[Sequence[Job]], Tally], jobs: Sequence[Job], count: int = 0) -> Tally:
    """Give each of some forked workers, pinned to a processor of its own, a share of the jobs.

    Pinned, because a tracer and its child that sit on two processors wait for each other.
    """
    count = min(count or workers(), max(1, len(jobs)))
    with trees.work_folder() as folder:

        def share(number: int) -> int:
            try:
                kernel.pin(number % len(kernel.processors()))
                gc.freeze()  # else every forked child copies all that the collector touches
                result = pickle.dumps(work(jobs[number::count]))
            except BaseException:
                sys.excepthook(*sys.exc_info())
                sys.stderr.flush()
                return 1
            trees.write(f"{folder}/{number}", result)
            return 0

        children = [kernel.start(lambda number=number: share(number)) for number in range(count)]
        codes = [kernel.wait(pid) for pid in children]
        if any(codes):
            raise RuntimeError(f"a worker failed: {codes}")
        total, *rest = (pickle.loads(trees.read(f"{folder}/{number}")) for number in range(count))
    for tally in rest:
        total.merge(tally)
    return total


def apart(find: Callable[[], Tally]) -> Tally:
    """In a process of its own, since it may break the modules it has loaded."""
    return parallel(lambda share: find(), [0], 1)
