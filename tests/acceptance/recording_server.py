"""A server on loopback that keeps what it was sent; how it answers is somebody else's."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Recorded:
    """Where it listens, and each request: its path and its body."""

    address: str = ""
    requests: list[tuple[str, Any]] = field(default_factory=list)

    def sent(self) -> str:
        """Every body that was sent, as text."""
        return "\n".join(json.dumps(body, ensure_ascii=False) for _, body in self.requests)


class Speaker(BaseHTTPRequestHandler):
    """What the servers have in common."""

    recorded: Recorded
    protocol_version = "HTTP/1.1"

    def log_message(self, *words: object) -> None:
        """Nothing on the screen of the tests."""

    @property
    def route(self) -> str:
        return self.path.partition("?")[0]

    def answer(self, body: Any) -> tuple[str, bytes]:
        """The content type and the content."""
        raise NotImplementedError

    def do_GET(self) -> None:
        self._send(*self.answer(None))

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", 0))
        body = json.loads(self.rfile.read(length) or b"null")
        self.recorded.requests.append((self.path, body))
        self._send(*self.answer(body))

    def _send(self, kind: str, content: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(content)))
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            self.wfile.write(content)
        except (BrokenPipeError, ConnectionResetError):
            return  # the client did not wait


@contextmanager
def serve_recorded(speaker: type[Speaker]) -> Iterator[Recorded]:
    """The server, until the block ends."""
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
