"""One process on loopback: it serves until it is stopped, or nobody has asked for a while."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from memdir.errors import Unwritable
from memdir.ui.gate import Gate

HOST = "127.0.0.1"
WATCH_SECONDS = 1.0  # between two looks at the clock
KEEP_ALIVE_SECONDS = 5
CLOSE_SECONDS = 2  # for answers on their way
MAX_HEADER_BYTES = 16 * 1024
BACKLOG = 128


def open_port(port: int) -> socket.socket:
    """A listening socket; 0 takes any free port."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        hint = "leave out --port to take a free one"
        raise Unwritable(f"port {port} cannot be opened: {error.strerror}", next=hint) from None
    return listener


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals end it in order, the second at once; they are not raised again afterwards."""

        def stop() -> None:
            self.force_exit, self.should_exit = self.should_exit, True

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, stop)
        yield


def serve(listener: socket.socket, gate: Gate, idle_seconds: float) -> bool:
    """Serves until a signal or `idle_seconds` without a request; True if it was the latter."""
    config = uvicorn.Config(
        gate,
        http="h11",
        loop="asyncio",
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        log_level="critical",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=CLOSE_SECONDS,
        h11_max_incomplete_event_size=MAX_HEADER_BYTES,
    )
    server = _Server(config)

    def is_idle() -> bool:
        return gate.now() - gate.last > idle_seconds

    async def watch() -> None:
        while not is_idle():
            await asyncio.sleep(min(WATCH_SECONDS, idle_seconds / 4))
        server.should_exit = True

    async def run() -> None:
        watcher = asyncio.create_task(watch())
        await server.serve([listener])
        watcher.cancel()

    with listener:
        asyncio.run(run())
    return is_idle()
