"""The instruments of the harnesses, tried on cases whose answer is known."""

import random

import pytest

from memdir.records.record import write_record
from tests.faults import report
from tests.faults.checker import RENAMED, USED, Expected, MemoryView, RecordView
from tests.faults.disk_model import Model
from tests.faults.linear import Op, linearizable, try_memory, try_record  # noqa: F401
from tests.faults.records import PULL  # noqa: F401
from tests.faults.report import Row
from tests.faults.stage import Tally
from tests.faults.tracer import Call
from tests.faults.trees import Tree
from tests.helpers.tables import cases

pytestmark = pytest.mark.faults
CREATE, TRUNCATE = 0o100 | 0o1, 0o1000  # O_CREAT | O_WRONLY, O_TRUNC


def states(*calls: Call) -> set[frozenset[tuple[str, bytes]]]:
    """Every set of files that a power cut after these calls may leave."""
    model = Model.of(Tree({".": 0o700}, {"old": (0o600, b"old")}), "/r")
    model.follow(calls)
    found = model.crashes(len(model.steps), random.Random(1))
    return {frozenset((path, data) for path, (_, data) in tree.files.items()) for tree in found}


def made(name: str, handle: int = 3) -> Call:
    return Call("openat", (0, 0, CREATE, 0o600), (f"/r/{name}",), result=handle)


def wrote(name: str, data: bytes, handle: int = 3) -> Call:
    return Call("write", (handle, 0, len(data)), (f"/r/{name}",), data, len(data))


def forced(path: str) -> Call:
    return Call("fsync", (3,), (f"/r/{path}" if path else "/r/",))


def renamed(old: str, new: str) -> Call:
    return Call("renameat", (0, 0, 0, 0), (f"/r/{old}", f"/r/{new}"))


WHOLE = [made("tmp"), wrote("tmp", b"new!"), forced("tmp"), renamed("tmp", "old"), forced("")]


@cases("calls", "possible", "impossible", ids=range(4))
def test_a_power_cut_leaves_only_what_the_calls_allow(calls, possible, impossible):
    found = {data for state in states(*calls) for path, data in state if path == "old"}
    assert {*possible} <= found
    assert not {*impossible} & found


# -- linearizability ---------------------------------------------------------------------------

PUT = Op(0, 1, "put", ("a",), True)
MADE = Op(0, 1, "create", ("a",), "done")
RETIRED = Op(2, 3, "delete", ("b",), "done")


@cases("possible", "attempt", "history")
def test_only_a_history_that_one_writer_could_have_made_is_accepted(possible, attempt, history):
    assert linearizable(history, attempt) is possible


# -- the checker -------------------------------------------------------------------------------

INDEX = b"# Mine\n\n- [A](a.md) \xe2\x80\x94 first\n"


def view(**files: bytes) -> MemoryView:
    named = {f"{name}.md": data for name, data in files.items()}
    return MemoryView(files={"MEMORY.md": INDEX, **named})


def judge(now: MemoryView, acknowledged=None) -> list[str]:
    expected = Expected("update", view(a=b"old", b=b"kept"), view(a=b"new", b=b"kept"))
    return now.judge(expected, acknowledged)


def test_the_old_and_the_new_version_are_both_fine_until_one_is_acknowledged():
    old, new = view(a=b"old", b=b"kept"), view(a=b"new", b=b"kept")
    new.past.versions.add(b"old")
    assert judge(old) == judge(new) == []
    assert "a.md: acknowledged, but not so on disk" in judge(old, ("a.md",))


@cases("now", "said", ids=range(4))
def test_torn_touched_and_vanished_memories_are_seen(now, said):
    assert said in judge(now)


def test_torn_lines_and_wrong_pointers_of_an_index_are_seen():
    torn = view(a=b"old", b=b"kept")
    torn.files["MEMORY.md"] = INDEX[:-3]
    assert judge(torn) == []  # the end of a hook may be cut: the line is whole in form
    torn.files["MEMORY.md"] = INDEX[:12]
    assert any("torn line" in problem for problem in judge(torn))
    assert view(a=b"old", b=b"kept").in_step() == ["index: b.md is missing"]
    assert view().in_step() == ["index: a.md does not exist"]


def record(path: str, title: str = "Use it") -> bytes:
    name = path.split("/")[1].removesuffix(".json")
    return write_record({"category": "decision", "id": name, "title": title, "tags": ["a"]})


def record_view(files: dict[str, bytes]) -> RecordView:
    found = RecordView(files=dict(files))
    found.files["index.md"] = found.rendered().encode()
    return found


def judge_rename(files: dict[str, bytes]) -> list[str]:
    before = record_view({USED: record(USED)})
    after = record_view({RENAMED: record(RENAMED, "Other")})
    now = record_view(files)
    now.past.versions.add(record(USED))
    return now.judge(Expected("rename", before, after), None)


@cases("files", ids=range(3))
def test_on_the_way_to_another_name_an_update_may_stand_under_the_old_one(files):
    assert judge_rename(files) == []


@cases("files", "said", ids=range(4))
def test_torn_lost_and_foreign_records_are_seen(files, said):
    assert said in judge_rename(files)


def test_a_record_under_both_names_and_an_index_that_lies_are_seen():
    twice = record_view({USED: record(USED, "Other"), RENAMED: record(RENAMED, "Other")})
    assert twice.under_both_names()
    assert twice.in_step() == []
    twice.files["index.md"] += b"- [DECISION] Gone -> decisions/gone.json\n"
    assert twice.in_step() == ["index: not what the records say"]


def test_the_table_fits_eighty_columns():
    examples = [f"point {number}: the same thing" for number in range(9)] + ["w " * 150]
    tally = Tally(10**6, 10**6 - 1, 3, examples)
    row = Row("x" * 30, "y" * 30, tally, "z " * 90, {"c": True, "d": False}, 1234.5)
    lines = row.lines()
    assert max(map(len, lines)) <= report.WIDTH
    for said in ("(and 8 like it)", "MISSED control: d", "1 points did not fire"):
        assert any(said in line for line in lines)
