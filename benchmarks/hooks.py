"""The hooks as processes: a cold start, one event, the answer; beside a bare interpreter.

The command lines are those that `memdir setup` writes, run by a shell as the client runs them. They
find their place as the client's do: by the directory in the JSON and the environment.
"""

from __future__ import annotations

import fcntl
import json
import os
import resource
import shlex
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import count

from benchmarks.common import Row, fill, interleaved, middle, prompts, scratch
from memdir.config.scope import project_scope_name

RUNS = 40
PROMPTS = {200: 12.0, 1_000: None, 10_000: 20.0}
START, STOP = 40.0, 10.0  # milliseconds over a bare interpreter
BEFORE_TOOL, RULES, BEFORE = "PreToolUse", 200, 5.0  # milliseconds over one without guards
MEMORIES = 1_000  # of the start of a session, and of the end of a turn
SETTLED = 0.5  # seconds after which a file counts as unchanged and a process has begun
RECORD = ("records", "save", "--category", "preference", "--title", "Tabs", "--tag", "style")
RECORD += ("--set", "topic=a", "--set", "value=b", "--set", "reason=c", "--set", "strength=strong")
SETUP = ("setup", "claude-code", "--settings", "--dry-run", "--json")
MEMDIR = "from memdir.cli.main import main; main()"
BARE = ("-I", "-S", "-c", "pass")


def measure() -> list[Row]:
    """Every figure of the hooks: the median of the runs, the least in the note."""
    rows = []
    with scratch() as folder:
        for size, goal in PROMPTS.items():
            project = Project(os.path.join(folder, str(size)), size)
            asked: dict[str, object] = {"prompt": prompts(project.store, 1)[0]}
            rows.append(project.row("UserPromptSubmit", asked, goal))
        project = Project(os.path.join(folder, "start"), MEMORIES)
        rows.append(project.row("SessionStart", {"source": "startup"}, START))
        rows.append(project.row("Stop", {"stop_hook_active": False}, STOP))
        rows.append(guards_row(folder))
    return rows


def guards_row(folder: str) -> Row:
    """A command before it runs, where 200 rules guard commands, against where none does."""
    free, guarded = (Project(os.path.join(folder, name), RULES) for name in ("free", "guarded"))
    head = "---\nname: rule-{0}\ndescription: rule {0}\ntype: feedback\n---\n\n"
    for number in range(RULES):
        with open(os.path.join(guarded.store, f"rule-{number}.md"), "w") as file:
            file.write(head.format(number) + f"Never run `tool{number} wipe --all`.\n")
    for project in (free, guarded):  # where there are records the hook starts in both
        project.memdir(*RECORD)
    assert len(json.loads(guarded.memdir("guards", "--json"))["guards"]) == RULES

    def act(project: Project) -> Callable[[], None]:
        line = project.command(BEFORE_TOOL)

        def run() -> None:
            call = {"tool_name": "Bash", "tool_input": {"command": "cd src && ls -la | head -3"}}
            session = {"session_id": f"{next(project.sessions)}", "hook_event_name": BEFORE_TOOL}
            given = json.dumps({**call, **session, "cwd": project.code}).encode()
            shell = ["/bin/sh", "-c", line]
            subprocess.run(shell, input=given, check=True, env=project.env, cwd=project.code)

        for _ in range(3):
            run()
        return run

    acts = act(free), act(guarded)
    for project in (free, guarded):
        project.wait()
    taken = interleaved(RUNS, *acts)
    name = f"{BEFORE_TOOL}, {RULES} rules, over none"
    return Row(name, middle(taken[0]), middle(taken[1]), BEFORE, over=True, note=_note(*taken))


class Project:
    """A home, a checkout and the memories that belong to it."""

    def __init__(self, folder: str, size: int) -> None:
        self.size = size
        self.home, self.code = os.path.join(folder, "home"), os.path.join(folder, "code")
        self.env = {"HOME": self.home, "PATH": os.environ["PATH"]}
        os.makedirs(self.code)
        subprocess.run(["git", "init", "-q", self.code], check=True)
        name = project_scope_name(os.path.realpath(self.code))
        self.store = os.path.join(self.home, ".claude/projects", name, "memory")
        os.makedirs(os.path.dirname(self.store))
        fill(self.store, size)
        self.sessions = count()
        time.sleep(SETTLED)

    def memdir(self, *words: str) -> bytes:
        line = [sys.executable, "-c", MEMDIR, *words]
        done = subprocess.run(line, env=self.env, cwd=self.code, check=True, capture_output=True)
        return done.stdout

    def command(self, event: str) -> str:
        """What `memdir setup` would have the client run for an event."""
        return str(json.loads(self.memdir(*SETUP))["hooks"][event])

    def row(self, event: str, asked: dict[str, object], goal: float | None) -> Row:
        """One event against a bare interpreter, taken in turns; each time in a new session."""
        line = self.command(event)

        def run(command: list[str]) -> bytes:
            session = {"session_id": f"{event}-{next(self.sessions)}", "hook_event_name": event}
            given = json.dumps({**asked, **session, "cwd": self.code}).encode()
            return subprocess.run(
                command, input=given, stdout=subprocess.PIPE, check=True, env=self.env
            ).stdout

        spent: list[list[float]] = []

        def timed(command: list[str]) -> Callable[[], None]:
            mine: list[float] = []
            spent.append(mine)

            def act() -> None:
                before = _processor_ms()
                run(command)
                mine.append(_processor_ms() - before)

            return act

        ours = ["/bin/sh", "-c", line]
        for _ in range(3):  # makes the catalog, the byte code and what else is left behind
            told = run(ours)
        self.wait()
        assert (b"additionalContext" in told) == (event != "Stop"), told
        node = shutil.which("node")
        commands = [[_python(line), *BARE], ours, *([[node, "-e", "0"]] if node else [])]
        taken = interleaved(RUNS, *map(timed, commands))
        name = f"{event}, {self.size:,} memories, over bare"
        note = f"{_note(*taken)}; CPU: {middle(spent[1]) - middle(spent[0]):+.1f} ms"
        return Row(name, middle(taken[0]), middle(taken[1]), goal, over=True, note=note)

    def wait(self) -> None:
        """Until the worker that a hook started is gone; the next minute none is started."""
        time.sleep(SETTLED)
        for name in ("worker.next", "worker.lock"):
            path = os.path.join(self.home, ".cache/memdir", name)
            if os.path.exists(path):
                with open(path, "rb") as file:
                    fcntl.flock(file, fcntl.LOCK_EX)


def _python(line: str) -> str:
    """The interpreter of a command line."""
    words = shlex.split(line)
    return words[words.index(BARE[0]) - 1]


def _processor_ms() -> float:
    """What the processes that ended have used: a busy machine changes it least."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) * 1e3


def _note(bare: list[float], ours: list[float], node: list[float] | None = None) -> str:
    note = f"least: {min(ours) - min(bare):.1f} ms over {min(bare):.1f}"
    if node:
        note += f"; node -e 0: {min(node):.1f} least, {statistics.median(node):.1f} median"
    return note
