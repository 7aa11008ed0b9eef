"""A command imports what it needs: its start is what people feel."""

import subprocess
import sys

import pytest

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
