"""A throw-away home with a client in it: settings, memories, runs, what the model was sent."""

import json
import os
import re
import shlex
import signal
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.acceptance import client, fence
from tests.acceptance.scripted_api import MAIN, Api, kind, said
from tests.helpers.scripted_server import Request
from tests.helpers.tables import table

RUN_SECONDS = 90
END_SECONDS = 5  # for a client that was asked to end
FRAME = re.compile(r"<memdir-([0-9a-z]{1,64})>\n(.*?)\n</memdir-\1>", re.DOTALL)


@dataclass(frozen=True)
class Run:
    """A run in print mode that has ended."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)

    @property
    def succeeded(self) -> bool:
        """The session came to its answer, and nobody sees that anything went wrong."""
        return self.code == 0 and self.err == "" and self.data["subtype"] == "success"


class Conversation:
    """A client that is asked one thing after the other, without a terminal."""

    def __init__(self, running: subprocess.Popen[str], errors: Path) -> None:
        self.running, self.errors = running, errors
        self.session = ""  # the id that the client reported last

    def say(self, text: str) -> Any:
        """Sends a prompt or a slash command; the result that the client reports for this turn."""
        message = {"type": "user", "message": {"role": "user", "content": text}}
        self.running.stdin.write(json.dumps(message) + "\n")
        self.running.stdin.flush()
        limit = threading.Timer(RUN_SECONDS, end, [self.running])
        limit.start()
        try:
            for line in self.running.stdout:
                event = json.loads(line) if line.startswith("{") else {}
                self.session = event.get("session_id") or self.session
                if event.get("type") == "result":
                    return event
        finally:
            limit.cancel()
        raise EOFError(f"the client ended at {text!r}: {self.err[-500:]}")

    @property
    def err(self) -> str:
        return self.errors.read_text(encoding="utf-8")

    def __enter__(self) -> "Conversation":
        return self

    def __exit__(self, *error: object) -> None:
        try:
            self.running.communicate(timeout=RUN_SECONDS)
        except (BrokenPipeError, subprocess.TimeoutExpired):
            end(self.running)


class Sandbox:
    """A home, a project, an API; `program` is the client."""

    def __init__(self, top: Path, program: str, api: Api) -> None:
        fence.refuse_if_open()
        self.top, self.api, self.program = top, api, program
        self.home, self.project, self.temporary = (top / n for n in ("home", "project", "tmp"))
        for folder in (self.home / ".claude", self.project, self.temporary):
            folder.mkdir(parents=True)
        self.heard = top / "hooks.jsonl"
        self.hooks: dict[str, list[Any]] = {}
        self.variables: dict[str, str] = {}

    # What a test sets up

    def store(self, project: Path | None = None) -> Path:
        """Where the client itself keeps the memories of a project."""
        name = re.sub(r"[^A-Za-z0-9]", "-", str((project or self.project).resolve()))
        return self.home / ".claude/projects" / name / "memory"

    def write_memory(self, name: str, text: str, project: Path | None = None) -> Path:
        path = self.store(project) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="surrogateescape")
        return path

    def hook(self, event: str, command: str, **more: Any) -> None:
        """Add a hook to the user's settings."""
        entry = {"type": "command", "command": command, **more}
        self.hooks.setdefault(event, []).append({"hooks": [entry]})
        settings = self.home / ".claude/settings.json"
        settings.write_text(json.dumps({"hooks": self.hooks}), encoding="utf-8")

    def listen(self, *events: str, answer: str = "") -> None:
        """Hooks that write down what they are given, and may answer with a context."""
        for event in events:
            said = {"hookEventName": event, "additionalContext": answer}
            printed = json.dumps({"hookSpecificOutput": said}) if answer else ""
            keep = f"given=$(cat); printf '%s\\n' \"$given\" >>{shlex.quote(str(self.heard))}"
            self.hook(event, f"{keep}; printf %s {shlex.quote(printed)}")

    # What it does

    def environment(self) -> dict[str, str]:
        """Nothing of the caller's is passed on."""
        return {
            "HOME": str(self.home),
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "TMPDIR": str(self.temporary),
            "CLAUDE_CODE_TMPDIR": str(self.temporary),
            "ANTHROPIC_BASE_URL": self.api.address,
            **table("acceptance", "environment"),
            **self.variables,
        }

    def start(
        self, *arguments: str, project: Path | None = None, **pipes: Any
    ) -> subprocess.Popen[str]:
        """A client in a session of its own, so that it can be ended with all it started."""
        return subprocess.Popen(
            [*client.command(self.program), *arguments],
            cwd=project or self.project,
            env=self.environment(),
            text=True,
            encoding="utf-8",
            start_new_session=True,
            **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, **pipes},
        )

    def version(self) -> str:
        running = self.start("--version", stderr=subprocess.DEVNULL)
        return running.communicate(timeout=RUN_SECONDS)[0].split()[0]

    def ask(self, prompt: str, *arguments: str, project: Path | None = None) -> Run:
        """One question in print mode. The prompt comes first: some options swallow what follows."""
        words = ["-p", prompt, "--output-format", "json", *arguments]
        running = self.start(*words, project=project, stderr=subprocess.PIPE)
        try:
            out, err = running.communicate(timeout=RUN_SECONDS)
        except subprocess.TimeoutExpired:
            end(running)
            raise
        return Run(running.returncode, out, err)

    def converse(self, *arguments: str) -> Conversation:
        """Several prompts to one client; a context manager."""
        errors = self.top / "conversation.err"
        with errors.open("w", encoding="utf-8") as stderr:
            form = ["--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]
            words = ["-p", *form, *arguments]
            running = self.start(*words, stdin=subprocess.PIPE, stderr=stderr)
        return Conversation(running, errors)

    # What came of it

    def requests(self, wanted: str = MAIN) -> list[Request]:
        return [request for request in self.api.requests if kind(request) == wanted]

    def sent(self) -> str:
        """All that the model was sent in the last request of the conversation."""
        return said(self.requests()[-1])

    def told(self) -> list[str]:
        """What stands in memdir's frames in that request."""
        return [match[2] for match in FRAME.finditer(self.sent())]

    def events(self, name: str = "") -> list[Any]:
        """What the listening hooks were given."""
        if not self.heard.exists():
            return []
        rows = [json.loads(line) for line in self.heard.read_text("utf-8").splitlines()]
        return [row for row in rows if name in ("", row["hook_event_name"])]


def end(running: subprocess.Popen[str]) -> None:
    """Our own child and what it started, nobody else."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(running.pid, number)
            running.wait(END_SECONDS)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue
