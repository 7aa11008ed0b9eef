"""Processes that write and read the same few files at once, while one rebuilds the index.

Every operation is made as a command would make it. What each answered is recorded outside the
store: the history of each file must be one that a single writer could have made, no acknowledged
text may be missing from the versions that are kept, no read may see half, and the index must list
the directory at the end. `MemoryWriter` is for memories, records_race.py for records.
"""

from __future__ import annotations

import os
import pickle
import random
import re
import shutil
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar

from memdir.errors import Conflict, Missing
from tests.faults import checker, defects, driver, kernel, linear, seeds
from tests.faults.linear import Op
from tests.faults.stage import Tally

P99_MS, MAX_MS = 250.0, 2000.0
CONTROLS = ("no lock", "no version check", "written in place")
HEAD = re.compile(rb"---\nname: (\w+)\n(?:.+\n)+---\n\n(?:.+\n)+")
MARK = re.compile(rb"w\d+\.\d+")


@dataclass
class Log:
    """What one process did and saw."""

    ops: list[tuple[str, Op]] = field(default_factory=list)
    marks: list[bytes] = field(default_factory=list)
    torn: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)

    def attempt(self, act: Callable[[], None]) -> None:
        try:
            act()
        except Exception as error:
            self.failed.append(f"{type(error).__name__}: {error}")


@dataclass
class Race:
    """The figures of a race."""

    tally: Tally
    operations: int = 0
    acknowledged: int = 0
    conflicts: int = 0
    lost: int = 0
    p99_ms: float = 0.0
    max_ms: float = 0.0

    def line(self) -> str:
        return (
            f"{self.operations} operations, {self.acknowledged} writes acknowledged, "
            f"{self.conflicts} conflicts, {self.lost} lost; "
            f"lock wait p99 {self.p99_ms:.0f} ms, max {self.max_ms:.0f} ms"
        )


def run(make: type[Writer], processes: int, each: int, defect: str = "") -> Race:
    """`processes` writers with `each` operations, and one more that rebuilds the index."""
    folder = seeds.work_folder()
    root = os.path.join(folder, "root")
    make.prepare(root)
    works: list[Callable[[], Log]] = [
        lambda number=number: _write(make(root, number), each, defect)
        for number in range(processes)
    ]
    works.append(lambda: _rebuild(make(root, processes), defect, f"{root}.over"))
    try:
        return _judge(root, make, together(root, works, processes))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def together(root: str, works: list[Callable[[], Log]], writers: int) -> list[Log]:
    """Run each in a process of its own; the last ones are told when the writers are done."""
    children = []
    for number, work in enumerate(works):
        pid = kernel.fork()
        if pid == 0:
            _be(work, f"{root}.log{number}")
        children.append(pid)
    for pid in children[:writers]:
        os.waitpid(pid, 0)
    with open(f"{root}.over", "w", encoding="ascii"):
        pass
    for pid in children[writers:]:
        os.waitpid(pid, 0)
    logs = []
    for number in range(len(works)):
        with open(f"{root}.log{number}", "rb") as file:
            logs.append(pickle.loads(file.read()))
    return logs


def _be(work: Callable[[], Log], path: str) -> None:
    try:
        log = work()
    except BaseException as error:
        log = Log(failed=[f"{type(error).__name__}: {error}"])
    with open(path, "wb") as file:
        pickle.dump(log, file)
    os._exit(0)


# -- the processes ---------------------------------------------------------------------------


class Writer:
    """One process: what a kind of store has to say of it stands in its subclasses."""

    names: ClassVar[tuple[str, ...]]
    index: ClassVar[str]
    attempt: ClassVar[linear.Attempt]  # what an operation can answer and do
    look: ClassVar[Callable[[str], checker.View]]
    in_step: ClassVar[Callable[[Any], list[str]]]

    def __init__(self, root: str, number: int) -> None:
        self.root = root
        self.number = number
        self.log = Log()
        self.chance = random.Random(number)

    @staticmethod
    def prepare(root: str) -> None:
        seeds.make_root(root)

    def app(self, ahead: float = 0.0) -> driver.App:
        """As fresh as a command's, with the real clock."""
        raise NotImplementedError

    def step(self, turn: int) -> None:
        raise NotImplementedError

    def rebuild(self) -> None:
        raise NotImplementedError

    def find_torn(self, path: str, data: bytes) -> list[str]:
        """Why a file, or the index, cannot have been written by one writer at a time."""
        raise NotImplementedError

    def read(self, path: str) -> bytes | None:
        start = time.monotonic_ns()
        data = self._look_at(path)
        self.note(path, start, "read", (), driver.hash_of(data) if data is not None else None)
        self._look_at(self.index)
        return data

    def _look_at(self, path: str) -> bytes | None:
        try:
            data = self.app().store.read(path)
        except Missing:
            return None
        self.log.torn += self.find_torn(path, data)
        return data

    def note(
        self, path: str, start: int, kind: str, given: tuple[str | None, ...], result: Any
    ) -> None:
        self.log.ops.append((path, Op(start, time.monotonic_ns(), kind, given, result)))


class MemoryWriter(Writer):
    """Saves, looks and retires."""

    names = ("one.md", "two.md", "three.md")
    index = checker.INDEX
    attempt = staticmethod(linear.try_register)
    look = staticmethod(checker.look)
    in_step = staticmethod(checker.in_step)

    def app(self, ahead: float = 0.0) -> driver.App:
        now = time.time() + ahead
        return driver.open_root(self.root, lambda text: None, now=now, lock_seconds="120")

    def step(self, turn: int) -> None:
        path = self.chance.choice(self.names)
        data = self.read(path)
        what = self.chance.choices(("save", "look", "retire"), (7, 2, 1))[0]
        if what == "save":
            self.save(path, data, b"w%d.%d" % (self.number, turn))
        elif what == "retire" and data is not None:
            self.retire(path)

    def rebuild(self) -> None:
        driver.changes.rebuild_index(self.app())

    def find_torn(self, path: str, data: bytes) -> list[str]:
        if path != self.index:
            fine = HEAD.fullmatch(data)
            return [] if fine else [f"{path}: {data[:60]!r} … {data[-30:]!r}"]
        lines = data.decode("utf-8", "replace").splitlines()
        return [f"index: {line!r}" for line in lines if not checker.POINTER.fullmatch(line)]

    def save(self, path: str, data: bytes | None, mark: bytes) -> None:
        """Add our mark to what we read; refused when somebody was faster."""
        name = path.removesuffix(".md")
        body = data.partition(b"---\n\n")[2].decode() if data is not None else ""
        lines = [*body.split(), mark.decode()][-40:]  # old marks live on in the history
        expected = driver.hash_of(data) if data is not None else None
        draft = driver.Draft(
            "\n".join(lines), name=name, type="reference", description=name, expected=expected
        )
        start = time.monotonic_ns()
        try:
            done = driver.changes.save(self.app(), draft, driver.AS_IT_IS)
        except (Conflict, Missing):
            self.note(path, start, "cas", (expected, ""), False)
            return
        new = done.changes[0].hash
        if expected is None:
            self.note(path, start, "put", (new,), True)
        else:
            self.note(path, start, "cas", (expected, new), True)
        self.log.marks.append(mark)

    def retire(self, path: str) -> None:
        start, done = time.monotonic_ns(), True
        try:
            driver.changes.retire(self.app(), [path])
        except Missing:
            done = False
        self.note(path, start, "drop", (), done)


def _write(writer: Writer, each: int, defect: str) -> Log:
    defects.switch_off(defect)
    time_the_lock(writer.log.waits)
    for turn in range(each):
        writer.log.attempt(lambda turn=turn: writer.step(turn))
    return writer.log


def _rebuild(writer: Writer, defect: str, over: str) -> Log:
    defects.switch_off(defect)
    while not os.path.exists(over):
        writer.log.attempt(writer.rebuild)
        time.sleep(0.01)
    return writer.log


def time_the_lock(waits: list[float]) -> None:
    """Note how long this process waits whenever it takes the lock."""
    from memdir.store.state import Lock

    real = Lock.held

    @contextmanager
    def held(self, who, tell):
        start = time.monotonic()
        with real(self, who, tell) as handle:
            waits.append((time.monotonic() - start) * 1000)
            yield handle

    Lock.held = held


# -- the judgement ---------------------------------------------------------------------------


def _judge(root: str, make: type[Writer], logs: list[Log]) -> Race:
    race = Race(Tally())
    tally = race.tally
    for what in ("failed", "torn"):
        problems = [problem for log in logs for problem in getattr(log, what)]
        tally.add(f"{len(problems)} {what}", True, problems[:1])
    by_name: dict[str, list[Op]] = {name: [] for name in make.names}
    for log in logs:
        for name, op in log.ops:
            by_name[name].append(op)
    for name, ops in by_name.items():
        fine = linear.linearizable(ops, make.attempt)
        tally.add(name, True, [] if fine else ["its history is not linearizable"])
    # A gc is one operation, though it answers for each record.
    race.operations = sum(op.kind != "gc" for ops in by_name.values() for op in ops)
    race.operations += sum(op.kind == "gc" for op in by_name[make.names[0]])
    answers = [op.result for ops in by_name.values() for op in ops if op.kind != "read"]
    race.conflicts = sum(answer in (False, "conflict") for answer in answers)
    view = make.look(root)
    kept = {mark for data in view.kept() for mark in MARK.findall(data)}
    marks = [mark for log in logs for mark in log.marks]
    lost = [mark for mark in marks if mark not in kept]
    race.acknowledged, race.lost = len(marks), len(lost)
    tally.add("acknowledged writes", True, [f"{len(lost)} are lost"] if lost else [])
    tally.add("the end", True, make.in_step(view) + view.past.problems)
    waits = sorted(wait for log in logs for wait in log.waits)
    if waits:
        race.p99_ms, race.max_ms = waits[int(len(waits) * 0.99)], waits[-1]
    tally.points = tally.fired = race.operations
    return race


def judge_waits(race: Race) -> list[str]:
    """The figures that a writer may count on."""
    found = []
    if race.p99_ms > P99_MS:
        found.append(f"lock wait p99 {race.p99_ms:.0f} ms is above {P99_MS:.0f} ms")
    if race.max_ms > MAX_MS:
        found.append(f"lock wait max {race.max_ms:.0f} ms is above {MAX_MS:.0f} ms")
    return found
