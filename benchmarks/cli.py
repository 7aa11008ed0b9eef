"""How long a command takes to start: beside an interpreter that imports click and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

from benchmarks.common import Row, interleaved, scratch

RUNS = 15
FLOOR = [sys.executable, "-c", "import click"]
MEMDIR = [sys.executable, "-c", "from memdir.cli.main import main; main()"]
GOALS = {
    ("--version",): 1.6,
    ("--help",): 1.8,
    ("list",): 2.5,
    ("recall", "which package manager do we use?"): 3.0,
}


def measure() -> list[Row]:
    """The least of the runs, in turns with the floor."""
    with scratch() as folder:
        env = {**os.environ, "HOME": os.path.join(folder, "home")}
        code = os.path.join(folder, "code")
        os.makedirs(code)

        def start(words: list[str]) -> Callable[[], None]:
            def run() -> None:
                subprocess.run(words, cwd=code, env=env, check=True, capture_output=True)

            return run

        start([*MEMDIR, "remember", "Use uv, never pip, as package manager."])()
        acts = [start(FLOOR), *(start([*MEMDIR, *words]) for words in GOALS)]
        floor, *ours = (min(times) for times in interleaved(RUNS, *acts))
        pairs = zip(GOALS.items(), ours, strict=True)
        return [Row(f"memdir {words[0]}", floor, time, goal) for (words, goal), time in pairs]
