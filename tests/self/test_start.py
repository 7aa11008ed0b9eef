"""A command imports what it needs: its start is what people feel."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.self.source import ROOT

pytestmark = pytest.mark.usefixtures("project")

COUNT = """
import sys
from memdir.cli.main import run_command_line
code = run_command_line(sys.argv[1:])
ours = [name for name in sys.modules if name.partition(".")[0] == "memdir"]
print(code, len(ours), *sorted(ours), file=sys.stderr)
"""
MAX_MODULES = {
    ("--version",): 12,
    ("--help",): 12,
    ("remember", "Use uv, never pip, to install packages."): 50,
    ("audit", "--deep"): 80,
}


@pytest.mark.parametrize("words", MAX_MODULES, ids=lambda words: words[0])
def test_a_command_imports_no_more_than_it_needs(words):
    done = subprocess.run([sys.executable, "-c", COUNT, *words], capture_output=True, text=True)
    code, number, *names = done.stderr.split("\n")[-2].split()
    assert code == "0"
    assert int(number) <= MAX_MODULES[words], names


def make_install(home: Path, path: str) -> subprocess.CompletedProcess[str]:
    words = [str(shutil.which("make")), "install"]
    env = {"HOME": str(home), "PATH": path}
    return subprocess.run(words, cwd=ROOT, env=env, capture_output=True, text=True)


def test_make_install_without_a_python_says_which_one_it_needs(tmp_path, home):
    done = make_install(home, str(tmp_path))
    assert done.returncode and "No Python 3.11 or newer" in done.stderr
    assert "make PYTHON=/path/to/python3" in done.stderr and not [*home.rglob("memdir")]


def test_make_install_leaves_a_command_that_is_there_already(home):
    other = home / ".local/bin/memdir"
    other.parent.mkdir(parents=True)
    other.write_text("from uv")
    done = make_install(home, f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    assert done.returncode and "uv tool uninstall memdir" in done.stderr
    assert other.read_text() == "from uv"
