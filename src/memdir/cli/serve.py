"""The team server: `memdir serve`."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

import click

from memdir.cli.main import Commands
from memdir.cli.output import Screen
from memdir.errors import BadInput
from memdir.hot.disk import read_start

DATABASE_VARIABLE = "MEMDIR_DATABASE"
PORT = 8377
MAX_URL_BYTES = 4_000
INSTALL = "pip install 'memdir[server]'"
LOCAL = ("127.0.0.1", "localhost", "::1")
NO_TLS = (
    "without --tls-cert anybody on the way can read tokens and memories; "
    "give it one, or let a proxy on this machine do it and listen on 127.0.0.1"
)


def check_server_extra() -> None:
    try:
        import mcp  # noqa: F401
        import psycopg_pool  # noqa: F401
    except ImportError as error:
        message = f"the server needs packages that are not installed: {error.name}"
        raise BadInput(message, next=INSTALL) from None


def read_database_url(given: str, file: str) -> str:
    """The address from the option, its file, or the environment."""
    if file:
        try:
            data, facts = read_start(file, MAX_URL_BYTES)
        except OSError as error:
            message = f"{file}: {error.strerror}"
            raise BadInput(message, path=file, next="name a readable file") from None
        if facts.st_mode & stat.S_IROTH:
            message = f"{file} can be read by everybody here; it holds a password"
            raise BadInput(message, path=file, next=f"chmod 600 {file}")
        given = data.decode("utf-8", "replace").strip()
    if not given.startswith(("postgresql://", "postgres://")):
        hint = f"give --database postgresql://…, --database-file or {DATABASE_VARIABLE}"
        raise BadInput("no address of a PostgreSQL database is given", next=hint)
    return given


MODULES = {"admin": "serve_admin"}


class Serve(Commands):
    modules = MODULES


@click.group("serve", cls=Serve, invoke_without_command=True)
@click.option(
    "--database", metavar="URL", envvar=DATABASE_VARIABLE, default="", help="postgresql://…"
)
@click.option("--database-file", metavar="FILE", default="", help="The address stands in a file.")
@click.option("--host", default=LOCAL[0], show_default=True, metavar="HOST", help="Listen there.")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=PORT,
    show_default=True,
    metavar="PORT",
    help="0 takes a free one.",
)
@click.option("--name", "names", multiple=True, metavar="HOST", help="A name clients reach it by.")
@click.option("--tls-cert", metavar="FILE", default="", help="Certificate, for https.")
@click.option("--tls-key", metavar="FILE", default="", help="Its private key.")
@click.option(
    "--connections",
    type=click.IntRange(1, 100),
    default=4,
    show_default=True,
    metavar="N",
    help="To the database.",
)
@click.option(
    "--rate",
    type=click.FloatRange(0.1, 1_000_000),
    default=50.0,
    show_default=True,
    metavar="N",
    help="Requests a second of one token.",
)
@click.option("--json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def serve(
    context: click.Context,
    database: str,
    database_file: str,
    host: str,
    port: int,
    names: tuple[str, ...],
    tls_cert: str,
    tls_key: str,
    connections: int,
    rate: float,
    json: bool,
) -> None:
    """Serve the memories of a team from PostgreSQL, over HTTP and MCP.

    All state is in the database, so any number of these processes may run. It refuses to start
    with a role that row-level security does not hold.

    \b
    Example:
      memdir serve admin init --database postgresql://postgres@localhost/team
      memdir serve --database-file server.url
    """
    if context.invoked_subcommand is not None:
        return
    screen: Screen = context.obj
    screen.json, screen.begun = json, True
    check_server_extra()
    from memdir.server.listen import Listen, check_certificate, open_listener, run

    if tls_cert or tls_key:
        check_certificate(tls_cert, tls_key)
    url = read_database_url(database, database_file)
    listener = open_listener(host, port)
    port = listener.getsockname()[1]
    listen = Listen(url, host, port, names, connections, rate, tls_cert, tls_key)
    address = f"{'https' if tls_cert else 'http'}://{f'[{host}]' if ':' in host else host}:{port}"
    lines = [address, "", "Ctrl-C ends it; requests on their way are answered first."]

    def begun() -> None:
        if host not in LOCAL and not tls_cert:
            screen.tell(NO_TLS)
        screen.answer({"url": address, "port": port, "pid": os.getpid()}, lines)

    with suppress(KeyboardInterrupt):  # after the answers on their way
        run(listen, listener, begun)
