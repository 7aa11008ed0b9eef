"""Writes a conversation down as each client does, for the tests of readers. Nothing knows memdir.

A conversation is a list of `Message`. What a tool gave is the result of a call; what an agent wrote
is a call of the client's own tool for that.
"""

import json
import os
import sqlite3
import uuid
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from memdir.clients.conversation import AGENT, PERSON, TOOL, Message

TIME = "2026-03-02T12:00:00.000Z"
SECONDS = 1772452800.0


def new_id() -> str:
    return str(uuid.uuid4())


def line(record: Any) -> str:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n"


class Lines:
    """A client whose transcript is a file of one record per line."""

    suffix = ".jsonl"

    def path(self, home: Path, project: Path, session: str) -> Path:
        raise NotImplementedError

    def begin(self, project: Path, session: str, agent: bool) -> list[Any]:
        return []

    def records(self, said: Message, project: Path) -> list[Any]:
        raise NotImplementedError

    def lay(
        self, home: Path, project: Path, session: str, said: Sequence[Message], agent: bool = False
    ) -> Path:
        path = self.path(home, project, session)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(map(line, self.begin(project, session, agent))), "utf-8")
        self.agent = agent
        self.more(path, project, said)
        return path

    def more(self, path: Path, project: Path, said: Sequence[Message]) -> None:
        with path.open("a", encoding="utf-8") as file:
            for one in said:
                file.writelines(map(line, self.records(one, project)))


class ClaudeCode(Lines):
    def path(self, home: Path, project: Path, session: str) -> Path:
        key = "".join(one if one.isalnum() and one.isascii() else "-" for one in str(project))
        return home / ".claude/projects" / key / f"{session}.jsonl"

    def records(self, said: Message, project: Path) -> list[Any]:
        if said.who == PERSON:
            return [self.record("user", said.text, project)]
        if said.who == TOOL:
            return self.call(said.tool, {"command": "ls"}, said.text, project)
        calls = [{"file_path": path, "content": "x"} for path in said.wrote]
        found = [self.record("assistant", [{"type": "text", "text": said.text}], project)]
        for given in calls:
            use, _ = self.call("Write", given, "", project)
            found = [use] if not said.text else [*found, use]
        return found

    def call(self, tool: str, given: Any, result: str, project: Path) -> list[Any]:
        id = f"toolu_{uuid.uuid4().hex}"
        use = {"type": "tool_use", "id": id, "name": tool, "input": given}
        back = {"type": "tool_result", "tool_use_id": id, "content": result}
        return [self.record("assistant", [use], project), self.record("user", [back], project)]

    def record(self, kind: str, content: Any, project: Path) -> dict[str, Any]:
        return {
            "parentUuid": None,
            "isSidechain": self.agent,
            "type": kind,
            "message": {"role": kind, "content": content},
            "uuid": new_id(),
            "timestamp": TIME,
            "cwd": str(project),
            "sessionId": "s",
        }


class Codex(Lines):
    def path(self, home: Path, project: Path, session: str) -> Path:
        name = f"rollout-2026-03-02T12-00-00-{session}.jsonl"
        return home / ".codex/sessions/2026/03/02" / name

    def begin(self, project: Path, session: str, agent: bool) -> list[Any]:
        source = {"subagent": {"thread_spawn": {}}} if agent else "cli"
        meta = {"id": session, "cwd": str(project), "cli_version": "0.65.0", "source": source}
        about = "<environment_context>\n  <cwd>x</cwd>\n</environment_context>"
        return [
            {"timestamp": TIME, "type": "session_meta", "payload": meta},
            self.item({"type": "message", "role": "developer", "content": self.text("Be nice.")}),
            self.item({"type": "message", "role": "user", "content": self.text(about)}),
            {"timestamp": TIME, "type": "turn_context", "payload": {"cwd": str(project)}},
        ]

    def records(self, said: Message, project: Path) -> list[Any]:
        if said.who == PERSON:
            event = {"type": "user_message", "message": said.text, "images": []}
            content = self.text(said.text)
            return [
                self.item({"type": "message", "role": "user", "content": content}),
                {"timestamp": TIME, "type": "event_msg", "payload": event},
            ]
        call = f"call_{uuid.uuid4().hex}"
        if said.who == TOOL:
            given = json.dumps({"command": ["bash", "-lc", "ls"]})
            output = json.dumps({"output": said.text, "metadata": {"exit_code": 0}})
            return [
                self.item(
                    {
                        "type": "function_call",
                        "name": said.tool,
                        "call_id": call,
                        "arguments": given,
                    }
                ),
                self.item({"type": "function_call_output", "call_id": call, "output": output}),
            ]
        found = []
        if said.text:
            content = [{"type": "output_text", "text": said.text}]
            found.append(self.item({"type": "message", "role": "assistant", "content": content}))
        for path in said.wrote:
            patch = f"*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch"
            custom = {"type": "custom_tool_call", "name": "apply_patch", "input": patch}
            found.append(self.item({**custom, "call_id": call, "status": "completed"}))
        return found

    def item(self, payload: Any) -> Any:
        # Items have no ids, but every line has its moment.
        Codex.moment = getattr(Codex, "moment", 0) + 1
        time = f"2026-03-02T12:00:00.{Codex.moment % 1_000_000:06d}Z"
        return {"timestamp": time, "type": "response_item", "payload": payload}

    def text(self, text: str) -> Any:
        return [{"type": "input_text", "text": text}]


class Gemini(Lines):
    def path(self, home: Path, project: Path, session: str) -> Path:
        key = sha256(str(project).encode()).hexdigest()
        return home / ".gemini/tmp" / key / "chats" / f"session-2026-03-02T12-00-{session}.jsonl"

    def begin(self, project: Path, session: str, agent: bool) -> list[Any]:
        kind = "subagent" if agent else "main"
        return [{"sessionId": session, "projectHash": "x", "startTime": TIME, "kind": kind}]

    def records(self, said: Message, project: Path) -> list[Any]:
        message = {"id": new_id(), "timestamp": TIME}
        if said.who == PERSON:
            found = [{**message, "type": "user", "content": [{"text": said.text}]}]
        elif said.who == TOOL:
            response = {"functionResponse": {"name": said.tool, "response": {"output": said.text}}}
            call = {"id": new_id(), "name": said.tool, "args": {"path": "."}, "timestamp": TIME}
            done = {**call, "status": "success", "result": [response]}
            grown = {**message, "type": "gemini", "content": ""}
            # A message that grows is written again.
            found = [grown, {**grown, "toolCalls": [call]}, {**grown, "toolCalls": [done]}]
        else:
            calls = [
                {"id": new_id(), "name": "write_file", "args": {"file_path": path, "content": "x"}}
                for path in said.wrote
            ]
            done = [{**call, "status": "success", "timestamp": TIME} for call in calls]
            whole = {**message, "type": "gemini", "content": said.text, "toolCalls": done}
            found = [whole, {**whole, "tokens": {"total": 1}}]
        return [*found, {"$set": {"lastUpdated": TIME}}]


class OpencodeTable:
    """A database."""

    count = 0

    def path(self, home: Path, project: Path, session: str) -> Path:
        return home / ".local/share/opencode/opencode.db" / session

    def lay(
        self, home: Path, project: Path, session: str, said: Sequence[Message], agent: bool = False
    ) -> Path:
        path = self.path(home, project, session)
        path.parent.parent.mkdir(parents=True, exist_ok=True)
        with sqlite3.connect(path.parent) as table:
            table.executescript(
                "CREATE TABLE IF NOT EXISTS session (id TEXT PRIMARY KEY, directory TEXT,"
                " parent_id TEXT, time_created INTEGER, time_updated INTEGER);"
                "CREATE TABLE IF NOT EXISTS message (id TEXT PRIMARY KEY, session_id TEXT,"
                " time_created INTEGER, data TEXT);"
                "CREATE TABLE IF NOT EXISTS part (id TEXT PRIMARY KEY, message_id TEXT,"
                " session_id TEXT, data TEXT);"
            )
            row = (session, str(project), "ses_0" if agent else None, 1, len(session) + self.count)
            table.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?)", row)
        table.close()
        self.more(path, project, said)
        return path

    def more(self, path: Path, project: Path, said: Sequence[Message]) -> None:
        with sqlite3.connect(path.parent) as table:
            for one in said:
                id, data, parts = self.message(one)
                row = (id, path.name, int(SECONDS * 1000), json.dumps(data))
                table.execute("INSERT INTO message VALUES (?, ?, ?, ?)", row)
                for number, part in enumerate(parts):
                    whole = (f"prt_{id}_{number:03d}", id, path.name, json.dumps(part))
                    table.execute("INSERT INTO part VALUES (?, ?, ?, ?)", whole)
        table.close()

    def message(self, said: Message) -> tuple[str, Any, list[Any]]:
        OpencodeTable.count += 1
        time = {"created": SECONDS * 1000}
        if said.who == PERSON:
            told = {"type": "text", "text": "Called the Read tool", "synthetic": True}
            parts = [{"type": "text", "text": said.text}, told]
            return f"msg_{self.count:06d}", {"role": "user", "time": time}, parts
        parts = [{"type": "step-start"}]
        if said.who == TOOL:
            state = {"status": "completed", "input": {"command": "ls"}, "output": said.text}
            parts.append({"type": "tool", "callID": "c", "tool": said.tool, "state": state})
        elif said.text:
            parts.append({"type": "text", "text": said.text})
        for path in said.wrote:
            state = {"status": "completed", "input": {"filePath": path}, "output": ""}
            parts.append({"type": "tool", "callID": "c", "tool": "write", "state": state})
        done = {"role": "assistant", "time": {**time, "completed": SECONDS * 1000}}
        return f"msg_{self.count:06d}", done, parts


WRITERS: dict[str, tuple[str, Any]] = {
    "claude-code": ("claude_code", ClaudeCode),
    "codex": ("codex", Codex),
    "gemini-cli": ("gemini_cli", Gemini),
    "opencode": ("opencode", OpencodeTable),
}


def age(path: Path, seconds: float) -> None:
    """Make a file look older."""
    os.utime(path, (SECONDS - seconds, SECONDS - seconds))


__all__ = ["AGENT", "PERSON", "TOOL", "WRITERS", "ClaudeCode", "Message", "age", "line"]
