"""The API that Gemini CLI talks to: generateContent, plain and as a stream, one answer to all."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.acceptance.recording_server import Recorded, Speaker, serve_recorded

TEXT = "Done."


class Generate(Speaker):
    """`POST …:generateContent` and `…:streamGenerateContent`; tokens are counted roughly."""

    def answer(self, body: Any) -> tuple[str, bytes]:
        if self.route.endswith(":countTokens"):
            return "application/json", b'{"totalTokens": 100}'
        content = {"role": "model", "parts": [{"text": TEXT}]}
        whole = {
            "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {"promptTokenCount": 120, "candidatesTokenCount": 20},
        }
        text = json.dumps(whole)
        if self.route.endswith(":streamGenerateContent"):
            return "text/event-stream", f"data: {text}\n\n".encode()
        return "application/json", text.encode()


@contextmanager
def serve_generate() -> Iterator[Recorded]:
    with serve_recorded(Generate) as recorded:
        yield recorded
