"""A client that is asked one thing after the other, without a terminal."""

import json
import queue
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

TURN_SECONDS = 60
CLOSE_SECONDS = 60


class Conversation:
    """`say` sends a prompt or a slash command and waits for the answer to it."""

    def __init__(
        self,
        running: subprocess.Popen[str],
        errors: Path,
        end: Callable[[subprocess.Popen[str]], None],
    ) -> None:
        self.running, self.errors, self.end = running, errors, end
        self.events: list[Any] = []
        self.arrived: queue.Queue[Any] = queue.Queue()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def say(self, text: str) -> Any:
        """The result that the client reports for this turn."""
        message = {"type": "user", "message": {"role": "user", "content": text}}
        self.running.stdin.write(json.dumps(message) + "\n")
        self.running.stdin.flush()
        while True:
            try:
                event = self.arrived.get(timeout=TURN_SECONDS)
            except queue.Empty:
                raise TimeoutError(f"no answer to {text!r} in {TURN_SECONDS} seconds") from None
            if event is None:
                raise EOFError(f"the client ended at {text!r}: {self.errors.read_text()[-500:]}")
            self.events.append(event)
            if event.get("type") == "result":
                return event

    @property
    def session(self) -> str:
        """The id that the client reported last."""
        return [event["session_id"] for event in self.events if event.get("session_id")][-1]

    @property
    def err(self) -> str:
        return self.errors.read_text(encoding="utf-8")

    def _read(self) -> None:
        for line in self.running.stdout:
            if line.startswith("{"):
                self.arrived.put(json.loads(line))
        self.arrived.put(None)

    def __enter__(self) -> "Conversation":
        return self

    def __exit__(self, *error: object) -> None:
        try:
            self.running.stdin.close()
            self.running.wait(CLOSE_SECONDS)
        except (BrokenPipeError, subprocess.TimeoutExpired):
            self.end(self.running)
        self.reader.join(CLOSE_SECONDS)
        self.running.stdout.close()
