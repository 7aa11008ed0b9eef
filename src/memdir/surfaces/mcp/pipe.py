"""Standard input and output: one message a line, until nobody is there any more."""

import queue
import signal
import threading

from memdir.surfaces.mcp import messages
from memdir.surfaces.mcp.messages import MOST_BYTES, Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

    from memdir.surfaces.mcp.talk import Talk

WAITING = 200  # requests; then reading pauses until some are answered
PART = 65_536  # bytes of a message that is too long, at once
LAST_SECONDS = 20.0  # for what was asked before the client went
# They read the disk or write to it; the rest is answered between them.
SLOW = ("tools/call", "resources/list", "resources/read")


class Ended(BaseException):
    """Somebody asked this process to end."""


class Pipe:
    """One client at the other end of two pipes."""

    def __init__(self, talk: "Talk", source: "BinaryIO", sink: "BinaryIO") -> None:
        self._talk = talk
        self._source = source
        self._sink = sink
        self._writing = threading.Lock()
        self._jobs: queue.Queue[object] = queue.Queue(WAITING)
        self._counting = threading.Lock()
        self._waiting: dict[object, int] = {}  # ids under way, and how often
        self._cancelled: set[object] = set()
        self._worker = threading.Thread(target=self._work, daemon=True)
        self.gone = threading.Event()  # nobody reads our answers

    def serve(self) -> None:
        """Until the input ends; what was asked before that is done first."""
        self._worker.start()
        while not self.gone.is_set():
            line = self._source.readline(MOST_BYTES + 1)
            if not line:
                break
            if len(line) > MOST_BYTES and not line.endswith(b"\n"):
                self._send(messages.too_long(line, self._skip()))
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
        while part := self._source.readline(PART):
            last = (last + part)[-messages.EDGE :]
            if part.endswith(b"\n"):
                break
        return last

    def _take(self, line: bytes) -> None:
        try:
            message = messages.read(line)
        except Refused as refused:
            self._send(messages.error(None, refused))
            return
        method = message.get("method") if isinstance(message, dict) else None
        if method == "notifications/cancelled" and isinstance(message, dict):
            self._cancel(message.get("params"))
        elif method in SLOW:
            self._count(message, 1)
            self._jobs.put(message)
        else:
            self._send(self._talk.answer(message))

    def _cancel(self, params: object) -> None:
        """An answer that nobody waits for is not sent; a change that was begun is completed."""
        id = messages.id_of({"id": params.get("requestId")}) if isinstance(params, dict) else None
        with self._counting:
            if id is not None and id in self._waiting:
                self._cancelled.add(id)

    def _count(self, message: object, change: int) -> None:
        """One more request of that id under way, or one less; clients may use an id twice."""
        id = messages.id_of(message) if isinstance(message, dict) else None
        with self._counting:
            left = self._waiting.pop(id, 0) + change
            if left:
                self._waiting[id] = left
            else:
                self._cancelled.discard(id)

    def _work(self) -> None:
        while (message := self._jobs.get()) is not None and not self.gone.is_set():
            id = messages.id_of(message) if isinstance(message, dict) else None
            # Cancelled before it began: it was never asked.
            answer = None if id in self._cancelled else self._talk.answer(message)
            if id not in self._cancelled:
                self._send(answer)
            self._count(message, -1)
            self._talk.afterwards()

    def _send(self, message: object) -> None:
        if message is None or self.gone.is_set():
            return
        try:
            with self._writing:
                data = memoryview(messages.write(message))
                while data:
                    data = data[self._sink.write(data) :]
        except (OSError, ValueError):  # closed, there or here
            self.gone.set()
            _wake()


def _wake() -> None:
    """The main thread waits for input that nobody will send."""
    main = threading.main_thread()
    deaf = signal.getsignal(signal.SIGTERM) in (signal.SIG_DFL, signal.SIG_IGN, None)
    if threading.current_thread() is not main and not deaf:
        signal.pthread_kill(main.ident or 0, signal.SIGTERM)
