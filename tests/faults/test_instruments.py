"""The instruments of the harnesses, tried on cases whose answer is known."""

import random

import pytest

from tests.faults.disk_model import Model
from tests.faults.linear import Op, linearizable, try_memory, try_record  # noqa: F401
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
