"""Who waits at a terminal hears that work is under way; a program hears nothing."""

import os
import pty
import subprocess
import sys

import pytest

from tests.helpers.terminal import memdir

pytestmark = pytest.mark.usefixtures("project")

SLOW = (
    "import time\n"
    "from memdir.store.{module} import {kind}\n"
    "real = {kind}.{method}\n"
    "def slow(self, *given):\n    time.sleep(1.6)\n    return real(self, *given)\n"
    "{kind}.{method} = slow\n"
    "from memdir.cli.main import main\nmain()\n"
)
SHELF = SLOW.format(module="writer", kind="Shelf", method="lay")


@pytest.fixture(autouse=True)
def saved(project):
    memdir("remember", "Use uv, never pip, to install packages.", "--name", "use-uv")


def heard(program: str, *words: str) -> str:
    """What a terminal at stderr shows."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", program, *words]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, timeout=60)
    os.close(theirs)
    assert done.returncode == 0
    try:
        return os.read(ours, 10_000).decode()
    except OSError:  # a terminal that was never written to
        return ""
    finally:
        os.close(ours)


def test_work_that_takes_long_is_said_once():
    assert heard(SHELF, "retire", "use-uv") == "memdir: working …\r\n"


def test_a_program_hears_nothing():
    assert heard(SHELF, "retire", "use-uv", "--json") == ""
