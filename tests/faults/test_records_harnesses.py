"""A small run of each harness of records, and their instruments on cases whose answer is known.

The whole runs are `make faults` and `make faults-full`.
"""

import json

import pytest

from memdir.errors import Unwritable
from memdir.records.folders import Records, open_store
from memdir.records.index_md import update_index
from memdir.records.record import write_record
from memdir.store.writer import Done
from tests.faults import records_checker as checker
from tests.faults import records_driver as driver
from tests.faults.checker import Expected
from tests.faults.linear import Op, linearizable
from tests.faults.records_checker import RecordView
from tests.faults.records_driver import BELOW, RENAMED, USED
from tests.faults.records_race import attempt
from tests.faults.test_harnesses import hold, rows

pytestmark = pytest.mark.faults


@pytest.mark.slow
def test_killed_and_racing_writers_leave_whole_records_and_lose_none():
    """Both in one process: to start one takes long. Failing calls are for `make faults`."""
    for row in rows("records_kill,records_race"):
        hold(row)


# -- the history of one record -----------------------------------------------------------------

MADE = Op(0, 1, "create", ("a",), "done")
RETIRED = Op(2, 3, "delete", ("b",), "done")


@pytest.mark.parametrize(
    "history",
    [
        [MADE, Op(2, 9, "update", ("a", "b"), "done"), Op(3, 8, "update", ("a",), "conflict")],
        [MADE, RETIRED, Op(4, 5, "update", ("a",), "retired"), Op(6, 7, "restore", ("c",), "done")],
        [MADE, RETIRED, Op(4, 5, "gc", (), "done"), Op(6, 7, "create", ("a",), "done")],
        [MADE, Op(2, 3, "create", ("a",), "there"), Op(4, 5, "create", (), "overwrite")],
        [
            Op(0, 1, "gc", (), "stays"),
            Op(2, 3, "delete", (), "missing"),
            Op(4, 5, "read", (), None),
        ],
        [MADE, RETIRED, Op(4, 5, "delete", ("b",), "there"), Op(6, 7, "create", (), "retired")],
    ],
    ids=["a conflict", "a way back", "a purge", "created twice", "nothing there", "twice retired"],
)
def test_a_life_that_one_writer_could_have_given_is_accepted(history):
    assert linearizable(history, attempt)


@pytest.mark.parametrize(
    "history",
    [
        [MADE, Op(2, 9, "update", ("a", "b"), "done"), Op(3, 8, "update", ("a", "c"), "done")],
        [MADE, RETIRED, Op(4, 5, "update", ("b", "c"), "done")],
        [MADE, Op(2, 3, "gc", (), "done")],
        [MADE, RETIRED, Op(4, 5, "gc", (), "stays")],
        [MADE, Op(2, 3, "create", ("b",), "done")],
        [MADE, RETIRED, Op(4, 5, "read", (), "a")],
        [MADE, Op(2, 3, "update", ("a",), "conflict")],
    ],
    ids=[
        *("a lost update", "an update that revives", "a purge of what lives", "a gc that forgets"),
        *("a create that overwrites", "a read of the past", "a conflict with nobody"),
    ],
)
def test_a_life_that_nothing_explains_is_refused(history):
    assert not linearizable(history, attempt)


# -- the checker -------------------------------------------------------------------------------


def record(path: str, title: str = "Use it", **more: object) -> bytes:
    name = path.split("/")[1].removesuffix(".json")
    whole = {"category": "decision", "id": name, "title": title, "tags": ["a"], **more}
    return write_record(whole)


def view(**files: bytes) -> RecordView:
    found = RecordView(files={path: data for path, data in files.items() if data})
    found.files["index.md"] = checker.rendered(found.memories).encode()
    return found


def judged(**files: bytes) -> list[str]:
    before = view(**{USED: record(USED)})
    after = view(**{RENAMED: record(RENAMED, "Other")})
    now = view(**files)
    now.past.versions.add(record(USED))
    return checker.judge(now, Expected("rename", before, after), None)


def test_on_the_way_to_another_name_an_update_may_stand_under_the_old_one():
    assert judged(**{USED: record(USED)}) == []
    assert judged(**{USED: record(USED, "Other")}) == []
    assert judged(**{RENAMED: record(RENAMED, "Other")}) == []


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "a rename left the record under neither name"),
        ({USED: record(USED)[:40]}, f"{USED}: neither old nor new"),
        ({RENAMED: record(USED, "Other")}, f"{RENAMED}: neither old nor new"),
        ({USED: record(USED), driver.PULL: b"{}"}, f"{driver.PULL}: bystander changed"),
    ],
)
def test_torn_lost_and_foreign_records_are_seen(files, said):
    assert said in judged(**files)


def test_a_record_under_both_names_and_an_index_that_lies_are_seen():
    twice = view(**{USED: record(USED, "Other"), RENAMED: record(RENAMED, "Other")})
    assert checker.both(twice)
    assert checker.in_step(twice) == []
    twice.files["index.md"] += b"- [DECISION] Gone -> decisions/gone.json\n"
    assert checker.in_step(twice) == ["index: not what the records say"]


# -- healing -----------------------------------------------------------------------------------


@pytest.fixture
def root(tmp_path):
    driver.prepare(str(tmp_path), "rename")
    return tmp_path


def next_command(root, act=driver.later) -> Done:
    return act(driver.open_root(str(root), print))


def left_by_a_rename(root, **changed: object) -> None:
    """What a killed writer leaves: the new version under both names, the index behind."""
    index = (root / BELOW / "index.md").read_bytes()
    driver.rename(driver.open_root(str(root), print))
    whole = json.loads((root / BELOW / RENAMED).read_bytes())
    name = USED.split("/")[1].removesuffix(".json")
    (root / BELOW / USED).write_bytes(write_record(whole | {"id": name} | changed))
    (root / BELOW / "index.md").write_bytes(index)


@pytest.mark.parametrize("act", [driver.later, driver.delete, driver.save, driver.window])
def test_the_next_command_takes_away_what_a_rename_left(root, act):
    left_by_a_rename(root)
    done = next_command(root, act)
    found = checker.look(str(root))
    assert RENAMED in found.files
    assert USED not in found.files
    assert checker.in_step(found) == []
    assert any("its rename was cut off" in one for one in done.remarks)


def test_a_rebuild_heals_also_what_the_index_lists_already(root):
    left_by_a_rename(root)
    records = checker.look(str(root)).memories
    (root / BELOW / "index.md").write_text(checker.rendered(records))
    next_command(root, driver.index_md.rebuild_index)
    assert USED not in checker.look(str(root)).files


class Failing(Records):
    """A store on a disk that does not show one folder, or cannot read what is in it."""

    def __init__(self, root: str, unreadable: str = "") -> None:
        super().__init__(root)
        self.unreadable = unreadable

    def files(self) -> list[str]:
        return [path for path in super().files() if not path.startswith("decisions/")]

    def read(self, path: str) -> bytes:
        if path == self.unreadable:
            raise Unwritable(f"{path}: Input/output error", path=path, next="look at the disk")
        return super().read(path)


@pytest.mark.parametrize("unreadable", ["", USED], ids=["not shown", "not read"])
def test_a_record_that_a_failing_disk_hides_keeps_its_line(root, unreadable):
    before = checker.look(str(root)).index
    assert USED in before
    update_index(Failing(str(root / BELOW), unreadable))
    assert checker.look(str(root)).index == before


def test_what_is_gone_broken_or_a_link_loses_its_line(root):
    index, place = root / BELOW / "index.md", root / BELOW / USED
    before = index.read_text()
    for spoil in (lambda: None, lambda: place.write_text("{"), lambda: place.symlink_to("/etc")):
        index.write_text(before)
        place.unlink(missing_ok=True)
        spoil()
        update_index(open_store(str(root / BELOW), 1 << 20))
        assert USED in before
        assert USED not in index.read_text()


@pytest.mark.parametrize(
    "changed",
    [{"content": {"status": "accepted"}}, {"id": "postgres-holds-every-table"}, {"changes": []}],
    ids=["says something else", "a copy made by hand", "has another past"],
)
def test_what_is_not_the_very_same_record_stays(root, changed):
    left_by_a_rename(root, **changed)
    next_command(root)
    assert {USED, RENAMED} <= set(checker.look(str(root)).files)
