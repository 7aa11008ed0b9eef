"""What every peer gets: a throw-away home, memories of a repository, a limit of time, a wire."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field

HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "benchmark", "version": "1"},
}


class Failed(Exception):
    """A peer that cannot do it; the text goes into its cell."""


class Clock:
    """How long a peer may take for everything."""

    def __init__(self, seconds: float) -> None:
        self.end = time.monotonic() + seconds

    def left(self, limit: float) -> float:
        left = min(limit, self.end - time.monotonic())
        if left <= 0:
            raise Failed("its time was up")
        return left


@dataclass(frozen=True)
class Note:
    """A memory: its file, what it is called, the file's whole text."""

    path: str
    title: str
    text: str


@dataclass(frozen=True)
class Asked:
    prompt: str
    gold: tuple[str, ...]


@dataclass
class Root:
    """A memory directory of the corpus and the prompts that were put to it."""

    folder: str
    notes: list[Note] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)


class Place:
    """A home and a project of its own; nothing of the user's is in its environment."""

    def __init__(self, folder: str, clock: Clock, **variables: str) -> None:
        self.home, self.code = os.path.join(folder, "home"), os.path.join(folder, "code")
        self.store = os.path.join(self.home, "notes")
        self.clock = clock
        for path in (self.home, self.code, self.store):
            os.makedirs(path)
        self.env = {"HOME": self.home, "PATH": os.environ["PATH"], "DO_NOT_TRACK": "1"}
        self.env |= {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"} | variables
        self.run(["git", "init", "-q", self.code])

    def run(self, words: list[str], given: str = "", limit: float = 120) -> str:
        """Its standard output; Failed with the last line of its errors otherwise."""
        try:
            done = subprocess.run(
                words,
                input=given,
                capture_output=True,
                text=True,
                env=self.env,
                cwd=self.code,
                timeout=self.clock.left(limit),
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Failed(f"{os.path.basename(words[0])}: {error}") from None
        if done.returncode:
            raise Failed(f"{os.path.basename(words[0])}: {last_line(done.stderr or done.stdout)}")
        return done.stdout


def last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "ended without a word"


class Wire:
    """A process that answers JSON-RPC, a line each: an MCP server, or the driver of a library."""

    def __init__(self, words: list[str], place: Place) -> None:
        self.clock = place.clock
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115
        pipe = subprocess.PIPE
        self.began = time.perf_counter()
        try:
            self.process = subprocess.Popen(
                words,
                stdin=pipe,
                stdout=pipe,
                stderr=self.errors,
                env=place.env,
                cwd=place.code,
                start_new_session=True,
            )
        except OSError as error:
            raise Failed(str(error)) from None
        self.lines: queue.Queue[bytes] = queue.Queue()
        self.asked = 0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(b"")

    def send(self, method: str, params: object = None, number: int = 0) -> None:
        message = {"jsonrpc": "2.0", "method": method}
        message |= {"params": params} if params is not None else {}  # type: ignore[dict-item]
        message |= {"id": number} if number else {}  # type: ignore[dict-item]
        assert self.process.stdin
        try:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            raise Failed(self._complaint()) from None

    def ask(self, method: str, params: object, limit: float = 180) -> dict:
        self.asked += 1
        self.send(method, params, self.asked)
        end = Clock(self.clock.left(limit))
        while True:
            try:
                line = self.lines.get(timeout=end.left(limit))
            except queue.Empty:
                raise Failed(f"{method}: no answer in {limit:.0f} s") from None
            if not line:
                raise Failed(self._complaint())
            try:
                answer = json.loads(line)
            except ValueError:
                continue  # a log line on standard output
            if answer.get("id") == self.asked and "method" not in answer:
                if "result" not in answer:
                    raise Failed(str(answer.get("error", {}).get("message", answer))[:200])
                return answer["result"]

    def greet(self) -> int:
        """The first words of MCP; gives the bytes of the answer to tools/list."""
        self.ask("initialize", HELLO)
        self.send("notifications/initialized")
        self.tools = self.ask("tools/list", {})
        return len(json.dumps(self.tools, separators=(",", ":"), ensure_ascii=False).encode())

    def call(self, tool: str, **arguments: object) -> dict:
        """The answer of a tool; what it calls an error is Failed."""
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        if result.get("isError"):
            raise Failed(f"{tool}: {text_of(result)[:200]}")
        return result

    def close(self) -> None:
        """Ends it as a client does: its input closes; then a signal to its own group."""
        with suppress(OSError, subprocess.TimeoutExpired):
            if self.process.stdin:
                self.process.stdin.close()
            self.process.wait(5)
        with suppress(OSError):  # all of it is gone
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def _complaint(self) -> str:
        self.errors.seek(0)
        return "its server ended: " + last_line(self.errors.read().decode(errors="replace"))


def text_of(result: dict) -> str:
    return "\n".join(str(part.get("text", "")) for part in result.get("content", []))
