"""A transcript of Claude Code, written as the client writes it: a line per thing that was said."""

import json
from pathlib import Path
from typing import Any

PERSON, AGENT = "user", "assistant"
WHEN = "2026-03-02T09:00:00Z"
TUESDAY = "Remember that we deploy only on Tuesdays. The release team is in then."
OSLO = "Please remember: the staging cluster is in Oslo."
NOTICED = "Never mock the database in tests. The mocked ones hid a broken migration."


class Conversation:
    """One session; each record has an id of its own that never changes."""

    def __init__(self, path: Path, cwd: str = "/project") -> None:
        self.path, self.cwd, self.count = path, cwd, 0
        path.parent.mkdir(parents=True, exist_ok=True)

    @property
    def session(self) -> str:
        return self.path.stem

    def say(self, *texts: str) -> "Conversation":
        """A person and the agent in turns."""
        for number, text in enumerate(texts):
            self.record(AGENT if number % 2 else PERSON, text)
        return self

    def wrote(self, path: str) -> "Conversation":
        """The agent writes a file itself."""
        call = {"type": "tool_use", "id": f"c{self.count}", "name": "Write"}
        self.record(AGENT, [{**call, "input": {"file_path": path, "content": "x"}}])
        result = {"type": "tool_result", "tool_use_id": call["id"], "content": "File created"}
        self.record(PERSON, [result])
        return self

    def record(self, kind: str, content: Any, **more: Any) -> None:
        self.count += 1
        blocks = content
        if kind == AGENT and isinstance(content, str):
            blocks = [{"type": "text", "text": content}]
        line = {
            "type": kind,
            "uuid": f"{self.session}-{self.count}",
            "sessionId": self.session,
            "cwd": self.cwd,
            "timestamp": WHEN,
            "message": {"role": kind, "content": blocks},
            **more,
        }
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
