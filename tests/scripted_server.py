"""A server on loopback that speaks the Anthropic and the OpenAI API, plain and as a stream.

Each reply is scripted by the test; every request is kept. Nothing here knows memdir.
"""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

HANG_SECONDS = 30
USAGE = (120, 20)  # input, output


@dataclass(frozen=True)
class Reply:
    """One scripted reply; `cut` ends the body in the middle: closed, or hanging for long."""

    text: str = ""
    data: Any = None  # given as a call of the tool that was offered, else as JSON text
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


@dataclass
class Script:
    replies: list[Reply] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    address: str = ""
    stop: threading.Event = field(default_factory=threading.Event)

    def next(self) -> Reply:
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]


@contextmanager
def serve(*replies: Reply) -> Iterator[Script]:
    """The server, until the block ends; the last reply is repeated."""
    script = Script([*replies] or [Reply("hello")])

    class Speaker(_Speaker):
        said = script

    server = ThreadingHTTPServer(("127.0.0.1", 0), Speaker)
    server.daemon_threads = True
    script.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield script
    finally:
        script.stop.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Speaker(BaseHTTPRequestHandler):
    said: Script
    protocol_version = "HTTP/1.1"

    def log_message(self, *words: object) -> None:
        """Nothing on the screen of the tests."""

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", 0))
        body = json.loads(self.rfile.read(length) or b"{}")
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.said.requests.append(Request(self.path, headers, body))
        reply = self.said.next()
        self.said.stop.wait(reply.wait)
        stream = bool(body.get("stream")) and reply.status == 200
        kind = "text/event-stream" if stream else "application/json"
        content = self._content(reply, body, stream)
        try:
            self._send(reply, kind, content)
        except (BrokenPipeError, ConnectionResetError):
            return  # the client did not wait

    def _content(self, reply: Reply, body: Any, stream: bool) -> bytes:
        if reply.raw is not None:
            return reply.raw
        if reply.status != 200:
            return json.dumps(_error(reply.status, self.headers)).encode()
        anthropic = self.path.endswith("/messages")
        message = _message(reply, body) if anthropic else _completion(reply, body)
        if not stream:
            return json.dumps(message).encode()
        events = _message_events(message) if anthropic else _chunks(message)
        return "".join(events).encode()

    def _send(self, reply: Reply, kind: str, content: bytes) -> None:
        self.send_response(reply.status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(content)))
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        self.wfile.write(content[: len(content) // 2] if reply.cut else content)
        self.wfile.flush()
        if reply.cut == "hang":
            self.said.stop.wait(HANG_SECONDS)
        if reply.cut:
            self.connection.shutdown(socket.SHUT_RDWR)


def _error(status: int, headers: Any) -> dict[str, Any]:
    """Like some real servers, it repeats the key that it was given."""
    key = headers.get("x-api-key") or headers.get("authorization")
    return {"type": "error", "error": {"type": f"e{status}", "message": f"no, not with {key}"}}


def _tool(body: Any) -> str:
    tools = body.get("tools") or []
    return tools[0].get("name") or tools[0]["function"]["name"] if tools else ""


def _message(reply: Reply, body: Any) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "text", "text": reply.text}] if reply.text else []
    if reply.data is not None and _tool(body):
        call = {"type": "tool_use", "id": "t1", "name": _tool(body), "input": reply.data}
        content.append(call)
    elif reply.data is not None:
        content.append({"type": "text", "text": json.dumps(reply.data)})
    stop = "refusal" if reply.refused else "tool_use" if _tool(body) else "end_turn"
    counts = {"input_tokens": reply.usage[0], "output_tokens": reply.usage[1]}
    return {
        "id": "m1",
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
        function = {"name": _tool(body), "arguments": text}
        call = {"id": "t1", "type": "function", "function": function}
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


def _chunks(message: dict[str, Any]) -> Iterator[str]:
    whole = message["choices"][0]["message"]
    delta = {key: value for key, value in whole.items() if value is not None}
    if calls := delta.get("tool_calls"):
        delta["tool_calls"] = [{**call, "index": at} for at, call in enumerate(calls)]
    base = {key: message[key] for key in ("id", "created", "model")}
    base["object"] = "chat.completion.chunk"
    first = {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    last = {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    for chunk in (first, {**last, "usage": message["usage"]}):
        yield f"data: {json.dumps(chunk)}\n\n"
    yield "data: [DONE]\n\n"
