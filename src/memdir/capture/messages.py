"""Capture of a conversation that an agent hands over, as a transcript or as messages."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from memdir.capture.capture import capture
from memdir.capture.plan import ACTOR, CLIENT, Outcome, Request
from memdir.capture.sessions import HANDED_OVER, open_reader
from memdir.errors import BadInput, Missing
from memdir.format.draft import hash_of
from memdir.store.writer import App

GivenMessage = Mapping[str, object]
PERSON, AGENT, TOOL = "user", "assistant", "tool"
SILENT_ROLES = ("system", "developer")
ID_CHARACTERS = 24
TOOL_ROOT = "/memories"  # path of the store in the Anthropic memory tool
_NEXT = 'give messages such as {"role": "user", "content": "…"}'


def hand_over(
    app: App,
    conversation: str | Sequence[GivenMessage],
    *,
    session: str = "",
    client: str = "",
    model: str | None = "",
) -> Outcome:
    app = replace(app, actor=ACTOR)
    if isinstance(conversation, str):
        path = os.path.abspath(conversation)
        if not os.path.exists(path) and not os.path.isfile(os.path.dirname(path)):
            raise Missing(f"there is no transcript {path}", path=path, next="check its spelling")
        request = Request(path, session, client or CLIENT, model=model)
        return capture(app, request, open_reader(app, request.client, path))
    lines = [json.dumps(record) for record in _records(conversation, app.store.root)]
    name = session or f"{HANDED_OVER}-{_hash(lines[0] if lines else '')}"
    # Capture notices news by the size; this silent record makes it differ for other messages.
    padding = "·" * (int(_hash(*lines)[:3], 16) + 1)
    lines.append(json.dumps({"type": "summary", "summary": padding}))
    # The file can be temporary: the cursor is a message id.
    with tempfile.TemporaryDirectory(prefix="memdir-") as folder:
        path = os.path.join(folder, "conversation.jsonl")
        with open(path, "x", encoding="ascii") as file:
            file.write("".join(f"{line}\n" for line in lines))
        request = Request(path, name, HANDED_OVER, model=model)
        return capture(app, request, open_reader(app, CLIENT, path))


def _hash(*texts: str) -> str:
    return hash_of("\n".join(texts).encode())[:ID_CHARACTERS]


def _records(messages: Sequence[GivenMessage], store: str) -> Iterator[dict[str, object]]:
    seen: dict[str, int] = {}
    if not isinstance(messages, Iterable):
        raise BadInput("a conversation is a list of messages, or a path", next=_NEXT)
    for number, message in enumerate(messages, 1):
        if not isinstance(message, Mapping):
            raise BadInput(f"message {number} is no object", next=_NEXT)
        role, content = message.get("role"), message.get("content")
        if role not in (PERSON, AGENT, TOOL, *SILENT_ROLES):
            raise BadInput(f"message {number} has no role that is known", next=_NEXT)
        if content is not None and not isinstance(content, str | list):
            raise BadInput(f"message {number} has neither a text nor blocks as content", next=_NEXT)
        if role in SILENT_ROLES:
            continue
        if role == TOOL:
            id = message.get("tool_call_id", "")
            block = {"type": "tool_result", "tool_use_id": id, "content": content or ""}
            role, content = PERSON, [block]
        if isinstance(content, list):
            content = [_block(block, store) for block in content]
        content = content or ""
        try:
            text = json.dumps([role, content])
        except (TypeError, ValueError, RecursionError):
            raise BadInput(f"message {number} is not JSON", next=_NEXT) from None
        seen[text] = seen.get(text, 0) + 1
        id = _hash(str(seen[text]), text)
        yield {"type": role, "uuid": id, "message": {"role": role, "content": content}}


def _block(block: object, store: str) -> object:
    dump = getattr(block, "model_dump", None)
    plain = dump(mode="json") if callable(dump) else block
    given = plain.get("input") if isinstance(plain, dict) else None
    if not isinstance(plain, dict) or plain.get("name") != "memory" or not isinstance(given, dict):
        return plain
    paths = {
        key: store + given[key][len(TOOL_ROOT) :]
        for key in ("path", "new_path")
        if str(given.get(key)).startswith(TOOL_ROOT)
    }
    return {**plain, "input": {**given, **paths}}
