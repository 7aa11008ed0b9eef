"""HTTP on this machine alone: one address, a token, one JSON answer to each message."""

from __future__ import annotations

import secrets
import signal
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import SHUT_RDWR
from typing import TYPE_CHECKING, cast

from memdir.core.errors import MemdirError
from memdir.surfaces.mcp import messages
from memdir.surfaces.mcp.asked import PATH, Bad, check_modern, check_request, is_modern
from memdir.surfaces.mcp.messages import Refused
from memdir.surfaces.mcp.talk import HANDSHAKE, MODERN, Talk
from memdir.surfaces.mcp.token import Token

if TYPE_CHECKING:
    from socket import socket
    from types import FrameType

    from memdir.surfaces.mcp.stores import Stores

ADDRESS = "127.0.0.1"
Tell = Callable[[str, str, str], None]  # address, token where it is new, file of the token
SESSIONS = 100  # clients that are known at once; the one not heard of for longest is forgotten
CONNECTIONS = 32
ROOM_SECONDS = 1.0  # until one that was sent away is gone
IDLE_SECONDS = 30.0  # a connection that says nothing
STATUS = {
    **dict.fromkeys((messages.PARSE, messages.INVALID, messages.PARAMS), 400),
    **dict.fromkeys((messages.MISMATCH, messages.VERSION), 400),
    messages.UNKNOWN: 404,
}


class Web(ThreadingHTTPServer):
    """The server; one call at a time works on the stores."""

    daemon_threads = True
    request_queue_size = CONNECTIONS

    def __init__(self, stores: Stores, port: int, token: Token) -> None:
        super().__init__((ADDRESS, port), _Asked)
        self.stores = stores
        self.token = token
        self.work = threading.Lock()
        self._room = threading.BoundedSemaphore(CONNECTIONS)
        self._talks: OrderedDict[str, Talk] = OrderedDict()
        self._known = threading.Lock()
        self._strangers: OrderedDict[int, socket] = OrderedDict()  # nobody has shown a token there

    @property
    def port(self) -> int:
        """The one it listens on."""
        return int(self.server_address[1])

    def begin(self) -> tuple[str, Talk]:
        """A new session."""
        id, talk = secrets.token_urlsafe(24), Talk(self.stores)
        with self._known:
            self._talks[id] = talk
            while len(self._talks) > SESSIONS:
                self._talks.popitem(last=False)
        return id, talk

    def find(self, id: str) -> Talk | None:
        """The session of that id, heard of just now."""
        with self._known:
            if id in self._talks:
                self._talks.move_to_end(id)
            return self._talks.get(id)

    def end(self, id: str) -> bool:
        """Forget a session; False where there was none."""
        with self._known:
            return self._talks.pop(id, None) is not None

    def process_request(self, request: socket | tuple[bytes, socket], client: object) -> None:
        """A thread for each connection; where all are taken, a stranger makes room."""
        free = self._room.acquire(blocking=False)
        if not free and self._send_away():
            free = self._room.acquire(timeout=ROOM_SECONDS)
        if not free:
            self.shutdown_request(request)
            return
        with self._known:
            self._strangers[id(request)] = cast("socket", request)
        super().process_request(request, client)

    def admit(self, request: socket) -> None:
        """Whoever has shown the token stays."""
        with self._known:
            self._strangers.pop(id(request), None)

    def _send_away(self) -> bool:
        """End the connection that has kept its token back for longest, if there is one."""
        with self._known:
            if not self._strangers:
                return False
            _, stranger = self._strangers.popitem(last=False)
            with suppress(OSError):  # it went by itself
                stranger.shutdown(SHUT_RDWR)
        return True

    def process_request_thread(
        self, request: socket | tuple[bytes, socket], client: object
    ) -> None:
        """Its whole life; the room is free again afterwards."""
        try:
            super().process_request_thread(request, client)
        finally:
            self.admit(cast("socket", request))
            self._room.release()

    def handle_error(self, request: object, client: object) -> None:
        """A connection that broke off is nobody's mistake, and a traceback nobody's wish."""
        error = sys.exc_info()[1]
        if isinstance(error, Exception) and not isinstance(error, OSError):
            from memdir.adapters.log_file import trouble

            self.stores.log(trouble(error))


class _Asked(BaseHTTPRequestHandler):
    """One connection."""

    server: Web
    protocol_version = "HTTP/1.1"
    timeout = IDLE_SECONDS
    server_version, sys_version = "memdir", ""

    def do_POST(self) -> None:
        """A message."""
        try:
            body = check_request(self.headers, self.path, self.server.port, self.server.token)
            self.server.admit(self.connection)
            data = self.rfile.read(body)
            if len(data) < body:
                raise Bad(400, "the body broke off")
            message = messages.read(data)
            self._answer(message)
        except Bad as bad:
            self._refuse(bad)
        except Refused as refused:
            self._send(400, messages.error(None, refused))

    def do_DELETE(self) -> None:
        """The client ends its session."""
        try:
            check_request(self.headers, self.path, self.server.port, self.server.token, body=False)
            if not self.server.end(self.headers.get("Mcp-Session-Id", "")):
                raise Bad(404, "there is no such session")
            self._send(204, None)
        except Bad as bad:
            self._refuse(bad)

    def do_GET(self) -> None:
        """There is no stream to listen to; reading never changes anything."""
        try:
            check_request(self.headers, self.path, self.server.port, self.server.token, body=False)
            raise Bad(405, "send messages with POST", {"Allow": "POST, DELETE"})
        except Bad as bad:
            self._refuse(bad)

    do_HEAD = do_PUT = do_PATCH = do_OPTIONS = do_TRACE = do_CONNECT = do_GET

    def _answer(self, message: object) -> None:
        modern = is_modern(message, self.headers)
        id, talk = "", Talk(self.server.stores)
        if modern:
            check_modern(message, self.headers)
        elif isinstance(message, dict) and message.get("method") == "initialize":
            id, talk = self.server.begin()
        else:
            talk = self._session()
        with self.server.work:
            answer = talk.answer(message)
        if id and isinstance(answer, dict) and "error" in answer:
            self.server.end(id)
            id = ""
        self._send(202 if answer is None else _status(answer, modern), answer, id)
        with self.server.work:
            talk.afterwards()

    def _session(self) -> Talk:
        version = self.headers.get("Mcp-Protocol-Version", HANDSHAKE[1])
        if version not in (*HANDSHAKE, *MODERN):
            raise Bad(400, f"this version of the protocol is not spoken; {HANDSHAKE[-1]} is")
        id = self.headers.get("Mcp-Session-Id", "")
        if not id:
            raise Bad(400, "Mcp-Session-Id is missing; begin with initialize")
        talk = self.server.find(id)
        if talk is None:
            raise Bad(404, "there is no such session; begin anew with initialize")
        return talk

    def _refuse(self, bad: Bad) -> None:
        """In the form of the protocol; the connection ends, for its body may be unread."""
        self.close_connection = True
        answer = messages.error(None, Refused(messages.INVALID, bad.message))
        self._send(bad.status, answer, more=bad.more)

    def _send(
        self, status: int, answer: object, id: str = "", more: Mapping[str, str] | None = None
    ) -> None:
        data = b"" if answer is None else messages.write(answer)
        self.send_response(status)
        if data:
            self.send_header("Content-Type", "application/json")
        if status != 204:
            self.send_header("Content-Length", str(len(data)))
        for name, value in (more or {}).items():
            self.send_header(name, value)
        if id:
            self.send_header("Mcp-Session-Id", id)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: a log would hold what people ask for."""


def _status(answer: object, modern: bool) -> int:
    error = answer.get("error") if isinstance(answer, dict) else None
    code = error.get("code") if isinstance(error, dict) else None
    return STATUS.get(code, 200) if modern and isinstance(code, int) else 200


def serve_web(stores: Stores, port: int, tell: Tell) -> int:
    """Until somebody ends it; tells where it listens, a new token once, and where it lies."""
    try:
        token = Token(stores.config("project").state_dir)
        made = token.make()
        web = Web(stores, port, token)
    except (MemdirError, OSError) as error:
        next = f" Next: {error.next}" if isinstance(error, MemdirError) else ""
        sys.stderr.write(f"memdir: {error}.{next}\n")
        return 1

    def end(number: int, frame: FrameType | None) -> None:
        threading.Thread(target=web.shutdown, daemon=True).start()

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, end)
    tell(f"http://{ADDRESS}:{web.port}{PATH}", made, token.path)
    web.serve_forever(poll_interval=0.2)
    with web.work:  # a change under way comes to its end
        web.server_close()
    return 0
