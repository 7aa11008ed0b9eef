"""The APIs that Codex and Gemini CLI talk to: one answer to all, and every request is kept."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TEXT = "Done."


@dataclass
class Recorded:
    """Where it listens, and each request: its path and its body."""

    address: str = ""
    requests: list[tuple[str, Any]] = field(default_factory=list)

    def sent(self) -> str:
        """Every body that was sent, as text."""
        return "\n".join(json.dumps(body, ensure_ascii=False) for _, body in self.requests)


class Speaker(BaseHTTPRequestHandler):
    recorded: Recorded
    protocol_version = "HTTP/1.1"

    def log_message(self, *words: object) -> None:
        """Nothing on the screen of the tests."""

    def answer(self, route: str) -> tuple[str, str]:
        """The content type and the content."""
        raise NotImplementedError

    def do_GET(self) -> None:
        kind, text = self.answer(self.path.partition("?")[0])
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(text.encode())))
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            self.wfile.write(text.encode())
        except (BrokenPipeError, ConnectionResetError):
            return  # the client did not wait

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", 0))
        body = json.loads(self.rfile.read(length) or b"null")
        self.recorded.requests.append((self.path, body))
        self.do_GET()


class Generate(Speaker):
    """Gemini's `…:generateContent` and `…:streamGenerateContent`; tokens are counted roughly."""

    def answer(self, route: str) -> tuple[str, str]:
        if route.endswith(":countTokens"):
            return "application/json", '{"totalTokens": 100}'
        content = {"role": "model", "parts": [{"text": TEXT}]}
        whole = {
            "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {"promptTokenCount": 120, "candidatesTokenCount": 20},
        }
        if route.endswith(":streamGenerateContent"):
            return "text/event-stream", f"data: {json.dumps(whole)}\n\n"
        return "application/json", json.dumps(whole)


class Responses(Speaker):
    """OpenAI's `…/responses` as a stream; whatever else is asked for is an empty list."""

    def answer(self, route: str) -> tuple[str, str]:
        if not route.endswith("/responses"):
            return "application/json", '{"data": [], "models": []}'
        part = {"type": "output_text", "text": TEXT, "annotations": []}
        item = {"type": "message", "id": "msg_1", "role": "assistant", "content": [part]}
        usage = {"input_tokens": 120, "output_tokens": 20, "total_tokens": 140}
        usage |= {"input_tokens_details": None, "output_tokens_details": None}
        events = (
            {"type": "response.created", "response": {"id": "resp_1"}},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": {"id": "resp_1", "usage": usage}},
        )
        lines = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]
        return "text/event-stream", "".join(lines)


@contextmanager
def serve_recorded(speaker: type[Speaker]) -> Iterator[Recorded]:
    recorded = Recorded()
    made = type("Recording", (speaker,), {"recorded": recorded})
    server = ThreadingHTTPServer(("127.0.0.1", 0), made)
    server.daemon_threads = True
    recorded.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield recorded
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
