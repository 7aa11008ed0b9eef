"""One process on loopback: it serves until it is stopped, or nobody has asked for a while."""

from __future__ import annotations

import asyncio
import signal
import socket
from contextlib import nullcontext

import uvicorn

from memdir.errors import Unwritable
from memdir.ui.gate import Gate

HOST = "127.0.0.1"
WATCH_SECONDS = 1.0  # between two looks at the clock
CLOSE_SECONDS = 2  # for answers on their way


def open_port(port: int) -> socket.socket:
    """A listening socket; 0 takes any free port."""
    try:
        return socket.create_server((HOST, port))
    except OSError as error:
        hint = "leave out --port to take a free one"
        raise Unwritable(f"port {port} cannot be opened: {error.strerror}", next=hint) from None


class _Server(uvicorn.Server):
    capture_signals = nullcontext  # type: ignore[assignment] # it would raise them again


def serve(listener: socket.socket, gate: Gate, idle_seconds: float) -> bool:
    """Serves until a signal or `idle_seconds` without a request; True if it was the latter."""
    config = uvicorn.Config(
        gate,
        http="h11",
        loop="asyncio",
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="critical",
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=CLOSE_SECONDS,
    )
    server = _Server(config)

    def is_idle() -> bool:
        return gate.now() - gate.last > idle_seconds

    async def watch() -> None:
        while not is_idle():
            await asyncio.sleep(min(WATCH_SECONDS, idle_seconds / 4))
        server.should_exit = True

    async def run() -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # the second ends at once
            asyncio.get_running_loop().add_signal_handler(number, server.handle_exit, number, None)
        watcher = asyncio.create_task(watch())
        await server.serve([listener])
        watcher.cancel()

    with listener:
        asyncio.run(run())
    return is_idle()
