"""Processes that save, retire and read the same few memories at once, while one rebuilds the index.

Every operation goes through the flows as a command would. The history of each memory is recorded
outside the store and must be linearizable; no acknowledged text may be missing from the versions
that are kept; no read may see half; the index must list the directory at the end.
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

from memdir.errors import Conflict, Missing
from tests.faults import checker, defects, driver, kernel, linear, seeds
from tests.faults.linear import Op
from tests.faults.stage import Tally

NAMES = ("one", "two", "three")
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


def run(processes: int, each: int, defect: str = "", folder: str = "") -> Race:
    """`processes` writers with `each` operations, and one more that rebuilds the index."""
    folder = folder or seeds.work_folder()
    root = os.path.join(folder, "root")
    seeds.make_root(root)
    works: list[Callable[[str], Log]] = [
        lambda path, number=number: _write(root, number, each, defect, path)
        for number in range(processes)
    ]
    works.append(lambda path: _rebuild(root, defect, f"{root}.over"))
    try:
        return _judge(root, together(root, works, processes))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def together(root: str, works: list[Callable[[str], Log]], writers: int) -> list[Log]:
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


def _be(work: Callable[[str], Log], path: str) -> None:
    try:
        log = work(path)
    except BaseException as error:
        log = Log(failed=[f"{type(error).__name__}: {error}"])
    with open(path, "wb") as file:
        pickle.dump(log, file)
    os._exit(0)


# -- the processes ---------------------------------------------------------------------------


class _Writer:
    def __init__(self, root: str, number: int) -> None:
        self.root = root
        self.number = number
        self.log = Log()
        self.chance = random.Random(number)

    def app(self) -> driver.App:
        """As fresh as a command's, with the real clock."""
        return driver.open_root(self.root, lambda text: None, now=time.time(), lock_seconds="120")

    def step(self, turn: int) -> None:
        name = self.chance.choice(NAMES)
        data = self.read(name)
        what = self.chance.choices(("save", "look", "retire"), (7, 2, 1))[0]
        if what == "save":
            self.save(name, data, b"w%d.%d" % (self.number, turn))
        elif what == "retire" and data is not None:
            self.retire(name)

    def read(self, name: str) -> bytes | None:
        start = time.monotonic_ns()
        try:
            data = self.app().store.read(f"{name}.md")
        except Missing:
            data = None
        found = driver.hash_of(data) if data is not None else None
        self._note(name, start, "read", (), found)
        if data is not None and not HEAD.fullmatch(data):
            self.log.torn.append(f"{name}: {data[:60]!r} … {data[-30:]!r}")
        self.read_index()
        return data

    def read_index(self) -> None:
        text = (self.app().store.index() or b"").decode("utf-8", "replace")
        torn = [line for line in text.splitlines() if not checker.POINTER.fullmatch(line)]
        self.log.torn += [f"index: {line!r}" for line in torn]

    def save(self, name: str, data: bytes | None, mark: bytes) -> None:
        """Add our mark to what we read; refused when somebody was faster."""
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
            self._note(name, start, "cas", (expected, ""), False)
            return
        new = done.changes[0].hash
        if expected is None:
            self._note(name, start, "put", (new,), True)
        else:
            self._note(name, start, "cas", (expected, new), True)
        self.log.marks.append(mark)

    def retire(self, name: str) -> None:
        start = time.monotonic_ns()
        try:
            driver.changes.retire(self.app(), [name])
            self._note(name, start, "drop", (), True)
        except Missing:
            self._note(name, start, "drop", (), False)

    def _note(
        self,
        name: str,
        start: int,
        kind: str,
        given: tuple[str | None, ...],
        result: str | bool | None,
    ) -> None:
        self.log.ops.append((name, Op(start, time.monotonic_ns(), kind, given, result)))


def _write(root: str, number: int, each: int, defect: str, path: str) -> Log:
    defects.switch_off(defect)
    writer = _Writer(root, number)
    time_the_lock(writer.log.waits)
    for turn in range(each):
        try:
            writer.step(turn)
        except Exception as error:
            writer.log.failed.append(f"{type(error).__name__}: {error}")
    return writer.log


def _rebuild(root: str, defect: str, over: str) -> Log:
    defects.switch_off(defect)
    log = Log()
    while not os.path.exists(over):
        try:
            driver.changes.rebuild_index(driver.open_root(root, lambda text: None, now=time.time()))
        except Exception as error:
            log.failed.append(f"{type(error).__name__}: {error}")
        time.sleep(0.01)
    return log


def time_the_lock(waits: list[float]) -> None:
    """Note how long this process waits whenever it takes the lock."""
    from memdir.store.lock import Lock

    real = Lock.held

    @contextmanager
    def held(self, who, tell):
        start = time.monotonic()
        with real(self, who, tell) as handle:
            waits.append((time.monotonic() - start) * 1000)
            yield handle

    Lock.held = held


# -- the judgement ---------------------------------------------------------------------------


def _judge(root: str, logs: list[Log]) -> Race:
    race = Race(Tally())
    tally = race.tally
    for what in ("failed", "torn"):
        found = [one for log in logs for one in getattr(log, what)]
        tally.add(f"{len(found)} {what}", True, found[:1])
    by_name: dict[str, list[Op]] = {name: [] for name in NAMES}
    for log in logs:
        for name, op in log.ops:
            by_name[name].append(op)
    for name, ops in by_name.items():
        fine = linear.linearizable(ops)
        tally.add(f"memory {name}", True, [] if fine else ["its history is not linearizable"])
    race.operations = sum(len(ops) for ops in by_name.values())
    race.conflicts = sum(op.result is False for ops in by_name.values() for op in ops)
    view = checker.look(root)
    kept = {mark for data in view.kept() for mark in MARK.findall(data)}
    marks = [mark for log in logs for mark in log.marks]
    lost = [mark for mark in marks if mark not in kept]
    race.acknowledged, race.lost = len(marks), len(lost)
    tally.add("acknowledged writes", True, [f"{len(lost)} are lost"] if lost else [])
    tally.add("the end", True, checker.in_step(view) + view.past.problems)
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
