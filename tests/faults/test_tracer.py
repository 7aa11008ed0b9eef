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


def test_what_it_lists_kills_and_fails_happens_so(tmp_path):
    listed = ask(tmp_path, "[(c.name[:5], c.paths, c.result) for c in tracer.trace(work).calls]")
    made = ("mkdir", (f"{tmp_path}/x0",), 0)
    again = ("mkdir", (f"{tmp_path}/x0",), -errno.EEXIST)
    last = ("mkdir", (f"{tmp_path}/x{errno.EEXIST}",), 0)
    assert eval(listed) == [made, again, last]
    for name in os.listdir(tmp_path):
        (tmp_path / name).rmdir()
    killed = ask(tmp_path, "tracer.strike(work, tracer.Strike('mkdir', 1))")
    assert f"code={-signal.SIGKILL}" in killed and "fired=True" in killed
    good = f"tracer.strike(work, tracer.Strike('mkdir', 1, {errno.EIO}, True)).code"
    assert int(ask(tmp_path, good)) == 3 * errno.EIO
    assert os.listdir(tmp_path) == []  # neither of them let a call through
    assert "fired=False" in ask(tmp_path, "tracer.strike(work, tracer.Strike('mkdir', 4))")


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
