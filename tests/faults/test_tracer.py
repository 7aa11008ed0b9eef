"""The tracer itself: it sees what strace sees, and what it does to a call happens."""

import errno
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults import kernel

pytestmark = pytest.mark.faults
ROOT = Path(__file__).resolve().parents[2]
# In a process of its own: the tests run in one with threads, which must not be forked.
ASK = """
import errno, os, sys
sys.path[:0] = [{root!r}, {source!r}]
from tests.faults import tracer

def work():
    os.getpgid(0)
    code = 0
    for _ in range(3):
        try:
            os.mkdir({place!r} + str(code))
        except OSError as error:
            code += error.errno
    os.getpgid(0)
    return code

print({asked})
"""


def ask(tmp_path: Path, asked: str) -> str:
    source = ASK.format(
        root=str(ROOT), source=str(ROOT / "src"), place=f"{tmp_path}/x", asked=asked
    )
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    return done.stdout.strip()


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
    """The same operation in a process of its own, traced from the outside by another program."""
    if shutil.which("strace") is None:
        pytest.skip("not run: strace is not installed")
    alone = f"""
import sys
sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / "src")!r}]
from tests.faults import driver, memories
driver.forget_how_old_files_are()
sys.exit(driver.run_once(memories.WORLD, sys.argv[1], "create"))
"""
    script = f"""
import subprocess, sys
sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / "src")!r}]
from tests.faults.stage import Stage
with Stage() as here:
    print(" ".join(call.name for call in here.calls("create")))
    here.lay("create")
    command = ["strace", "-o", {str(tmp_path / "log")!r}, sys.executable, "-B", "-c", {alone!r}]
    subprocess.run([*command, here.root], check=True)
"""
    ours = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout.split()
    theirs, markers = [], 0
    for line in (tmp_path / "log").read_text().splitlines():
        name = line.partition("(")[0]
        markers += name == kernel.MARKER
        if markers == 1 and name in kernel.numbers and name != kernel.MARKER:
            theirs.append(name)
    # A fresh process reads the time zone and imports a module or two on its way (-B: unwritten).
    changing = re.compile("p?write|fsync|rename|unlink|mkdir|flock|chmod")
    assert list(filter(changing.match, ours)) == list(filter(changing.match, theirs))
