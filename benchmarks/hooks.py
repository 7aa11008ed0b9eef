"""The hooks as processes: a cold start, one event, the answer; beside a bare interpreter.

They find their place as the client's do: by the directory in the JSON and the environment.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

from benchmarks.common import Row, fill, interleaved, middle, prompts, scratch
from memdir.core.scope import project_name

RUNS = 40
PROMPTS = {200: 15.0, 1_000: None, 10_000: 30.0}
START, STOP = 40.0, 10.0  # milliseconds over a bare interpreter
MEMORIES = 1_000  # of the start of a session, and of the end of a turn
SETTLED = 0.5  # seconds after which a file counts as unchanged and a process has begun
HOOK = os.path.join(os.path.dirname(__file__), "..", "src/memdir/surfaces/hooks/start.py")
PYTHON = [sys.executable, "-I", "-S"]


def measure() -> list[Row]:
    """Every figure of the hooks: the median of the runs, the least in the note."""
    rows = []
    with scratch() as folder:
        for count, goal in PROMPTS.items():
            project = Project(os.path.join(folder, str(count)), count)
            asked = {"prompt": prompts(project.store, 1)[0], "session_id": ""}
            rows.append(project.row("prompt", asked, goal))
        project = Project(os.path.join(folder, "start"), MEMORIES)
        rows.append(project.row("session-start", {"source": "startup", "session_id": ""}, START))
        rows.append(project.row("stop", {"session_id": "s", "stop_hook_active": False}, STOP))
    return rows


class Project:
    """A home, a checkout and the memories that belong to it."""

    def __init__(self, folder: str, count: int) -> None:
        self.count = count
        self.home, self.code = os.path.join(folder, "home"), os.path.join(folder, "code")
        os.makedirs(self.code)
        subprocess.run(["git", "init", "-q", self.code], check=True)
        name = project_name(os.path.realpath(self.code))
        self.store = os.path.join(self.home, ".claude/projects", name, "memory")
        os.makedirs(os.path.dirname(self.store))
        fill(self.store, count)
        time.sleep(SETTLED)

    def row(self, event: str, asked: dict[str, object], goal: float | None) -> Row:
        """One event against a bare interpreter, taken in turns."""
        given = json.dumps({**asked, "cwd": self.code}).encode()
        env = {"HOME": self.home, "PATH": os.environ["PATH"]}

        def run(command: list[str]) -> bytes:
            return subprocess.run(
                command, input=given, stdout=subprocess.PIPE, check=True, env=env
            ).stdout

        def timed(command: list[str]) -> Callable[[], None]:
            return lambda: (run(command), None)[1]

        ours = [*PYTHON, os.path.abspath(HOOK), event]
        for _ in range(3):  # makes the catalog, the byte code and what else is left behind
            told = run(ours)
        self.wait()
        assert (b"additionalContext" in told) == (event != "stop"), told
        node = shutil.which("node")
        commands = [[*PYTHON, "-c", "pass"], ours, *([[node, "-e", "0"]] if node else [])]
        taken = interleaved(RUNS, *map(timed, commands))
        name = f"{event} hook, {self.count:,} memories, over bare"
        note = _note(*taken)
        return Row(name, middle(taken[0]), middle(taken[1]), goal, over=True, note=note)

    def wait(self) -> None:
        """Until the worker that a hook started is gone; the next minute none is started."""
        time.sleep(SETTLED)
        for name in ("worker.next", "worker.lock"):
            path = os.path.join(self.home, ".cache/memdir", name)
            if os.path.exists(path):
                with open(path, "rb") as file:
                    fcntl.flock(file, fcntl.LOCK_EX)


def _note(bare: list[float], ours: list[float], node: list[float] | None = None) -> str:
    note = f"least: {min(ours) - min(bare):.1f} ms over {min(bare):.1f}"
    if node:
        note += f"; node -e 0: {min(node):.1f} least, {statistics.median(node):.1f} median"
    return note
