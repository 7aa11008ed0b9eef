"""Programs that a test starts beside itself; they stand in tests/data/programs.toml."""

import os
import subprocess
import sys
from collections.abc import Sequence

from tests.helpers.tables import table
from tests.self.source import ROOT, SRC

SECONDS = 60  # that a process may take beside others


def program_text(name: str) -> str:
    return table("programs", name)


def start_program(
    name: str, *arguments: object, options: Sequence[str] = ()
) -> subprocess.Popen[str]:
    words = [sys.executable, *options, "-c", program_text(name), *map(str, arguments)]
    env = {**os.environ, "PYTHONPATH": f"{SRC}:{ROOT}"}
    pipe = subprocess.PIPE
    return subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=env)


def run_program(name: str, *arguments: object, options: Sequence[str] = ()) -> tuple[str, str]:
    """What it prints, and what it says on stderr."""
    with start_program(name, *arguments, options=options) as running:
        return running.communicate(timeout=SECONDS)
