"""Transcripts of Claude Code: a JSONL file per session below `projects/` of its own directory."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from memdir.clients import conversation, transcripts
from memdir.clients.conversation import (
    AGENT,
    PERSON,
    TOOL,
    as_blocks,
    as_object,
    as_text,
    flat_client_text,
    typed_client_text,
)
from memdir.config.scope import NAME_CHARACTERS, project_scope_name
from memdir.hot.place import tidy_path

CLIENT = "claude-code"
SUFFIX = ".jsonl"
USER, ASSISTANT, ATTACHMENT = "user", "assistant", "attachment"
# Flags of records without a speaker: client notices, other agents' messages, summaries.
NOT_SAID = ("isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly")
# Origins of a turn that count as a person; all others are programs.
PERSONS = ("human", "person", "composer", "voice-call", "remote", "sdk", "")
# Record kinds without messages. Unknown kinds are counted: the client has changed.
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
KINDS = SILENT | {USER, ASSISTANT}
# A refusal in which the person says what to do instead; a tool cannot forge this field.
REJECTED = "User rejected tool use"
REASON = "the user said:\n"
REMARK = "\n\nNote: The user's next message may contain"
ASKING = "AskUserQuestion"
HEAD_BYTES = 256 * 1024  # at the top of a file, which names the directory


def open_reader(home: str, environ: Mapping[str, str]) -> ClaudeReader:
    top = transcripts.client_folder(environ, "CLAUDE_CONFIG_DIR", os.path.join(home, ".claude"))
    return ClaudeReader(os.path.join(tidy_path(top), "projects"), home)


class ClaudeReader(transcripts.Reader):
    def read(
        self, path: str, since: conversation.Cursor, last: str = ""
    ) -> conversation.NewMessages:
        session = os.path.basename(path).removesuffix(SUFFIX)
        return transcripts.read_client_session(
            path, self.root, since, last, ClaudeParser(self.home), session
        )

    def sessions(self, project: str) -> list[conversation.Session]:
        key = project_scope_name(os.path.realpath(project))[:NAME_CHARACTERS]
        sessions = []
        for folder in transcripts.list_transcripts(self.root):
            if folder.name == key or folder.name.startswith(f"{key}-"):
                for file in transcripts.list_transcripts(folder.path, SUFFIX):
                    cwd = self.started_in(file.path)
                    if not file.name.startswith("agent-") and transcripts.is_project_session(
                        cwd, project
                    ):
                        id = file.name.removesuffix(SUFFIX)
                        sessions.append(
                            conversation.Session(CLIENT, id, file.path, *file.facts, cwd)
                        )
        return transcripts.sort_client_sessions(sessions)

    def started_in(self, path: str) -> str:
        return as_text(transcripts.first_client_line(path, self.root, HEAD_BYTES, "cwd").get("cwd"))


class ClaudeParser(transcripts.Parser):
    def mark(self, record: transcripts.Record) -> str | None:
        id = as_text(record.get("uuid"))
        return id or ("" if record.get("type") in (USER, ASSISTANT) else None)

    def take(self, record: transcripts.Record) -> Iterable[conversation.Message] | None:
        kind = as_text(record.get("type"))
        if kind not in KINDS:
            return None
        self.cwd = as_text(record.get("cwd")) or self.cwd
        if any(record.get(flag) for flag in NOT_SAID):
            return []
        if kind == ATTACHMENT:
            return self._queued(as_object(record.get("attachment")))
        if kind == USER:
            return self._user(record)
        return self._assistant(record) if kind == ASSISTANT else []

    def _queued(self, attachment: transcripts.Record) -> list[conversation.Message]:
        """Text typed while the agent was working: the only attachment with a person's words."""
        asked = attachment.get("commandMode", "prompt") == "prompt"
        typed_one = attachment.get("type") == "queued_command" and not attachment.get("isMeta")
        if not typed_one or not asked or not _by_person(attachment):
            return []
        return self.say(
            PERSON, typed_client_text(flat_client_text(attachment.get("prompt"), "title"))
        )

    def _user(self, record: transcripts.Record) -> Iterator[conversation.Message]:
        texts = []
        for block in as_blocks(as_object(record.get("message")).get("content")):
            if block.get("type") == "text":
                texts.append(typed_client_text(as_text(block.get("text"))))
            elif block.get("type") == "tool_result":
                yield from self._result(block, record.get("toolUseResult"))
        if _by_person(record):
            yield from self.say(PERSON, "\n".join(filter(None, texts)))

    def _result(self, block: transcripts.Record, more: Any) -> Iterator[conversation.Message]:
        call = as_text(block.get("tool_use_id"))
        text = flat_client_text(block.get("content"), "title")
        tool = self.tools.get(call, "")
        if block.get("is_error") is True:
            self.fail(call)
            if more == REJECTED:
                yield from self.say(
                    PERSON, typed_client_text(text.partition(REASON)[2].partition(REMARK)[0])
                )
                return
        yield from self.say(TOOL, text, tool)
        if tool == ASKING:
            # Options that the person only chose are the agent's words.
            questions = json.dumps(as_object(more).get("questions"))
            for answer in map(as_text, as_object(as_object(more).get("answers")).values()):
                yield from self.say(AGENT if json.dumps(answer) in questions else PERSON, answer)

    def _assistant(self, record: transcripts.Record) -> Iterator[conversation.Message]:
        message = as_object(record.get("message"))
        if record.get("isApiErrorMessage") or message.get("model") == "<synthetic>":
            return
        texts: list[str] = []
        wrote: list[str] = []
        results: list[transcripts.Record] = []
        for block in as_blocks(message.get("content")):
            kind = as_text(block.get("type"))
            if kind == "text":
                texts.append(as_text(block.get("text")))
            elif kind.endswith("tool_use"):
                name = as_text(block.get("name"))
                wrote += self.call(as_text(block.get("id")), name, block.get("input"))
            elif kind.endswith("tool_result"):  # of a tool that ran on the API's side
                results.append(block)
        yield from self.say(AGENT, "\n".join(texts), wrote=wrote)
        for block in results:
            tool = self.tools.get(as_text(block.get("tool_use_id")), "")
            yield from self.say(TOOL, flat_client_text(block.get("content"), "title"), tool)


def _by_person(record: transcripts.Record) -> bool:
    kind = as_text(as_object(record.get("origin")).get("kind"))
    return kind in PERSONS and as_text(record.get("turnOrigin")) in PERSONS
