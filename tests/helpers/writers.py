"""Writes a conversation down as each client does, for the tests of readers. Nothing knows memdir.

A conversation is a list of `Message`. What a tool gave is the result of a call; what an agent wrote
is a call of the client's own tool for that.
"""

import json
import os
import re
import sqlite3
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any
from uuid import uuid4

from memdir.clients.conversation import PERSON, TOOL, Message

TIME = "2026-03-02T12:00:00.000Z"
SECONDS = 1772452800.0
Record = dict[str, Any]


def line(record: Any) -> str:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n"


class Lines:
    """A client whose transcript, at `path`, is a file of one record per line.

    `records` gives those of a message, `begin` those of a session, before the first message.
    """

    suffix = ".jsonl"

    def begin(self, project: Path, session: str, agent: bool) -> list[Record]:
        return []

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
            for message in said:
                file.writelines(map(line, self.records(message, project)))


class ClaudeCode(Lines):
    def path(self, home: Path, project: Path, session: str) -> Path:
        key = re.sub("[^A-Za-z0-9]", "-", str(project))
        return home / ".claude/projects" / key / f"{session}.jsonl"

    def records(self, said: Message, project: Path) -> Iterator[Record]:
        if said.who == PERSON:
            yield self.record("user", said.text, project)
        elif said.who == TOOL:
            use = self.use(said.tool, {"command": "ls"})
            back = {"type": "tool_result", "tool_use_id": use["id"], "content": said.text}
            yield self.record("assistant", [use], project)
            yield self.record("user", [back], project)
        elif said.text or not said.wrote:
            yield self.record("assistant", [{"type": "text", "text": said.text}], project)
        for path in said.wrote:
            use = self.use("Write", {"file_path": path, "content": "x"})
            yield self.record("assistant", [use], project)

    def use(self, tool: str, given: Any) -> Record:
        return {"type": "tool_use", "id": f"toolu_{uuid4().hex}", "name": tool, "input": given}

    def record(self, kind: str, content: Any, project: Path) -> Record:
        return {
            "parentUuid": None,
            "isSidechain": self.agent,
            "type": kind,
            "message": {"role": kind, "content": content},
            "uuid": str(uuid4()),
            "timestamp": TIME,
            "cwd": str(project),
            "sessionId": "s",
        }


class Codex(Lines):
    moments = count(1)

    def path(self, home: Path, project: Path, session: str) -> Path:
        return home / f".codex/sessions/2026/03/02/rollout-2026-03-02T12-00-00-{session}.jsonl"

    def begin(self, project: Path, session: str, agent: bool) -> list[Record]:
        source = {"subagent": {"thread_spawn": {}}} if agent else "cli"
        meta = {"id": session, "cwd": str(project), "cli_version": "0.65.0", "source": source}
        about = "<environment_context>\n  <cwd>x</cwd>\n</environment_context>"
        return [
            {"timestamp": TIME, "type": "session_meta", "payload": meta},
            self.message("developer", "input_text", "Be nice."),
            self.message("user", "input_text", about),
            {"timestamp": TIME, "type": "turn_context", "payload": {"cwd": str(project)}},
        ]

    def records(self, said: Message, project: Path) -> Iterator[Record]:
        call = {"call_id": f"call_{uuid4().hex}"}
        if said.who == PERSON:
            yield self.message("user", "input_text", said.text)
            event = {"type": "user_message", "message": said.text, "images": []}
            yield {"timestamp": TIME, "type": "event_msg", "payload": event}
        elif said.who == TOOL:
            given = json.dumps({"command": ["bash", "-lc", "ls"]})
            output = json.dumps({"output": said.text, "metadata": {"exit_code": 0}})
            yield self.item("function_call", name=said.tool, arguments=given, **call)
            yield self.item("function_call_output", output=output, **call)
        elif said.text:
            yield self.message("assistant", "output_text", said.text)
        for path in said.wrote:
            patch = f"*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch"
            made = {"name": "apply_patch", "input": patch, "status": "completed"}
            yield self.item("custom_tool_call", **made, **call)

    def message(self, role: str, kind: str, text: str) -> Record:
        return self.item("message", role=role, content=[{"type": kind, "text": text}])

    def item(self, type: str, **payload: Any) -> Record:
        # Items have no ids, but every line has its moment.
        time = f"2026-03-02T12:00:00.{next(self.moments) % 1_000_000:06d}Z"
        return {"timestamp": time, "type": "response_item", "payload": {"type": type, **payload}}


class Gemini(Lines):
    def path(self, home: Path, project: Path, session: str) -> Path:
        key = sha256(str(project).encode()).hexdigest()
        return home / ".gemini/tmp" / key / "chats" / f"session-2026-03-02T12-00-{session}.jsonl"

    def begin(self, project: Path, session: str, agent: bool) -> list[Record]:
        kind = "subagent" if agent else "main"
        return [{"sessionId": session, "projectHash": "x", "startTime": TIME, "kind": kind}]

    def records(self, said: Message, project: Path) -> Iterator[Record]:
        message = {"id": str(uuid4()), "timestamp": TIME, "type": "gemini", "content": said.text}
        if said.who == PERSON:
            yield {**message, "type": "user", "content": [{"text": said.text}]}
        elif said.who == TOOL:
            call = self.call(said.tool, {"path": "."})
            response = {"functionResponse": {"name": said.tool, "response": {"output": said.text}}}
            done = {**call, "status": "success", "result": [response]}
            # A message that grows is written again.
            for grown in ({}, {"toolCalls": [call]}, {"toolCalls": [done]}):
                yield {**message, "content": "", **grown}
        else:
            given = [{"file_path": path, "content": "x"} for path in said.wrote]
            calls = [{**self.call("write_file", one), "status": "success"} for one in given]
            yield {**message, "toolCalls": calls}
            yield {**message, "toolCalls": calls, "tokens": {"total": 1}}
        yield {"$set": {"lastUpdated": TIME}}

    def call(self, tool: str, given: Any) -> Record:
        return {"id": str(uuid4()), "name": tool, "args": given, "timestamp": TIME}


class OpencodeTable:
    """A database."""

    count = 0
    tables = """
        CREATE TABLE IF NOT EXISTS session (id TEXT PRIMARY KEY, directory TEXT,
            parent_id TEXT, time_created INTEGER, time_updated INTEGER);
        CREATE TABLE IF NOT EXISTS message (id TEXT PRIMARY KEY, session_id TEXT,
            time_created INTEGER, data TEXT);
        CREATE TABLE IF NOT EXISTS part (id TEXT PRIMARY KEY, message_id TEXT,
            session_id TEXT, data TEXT);
    """

    def lay(
        self, home: Path, project: Path, session: str, said: Sequence[Message], agent: bool = False
    ) -> Path:
        path = home / ".local/share/opencode/opencode.db" / session
        path.parent.parent.mkdir(parents=True, exist_ok=True)
        with sqlite3.connect(path.parent) as table:
            table.executescript(self.tables)
            row = (session, str(project), "ses_0" if agent else None, 1, len(session) + self.count)
            table.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?)", row)
        table.close()
        self.more(path, project, said)
        return path

    def more(self, path: Path, project: Path, said: Sequence[Message]) -> None:
        with sqlite3.connect(path.parent) as table:
            for message in said:
                OpencodeTable.count += 1
                id = f"msg_{self.count:06d}"
                moment = SECONDS * 1000
                data = {"role": "assistant", "time": {"created": moment, "completed": moment}}
                if message.who == PERSON:
                    data = {"role": "user", "time": {"created": moment}}
                row = (id, path.name, int(SECONDS * 1000), json.dumps(data))
                table.execute("INSERT INTO message VALUES (?, ?, ?, ?)", row)
                for number, part in enumerate(self.parts(message)):
                    whole = (f"prt_{id}_{number:03d}", id, path.name, json.dumps(part))
                    table.execute("INSERT INTO part VALUES (?, ?, ?, ?)", whole)
        table.close()

    def parts(self, said: Message) -> Iterator[Record]:
        if said.who == PERSON:
            yield {"type": "text", "text": said.text}
            yield {"type": "text", "text": "Called the Read tool", "synthetic": True}
            return
        yield {"type": "step-start"}
        if said.who == TOOL:
            yield self.call(said.tool, {"command": "ls"}, said.text)
        elif said.text:
            yield {"type": "text", "text": said.text}
        for path in said.wrote:
            yield self.call("write", {"filePath": path}, "")

    def call(self, tool: str, given: Any, output: str) -> Record:
        state = {"status": "completed", "input": given, "output": output}
        return {"type": "tool", "callID": "c", "tool": tool, "state": state}


WRITERS: dict[str, tuple[str, Any]] = {
    "claude-code": ("claude_code", ClaudeCode),
    "codex": ("codex", Codex),
    "gemini-cli": ("gemini_cli", Gemini),
    "opencode": ("opencode", OpencodeTable),
}


def age(path: Path, seconds: float) -> None:
    """Make a file look older."""
    os.utime(path, (SECONDS - seconds, SECONDS - seconds))
