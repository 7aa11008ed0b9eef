"""The API that the client talks to: replies by rule or in order, every request kept."""

import re
import threading
from dataclasses import dataclass, field
from typing import Any

from tests.helpers.scripted_server import Reply, Request, Script

MAIN, AGENT, COMPACT, SIDE = "main", "agent", "compact", "side"
CAPTURE = "capture"  # what memdir itself asks a model
CAPTURE_WORDS = "You read the end of a conversation between a person and a coding agent"
SUMMARY_ASKED = re.compile("detailed summary of (the|this) conversation|create a detailed summary")
DONE = Reply("Done.")
SUMMARY = Reply("<analysis>short</analysis><summary>They talked.</summary>")


@dataclass
class Api(Script):
    """By kind of request, else `replies` in order for the conversation itself, else `DONE`."""

    rules: dict[str, Reply] = field(default_factory=lambda: {COMPACT: SUMMARY})
    lock: threading.Lock = field(default_factory=threading.Lock)

    def choose(self, request: Request) -> Reply:
        asked = kind(request)
        with self.lock:
            next_reply = self.replies.pop(0) if asked == MAIN and self.replies else DONE
            return self.rules.get(asked, next_reply)


def kind(request: Request) -> str:
    """The conversation itself, a subagent's, the summary for a compact, ours, or anything else."""
    if not isinstance(request.body, dict) or "messages" not in request.body:
        return SIDE
    if CAPTURE_WORDS in flat(request.body.get("system")):
        return CAPTURE
    if SUMMARY_ASKED.search(last_words(request)):
        return COMPACT
    agent = request.headers.get("x-claude-code-agent-id")
    if agent or "cc_is_subagent=true" in flat(request.body.get("system")):
        return AGENT
    return MAIN if request.body.get("tools") else SIDE


def last_words(request: Request) -> str:
    """Of the last message that a user sent; newer models get a system's message after it."""
    messages = (request.body or {}).get("messages") or []
    users = [message for message in messages if message["role"] == "user"]
    return flat(users[-1]["content"]) if users else ""


def flat(content: Any) -> str:
    """The text of a message, whatever its form: text, blocks, results of tools."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return flat(content.get("text") or content.get("content") or content.get("input"))
    return "\n".join(map(flat, content or []))


def said(request: Request) -> str:
    """All that the model was sent, apart from the schemas of tools."""
    messages = request.body["messages"]
    return "\n".join(
        [flat(request.body.get("system")), *(flat(one["content"]) for one in messages)]
    )
