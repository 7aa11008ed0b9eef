"""A command imports what it needs: its start is what people feel."""

import subprocess
import sys

import click
import pytest

from memdir.cli.main import SECTIONS, commands

pytestmark = pytest.mark.usefixtures("project")

HELP_COLUMNS = 66
COUNT = """
import sys
from memdir.cli.main import run
code = run(sys.argv[1:])
ours = [name for name in sys.modules if name.partition(".")[0] == "memdir"]
print(code, len(ours), *sorted(ours), file=sys.stderr)
"""
MAX_MODULES = {
    ("--version",): 12,
    ("--help",): 12,
    ("remember", "Use uv, never pip, to install packages."): 50,
    ("audit", "--deep"): 81,
}


@pytest.mark.parametrize("words", MAX_MODULES, ids=lambda words: words[0])
def test_a_command_imports_no_more_than_it_needs(words):
    done = subprocess.run([sys.executable, "-c", COUNT, *words], capture_output=True, text=True)
    code, number, *names = done.stderr.split("\n")[-2].split()
    assert code == "0"
    assert int(number) <= MAX_MODULES[words], names


def test_the_help_says_what_each_command_says_of_itself():
    context = click.Context(commands)
    for names in SECTIONS.values():
        for name, (_, help) in names.items():
            command = commands.get_command(context, name)
            assert command and help == command.get_short_help_str(HELP_COLUMNS), name
