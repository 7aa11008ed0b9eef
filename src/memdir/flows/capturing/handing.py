"""A conversation that an agent hands over itself: read, noticed, saved and held as any other."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from memdir.app import App
from memdir.core.errors import BadInput, Missing
from memdir.core.revision import hash_of
from memdir.flows.capturing import capture, open_reader
from memdir.flows.capturing.outcome import CLIENT, HANDED_OVER, Outcome, Request
from memdir.flows.capturing.settling import ACTOR

Message = Mapping[str, object]
PERSON, AGENT, TOOL = "user", "assistant", "tool"  # roles; others are no part of what was said
SILENT = ("system", "developer")
ID_CHARACTERS = 24
TOOL_ROOT = "/memories"  # where the Anthropic memory tool has the store
MEMORY_TOOL = "memory"
_NEXT = 'give messages such as {"role": "user", "content": "…"}'


def hand_over(
    app: App,
    conversation: str | Sequence[Message],
    *,
    session: str = "",
    client: str = "",
    model: str | None = "",
) -> Outcome:
    """capture, of a transcript or of messages; handed over again, only what is new counts"""
    app = replace(app, actor=ACTOR)
    if isinstance(conversation, str):
        path = os.path.abspath(conversation)
        if not os.path.exists(path) and not os.path.isfile(os.path.dirname(path)):
            raise Missing(f"there is no transcript {path}", path=path, next="check its spelling")
        request = Request(path, session, client or CLIENT, model=model)
        return capture(app, request, open_reader(app, request.client, path))
    records = [*_records(conversation, app.store.root)]
    lines = [json.dumps(one, ensure_ascii=True) for one in records]
    name = session or f"{HANDED_OVER}-{_hash(lines[0] if lines else '')}"
    lines.append(_padding(lines))
    # The file is for this run alone: the cursor goes by the ids of what was said.
    with tempfile.TemporaryDirectory(prefix="memdir-") as folder:
        path = os.path.join(folder, "conversation.jsonl")
        with open(path, "x", encoding="ascii") as file:
            file.write("".join(f"{line}\n" for line in lines))
        request = Request(path, name, HANDED_OVER, model=model)
        return capture(app, request, open_reader(app, CLIENT, path))


def _padding(lines: Sequence[str]) -> str:
    """A silent record: other messages have another size, by which capture sees what is new."""
    return json.dumps({"type": "summary", "summary": "·" * (int(_hash(*lines)[:3], 16) + 1)})


def _hash(*texts: str) -> str:
    return hash_of("\n".join(texts).encode())[:ID_CHARACTERS]


def _records(messages: Sequence[Message], store: str) -> Iterator[dict[str, object]]:
    """Each message as a record of the client whose transcripts have the same form."""
    seen: dict[str, int] = {}
    if not isinstance(messages, Iterable):
        raise BadInput("a conversation is a list of messages, or a path", next=_NEXT)
    for number, message in enumerate(messages, 1):
        role, content = _checked(number, message)
        if role in SILENT:
            continue
        if role == TOOL:
            told = {"type": "tool_result", "tool_use_id": message.get("tool_call_id", "")}
            role, content = PERSON, [{**told, "content": content}]
        content = [_block(one, store) for one in content] if isinstance(content, list) else content
        text = _dumped(number, [role, content])
        seen[text] = seen.get(text, 0) + 1
        id = _hash(str(seen[text]), text)
        yield {"type": role, "uuid": id, "message": {"role": role, "content": content}}


def _checked(number: int, message: object) -> tuple[str, object]:
    if not isinstance(message, Mapping):
        raise BadInput(f"message {number} is no object", next=_NEXT)
    role, content = message.get("role"), message.get("content")
    if role not in (PERSON, AGENT, TOOL, *SILENT):
        raise BadInput(f"message {number} has no role that is known", next=_NEXT)
    if content is not None and not isinstance(content, str | list):
        raise BadInput(f"message {number} has neither a text nor blocks as content", next=_NEXT)
    return str(role), content or ""


def _block(block: object, store: str) -> object:
    """A block as JSON, also one of the SDK; what the memory tool wrote is in the store."""
    dump = getattr(block, "model_dump", None)
    plain = dump(mode="json") if callable(dump) else block
    if not isinstance(plain, dict) or plain.get("name") != MEMORY_TOOL:
        return plain
    given = plain.get("input")
    if not isinstance(given, dict):
        return plain
    keys = [key for key in ("path", "new_path") if str(given.get(key)).startswith(TOOL_ROOT)]
    return {**plain, "input": {**given, **{key: _in_store(given[key], store) for key in keys}}}


def _in_store(path: str, store: str) -> str:
    return store + path[len(TOOL_ROOT) :]


def _dumped(number: int, value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=True)
    except (TypeError, ValueError, RecursionError):
        raise BadInput(f"message {number} is not JSON", next=_NEXT) from None
