"""The server's command line and pipes: it starts before anything heavy is imported."""

import os
import queue
import signal
import sys
import threading
import time

from memdir.mcp import rpc
from memdir.mcp.rpc import MAX_BYTES, Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType
    from typing import BinaryIO

    from memdir.mcp.rpc import Fields
    from memdir.mcp.server import Server, Stores

USAGE = "usage: memdir mcp [--project PATH] [--dir DIR] [--scope SCOPE]\n"
END_SECONDS = 2.0  # for a change under way when somebody asks us to end
ENDS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
MAX_WAITING = 200  # requests; then reading pauses until some are answered
PART_BYTES = 65_536  # of a message that is too long, at once
LAST_SECONDS = 20.0  # for what was asked before the client went
# They read the disk or write to it; the rest is answered between them.
SLOW = ("tools/call", "resources/list", "resources/read")
OPTIONS = ("--project", "--dir", "--scope")


def main() -> None:
    """`python -m memdir.mcp`."""
    code = run(sys.argv[1:])
    if code is None:
        sys.stderr.write(USAGE)
    sys.exit(2 if code is None else code)


def run(words: "Sequence[str]") -> int | None:
    """Serve until the client goes; None where these words are not understood."""
    given: dict[str, str] = {}
    rest = list(words)
    while rest:
        word, equals, value = rest.pop(0).partition("=")
        if word in OPTIONS and (equals or rest):
            given[word] = value if equals else rest.pop(0)
        else:
            return None
    return serve(given.get("--project"), given.get("--dir"), given.get("--scope", "all"))


def serve(project: str | None, dir: str | None, scope: str) -> int:
    """Over standard input and output, until the client goes."""
    from memdir.mcp.server import Stores

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

        try:  # a mistake is better told at the start
            stores.config("project" if scope == "all" else scope)
        except MemdirError as error:
            sys.stderr.write(f"memdir: {error.message}. Next: {error.next}\n")
            return 1
    return _serve_pipe(stores)


def _serve_pipe(stores: "Stores") -> int:
    from memdir.mcp.server import Server

    def end(number: int, frame: "FrameType | None") -> None:
        raise Ended

    pipe = Pipe(Server(stores), *_streams())
    try:
        for number in ENDS:
            signal.signal(number, end)
        pipe.serve()
    except Ended:
        pass
    for number in ENDS:
        signal.signal(number, signal.SIG_IGN)
    pipe.finish(END_SECONDS)
    return 0


def _streams() -> "tuple[BinaryIO, BinaryIO]":
    """The client's pipes, for us alone: nothing else may read its messages or print among them."""
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
    """Somebody asked this process to end."""


class Pipe:
    """One client at the other end of two pipes."""

    def __init__(self, server: "Server", source: "BinaryIO", sink: "BinaryIO") -> None:
        self._server = server
        self._source = source
        self._sink = sink
        self._writing = threading.Lock()
        self._jobs: queue.Queue[Fields | None] = queue.Queue(MAX_WAITING)
        self._counting = threading.Lock()
        self._waiting: dict[object, int] = {}  # ids under way, and how often
        self._cancelled: set[object] = set()
        self._worker = threading.Thread(target=self._work, daemon=True)
        self.gone = threading.Event()  # nobody reads our answers

    def serve(self) -> None:
        """Until the input ends; what was asked before that is done first."""
        self._worker.start()
        while not self.gone.is_set():
            line = self._source.readline(MAX_BYTES + 1)
            if not line:
                break
            if len(line) > MAX_BYTES and not line.endswith(b"\n"):
                self._send(rpc.too_long(line, self._skip()))
            elif line.strip():
                self._take(line)
        self.finish(LAST_SECONDS)

    def finish(self, seconds: float) -> None:
        """Let the work that was begun come to its end, for so long."""
        try:
            self._jobs.put(None, timeout=seconds)
        except queue.Full:
            return
        if self._worker.is_alive():
            self._worker.join(seconds)

    def _skip(self) -> bytes:
        """The end of a message that is too long; nothing else of it is kept."""
        last = b""
        while part := self._source.readline(PART_BYTES):
            last = (last + part)[-rpc.EDGE_BYTES :]
            if part.endswith(b"\n"):
                break
        return last

    def _take(self, line: bytes) -> None:
        try:
            message = rpc.read(line)
        except Refused as refused:
            self._send(rpc.error(None, refused))
            return
        fields = message if isinstance(message, dict) else {}
        if fields.get("method") == "notifications/cancelled":
            # An answer that nobody waits for is not sent; a change that was begun is completed.
            params = fields.get("params")
            id = rpc.id_of({"id": params.get("requestId")}) if isinstance(params, dict) else None
            with self._counting:
                if id is not None and id in self._waiting:
                    self._cancelled.add(id)
        elif fields.get("method") in SLOW:
            self._count(rpc.id_of(fields), 1)
            self._jobs.put(fields)
        else:
            self._send(self._server.answer(message))

    def _count(self, id: object, change: int) -> None:
        """One more request of that id under way, or one less; clients may use an id twice."""
        with self._counting:
            left = self._waiting.pop(id, 0) + change
            if left:
                self._waiting[id] = left
            else:
                self._cancelled.discard(id)

    def _work(self) -> None:
        while (message := self._jobs.get()) is not None and not self.gone.is_set():
            id = rpc.id_of(message)
            # Cancelled before it began: it was never asked.
            answer = None if id in self._cancelled else self._server.answer(message)
            if id not in self._cancelled:
                self._send(answer)
            self._count(id, -1)
            self._server.afterwards()

    def _send(self, message: object) -> None:
        if message is None or self.gone.is_set():
            return
        try:
            with self._writing:
                data = memoryview(rpc.write(message))
                while data:
                    data = data[self._sink.write(data) :]
        except (OSError, ValueError):  # closed, there or here
            self.gone.set()
            # The main thread waits for input that nobody will send.
            main = threading.main_thread()
            deaf = signal.getsignal(signal.SIGTERM) in (signal.SIG_DFL, signal.SIG_IGN, None)
            if threading.current_thread() is not main and not deaf:
                signal.pthread_kill(main.ident or 0, signal.SIGTERM)
