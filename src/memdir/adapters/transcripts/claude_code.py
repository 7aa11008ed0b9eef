"""Claude Code: a JSONL file per session below `projects/` of its own directory."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

from memdir.adapters.transcripts import _jsonl
from memdir.adapters.transcripts._injected import typed, unframed
from memdir.adapters.transcripts._sessions import belongs, listed
from memdir.adapters.transcripts._text import readable, seconds, words
from memdir.adapters.transcripts._writing import written
from memdir.core.scope import NAME_CHARACTERS, project_name, tidy
from memdir.core.transcript import AGENT, PERSON, TOOL, Cursor, Said, Session, Stretch

CLIENT = "claude-code"
SUFFIX = ".jsonl"
USER, ASSISTANT, ATTACHMENT = "user", "assistant", "attachment"
# Flags of records that nobody said: the client's own words, another agent's talk, a summary.
NOT_SAID = ("isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly")
# Who may have started a turn, where the record says so. All others are programs.
PERSONS = ("human", "person", "composer", "voice-call", "remote", "sdk", "")
# Kinds of records that hold nothing that was said. Others are counted: the client has changed.
SILENT = frozenset(
    (
        *("attachment", "system", "summary", "progress", "mode", "permission-mode", "cost-state"),
        *("queue-operation", "last-prompt", "tools-used", "atis-latch", "file-history-snapshot"),
        *("api-request", "api-request-blob", "api-request-shape", "custom-title", "ai-title"),
        *("agent-name", "agent-color", "agent-setting", "tag", "pr-link", "worktree-state"),
        *("content-replacement", "attribution-snapshot", "marble-origami-commit"),
        *("marble-origami-snapshot", "speculation-accept", "task-summary", "bridge-session"),
    )
)
KNOWN = SILENT | {USER, ASSISTANT}
# A refusal in which the person says what to do instead. A tool cannot forge the record's field.
REJECTED = "User rejected tool use"
REASON = "the user said:\n"
REMARK = "\n\nNote: The user's next message may contain"
ASKING = "AskUserQuestion"
HEAD = 256 * 1024  # bytes at the top of a file in which it says where it was


def open_reader(home: str, environ: Mapping[str, str]) -> Reader:
    """The reader for whoever has this home."""
    named = environ.get("CLAUDE_CONFIG_DIR", "")
    folder = named if named.startswith("/") else os.path.join(home, ".claude")
    return Reader(os.path.join(tidy(folder), "projects"), home)


class Reader:
    """Reads below one directory."""

    def __init__(self, root: str, home: str) -> None:
        self.root, self.home = root, home

    def read(self, path: str, since: Cursor, last: str = "") -> Stretch:
        """What was said since the cursor; `last` is the reply that a hook was given."""
        session = os.path.basename(path).removesuffix(SUFFIX)
        return _jsonl.read(path, self.root, since, last, Talk(self.home), session)

    def sessions(self, project: str) -> list[Session]:
        """Those that were started in the project or below it, newest first."""
        key = project_name(os.path.realpath(project))[:NAME_CHARACTERS]
        found = []
        for folder in listed(self.root):
            if folder.name == key or folder.name.startswith(f"{key}-"):
                for file in listed(folder.path, SUFFIX):
                    cwd = self.started_in(file.path)
                    if not file.name.startswith("agent-") and belongs(cwd, project):
                        id = file.name.removesuffix(SUFFIX)
                        found.append(Session(CLIENT, id, file.path, *file.facts, cwd))
        return sorted(found, key=lambda session: session.modified, reverse=True)

    def started_in(self, path: str) -> str:
        """Where the session was started; empty where its file does not say."""
        return words(_jsonl.first_if_any(path, self.root, HEAD, "cwd").get("cwd"))


class Talk:
    """What Claude Code's records mean."""

    def __init__(self, home: str) -> None:
        self.home, self.cwd = home, ""
        self.names: dict[str, str] = {}  # of tools, by the id of the call
        self.calls: dict[str, tuple[str, tuple[str, ...]]] = {}  # who called, and for which files
        self.failed: dict[str, set[str]] = {}

    def mark(self, record: _jsonl.Record) -> str | None:
        id = words(record.get("uuid"))
        return id or ("" if record.get("type") in (USER, ASSISTANT) else None)

    def take(self, record: _jsonl.Record, id: str) -> list[Said] | None:
        kind = record.get("type")
        if not isinstance(kind, str) or kind not in KNOWN:
            return None
        self.cwd = words(record.get("cwd")) or self.cwd
        if any(record.get(flag) for flag in NOT_SAID):
            return []
        time = seconds(record.get("timestamp"))
        if kind == ATTACHMENT:
            return _queued(record.get("attachment"), id, time)
        if kind == USER:
            return list(self._user(record, id, time))
        return list(self._assistant(record, id, time)) if kind == ASSISTANT else []

    def _user(self, record: _jsonl.Record, id: str, time: float) -> Iterator[Said]:
        texts = []
        for block in _blocks(record):
            if _kind(block) == "text":
                texts.append(typed(words(block.get("text"))))
            elif _kind(block) == "tool_result":
                yield from self._result(block, record, id, time)
        text = readable("\n".join(filter(None, texts)))
        if text and _by_person(record):
            yield Said(id, PERSON, text, time)

    def _result(
        self, block: _jsonl.Record, record: _jsonl.Record, id: str, time: float
    ) -> Iterator[Said]:
        call = words(block.get("tool_use_id"))
        tool = self.names.get(call, "")
        text, more = _flat(block.get("content")), record.get("toolUseResult")
        if block.get("is_error") is True:
            caller, paths = self.calls.get(call, ("", ()))
            self.failed.setdefault(caller, set()).update(paths)
        if more == REJECTED and block.get("is_error") is True:
            said = text.partition(REASON)[2].partition(REMARK)[0]
            who, text, tool = PERSON, typed(said), ""
        else:
            who = TOOL
        if text := readable(unframed(text, reminders=True)):
            yield Said(id, who, text, time, tool)
        if tool == ASKING and isinstance(more, dict):
            yield from _answers(more, id, time)

    def _assistant(self, record: _jsonl.Record, id: str, time: float) -> Iterator[Said]:
        message = record.get("message")
        synthetic = isinstance(message, dict) and message.get("model") == "<synthetic>"
        if record.get("isApiErrorMessage") or synthetic:
            return
        texts: list[str] = []
        wrote: list[str] = []
        blocks = list(_blocks(record))
        for block in blocks:
            kind = _kind(block)
            if kind == "text":
                texts.append(words(block.get("text")))
            elif kind.endswith("tool_use"):
                wrote += self._call(block, id)
        text = readable(unframed("\n".join(texts)))
        if text or wrote:
            yield Said(id, AGENT, text, time, wrote=tuple(wrote))
        for block in blocks:
            if _kind(block).endswith("tool_result"):  # of a tool that ran at the API's side
                tool = self.names.get(words(block.get("tool_use_id")), "")
                if found := readable(unframed(_flat(block.get("content")), reminders=True)):
                    yield Said(id, TOOL, found, time, tool)

    def _call(self, block: _jsonl.Record, id: str) -> tuple[str, ...]:
        call, name = words(block.get("id")), words(block.get("name"))
        paths = written(name, block.get("input"), self.cwd, self.home)
        self.names[call] = name
        if paths:
            self.calls[call] = (id, paths)
        return paths


def _by_person(record: _jsonl.Record) -> bool:
    """False where the record itself says that a program wrote it."""
    origin = record.get("origin")
    kind = words(origin.get("kind")) if isinstance(origin, dict) else ""
    return kind in PERSONS and words(record.get("turnOrigin")) in PERSONS


def _queued(attachment: Any, id: str, time: float) -> list[Said]:
    """What the person typed while the agent was working: the one attachment that was said."""
    if not isinstance(attachment, dict) or attachment.get("type") != "queued_command":
        return []
    if attachment.get("isMeta") or attachment.get("commandMode", "prompt") != "prompt":
        return []
    text = readable(typed(_flat(attachment.get("prompt"))))
    return [Said(id, PERSON, text, time)] if text and _by_person(attachment) else []


def _answers(asked: _jsonl.Record, id: str, time: float) -> Iterator[Said]:
    """What the person typed when he was asked; what he only chose are the agent's words."""
    answers, questions = asked.get("answers"), json.dumps(asked.get("questions"))
    for answer in answers.values() if isinstance(answers, dict) else ():
        if text := readable(words(answer)):
            offered = json.dumps(words(answer)) in questions
            yield Said(id, AGENT if offered else PERSON, text, time)


def _blocks(record: _jsonl.Record) -> Iterator[_jsonl.Record]:
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        yield {"type": "text", "text": content}
    elif isinstance(content, list):
        yield from (block for block in content if isinstance(block, dict))


def _kind(block: _jsonl.Record) -> str:
    return words(block.get("type"))


def _flat(content: Any) -> str:
    """The text of a result: itself, or that of its blocks; an image has none."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    texts = [words(one.get("text") or one.get("title")) for one in blocks if isinstance(one, dict)]
    return "\n".join(filter(None, texts))
