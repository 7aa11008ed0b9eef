"""`make demo` shows the main job, quickly, and fails where a step fails."""

import re
import subprocess
import sys

import pytest

from tests.conftest import ROOT
from tests.helpers.terminal import tree

pytestmark = pytest.mark.usefixtures("project")

DEMO = ROOT / "examples/demo.py"
MAX_LINES = 110


@pytest.mark.slow
def test_the_demo_runs_and_is_short(tmp_path, home):
    before = tree(tmp_path, home)
    run = subprocess.run([sys.executable, str(DEMO)], capture_output=True, text=True, cwd=tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr
    assert len(run.stdout.splitlines()) <= MAX_LINES
    before_told, _, rest = run.stdout.partition("<memdir-")  # what an agent is told comes as it is
    ours = before_told + rest.partition("</memdir-")[2]
    assert max(map(len, ours.splitlines())) <= 80
    assert "# Every byte is back: 4 files" in run.stdout
    assert "checked: src/pricing.py renamed to src/billing.py in " in run.stdout
    assert re.search(r"^  fix    [█▏▎▍▌▋▊▉·]+ +\d+ \S+\.md: ", run.stdout, re.M)
    assert tree(tmp_path, home) == before
