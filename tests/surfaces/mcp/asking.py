"""How the tests ask the server: in this process where a process adds nothing, else for real."""

import http.client
import io
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memdir.surfaces.mcp.pipe import Pipe
from memdir.surfaces.mcp.stores import Stores
from memdir.surfaces.mcp.talk import Talk
from memdir.surfaces.mcp.token import Token
from memdir.surfaces.mcp.web import Web

SERVER = [sys.executable, "-m", "memdir.surfaces.mcp"]
NEWEST = "2025-11-25"
SECONDS = 60
FACT = "The staging cluster is restarted by the pelican job, never by hand."
QUESTION = "who restarts the staging cluster?"


def request(id: Any, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def hello(version: str = NEWEST, name: str = "tester") -> dict[str, Any]:
    who = {"name": name, "version": "1"}
    return request(0, "initialize", protocolVersion=version, capabilities={}, clientInfo=who)


def use(id: Any, tool: str, /, **arguments: Any) -> dict[str, Any]:
    return request(id, "tools/call", name=tool, arguments=arguments)


class Agent:
    """A client in this process."""

    def __init__(self, version: str = NEWEST, **place: Any) -> None:
        self.stores = Stores(os.environ, os.getcwd(), time.time, **place)
        self.talk = Talk(self.stores)
        if version:
            self.welcome = self.ask(hello(version))["result"]

    def ask(self, message: Any) -> Any:
        """The answer as it comes out at the other end."""
        answer = self.talk.answer(message)
        self.talk.afterwards()
        return None if answer is None else json.loads(json.dumps(answer))

    def use(self, tool: str, /, **arguments: Any) -> str:
        """What a tool says; it may not be an error."""
        result = self.ask(use(1, tool, **arguments))["result"]
        assert result["isError"] is False, result
        return str(result["content"][0]["text"])

    def fail(self, tool: str, /, **arguments: Any) -> str:
        """What a tool says that cannot do it."""
        result = self.ask(use(1, tool, **arguments))["result"]
        assert result["isError"] is True and "structuredContent" not in result
        return str(result["content"][0]["text"])


def piped(data: bytes, talk: Talk | None = None) -> list[Any]:
    """What the server writes for these bytes, in this process."""
    out = io.BytesIO()
    Pipe(talk or Talk(Stores(os.environ, os.getcwd(), time.time)), io.BytesIO(data), out).serve()
    return [json.loads(line) for line in out.getvalue().splitlines()]


def lines(*messages: Any) -> bytes:
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


def start(*words: str, cwd: Path | None = None, **pipes: Any) -> subprocess.Popen[bytes]:
    """A server in a process of its own."""
    given = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([*SERVER, *words], cwd=cwd, **{**given, **pipes})


def served(data: bytes, *words: str) -> tuple[int, list[Any], bytes]:
    """Exit code, answers and errors of a process that got these bytes and no more."""
    with start(*words) as running:
        out, err = running.communicate(data, timeout=SECONDS)
    return running.returncode, [json.loads(line) for line in out.splitlines()], err


@dataclass(frozen=True)
class Listening:
    """A server over HTTP in this process."""

    web: Web
    token: str

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.web.port}/mcp"

    def send(self, data: bytes) -> tuple[int, dict[str, str], Any]:
        """Status, headers and answer to these very bytes."""
        with socket.create_connection(("127.0.0.1", self.web.port), SECONDS) as line:
            line.sendall(data)
            with suppress(OSError):
                line.shutdown(socket.SHUT_WR)
            got = http.client.HTTPResponse(line)
            got.begin()
            body = got.read()
        told = {name.lower(): value for name, value in got.getheaders()}
        return got.status, told, json.loads(body) if body else None

    def post(
        self, message: Any, method: str = "POST", path: str = "/mcp", **headers: str | None
    ) -> tuple[int, dict[str, str], Any]:
        """A message as an honest client sends it, but for these headers; None leaves one out."""
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        given: dict[str, str | None] = {
            "Host": f"127.0.0.1:{self.web.port}",
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "Content-Length": str(len(body)),
        }
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        rows = [f"{name}: {value}\r\n" for name, value in given.items() if value is not None]
        return self.send(f"{method} {path} HTTP/1.1\r\n{''.join(rows)}\r\n".encode() + body)


@contextmanager
def listening(home: Path, project: Path) -> Iterator[Listening]:
    """It answers until the block ends."""
    token = Token(str(home / "state"))
    given = token.make()
    web = Web(Stores({"HOME": str(home)}, str(project), time.time), 0, token)
    thread = threading.Thread(target=web.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield Listening(web, given)
    finally:
        web.shutdown()
        thread.join()
        web.server_close()
