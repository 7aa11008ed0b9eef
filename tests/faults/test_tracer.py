"""The tracer itself: it sees what strace sees, and what it does to a call happens."""

import errno
import os
import re
import shutil
import signal
from pathlib import Path

import pytest

from tests.faults import kernel
from tests.helpers.programs import program_text, run_program

pytestmark = pytest.mark.faults


def ask(tmp_path: Path, asked: str) -> str:
    """In a process of its own: the tests run in one with threads, which must not be forked."""
    said, problems = run_program("trace", f"{tmp_path}/x", asked)
    assert problems == ""
    return said.strip()


@pytest.fixture(autouse=True)
def _can_trace(tmp_path):
    reason = ask(tmp_path, "tracer.why_not()")
    if reason:
        pytest.skip(f"not run: {reason}")


def test_it_lists_the_calls_between_the_markers(tmp_path):
    listed = ask(tmp_path, "[(c.name[:5], c.paths, c.result) for c in tracer.trace(work).calls]")
    made = ("mkdir", (f"{tmp_path}/x0",), 0)
    again = ("mkdir", (f"{tmp_path}/x0",), -errno.EEXIST)
    last = ("mkdir", (f"{tmp_path}/x{errno.EEXIST}",), 0)
    assert eval(listed) == [made, again, last]


def test_a_kill_comes_before_the_call(tmp_path):
    told = ask(tmp_path, "tracer.strike(work, tracer.Strike('mkdir', 1))")
    assert f"code={-signal.SIGKILL}" in told
    assert "fired=True" in told
    assert os.listdir(tmp_path) == []


def test_an_error_is_given_once_or_from_then_on(tmp_path):
    once = ask(tmp_path, f"tracer.strike(work, tracer.Strike('mkdir', 1, {errno.EIO})).code")
    assert int(once) == errno.EIO + errno.EEXIST  # the second one is made, the third finds it
    for name in os.listdir(tmp_path):
        (tmp_path / name).rmdir()
    good = f"tracer.strike(work, tracer.Strike('mkdir', 1, {errno.EIO}, True)).code"
    assert int(ask(tmp_path, good)) == 3 * errno.EIO
    assert os.listdir(tmp_path) == []


def test_a_strike_that_meets_nothing_has_not_fired(tmp_path):
    told = ask(tmp_path, "tracer.strike(work, tracer.Strike('mkdir', 4))")
    assert "fired=False" in told


def test_it_sees_what_strace_sees(tmp_path):
    if shutil.which("strace") is None:
        pytest.skip("not run: strace is not installed")
    said, _ = run_program("create_under_strace", tmp_path / "log", program_text("create"))
    ours = said.split()
    theirs, markers = [], 0
    for line in (tmp_path / "log").read_text().splitlines():
        name = line.partition("(")[0]
        markers += name == kernel.MARKER
        if markers == 1 and name in kernel.numbers and name != kernel.MARKER:
            theirs.append(name)
    # A fresh process reads the time zone and imports a module or two on its way (-B: unwritten).
    changing = re.compile("p?write|fsync|rename|unlink|mkdir|flock|chmod")
    assert list(filter(changing.match, ours)) == list(filter(changing.match, theirs))
