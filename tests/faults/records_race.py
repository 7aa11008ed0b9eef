"""Processes that create, update, retire, restore and purge the same twenty records at once."""

from __future__ import annotations

import json
import os
import time

from memdir.errors import Missing
from memdir.format.draft import hash_of
from memdir.records import index_md, lifecycle, record, write
from memdir.records.record import RecordError
from memdir.records.write import Request
from tests.faults import records_checker as checker
from tests.faults import records_driver as driver
from tests.faults import records_stage as _stage  # noqa: F401  (its defects register themselves)
from tests.faults import seeds
from tests.faults.linear import Op
from tests.faults.race import Writer

PATHS = tuple(f"decisions/record-{number}.json" for number in range(20))
CONTROLS = ("no hash check", "no lock", "written in place")
ACTIONS = {"update": 10, "create": 4, "delete": 3, "restore": 3, "gc": 1}
AHEAD = 40 * driver.DAY  # the clock of a gc: every retired record is past its grace
ABSENT, ACTIVE, RETIRED = None, "active", "retired"
# What an action hears of a record that is not where it would have to be.
REFUSED = {
    record.OCC_CONFLICT: "conflict",
    record.READ: "missing",
    record.OVERWRITE: "overwrite",
    record.ANTI_RESURRECTION: "retired",
    record.ACTION_CODES["update"]: "retired",
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


class RecordWriter(Writer):
    """Creates, updates, retires, restores and purges."""

    names = PATHS
    index = checker.INDEX
    attempt = staticmethod(attempt)
    look = staticmethod(checker.look)
    in_step = staticmethod(checker.in_step)

    @staticmethod
    def prepare(root: str) -> None:
        seeds.make_root(root)
        os.mkdir(f"{root}/project/.git", 0o700)
        os.makedirs(f"{root}/{driver.BELOW}")
        with open(f"{root}/{driver.BELOW}{driver.SETTINGS}", "w", encoding="utf-8") as file:
            json.dump({"delete": {"archive_retired": False}}, file)

    def app(self, ahead: float = 0.0) -> driver.App:
        return driver.open_root(
            self.root,
            lambda text: None,
            now=time.time() + ahead,
            lock_seconds="120",
            search="scan",
        )

    def rebuild(self) -> None:
        index_md.rebuild_index(self.app())

    def find_torn(self, path: str, data: bytes) -> list[str]:
        if path != self.index:
            return checker.itself(path, data)
        head, lines = checker.HEAD.splitlines(), data.decode("utf-8", "replace").splitlines()
        torn = [line for line in lines if line not in head and not checker.LINE.fullmatch(line)]
        return [f"index: {line!r}" for line in torn]

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

    def act(self, path: str, what: str, data: bytes | None, mark: str) -> None:
        wanted, given = self._wanted(path, what, data, mark)
        start = time.monotonic_ns()
        try:
            [change] = write.write(self.app(), wanted).changes
        except (RecordError, Missing) as error:
            code = getattr(error, "record_code", record.READ)
            if code not in REFUSED:
                raise
            self.note(path, start, what, given, REFUSED[code])
            return
        said = "done" if change.changed else "there"
        self.note(path, start, what, (*given, change.hash), said)
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
            self.note(path, start, "gc", (), "done" if path in gone else "stays")
