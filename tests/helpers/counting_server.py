"""The scripted server with counts of its own: characters / 4, and a cache as the real API has it.

A prefix that ended in a block with `cache_control` is known from then on; the longest known prefix
of a later request is a cache read. Real caches leave out what is shorter than `least` tokens.
"""

import json
from dataclasses import dataclass, field
from typing import Any

from tests.helpers.scripted_server import Reply, Request, Script, anthropic_message

CHARACTERS = 4  # per token, as memdir estimates


@dataclass
class Counting(Script):
    least: int = 1024
    known: set[str] = field(default_factory=set)
    counted: list[tuple[int, int, int]] = field(default_factory=list)  # fresh, cached, out

    def choose(self, request: Request) -> Reply:
        reply = super().choose(request)
        body, cached, text = request.body, 0, ""
        for block in _blocks(body):
            marked = block.pop("cache_control", None)
            text += json.dumps(block)
            if text in self.known:
                cached = len(text)
            if marked and len(text) // CHARACTERS >= self.least:
                self.known.add(text)
        made = len(json.dumps(reply.data or reply.text)) // CHARACTERS
        fresh, cached = (len(text) - cached) // CHARACTERS, cached // CHARACTERS
        self.counted.append((fresh, cached, made))
        usage = {"input_tokens": fresh, "output_tokens": made, "cache_read_input_tokens": cached}
        whole = anthropic_message(reply, body) | {"usage": usage}
        return Reply(raw=json.dumps(whole).encode())


def _blocks(body: dict[str, Any]) -> list[dict[str, Any]]:
    """Everything that is sent, in the order in which it is cached."""
    blocks = [dict(tool) for tool in body.get("tools", [])]
    system = body.get("system", "")
    blocks += [{"text": system}] if isinstance(system, str) else [dict(one) for one in system]
    for message in body["messages"]:
        content = message["content"]
        content = [{"text": content}] if isinstance(content, str) else content
        blocks += [dict(one) for one in content]
    return blocks
