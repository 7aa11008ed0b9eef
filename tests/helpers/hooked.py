"""A client with our hooks: a home, a project, and what the real client hands to each event."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from memdir.config.scope import project_scope_name
from tests.acceptance.recording import read
from tests.helpers.processes import PATIENCE, of_home, wait_for_none
from tests.helpers.repositories import Checkout
from tests.helpers.tables import table
from tests.self.source import PACKAGE

RECORDED = read()
START = PACKAGE / "hot/start.py"
SETTLED = 0.06  # seconds after which a file counts as old enough to be trusted
EVENTS = table("hooks", "events")


class Client:
    """Fires events as the client does; `fire` gives what the model would be told."""

    def __init__(self, top: Path, start: Path = START) -> None:
        self.top, self.start = top, start
        self.home, self.project = top / "home", top / "project"
        (self.home / ".claude").mkdir(parents=True)
        self.code = Checkout(self.project)
        self.env = {"HOME": str(self.home), "PATH": os.environ["PATH"]}
        self.state, self.cache = self.home / ".local/state/memdir", self.home / ".cache/memdir"

    @property
    def store(self) -> Path:
        name = project_scope_name(os.path.realpath(self.project))
        return self.home / ".claude/projects" / name / "memory"

    def write(self, path: str, text: str, root: Path | None = None) -> Path:
        where = (root or self.store) / path
        where.parent.mkdir(parents=True, exist_ok=True)
        where.write_text(text, encoding="utf-8")
        return where

    def run(self, event: str, given: bytes, *arguments: str) -> bytes:
        """What a hook prints: never an error, never a word on stderr."""
        words = [sys.executable, "-I", "-S", str(self.start), event, *arguments]
        done = subprocess.run(
            words,
            input=given,
            capture_output=True,
            timeout=PATIENCE,
            env=self.env,
            cwd=self.top,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        if event == "session-end":
            self.wait(event)  # on a busy machine it goes on without its client
        return done.stdout

    def event(self, name: str, **changes: Any) -> bytes:
        """What was recorded, in this project."""
        return json.dumps({**RECORDED[name], "cwd": str(self.project), **changes}).encode()

    def fire(self, event: str, name: str = "", **changes: Any) -> str:
        name = name or EVENTS[event]
        printed = self.run(event, self.event(name, **changes))
        if not printed:
            return ""
        told = json.loads(printed)["hookSpecificOutput"]
        assert told["hookEventName"] == RECORDED[name]["hook_event_name"]
        return told["additionalContext"]

    def start_with(self, source: str, **changes: Any) -> str:
        """What a session is told that starts in this way."""
        return self.fire("session-start", f"SessionStart-{source}", **changes)

    def log(self) -> str:
        path = self.state / "hooks.log"
        return path.read_text() if path.exists() else ""

    def queue(self) -> list[Any]:
        lines = []
        for name in ("queue.taken", "queue"):
            path = self.state / name
            lines += path.read_text().splitlines() if path.exists() else []
        return [json.loads(line) for line in lines]

    def workers(self, event: str = "worker") -> list[str]:
        """The workers that run for this home; or whatever else of the hooks does."""
        ours = {str(self.start).encode(), event.encode()}
        found = of_home(self.home)
        return [number for number, words in found if ours <= {*words} or words == [b""]]

    def wait(self, event: str = "worker") -> None:
        """Until no worker is left."""
        wait_for_none(lambda: self.workers(event))


def units(text: str) -> int:
    """As JavaScript counts a text."""
    return len(text.encode("utf-16-le")) // 2
