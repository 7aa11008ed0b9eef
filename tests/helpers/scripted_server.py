"""A server on loopback that speaks the APIs of Anthropic (also as a stream) and OpenAI.

Each reply is scripted by the test; every request is kept. Nothing here knows memdir.
"""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import uuid4

HANG_SECONDS = 30
USAGE = (120, 20)  # input, output


@dataclass(frozen=True)
class Reply:
    """One scripted reply; `cut` ends the body in the middle: closed, or hanging for long."""

    text: str = ""
    data: Any = None  # given as a call of the tool that was offered, else as JSON text
    tool: str = ""  # call this tool instead of the first one that was offered
    refused: bool = False
    status: int = 200
    wait: float = 0.0  # seconds before the first byte
    cut: str = ""  # "close" or "hang"
    raw: bytes | None = None  # this body instead of a sound one
    usage: tuple[int, int] = USAGE


@dataclass
class Request:
    path: str
    headers: dict[str, str]
    body: Any
    method: str = "POST"


@dataclass
class Script:
    replies: list[Reply] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    address: str = ""
    stop: threading.Event = field(default_factory=threading.Event)

    def keep(self, request: Request) -> None:
        self.requests.append(request)

    def choose(self, request: Request) -> Reply:
        """Replies in their order; a script that looks at the request overrides this."""
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]


def serve(*replies: Reply) -> AbstractContextManager[Script]:
    """The server, until the block ends; the last reply is repeated."""
    return serve_script(Script([*replies] or [Reply("hello")]))


@contextmanager
def serve_script(script: Script) -> Iterator[Script]:
    """The same for a script of one's own."""
    with listen(type("Speaker", (_Speaker,), {"said": script})) as script.address:
        try:
            yield script
        finally:
            script.stop.set()


@contextmanager
def listen(speaker: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """The address of a server on loopback, until the block ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), speaker)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Speaker(BaseHTTPRequestHandler):
    said: Script
    protocol_version = "HTTP/1.1"

    def log_message(self, *words: object) -> None:
        """Nothing on the screen of the tests."""

    def do_GET(self) -> None:
        self._keep()
        self._send(Reply(), b'{"data": [], "models": [], "has_more": false}')  # none to list

    do_HEAD = do_GET

    def do_POST(self) -> None:
        request = self._keep()
        route = self.path.partition("?")[0]
        if route.endswith("/count_tokens"):
            self._send(Reply(), b'{"input_tokens": 100}')
            return
        reply = self.said.choose(request)
        self.said.stop.wait(reply.wait)
        wanted = request.body.get("stream") or ":stream" in self.path  # the API of Gemini
        stream = bool(wanted) and reply.status == 200
        content = self._content(reply, request.body, stream, route.endswith("/messages"))
        try:
            self._send(reply, content, "text/event-stream" if stream else "application/json")
        except (BrokenPipeError, ConnectionResetError):
            return  # the client did not wait

    def _keep(self) -> Request:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.path, headers, json.loads(body or b"{}"), self.command)
        self.said.keep(request)
        return request

    def _content(self, reply: Reply, body: Any, stream: bool, anthropic: bool) -> bytes:
        if reply.raw is not None:
            return reply.raw
        if reply.status != 200:
            # Like some real servers, it repeats the key that it was given.
            key = self.headers.get("x-api-key") or self.headers.get("authorization")
            error = {"type": f"e{reply.status}", "message": f"no, not with {key}"}
            return json.dumps({"type": "error", "error": error}).encode()
        message = anthropic_message(reply, body) if anthropic else _completion(reply, body)
        return ("".join(_message_events(message)) if stream else json.dumps(message)).encode()

    def _send(self, reply: Reply, content: bytes, kind: str = "application/json") -> None:
        self.send_response(reply.status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(content)))
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        if self.command != "HEAD":
            self.wfile.write(content[: len(content) // 2] if reply.cut else content)
            self.wfile.flush()
        if reply.cut == "hang":
            self.said.stop.wait(HANG_SECONDS)
        if reply.cut:
            self.connection.shutdown(socket.SHUT_RDWR)


def _tool(body: Any) -> str:
    tools = body.get("tools") or []
    return tools[0].get("name") or tools[0]["function"]["name"] if tools else ""


def anthropic_message(reply: Reply, body: Any) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "text", "text": reply.text}] if reply.text else []
    tool = reply.tool or _tool(body)
    if reply.data is not None and tool:
        given = f"toolu_{uuid4().hex}"  # a client keeps them apart by it
        content.append({"type": "tool_use", "id": given, "name": tool, "input": reply.data})
    elif reply.data is not None:
        content.append({"type": "text", "text": json.dumps(reply.data)})
    called = any(block["type"] == "tool_use" for block in content)
    stop = "refusal" if reply.refused else "tool_use" if called else "end_turn"
    counts = {"input_tokens": reply.usage[0], "output_tokens": reply.usage[1]}
    return {
        "id": f"msg_{uuid4().hex}",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": counts,
    }


def _completion(reply: Reply, body: Any) -> dict[str, Any]:
    text = reply.text if reply.data is None else json.dumps(reply.data)
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if reply.refused:
        message |= {"content": None, "refusal": "I would rather not."}
    elif reply.data is not None and _tool(body):
        function = {"name": reply.tool or _tool(body), "arguments": text}
        call = {"id": f"call_{uuid4().hex}", "type": "function", "function": function}
        message |= {"content": None, "tool_calls": [call]}
    given, made = reply.usage
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}],
        "usage": {"prompt_tokens": given, "completion_tokens": made, "total_tokens": given + made},
    }


def _message_events(message: dict[str, Any]) -> Iterator[str]:
    def event(kind: str, **rest: Any) -> str:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **rest})}\n\n"

    yield event("message_start", message={**message, "content": [], "stop_reason": None})
    for at, block in enumerate(message["content"]):
        if block["type"] == "text":
            empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            text = json.dumps(block["input"])
            empty, delta = {**block, "input": {}}, {"type": "input_json_delta"}
            delta["partial_json"] = text
        yield event("content_block_start", index=at, content_block=empty)
        yield event("content_block_delta", index=at, delta=delta)
        yield event("content_block_stop", index=at)
    stop = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield event("message_delta", delta=stop, usage=message["usage"])
    yield event("message_stop")
