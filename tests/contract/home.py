"""A throw-away home with a project, and the three ways into memdir: command, hook, MCP over stdio.

Nothing of memdir is imported but its console script, found by its name: modules may move.
"""

import importlib.metadata
import io
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.helpers.processes import of_home, wait_for_none

CODE = Path(__file__).resolve().parents[2]
# Settings of users name these two files: they stay where they are.
HOOKS = "src/memdir/surfaces/hooks"
SCRIPT = str(Path(sys.executable).parent / "memdir")
START = (
    "from importlib.metadata import entry_points as found\n"
    "[script] = found(group='console_scripts', name='memdir')\n"
    "script.load()()"
)
SECONDS = 60  # that a process may take beside others
DAY_SECONDS = 86_400
BEFORE_MIDNIGHT_SECONDS = 120  # in which a run could see two days
PATH = f"{os.path.dirname(shutil.which('git') or '/usr/bin/git')}:/usr/bin:/bin"
TEMPLATE_SECONDS = 120  # by which what a golden starts from is older
FOLDERS = ("/dev/shm", "/tmp")  # in memory if possible: every command waits for the disk
TOP_CHARACTERS = 32  # of its path, everywhere the same: messages are wrapped


@dataclass(frozen=True)
class Answer:
    code: int
    out: bytes
    err: bytes


class Home:
    """Everything lies below `top`; `project` is a checkout in the home, and the current folder."""

    def __init__(self, top: str = "") -> None:
        folder = next(one for one in FOLDERS if os.access(one, os.W_OK | os.X_OK))
        prefix = "memdir-".ljust(TOP_CHARACTERS - len(folder) - len("/12345678"), "-")
        self.top = Path(top or tempfile.mkdtemp(prefix=prefix, dir=folder))
        self.home, self.template = self.top / "home", self.top / "template"
        self.project = self.home / "shop"
        self.project.mkdir(parents=True, exist_ok=True)
        name = re.sub("[^A-Za-z0-9]", "-", str(self.project))
        self.store = self.home / ".claude/projects" / name / "memory"
        self.now = time.time()

    @property
    def environment(self) -> dict[str, str]:
        """All that a process is told: nothing of the machine or of whoever runs it."""
        who = {"NAME": "Ann", "EMAIL": "ann@example.invalid", "DATE": "2024-05-06T12:00:00Z"}
        people = ("AUTHOR", "COMMITTER")
        return {
            "HOME": str(self.home),
            "STORE": str(self.store),
            "PATH": PATH,
            "TZ": "UTC",
            "LANG": "C.UTF-8",
            "COLUMNS": "100",
            "NO_COLOR": "1",
            "GIT_CONFIG_NOSYSTEM": "1",
            **{f"GIT_{one}_{key}": value for one in people for key, value in who.items()},
        }

    def keep_template(self) -> None:
        shutil.copytree(self.home, self.template, symlinks=True)

    def begin(self, from_template: bool) -> None:
        """The home as it was kept, or an empty one; at the same path, which decides on keys.

        For commands time stands still from here on, or they would differ where a second ends. The
        clock of hooks and servers goes on: nothing is ever newer than now for them.
        """
        self.now = float(int(time.time()))
        shutil.rmtree(self.home)
        if from_template:
            shutil.copytree(self.template, self.home, symlinks=True)
            # A hook looks at how old the index is: old on every machine, however busy.
            for path in self.home.rglob("MEMORY.md"):
                os.utime(path, (self.now - TEMPLATE_SECONDS,) * 2)
        else:
            self.now -= TEMPLATE_SECONDS
            self.project.mkdir(parents=True)

    @contextmanager
    def inside(self, **more: str) -> Iterator[None]:
        """This process stands in the project, with the environment of this home."""
        outside, folder, mask = dict(os.environ), os.getcwd(), os.umask(0o022)
        clock, time.time = time.time, lambda: self.now
        os.environ.clear()
        os.environ.update(self.environment, **more)
        time.tzset()
        os.chdir(self.project)
        try:
            yield
        finally:
            time.time = clock
            os.environ.clear()
            os.environ.update(outside)
            time.tzset()
            os.chdir(folder)
            os.umask(mask)

    def memdir(self, *words: str, given: bytes = b"", **more: str) -> Answer:
        """One command line in this process."""
        (script,) = importlib.metadata.entry_points(group="console_scripts", name="memdir")
        kept = sys.argv, sys.stdin, sys.stdout, sys.stderr
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
        with self.inside(**more):
            sys.argv, sys.stdin = ["memdir", *words], io.TextIOWrapper(io.BytesIO(given))
            sys.stdout, sys.stderr = out, err
            code: Any = None
            try:
                script.load()()
            except SystemExit as end:
                code = end.code
            finally:
                sys.argv, sys.stdin, sys.stdout, sys.stderr = kept
        out.flush()
        err.flush()
        return Answer(int(code or 0), out.buffer.getvalue(), err.buffer.getvalue())  # type: ignore[attr-defined]

    def run(self, words: Sequence[str], given: bytes = b"", **more: str) -> Answer:
        """Any other command, in the project."""
        done = subprocess.run(
            words,
            input=given,
            capture_output=True,
            cwd=self.project,
            env={**self.environment, **more},
            timeout=SECONDS,
            umask=0o022,
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    def installed(self, *words: str) -> Answer:
        """The console script of the code and the Python that lie beside the home."""
        path = os.pathsep.join([str(self.top / "code"), sysconfig.get_paths()["purelib"]])
        line = [str(self.top / "bin/python3"), "-c", START, *words]
        return self.run(line, PYTHONPATH=path)

    def hook(self, event: str, given: bytes, file: str = "start.py", **more: str) -> Answer:
        """A hook as a client runs it, and what it leaves to a worker."""
        answer = self.run(
            [sys.executable, "-I", "-S", str(CODE / HOOKS / file), event], given, **more
        )
        self.wait()
        self.now = float(int(time.time()) + 1)  # what was just done lies behind
        return answer

    def wait(self) -> None:
        """Until no process is left that was told of this home; workers leave their hook."""
        wait_for_none(lambda: of_home(self.home))

    @contextmanager
    def server(self, **more: str) -> Iterator["Server"]:
        """`memdir mcp`, until the client goes."""
        process = subprocess.Popen(
            [SCRIPT, "mcp"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=self.project,
            env={**self.environment, **more},
            umask=0o022,
        )
        try:
            yield Server(process, self)
            process.stdin.close()
            assert process.stdout.read() == b"" and process.wait(SECONDS) == 0
        finally:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                pipe.close()


class Server:
    def __init__(self, process: "subprocess.Popen[bytes]", home: Home) -> None:
        self.process, self.home = process, home

    def say(self, line: bytes) -> Any:
        """Its answer; None for a message that asks nothing."""
        self.process.stdin.write(line.rstrip(b"\n") + b"\n")
        self.process.stdin.flush()
        try:
            message = json.loads(line)
        except ValueError:
            message = None
        asks = not isinstance(message, dict) or "id" in message  # an error is told, too
        return json.loads(self.process.stdout.readline()) if asks else None

    def call(self, tool: str, **arguments: Any) -> Any:
        asked = {"name": tool, "arguments": arguments}
        line = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": asked}
        return self.say(json.dumps(line).encode())


def avoid_midnight() -> None:
    """Ages count in days: a run that began today must not end tomorrow."""
    left = DAY_SECONDS - time.time() % DAY_SECONDS
    if left < BEFORE_MIDNIGHT_SECONDS:
        time.sleep(left)
