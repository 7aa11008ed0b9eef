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
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from memdir.errors import Conflict, Missing
from tests.faults import accounts, checker, defects, driver, kernel, seeds, tracer
from tests.faults.checker import Answer, Expected

USABLE_SECONDS = 2.0  # I6, in processor time: a busy machine is no fault of the store
HANG_SECONDS = 10.0
NEXT = "afterwards"  # the memory that the next write brings
# Operations that a person would simply run again when they were cut off.
AGAIN = frozenset(driver.OPERATIONS) - {"commit", "recovery"}
Job, Result = TypeVar("Job"), TypeVar("Result")


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
    states: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, where: str, fired: bool, problems: Iterable[str]) -> None:
        found = list(dict.fromkeys(problems))
        self.points += 1
        self.fired += fired
        self.violations += bool(found)
        if found:
            self.examples.append(f"{where}: {'; '.join(found)}")

    def merge(self, other: Tally) -> None:
        self.points += other.points
        self.fired += other.fired
        self.violations += other.violations
        self.states += other.states
        self.examples += other.examples


class Stage:
    """A root of its own; `defect` breaks the operations, never the checks or the recovery."""

    # What a stage for another layout puts in their place.
    driver: Any = driver
    checker: Any = checker
    prepare = staticmethod(seeds.prepare)
    next = f"{NEXT}.md"  # what the next write brings

    def __init__(self, defect: str = "") -> None:
        driver.forget_how_old_files_are()
        self.folder = seeds.work_folder()
        self.root = os.path.join(self.folder, "root")
        self.defect = defect
        self.again = AGAIN
        self.seeds: dict[str, seeds.Tree] = {}
        self.expected: dict[str, Expected] = {}
        self.lying: seeds.Tree | None = None  # what the root holds, where that is known
        self.found = seeds.Tree()  # what it held when it was judged last
        self.verdicts: dict[tuple[str, Answer, bytes], list[str]] = {}

    def close(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def learn(self, operation: str) -> Expected:
        """The store before and after the operation, when nothing happens to it."""
        if operation not in self.expected:
            self.lying = None
            self.prepare(self.root, operation)
            self.seeds[operation] = seeds.read_tree(self.root)
            before = self.checker.look(self.root)
            said: list[str] = []
            code = driver.perform(self.root, operation, said, lambda paths: None, self.driver.WORLD)
            if code or said:
                raise RuntimeError(f"{operation} fails undisturbed: {said}")
            self.expected[operation] = Expected(operation, before, self.checker.look(self.root))
        return self.expected[operation]

    def lay(self, operation: str) -> None:
        """The seed of an operation, fresh."""
        self.learn(operation)
        if self.lying is None:
            seeds.write_tree(self.seeds[operation], self.root)
        else:
            seeds.turn(self.lying, self.seeds[operation], self.root)
        self.lying = None
        for ending in ("ack", "said"):
            if os.path.exists(f"{self.root}.{ending}"):
                os.unlink(f"{self.root}.{ending}")

    def run(self, operation: str) -> int:
        """In a forked child: the operation, broken as this stage says."""
        defects.switch_off(self.defect)
        return driver.run_once(self.root, operation, self.driver.WORLD)

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
        """The memories that were acknowledged (None: nothing was), and what was said."""
        texts = []
        for ending in ("ack", "said"):
            path = f"{self.root}.{ending}"
            texts.append(_read(path).decode() if os.path.exists(path) else "")
        words = texts[0].split()
        return tuple(words[1:]) if words[:1] == [driver.ACK] else None, texts[1]

    def verdict(self, operation: str, acknowledged: Answer) -> list[str]:
        """All that is wrong with the root as it lies there, now and after the next write."""
        tree = self.lying = self.found = seeds.read_tree(self.root)
        key = operation, acknowledged, fingerprint(tree)
        if key not in self.verdicts:
            self.lying = None
            self.verdicts[key] = self._judge(operation, acknowledged, tree)
        return self.verdicts[key]

    def _judge(self, operation: str, acknowledged: Answer, tree: seeds.Tree) -> list[str]:
        expected = self.learned(operation)
        found = self.checker.judge(self.checker.look(self.root), expected, acknowledged)
        found += accounts.judge(self.root, operation, acknowledged is not None)
        found += self.recover(expected)
        if acknowledged is None and operation in self.again:
            seeds.write_tree(tree, self.root)
            found += self._run_again(expected)
        return found

    def learned(self, operation: str) -> Expected:
        return self.expected[operation]

    def recover(self, expected: Expected, new: Sequence[str] = ()) -> list[str]:
        """The next write, as a person would make it; then once more, which must change nothing."""
        start = time.process_time()
        if error := self.attempt(lambda app: self.driver.later(app, NEXT)):
            return [f"the next write is refused: {error!r}"]
        late = time.process_time() - start > USABLE_SECONDS
        found = ["the next write took too long"] if late else []
        once = self.checker.look(self.root)
        found += self.checker.judge_recovered(once, expected, [self.next, *new])
        if error := self.attempt(self.driver.rebuild):
            found.append(f"the second recovery is refused: {error!r}")
        return found + checker.difference(once, self.checker.look(self.root))

    def is_right(self, error: Exception) -> bool:
        """Is this what a person should hear who gives a command again that was cut off?"""
        return isinstance(error, (Missing, Conflict)) or "stands there now" in str(error)

    def _run_again(self, expected: Expected) -> list[str]:
        """The same command once more: it completes, or says that it is done already."""
        operation = expected.operation
        error = self.attempt(self.driver.OPERATIONS[operation], operation)
        if error:
            return [] if self.is_right(error) else [f"run again, it is refused: {error!r}"]
        view = self.checker.look(self.root)
        if view.memories != expected.after.memories:
            return ["run again, it says done, but is not"]
        left = [*self.checker.in_step(view), *accounts.judge_done(self.root, operation)]
        return [f"run again: {problem}" for problem in left]

    def attempt(self, act: Callable[[driver.App], object], operation: str = "") -> Exception | None:
        """What something that must work raised; None when it worked."""
        app = self.driver.open_root(self.root, lambda text: None, operation)
        old = signal.signal(signal.SIGALRM, _took_too_long)
        signal.setitimer(signal.ITIMER_REAL, HANG_SECONDS)
        try:
            act(app)
        except Exception as error:
            return error
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, old)
        return None


def _took_too_long(number: int, frame: object) -> None:
    raise TimeoutError("it hangs")


def fingerprint(tree: seeds.Tree) -> bytes:
    """The same for trees that nobody could tell apart: chance names and stat facts left out."""
    digest = hashlib.sha256(repr(sorted(tree.folders.items())).encode())
    for path, (mode, data) in sorted(_settled(tree)):
        digest.update(f"{path} {mode} {len(data)}\n".encode())
        digest.update(data)
    return digest.digest()


def _settled(tree: seeds.Tree) -> list[tuple[str, tuple[int, bytes]]]:
    rows = []
    for path, (mode, data) in tree.files.items():
        name = os.path.basename(path)
        if name == "lock":
            data = b""
        elif name in ("known.json", ".memdir-known.tmp"):
            data = _without_facts(data)
        rows.append((re.sub(r"\.memdir-\d+-[0-9a-f]+\.tmp", "TEMPORARY", path), (mode, data)))
    return rows


def _without_facts(data: bytes) -> bytes:
    """known.json by its head and blobs: the rest are times and inode numbers of this run."""
    try:
        table = json.loads(data.partition(b"\n")[0])
        rows = sorted((path, row[0], len(row)) for path, row in table["files"].items())
        return repr((table["head"], rows)).encode()
    except (ValueError, KeyError, TypeError, IndexError):
        return data


# -- several workers ---------------------------------------------------------------------------


def workers() -> int:
    return max(1, min(8, len(kernel.processors())))


def parallel(work: Callable[[list[Job]], Result], jobs: list[Job], count: int = 0) -> list[Result]:
    """Give each of some forked workers, pinned to a processor of its own, a share of the jobs.

    Pinned, because a tracer and its child that sit on two processors wait for each other.
    """
    count = min(count or workers(), max(1, len(jobs)))
    folder = seeds.work_folder()
    children = []
    for number in range(count):
        pid = kernel.fork()
        if pid == 0:
            _be_worker(work, jobs[number::count], number, f"{folder}/{number}")
        children.append(pid)
    codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children]
    try:
        if any(codes):
            raise RuntimeError(f"a worker failed: {codes}")
        return [pickle.loads(_read(f"{folder}/{number}")) for number in range(count)]
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _be_worker(
    work: Callable[[list[Job]], Result], jobs: list[Job], number: int, path: str
) -> None:
    code = 1
    try:
        kernel.pin(number % len(kernel.processors()))
        gc.freeze()  # else every forked child copies all that the collector touches
        result = work(jobs)
        with open(path, "wb") as file:
            file.write(pickle.dumps(result))
        code = 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stderr.flush()
        os._exit(code)
