"""How the tests ask the server: in this process where a process adds nothing, else for real."""

import io
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from memdir.mcp.server import Server, Stores
from memdir.mcp.stdio import Pipe

SERVER = [sys.executable, "-m", "memdir.mcp"]
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
        self.talk = Server(self.stores)
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


def piped(data: bytes, talk: Server | None = None) -> list[Any]:
    """What the server writes for these bytes, in this process."""
    out = io.BytesIO()
    Pipe(talk or Server(Stores(os.environ, os.getcwd(), time.time)), io.BytesIO(data), out).serve()
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
