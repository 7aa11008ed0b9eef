"""One process: the pool, the routes and uvicorn; it keeps nothing that another would miss."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

import uvicorn

from memdir.errors import BadInput, Unwritable
from memdir.server.agent_tools import open_server_mcp_sessions
from memdir.server.database import Database, open_pool
from memdir.server.door import Door
from memdir.server.team_api import Api

BACKLOG = 1_024
KEEP_ALIVE_SECONDS = 60
CLOSE_SECONDS = 10  # for answers on their way
MAX_HEADER_BYTES = 16 * 1024
HEADER_SECONDS = 7.0  # between two looks at who has begun a header, so gone after 14 at most


class Listen(NamedTuple):
    database: str
    host: str
    port: int
    names: Sequence[str] = ()  # under which others reach it
    connections: int = 4
    per_second: float = 50.0  # requests of one token
    certificate: str = ""
    key: str = ""


def open_server_socket(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        raise _closed(host, port, error) from None
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise _closed(host, port, error) from None
    return listener


def check_certificate(certificate: str, key: str) -> None:
    """Before the port is opened, and as a sentence."""
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key or None)
    except OSError as error:  # also what OpenSSL says
        message = f"{certificate}: {error.strerror or error}"
        hint = "name a certificate and its key, both as PEM: --tls-cert FILE --tls-key FILE"
        raise BadInput(message, path=certificate, next=hint) from None


def _closed(host: str, port: int, error: OSError) -> Unwritable:
    message = f"{host} port {port} cannot be opened: {error.strerror}"
    return Unwritable(message, next="choose another with --host and --port")


async def serve(listen: Listen, listener: socket.socket, begun: Callable[[], None]) -> None:
    """Until a signal; refuses to begin with a role or tables that are not safe."""
    async with open_pool(listen.database, listen.connections) as pool:
        database = Database(pool)
        sessions = open_server_mcp_sessions(database)
        door: Door
        api = Api(database, sessions.handle_request, lambda token: door.welcome(token))
        door = Door(api, (listen.host, *listen.names), listen.per_second)
        config = uvicorn.Config(
            door,
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            log_level="critical",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            backlog=BACKLOG,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=CLOSE_SECONDS,
            h11_max_incomplete_event_size=MAX_HEADER_BYTES,
            ssl_certfile=listen.certificate or None,
            ssl_keyfile=listen.key or None,
        )
        server = _Server(config)
        async with sessions.run():
            begun()
            watcher = asyncio.create_task(server.drop_silent_clients())
            await server.serve([listener])
            watcher.cancel()


class _Server(uvicorn.Server):
    """uvicorn waits for a header, or for the start of TLS, as long as the client likes."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup([])
        config, protocol = self.config, cast(Any, self.config.http_protocol_class)
        for listener in sockets or ():
            server = await asyncio.get_running_loop().create_server(
                lambda: protocol(config=config, server_state=self.server_state, app_state={}),
                sock=listener,
                ssl=config.ssl,
                ssl_handshake_timeout=2 * HEADER_SECONDS if config.ssl else None,
                backlog=BACKLOG,
            )
            self.servers.append(server)

    async def drop_silent_clients(self) -> None:
        """Whoever is at the header of the same request at two looks is dropped."""
        before: dict[Any, object] = {}
        while True:
            await asyncio.sleep(HEADER_SECONDS)
            waiting = {}
            for client in cast(set[Any], self.server_state.connections):
                answered = client.cycle is None or client.cycle.response_complete
                if answered and client.timeout_keep_alive_task is None:
                    waiting[client] = client.cycle
            for client in waiting.keys() & before.keys():
                if waiting[client] is before[client]:
                    client.transport.abort()
            before = waiting


def run(listen: Listen, listener: socket.socket, begun: Callable[[], None]) -> None:
    with listener:
        try:
            import httptools  # noqa: F401 (uvicorn takes it where it is)
            import uvloop
        except ImportError:  # not on every system
            asyncio.run(serve(listen, listener, begun))
        else:
            uvloop.run(serve(listen, listener, begun))
