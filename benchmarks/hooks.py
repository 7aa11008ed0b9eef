"""The prompt hook as a process: a cold start, one prompt, the answer; beside a bare interpreter."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable

from benchmarks.common import Row, fill, interleaved, middle, prompts, scratch

RUNS = 40
GOALS = {200: 15.0, 1_000: None, 10_000: 30.0}
HOOK = os.path.join(os.path.dirname(__file__), "..", "src/memdir/surfaces/hooks/start.py")


def measure() -> list[Row]:
    """Every figure of the prompt hook: the median of the runs, the least in the note."""
    rows = []
    with scratch() as folder:
        for count, goal in GOALS.items():
            rows.append(_prompt(os.path.join(folder, str(count)), count, goal))
    return rows


def _prompt(folder: str, count: int, goal: float | None) -> Row:
    store = os.path.join(folder, "memory")
    os.makedirs(folder)
    fill(store, count)
    python = [sys.executable, "-I", "-S"]
    state, cache = os.path.join(folder, "state"), os.path.join(folder, "cache")
    ours = [*python, os.path.abspath(HOOK), "prompt", state, cache, f"project={store}"]
    asked = json.dumps({"prompt": prompts(store, 1)[0], "session_id": ""}).encode()
    node = shutil.which("node")

    def run(command: list[str]) -> bytes:
        return subprocess.run(command, input=asked, stdout=subprocess.PIPE, check=True).stdout

    assert b"additionalContext" in run(ours)  # makes the catalog and the byte code too
    assert b"additionalContext" in run(ours)
    commands = [[*python, "-c", "pass"], ours, *([[node, "-e", "0"]] if node else [])]
    taken = interleaved(RUNS, *(_timed(run, command) for command in commands))
    bare, answered, others = taken[0], taken[1], taken[2:]
    note = f"least: {min(answered) - min(bare):.1f} ms over {min(bare):.1f}"
    if others:
        note += (
            f"; node -e 0: {min(others[0]):.1f} least, {statistics.median(others[0]):.1f} median"
        )
    name = f"prompt hook, {count:,} memories, over bare"
    return Row(name, middle(bare), middle(answered), goal, over=True, note=note)


def _timed(run: Callable[[list[str]], bytes], command: list[str]) -> Callable[[], None]:
    def once() -> None:
        run(command)

    return once
