"""The API that Codex talks to: OpenAI's Responses as a stream, one scripted answer to all."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

from tests.acceptance.recording_server import Recorded, Speaker, serve_recorded

TEXT = "Done."


class Responses(Speaker):
    """`POST …/responses`; whatever else is asked for is an empty list."""

    def answer(self, body: Any) -> tuple[str, bytes]:
        if not self.route.endswith("/responses"):
            return "application/json", b'{"data": [], "models": []}'
        return "text/event-stream", "".join(_events(TEXT)).encode()


def _events(text: str) -> Iterator[str]:
    def event(kind: str, **rest: Any) -> str:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **rest})}\n\n"

    id = f"resp_{uuid4().hex}"
    part = {"type": "output_text", "text": text, "annotations": []}
    item = {"type": "message", "id": f"msg_{uuid4().hex}", "role": "assistant", "content": [part]}
    yield event("response.created", response={"id": id})
    yield event("response.output_item.done", output_index=0, item=item)
    counts = {"input_tokens": 120, "output_tokens": 20, "total_tokens": 140}
    details: dict[str, Any] = {"input_tokens_details": None, "output_tokens_details": None}
    yield event("response.completed", response={"id": id, "usage": {**counts, **details}})


@contextmanager
def serve_responses() -> Iterator[Recorded]:
    with serve_recorded(Responses) as recorded:
        yield recorded
