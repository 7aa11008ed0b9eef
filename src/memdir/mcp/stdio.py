"""Command line and pipes of the server; heavy imports come after the start."""

import os
import signal
import sys
import time

from memdir.mcp import server as protocol
from memdir.mcp.server import Refused, Server, Stores

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType
    from typing import BinaryIO

USAGE = "usage: memdir mcp [--project PATH] [--dir DIR] [--scope SCOPE]\n"
ENDS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
PART_BYTES = 65_536  # per read of a message that is too long
TOO_LONG = f"the message has more than {protocol.MAX_BYTES:,} bytes; send less at once"
OPTIONS = ("--project", "--dir", "--scope")


def main() -> None:
    code = run(sys.argv[1:])
    if code is None:
        sys.stderr.write(USAGE)
    sys.exit(2 if code is None else code)


def run(words: "Sequence[str]") -> int | None:
    given: dict[str, str] = {}
    rest = list(words)
    while rest:
        word, equals, value = rest.pop(0).partition("=")
        if word in OPTIONS and (equals or rest):
            given[word] = value if equals else rest.pop(0)
        else:
            return None
    return serve_mcp_client(given.get("--project"), given.get("--dir"), given.get("--scope", "all"))


def serve_mcp_client(project: str | None, dir: str | None, scope: str) -> int:
    try:
        cwd = os.getcwd()
    except OSError:
        cwd = project or dir or ""
    if not os.path.isabs(cwd):
        sys.stderr.write("memdir: the current directory is gone. Next: start in one that exists\n")
        return 1
    stores = Stores(os.environ, cwd, time.time, project, dir, scope)
    if project or dir or scope != "all":
        from memdir.errors import MemdirError

        try:  # report a mistake at the start
            stores.config("project" if scope == "all" else scope)
        except MemdirError as error:
            sys.stderr.write(f"memdir: {error.message}. Next: {error.next}\n")
            return 1
    return _serve_pipe(stores)


def _serve_pipe(stores: Stores) -> int:
    pipe = Pipe(Server(stores), *_streams())
    for number in ENDS:
        signal.signal(number, pipe.end)
    try:
        pipe.serve()
    except Ended:
        return 0
    finally:
        for number in ENDS:
            signal.signal(number, signal.SIG_IGN)
    return 0


def _streams() -> "tuple[BinaryIO, BinaryIO]":
    """The client's pipes, moved so that nothing else can read from them or print to them."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    source, sink, null = os.dup(0), os.dup(1), os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)
    for handle in (source, sink):
        os.set_blocking(handle, True)
    return open(source, "rb"), open(sink, "wb", buffering=0)


class Ended(BaseException):
    """The process got a signal to end."""


class Pipe:
    def __init__(self, server: Server, source: "BinaryIO", sink: "BinaryIO") -> None:
        self._server, self._source, self._sink = server, source, sink
        self._idle = False  # waiting for the client
        self._ended = False

    def serve(self) -> None:
        while not self._ended:
            self._idle = True
            line = self._source.readline(protocol.MAX_BYTES + 1)
            self._idle = False
            if not line:
                break
            try:
                if len(line) > protocol.MAX_BYTES and not line.endswith(b"\n"):
                    while (part := self._source.readline(PART_BYTES)) and part[-1:] != b"\n":
                        pass
                    raise Refused(protocol.INVALID, TOO_LONG)
                if line.strip():
                    self._send(self._server.answer(protocol.read_mcp_message(line)))
            except Refused as refused:
                self._send(protocol.mcp_error_answer(None, refused))
            self._server.afterwards()

    def end(self, number: int, frame: "FrameType | None") -> None:
        """Signal handler: ends at once when idle, else after the current request."""
        self._ended = True
        if self._idle:
            raise Ended

    def _send(self, message: object) -> None:
        if message is None:
            return
        try:
            data = memoryview(protocol.write_mcp_message(message))
            while data:
                data = data[self._sink.write(data) :]
        except (OSError, ValueError):  # closed on either side
            self._ended = True
