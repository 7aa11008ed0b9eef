"""Every command, hook and MCP method answers as it is written down in golden/.

A change that is meant is recorded with `python -m tests.contract.record` and shows in the diff.
"""

import re
import shutil
from collections.abc import Iterator

import pytest

from tests.contract.home import Home, avoid_midnight
from tests.contract.script import FIRST, GOLDEN, run

NAMES = sorted(file.stem for file in GOLDEN.glob("*.txt"))


@pytest.fixture(scope="module")
def home() -> Iterator[Home]:
    """With the store that the goldens start from, made once for all of them."""
    avoid_midnight()
    home = Home()
    run(home, (GOLDEN / f"{FIRST}.txt").read_text("utf-8"))
    home.keep_template()
    yield home
    shutil.rmtree(home.top)


@pytest.mark.parametrize("name", NAMES)
def test_the_answers_are_those_of_the_golden(home: Home, name: str) -> None:
    written = (GOLDEN / f"{name}.txt").read_text("utf-8")
    assert run(home, written).split("\n") == written.split("\n")


def test_every_command_of_the_help_has_a_golden(home: Home) -> None:
    goldens = "\n".join((GOLDEN / f"{name}.txt").read_text("utf-8") for name in NAMES)
    for group in ("", "records "):
        shown = home.memdir(*group.split(), "--help").out.decode()
        commands = re.findall(r"^  ([a-z][a-z-]*)  +\S", shown, re.MULTILINE)
        assert len(commands) > 10
        for command in commands:
            start = f"$ memdir {group}{command} "
            asked = [line for line in goldens.split("\n") if f"{line} ".startswith(start)]
            assert asked and any("--json" in line or command == "mcp" for line in asked), command
