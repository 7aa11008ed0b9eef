"""The instruments of the harnesses, tried on cases whose answer is known."""

import random

import pytest

from tests.faults import checker, report, repository
from tests.faults.checker import Expected, View
from tests.faults.disk_model import Model
from tests.faults.linear import Op, linearizable, try_register
from tests.faults.report import Row
from tests.faults.seeds import Tree
from tests.faults.tracer import Call

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


OLD = ("old", b"old")
WHOLE = [made("tmp"), wrote("tmp", b"new!"), forced("tmp"), renamed("tmp", "old"), forced("")]


def test_after_the_whole_order_only_the_new_version_is_possible():
    assert states(*WHOLE) == {frozenset({("old", b"new!")})}


def test_before_the_directory_is_forced_both_versions_are_possible():
    found = states(*WHOLE[:4])
    assert frozenset({OLD}) in found
    assert frozenset({("old", b"new!")}) in found
    assert not any(("old", b"ne") in state or ("old", b"") in state for state in found)


def test_without_the_fsync_of_the_file_an_empty_one_may_have_its_name():
    found = states(*WHOLE[:2], *WHOLE[3:])
    assert frozenset({("old", b"")}) in found
    assert frozenset({("old", b"ne")}) in found


def test_a_write_in_place_may_be_half_there():
    cut = Call("openat", (0, 0, 0o1 | TRUNCATE, 0), ("/r/old",), result=3)
    assert frozenset({("old", b"ne")}) in states(cut, wrote("old", b"new!"))


# -- linearizability ---------------------------------------------------------------------------


def test_a_history_that_one_at_a_time_explains_is_accepted():
    assert linearizable(
        [
            Op(0, 9, "put", ("a",), True),
            Op(1, 2, "read", (), None),
            Op(3, 4, "read", (), "a"),
            Op(10, 20, "cas", ("a", "b"), True),
            Op(11, 19, "cas", ("a", "c"), False),
            Op(21, 22, "drop", (), True),
            Op(23, 24, "drop", (), False),
        ],
        try_register,
    )


@pytest.mark.parametrize(
    "history",
    [
        [Op(0, 1, "put", ("a",), True), Op(2, 3, "read", (), None)],
        [
            Op(0, 1, "put", ("a",), True),
            Op(2, 9, "cas", ("a", "b"), True),
            Op(3, 8, "cas", ("a", "c"), True),
        ],
        [Op(0, 1, "read", (), "x")],
        [Op(0, 1, "put", ("a",), True), Op(2, 3, "drop", (), True), Op(4, 5, "read", (), "a")],
    ],
    ids=["a read of the past", "a lost update", "a value from nowhere", "a dead memory read"],
)
def test_a_history_that_nothing_explains_is_refused(history):
    assert not linearizable(history, try_register)


# -- the checker -------------------------------------------------------------------------------

INDEX = b"# Mine\n\n- [A](a.md) \xe2\x80\x94 first\n"


def view(**files: bytes) -> View:
    named = {f"{name}.md": data for name, data in files.items()}
    return View(files={"MEMORY.md": INDEX, **named})


def judge(now: View, operation: str = "update", acknowledged=None) -> list[str]:
    expected = Expected(operation, view(a=b"old", b=b"kept"), view(a=b"new", b=b"kept"))
    return checker.judge(now, expected, acknowledged)


def test_the_old_and_the_new_version_are_both_fine_until_one_is_acknowledged():
    kept = repository.Past(versions={b"old"})
    new = view(a=b"new", b=b"kept")
    new.past = kept
    assert judge(view(a=b"old", b=b"kept")) == []
    assert judge(new) == []
    assert "a.md: acknowledged, but not so on disk" in judge(
        view(a=b"old", b=b"kept"), acknowledged=("a.md",)
    )


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (view(a=b"ne", b=b"kept"), "a.md: neither the old nor the new version"),
        (view(a=b"old", b=b""), "b.md: bystander changed"),
        (view(a=b"new", b=b"kept"), "a.md: vanished"),
        (view(a=b"old"), "b.md: vanished"),
    ],
)
def test_torn_touched_and_vanished_memories_are_seen(now, said):
    assert said in judge(now)


def test_torn_lines_and_wrong_pointers_of_an_index_are_seen():
    torn = view(a=b"old", b=b"kept")
    torn.files["MEMORY.md"] = INDEX[:-3]
    assert judge(torn) == []  # the end of a hook may be cut: the line is whole in form
    torn.files["MEMORY.md"] = INDEX[:12]
    assert any("torn line" in problem for problem in judge(torn))
    assert checker.in_step(view(a=b"old", b=b"kept")) == ["index: b.md is missing"]
    assert checker.in_step(view()) == ["index: a.md does not exist"]


def test_the_table_fits_eighty_columns():
    row = Row("x" * 30, "y" * 30, 10**6, 10**6, 3, {"c": True, "d": False}, 1234.5, "z " * 90)
    row.examples = [f"point {number}: the same thing" for number in range(9)] + ["w" * 300]
    lines = [report.line(report.HEADINGS), report.line(row.cells()), *report.after(row)]
    assert max(map(len, lines)) <= report.WIDTH
    assert any("(and 8 like it)" in line for line in lines)
    assert any("MISSED control: d" in line for line in lines)
