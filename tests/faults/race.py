"""Processes that write and read the same few files at once, while one rebuilds the index.

Every operation is made as a command would make it. What each answered is recorded outside the
store: the history of each file must be one that a single writer could have made, no acknowledged
text may be missing from the versions that are kept, no read may see half, and the index must list
the directory at the end.
"""

import json
import os
import pickle
import random
import re
import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from memdir.errors import Conflict, Missing
from memdir.format.draft import content_hash
from memdir.records import lifecycle, record, write
from memdir.records.record import RecordError
from memdir.records.write import Request
from memdir.store import changes
from memdir.store.state import Lock
from tests.faults import defects, kernel, memories, records, trees
from tests.faults.checker import RecordView
from tests.faults.driver import App, World
from tests.faults.stage import Tally

P99_MS, MAX_MS = 250.0, 2000.0
BUSY = 2.0  # runnable processes for each processor: others compete with the race
WHOLE = re.compile(rb"---\nname: (\w+)\n(?:.+\n)+---\n\n(?:.+\n)+")
MARK = re.compile(rb"w\d+\.\d+")


@dataclass
class Race(Tally):
    """The figures of a race."""

    acknowledged: int = 0
    conflicts: int = 0
    lost: int = 0
    p99_ms: float = 0.0
    max_ms: float = 0.0
    judged: str = ""  # why the waits were not

    def judge_waits(self) -> None:
        """The figures that a writer may count on."""
        for name, wait, limit in (("p99", self.p99_ms, P99_MS), ("max", self.max_ms, MAX_MS)):
            if wait > limit:
                self.violations += 1
                self.examples.append(f"lock wait {name} {wait:.0f} ms is above {limit:.0f} ms")


# -- could one writer have made it? The search of Wing and Gong --------------------------------


MAX_STEPS = 4_000_000


class Op(NamedTuple):
    """What was asked between two moments, and what came back; a value of None is: not there."""

    start: int
    end: int
    kind: str
    given: tuple[str | None, ...]
    result: str | bool | None


# (is this answer possible now, does it change the value, the value afterwards)
Attempt = Callable[[Op, Any], tuple[bool, bool, Any]]


def linearizable(history: Sequence[Op], attempt: Attempt) -> bool:
    """True when some order, in keeping with the clock, explains every answer."""
    ops = sorted(history)
    seen: set[tuple[int, Any]] = set()
    stack: list[tuple[int, Any, int]] = [(0, None, 0)]  # done as bits, value, lowest undone
    for _ in range(MAX_STEPS):
        if not stack:
            return False
        done, value, low = stack.pop()
        done, low, writes = _settle(ops, done, value, low, attempt)
        if low == len(ops):
            return True
        if (done, value) not in seen:
            seen.add((done, value))
            stack.extend((done | 1 << at, new, low) for at, new in writes)
    raise RuntimeError(f"undecided after {MAX_STEPS} steps")


def _settle(
    ops: list[Op], done: int, value: Any, low: int, attempt: Attempt
) -> tuple[int, int, list[tuple[int, Any]]]:
    """Take all that changes nothing and fits now; gives what could change the value next."""
    while True:
        while low < len(ops) and done >> low & 1:
            low += 1
        if low == len(ops):
            return done, low, []
        writes, moved = [], False
        for at in _ready(ops, done, low):
            fits, changes, new = attempt(ops[at], value)
            if fits and not changes:
                done |= 1 << at
                moved = True
            elif fits:
                writes.append((at, new))
        if not moved:
            return done, low, writes


def _ready(ops: list[Op], done: int, low: int) -> list[int]:
    """The operations that may come next: started before any undone one has ended."""
    first_end, at, ready = ops[low].end, low, []
    while at < len(ops) and ops[at].start <= first_end:
        if not done >> at & 1:
            first_end = min(first_end, ops[at].end)
            ready.append(at)
        at += 1
    return [at for at in ready if ops[at].start <= first_end]


def try_memory(op: Op, value: str | None) -> tuple[bool, bool, str | None]:
    """read -> hash; cas(expected, new) -> done or refused; put(new); drop -> done or refused."""
    if op.kind == "read":
        return op.result == value, False, value
    if op.kind == "cas" and op.result is True:
        return op.given[0] == value, True, op.given[1]
    if op.kind == "cas":
        return op.given[0] != value, False, value
    if op.kind == "put":
        return True, True, op.given[0]
    done = op.result is True  # drop
    return (value is not None) == done, done, None


ACTIVE, RETIRED = "active", "retired"
Record = tuple[str | None, str | None]  # status and hash


def try_record(op: Op, state: Record | None) -> tuple[bool, bool, Record | None]:
    """What each action hears of a record that is, or is not, where it would have to be."""
    status, hash = state or (None, None)
    said, new = op.result, op.given[-1] if op.given else None
    if op.kind == "read":
        return said == hash, False, state
    if said == "missing":
        return status is None, False, state
    if op.kind == "create":
        if said == "there":  # the same record again is no change
            return status == ACTIVE and hash == new, False, state
        if said != "done":
            return status == (ACTIVE if said == "overwrite" else RETIRED), False, state
        return status is None, True, (ACTIVE, new)
    if op.kind == "update":
        if said == "done":
            return status == ACTIVE and hash == op.given[0], True, (ACTIVE, new)
        fits = status == RETIRED if said == "retired" else hash not in (None, op.given[0])
        return fits, False, state
    if op.kind == "gc":
        return (status == RETIRED) == (said == "done"), said == "done", None
    before, after = (ACTIVE, RETIRED) if op.kind == "delete" else (RETIRED, ACTIVE)
    if said == "done":
        return status == before, True, (after, new)
    return status == after and hash == new, False, state  # there already


# -- the processes -----------------------------------------------------------------------------


class Writer:
    """One process, with what it did and saw; its subclasses take a `step` and say what is torn."""

    world: ClassVar[World]
    names: ClassVar[tuple[str, ...]]
    try_op: ClassVar[Attempt]  # what an operation can answer and do
    options: ClassVar[dict[str, str]] = {}

    def __init__(self, root: str, number: int, defect: str) -> None:
        self.root, self.number, self.defect = root, number, defect
        self.chance = random.Random(number)
        self.ops: list[tuple[str, Op]] = []
        self.marks: list[bytes] = []
        self.torn: list[str] = []
        self.failed: list[str] = []
        self.waits: list[float] = []

    def work(self, each: int) -> None:
        """So many steps, or the index brought in step until the others are done; told in a file."""
        defects.switch_off(self.defect)
        time_the_lock(self.waits)
        for turn in range(each):
            self.attempt(lambda turn=turn: self.step(turn))
        while not each and not os.path.exists(f"{self.root}.over"):
            self.attempt(lambda: self.world.rebuild(self.app()))
            time.sleep(0.01)
        trees.write(f"{self.root}.log{self.number}", pickle.dumps(self))

    def attempt(self, act: Callable[[], object]) -> None:
        try:
            act()
        except Exception as error:
            self.failed.append(f"{type(error).__name__}: {error}")

    def app(self, ahead: float = 0.0) -> App:
        """As fresh as a command's, with the real clock."""
        now = time.time() + ahead
        return self.world.open(self.root, now=now, lock_seconds="120", **self.options)

    def read(self, path: str) -> bytes | None:
        """The file and the index, both whole."""
        start = time.monotonic_ns()
        try:
            data = self.app().store.read(path)
        except Missing:
            data = None
        self.note(path, start, "read", (), content_hash(data) if data is not None else None)
        if data is not None:
            self.torn += self.find_torn(path, data)
        view = self.world.view
        try:
            index = self.app().store.read(view.index_file).decode("utf-8", "replace")
        except Missing:
            return data
        for text in index.splitlines():
            if not view.line.fullmatch(text) and text not in view.head.splitlines():
                self.torn.append(f"index: {text!r}")
        return data

    def note(
        self, path: str, start: int, kind: str, given: tuple[str | None, ...], result: Any
    ) -> None:
        self.ops.append((path, Op(start, time.monotonic_ns(), kind, given, result)))


class MemoryWriter(Writer):
    """Saves, looks and retires."""

    world = memories.WORLD
    names = ("one.md", "two.md", "three.md")
    try_op = staticmethod(try_memory)
    prepare = staticmethod(trees.make_root)

    def step(self, turn: int) -> None:
        path = self.chance.choice(self.names)
        data = self.read(path)
        what = self.chance.choices(("save", "look", "retire"), (7, 2, 1))[0]
        if what == "save":
            self.save(path, data, b"w%d.%d" % (self.number, turn))
        elif what == "retire" and data is not None:
            start, done = time.monotonic_ns(), True
            try:
                changes.retire_memories(self.app(), [path])
            except Missing:
                done = False
            self.note(path, start, "drop", (), done)

    def find_torn(self, path: str, data: bytes) -> list[str]:
        whole = WHOLE.fullmatch(data)
        return [] if whole else [f"{path}: {data[:60]!r} … {data[-30:]!r}"]

    def save(self, path: str, data: bytes | None, mark: bytes) -> None:
        """Add our mark to what we read; refused when somebody was faster."""
        body = data.partition(b"---\n\n")[2].decode() if data is not None else ""
        lines = "\n".join([*body.split(), mark.decode()][-40:])  # old marks live on in the history
        read = content_hash(data) if data is not None else None
        start, name = time.monotonic_ns(), path.removesuffix(".md")
        try:
            done = memories.save(self.app(), name, lines, type="reference", expected=read)
        except (Conflict, Missing):
            self.note(path, start, "cas", (read, ""), False)
            return
        new = done.changes[0].hash
        kind, given = ("put", (new,)) if read is None else ("cas", (read, new))
        self.note(path, start, kind, given, True)
        self.marks.append(mark)


class RecordWriter(Writer):
    """Creates, updates, retires, restores and purges."""

    world = records.WORLD
    names = tuple(f"decisions/record-{number}.json" for number in range(20))
    try_op = staticmethod(try_record)
    options: ClassVar = {"search": "scan"}
    actions: ClassVar = {"update": 10, "create": 4, "delete": 3, "restore": 3, "gc": 1}
    ahead = 40 * records.DAY  # the clock of a gc: every retired record is past its grace
    # What an action hears of a record that is not where it would have to be.
    refused: ClassVar = {
        record.OCC_CONFLICT: "conflict",
        record.READ: "missing",
        record.OVERWRITE: "overwrite",
        record.ANTI_RESURRECTION: "retired",
        record.ACTION_CODES["update"]: "retired",
    }
    find_torn = staticmethod(RecordView.torn)

    @staticmethod
    def prepare(root: str) -> None:
        records.make_root(root)
        os.makedirs(f"{root}/{RecordView.store}")
        records.put_settings(root, {"delete": {"archive_retired": False}})

    def step(self, turn: int) -> None:
        # Half of all actions meet at three records, the others are all over the twenty.
        path = self.chance.choice(self.chance.choice((self.names, self.names[:3])))
        what = self.chance.choices(tuple(self.actions), tuple(self.actions.values()))[0]
        if what == "gc":  # it concerns every record: it purges the retired ones, and only those
            start = time.monotonic_ns()
            done = lifecycle.collect_record_garbage(self.app(self.ahead))
            gone = {change.path for change in done.changes}
            for path in self.names:
                self.note(path, start, "gc", (), "done" if path in gone else "stays")
            return
        data = self.read(path)
        if data is None and what == "update":
            what = "create"
        self.act(path, what, data, f"w{self.number}.{turn}")

    def act(self, path: str, what: str, data: bytes | None, mark: str) -> None:
        request, given = Request(what, target=path, reason=mark), ()
        if what == "create":
            title = os.path.basename(path).removesuffix(".json").replace("-", " ")
            new = records.draft("decision", title, changes=[{"summary": mark}])
            request = Request("create", "decision", draft=new)
        elif what == "update":
            history = json.loads(data)["changes"]
            new = {"changes": [*history, {"summary": mark}], "content": {"context": mark}}
            given = (content_hash(data),)
            request = Request("update", target=path, draft=new, expected=given[0])
        start = time.monotonic_ns()
        try:
            [change] = write.write_record_request(self.app(), request).changes
        except (RecordError, Missing) as error:
            code = getattr(error, "record_code", record.READ)
            if code not in self.refused:
                raise
            self.note(path, start, what, given, self.refused[code])
            return
        said = "done" if change.changed else "there"
        self.note(path, start, what, (*given, change.hash), said)
        if change.changed:
            self.marks.append(mark.encode())


def time_the_lock(waits: list[float]) -> None:
    """Note how long this process waits whenever it takes the lock."""
    real = Lock.held

    @contextmanager
    def held(self, who, tell):
        start = time.monotonic()
        with real(self, who, tell) as handle:
            waits.append((time.monotonic() - start) * 1000)
            yield handle

    Lock.held = held


# -- the race ----------------------------------------------------------------------------------


def run(
    make: type[Writer],
    processes: int,
    each: int,
    judge_waits: bool = False,
    tries: int = 1,
    defect: str = "",
) -> Race:
    """A race, or several until one shows something; beside others, waits are told, not judged."""
    busy = os.getloadavg()[0] > BUSY * len(kernel.processors())
    for _ in range(tries):
        race = _run(make, processes, each, defect)
        if judge_waits and not busy:
            race.judge_waits()
        race.judged = " (not judged: others kept the machine busy)" if busy else ""
        if race.violations:
            break
    return race


def _run(make: type[Writer], processes: int, each: int, defect: str) -> Race:
    """`processes` writers with `each` operations, and one more that rebuilds the index."""
    with trees.work_folder() as folder:
        root = f"{folder}/root"
        make.prepare(root)
        *pids, rebuilder = [
            kernel.start(lambda number=number: make(root, number, defect).work(each * bool(number)))
            for number in range(processes, -1, -1)
        ]
        for pid in pids:
            kernel.wait(pid)
        trees.write(f"{root}.over", b"")
        kernel.wait(rebuilder)
        logs = [pickle.loads(trees.read(f"{root}.log{number}")) for number in range(processes + 1)]
        return _judge(make, make.world.view.look(root), logs)


def _judge(make: type[Writer], view: Any, logs: list[Writer]) -> Race:
    race = Race()
    for what in ("failed", "torn"):
        problems = [problem for log in logs for problem in getattr(log, what)]
        race.add(f"{len(problems)} {what}", problems[:1])
    by_name: dict[str, list[Op]] = {name: [] for name in make.names}
    for log in logs:
        for name, op in log.ops:
            by_name[name].append(op)
    for name, ops in by_name.items():
        fine = linearizable(ops, make.try_op)
        race.add(name, [] if fine else ["its history is not linearizable"])
    answers = [op.result for ops in by_name.values() for op in ops if op.kind != "read"]
    race.conflicts = sum(answer in (False, "conflict") for answer in answers)
    kept = {mark for data in view.kept() for mark in MARK.findall(data)}
    marks = [mark for log in logs for mark in log.marks]
    race.acknowledged = len(marks)
    race.lost = sum(mark not in kept for mark in marks)
    race.add("acknowledged writes", [f"{race.lost} are lost"] if race.lost else [])
    race.add("the end", view.in_step() + view.past.problems)
    waits = sorted(wait for log in logs for wait in log.waits)
    if waits:
        race.p99_ms, race.max_ms = waits[int(len(waits) * 0.99)], waits[-1]
    # A gc is one operation, though it answers for each record.
    count = sum(op.kind != "gc" for ops in by_name.values() for op in ops)
    count += sum(op.kind == "gc" for op in by_name[make.names[0]])
    race.points = race.fired = count
    return race
