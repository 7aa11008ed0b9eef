"""Processes that create, update, retire, restore and purge the same twenty records at once.

Every action goes through the flows as a command would. What each answered is recorded outside of
the store, and the history of each record must be one that a single writer could have made.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import time
from collections import Counter
from typing import Any

from memdir.errors import Missing
from memdir.format.draft import hash_of
from memdir.records import index_md, lifecycle, refusal, write
from memdir.records.refusal import RecordError
from memdir.records.write import Request
from tests.faults import defects, linear, race, seeds
from tests.faults import records_checker as checker
from tests.faults import records_driver as driver
from tests.faults import records_stage as _stage  # noqa: F401  (its defects register themselves)
from tests.faults.linear import Op
from tests.faults.race import Log, Race
from tests.faults.stage import Tally

PATHS = tuple(f"decisions/record-{number}.json" for number in range(20))
CONTROLS = ("no hash check", "no lock", "written in place")
ACTIONS = {"update": 10, "create": 4, "delete": 3, "restore": 3, "gc": 1}
MARK = re.compile(rb"w\d+\.\d+")
AHEAD = 40 * driver.DAY  # the clock of a gc: every retired record is past its grace
ABSENT, ACTIVE, RETIRED = None, "active", "retired"
# What an action hears of a record that is not where it would have to be.
REFUSED = {
    refusal.OCC_CONFLICT: "conflict",
    refusal.READ: "missing",
    refusal.OVERWRITE: "overwrite",
    refusal.ANTI_RESURRECTION: "retired",
    refusal.ACTION_CODES["update"]: "retired",
}
State = tuple[str, str] | None  # status and hash; None: there is no such record


def attempt(op: Op, state: State) -> tuple[bool, bool, State]:
    """(is this answer possible now, does it change the record, the record afterwards)."""
    status, hash = state or (ABSENT, None)
    said, new = op.result, op.given[-1] if op.given else None
    if op.kind == "read":
        return said == hash, False, state
    if said == "missing":
        return status is ABSENT, False, state
    if op.kind == "create":
        if said == "there":  # the same record again is no change
            return status == ACTIVE and hash == new, False, state
        if said != "done":
            return status == (ACTIVE if said == "overwrite" else RETIRED), False, state
        return status is ABSENT, True, (ACTIVE, str(new))
    if op.kind == "update":
        if said == "done":
            return status == ACTIVE and hash == op.given[0], True, (ACTIVE, str(new))
        fits = status == RETIRED if said == "retired" else hash not in (None, op.given[0])
        return fits, False, state
    if op.kind == "gc":
        return (status == RETIRED) == (said == "done"), said == "done", None
    before, after = (ACTIVE, RETIRED) if op.kind == "delete" else (RETIRED, ACTIVE)
    if said == "done":
        return status == before, True, (after, str(new))
    return status == after and hash == new, False, state  # there already


def run(processes: int, each: int, defect: str = "") -> Race:
    """`processes` writers with `each` actions, and one more that rebuilds the index."""
    folder = seeds.work_folder()
    root = os.path.join(folder, "root")
    seeds.make_root(root)
    os.mkdir(f"{root}/project/.git", 0o700)
    os.makedirs(f"{root}/{driver.BELOW}")
    with open(f"{root}/{driver.BELOW}{driver.SETTINGS}", "w", encoding="utf-8") as file:
        json.dump({"delete": {"archive_retired": False}}, file)
    works: list[Any] = [
        lambda path, number=number: _write(root, number, each, defect)
        for number in range(processes)
    ]
    works.append(lambda path: _rebuild(root, defect, f"{root}.over"))
    try:
        return _judge(root, race.together(root, works, processes))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# -- the processes -----------------------------------------------------------------------------


class _Writer:
    def __init__(self, root: str, number: int) -> None:
        self.root = root
        self.number = number
        self.log = Log()
        self.chance = random.Random(number)

    def app(self, ahead: float = 0.0) -> driver.App:
        """As fresh as a command's, with the real clock."""
        return driver.open_root(
            self.root, _quiet, now=time.time() + ahead, lock_seconds="120", search="scan"
        )

    def step(self, turn: int) -> None:
        # Half of all actions meet at three records, the others are all over the twenty.
        path = self.chance.choice(self.chance.choice((PATHS, PATHS[:3])))
        what = self.chance.choices(tuple(ACTIONS), tuple(ACTIONS.values()))[0]
        if what == "gc":
            self.tidy()
            return
        data = self.read(path)
        mark = f"w{self.number}.{turn}"
        if data is None:
            what = "create" if what == "update" else what
        self.act(path, what, data, mark)

    def read(self, path: str) -> bytes | None:
        start = time.monotonic_ns()
        try:
            data = self.app().store.read(path)
        except Missing:
            data = None
        self._note(path, start, "read", (), hash_of(data) if data is not None else None)
        if data is not None:
            self.log.torn += checker.itself(path, data)
        self.read_index()
        return data

    def read_index(self) -> None:
        try:
            text = self.app().store.read("index.md").decode("utf-8", "replace")
        except Missing:
            return
        head = checker.HEAD.splitlines()
        for line in text.splitlines():
            if line not in head and not checker.LINE.fullmatch(line):
                self.log.torn.append(f"index: {line!r}")

    def act(self, path: str, what: str, data: bytes | None, mark: str) -> None:
        wanted, given = self._wanted(path, what, data, mark)
        start = time.monotonic_ns()
        try:
            [change] = write.write(self.app(), wanted).changes
        except (RecordError, Missing) as error:
            code = getattr(error, "record_code", refusal.READ)
            if code not in REFUSED:
                raise
            self._note(path, start, what, given, REFUSED[code])
            return
        said = "done" if change.changed else "there"
        self._note(path, start, what, (*given, change.hash), said)
        if change.changed:
            self.log.marks.append(mark.encode())

    def _wanted(
        self, path: str, what: str, data: bytes | None, mark: str
    ) -> tuple[Request, tuple[str, ...]]:
        if what == "create":
            title = os.path.basename(path).removesuffix(".json").replace("-", " ")
            new = driver.draft("decision", title, changes=[{"summary": mark}])
            return Request("create", "decision", draft=new), ()
        if what == "update":
            assert data is not None
            old = json.loads(data)
            new = {"changes": [*old["changes"], {"summary": mark}], "content": {"context": mark}}
            read = hash_of(data)
            return Request("update", target=path, draft=new, expected=read), (read,)
        return Request(what, target=path, reason=mark), ()

    def tidy(self) -> None:
        """A gc concerns every record: it purges the retired ones, and only those."""
        start = time.monotonic_ns()
        done = lifecycle.collect_garbage(self.app(AHEAD))
        gone = {change.path for change in done.changes}
        for path in PATHS:
            self._note(path, start, "gc", (), "done" if path in gone else "stays")

    def _note(self, path: str, start: int, kind: str, given: tuple[str, ...], said: Any) -> None:
        self.log.ops.append((path, Op(start, time.monotonic_ns(), kind, given, said)))


def _write(root: str, number: int, each: int, defect: str) -> Log:
    defects.switch_off(defect)
    writer = _Writer(root, number)
    race.time_the_lock(writer.log.waits)
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
            index_md.rebuild_index(driver.open_root(root, _quiet, now=time.time()))
        except Exception as error:
            log.failed.append(f"{type(error).__name__}: {error}")
        time.sleep(0.02)
    return log


def _quiet(text: str) -> None:
    """Nobody listens to notices here."""


# -- the judgement -----------------------------------------------------------------------------


def _judge(root: str, logs: list[Log]) -> Race:
    found = Race(Tally())
    tally = found.tally
    for what in ("failed", "torn"):
        some = [one for log in logs for one in getattr(log, what)]
        tally.add(f"{len(some)} {what}", True, some[:1])
    by_path: dict[str, list[Op]] = {path: [] for path in PATHS}
    for log in logs:
        for path, op in log.ops:
            by_path[path].append(op)
    for path, ops in by_path.items():
        fine = linear.linearizable(ops, attempt)
        tally.add(f"record {path}", True, [] if fine else ["its history is not linearizable"])
    # A gc is one operation, though it answers for each record.
    answers = Counter(str(op.result) for ops in by_path.values() for op in ops if op.kind != "read")
    found.operations = sum(op.kind != "gc" for ops in by_path.values() for op in ops)
    found.operations += sum(op.kind == "gc" for op in by_path[PATHS[0]])
    found.conflicts = answers["conflict"]
    view = checker.look(root)
    kept = {mark for data in view.kept() for mark in MARK.findall(data)}
    marks = [mark for log in logs for mark in log.marks]
    lost = [mark for mark in marks if mark not in kept]
    found.acknowledged, found.lost = len(marks), len(lost)
    tally.add("acknowledged writes", True, [f"{len(lost)} are lost"] if lost else [])
    tally.add("the end", True, checker.in_step(view) + view.past.problems)
    waits = sorted(wait for log in logs for wait in log.waits)
    if waits:
        found.p99_ms, found.max_ms = waits[int(len(waits) * 0.99)], waits[-1]
    tally.points = tally.fired = found.operations
    return found
