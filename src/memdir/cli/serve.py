"""What listens: the page (`memdir ui`), and the server of a team with what administers it."""

from __future__ import annotations

import functools
import inspect
import os
import stat
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import click

from memdir.cli.command import Session, command
from memdir.cli.output import DRY_RUN, Answer, Screen
from memdir.errors import BadInput, Unwritable
from memdir.hot.disk import disk_failure, read_start
from memdir.text.terminal import plural

IDLE_SECONDS = 1_800.0
PORTS = click.IntRange(0, 65_535)  # 0 takes a free one
SCREENS = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")  # without one a browser would take the terminal


@command("ui", "memdir ui --no-open")
@click.option("--port", type=PORTS, default=0, metavar="PORT", help="Default: any free one.")
@click.option("--no-open", is_flag=True, help="Print the address; open no browser.")
@click.option("--html", metavar="FILE", help="Write the first screen as one file, and end.")
@click.option("--idle-seconds", type=float, default=IDLE_SECONDS, hidden=True)
def ui_command(
    session: Session, port: int, no_open: bool, html: str | None, idle_seconds: float
) -> Answer | int:
    """It shows what changed, what waits for you, what agents were told and what needs a look, and
    undoes each of it. It listens on this machine only, opens with the printed address, once, and
    ends by itself after 30 minutes without a request. Every change goes the way of the commands.
    """
    import time

    from memdir.ui.gate import Gate
    from memdir.ui.loopback import HOST, open_port, serve
    from memdir.ui.routes import Ui, draw_home_page_file, open_page
    from memdir.ui.workspace import Spot, Workspace

    asked = session.asked
    cwd = asked.project or os.getcwd()
    spot = Spot("", asked.project, asked.dir, asked.scope)
    workspace = Workspace(os.environ, cwd, spot)
    if html is not None:
        data = draw_home_page_file(Ui(workspace, ""))
        write_private_output(html, data, os.O_TRUNC)
        return Answer({"path": html, "bytes": len(data)}, [f"wrote {session.short(html)}"])
    listener = open_port(port)
    port = listener.getsockname()[1]
    gate = Gate(port, time.monotonic)
    gate.inside = open_page(Ui(workspace, gate.form_token))
    url = f"http://{HOST}:{port}/?token={gate.token}"
    lines = [url, "", "The address works once. Ctrl-C ends it, or 30 minutes without a request."]
    session.screen.answer({"url": url, "port": port, "pid": os.getpid()}, lines)

    if not no_open and (sys.platform == "darwin" or any(map(os.environ.get, SCREENS))):
        import webbrowser  # the port listens already

        threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
    idle = serve(listener, gate, idle_seconds)
    session.screen.tell("nobody asked for a while; ended" if idle else "ended")
    return 0


def write_private_output(path: str, data: bytes, flag: int = os.O_EXCL) -> None:
    """A file that only its owner can read; a new one, unless `flag` says otherwise."""
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | flag, 0o600), "wb") as file:
            file.write(data)
    except FileExistsError:
        raise BadInput(f"{path} is there already", path=path, next="name a new file") from None
    except ValueError:
        raise Unwritable(f"{path!r} is not a file name", next="name a file to write") from None
    except OSError as error:
        raise disk_failure(error, path, "it cannot be written") from None


DATABASE_VARIABLE = "MEMDIR_DATABASE"
PORT = 8377
MAX_URL_BYTES = 4_000
INSTALL = "pip install 'memdir[server]'"
LOCAL = ("127.0.0.1", "localhost", "::1")
NO_TLS = (
    "without --tls-cert anybody on the way can read tokens and memories; "
    "give it one, or let a proxy on this machine do it and listen on 127.0.0.1"
)


def check_serve_command_extra() -> None:
    try:
        import mcp  # noqa: F401
        import psycopg_pool  # noqa: F401
    except ImportError as error:
        message = f"the server needs packages that are not installed: {error.name}"
        raise BadInput(message, next=INSTALL) from None


def read_database_url_option(given: str, file: str) -> str:
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


database_option = click.option(
    "--database",
    metavar="URL",
    envvar=DATABASE_VARIABLE,
    default="",
    help="postgresql://…; an administrator's for `admin`.",
)
database_file_option = click.option(
    "--database-file", metavar="FILE", default="", help="The address stands in a file."
)
json_option = click.option("--json", is_flag=True, help="Print one JSON object.")


@click.group("serve", invoke_without_command=True)
@database_option
@database_file_option
@click.option("--host", default=LOCAL[0], show_default=True, metavar="HOST", help="Listen there.")
@click.option(
    "--port",
    type=PORTS,
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
@json_option
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
    check_serve_command_extra()
    from memdir.server.listen import Listen, check_certificate, open_server_socket, run

    if tls_cert or tls_key:
        check_certificate(tls_cert, tls_key)
    url = read_database_url_option(database, database_file)
    listener = open_server_socket(host, port)
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


ROLES = click.Choice(("reader", "writer", "maintainer"))
TOKEN_DAYS = 365
AUDITED = 50  # rows, unless asked for more


@serve.group("admin", invoke_without_command=True)
@click.pass_context
def admin(context: click.Context) -> None:
    """Set up the database, and decide who is in which space.

    These commands talk to the database themselves, as its administrator; the server need not run.

    \b
    Example:
      memdir serve admin invite ann --space shop --role writer
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def admin_command(example: str) -> Callable[[Callable[..., Answer]], click.Command]:
    """Adds the address of the database and --json; the function gets a screen and the address."""

    def declare(run: Callable[..., Answer]) -> click.Command:
        @functools.wraps(run)
        def call(database: str, database_file: str, json: bool, **options: Any) -> int:
            screen: Screen = click.get_current_context().obj
            screen.json, screen.begun = json, True
            check_serve_command_extra()
            answer = run(screen, read_database_url_option(database, database_file), **options)
            screen.answer(answer.fields, answer.lines)
            return answer.code

        shared = [database_option, database_file_option, json_option]
        own = getattr(call, "__click_params__", [])[::-1]
        help = f"{inspect.cleandoc(run.__doc__ or '')}\n\n\b\nExample:\n  {example}"
        made = click.Command(run.__name__.removesuffix("_command"), callback=call, help=help)
        for option in shared:
            option(made)
        made.params[:0] = own
        admin.add_command(made)
        return made

    return declare


def check_new_output_file(path: str) -> None:
    """Before anything changes: a token that cannot be written down would be lost."""
    if path and os.path.lexists(path):
        raise BadInput(f"{path} is there already", path=path, next="name a new file")
    folder = os.path.dirname(path) or "."
    if path and not os.access(folder, os.W_OK):
        raise Unwritable(f"{folder} cannot be written", path=path, next="name another file")


@admin_command("memdir serve admin init --database postgresql://postgres@localhost/team")
@click.option("--url-file", metavar="FILE", default="", help="Write the address for serve there.")
@click.option("--new-password", is_flag=True, help="Give the role of the server a new password.")
def init_command(screen: Screen, url: str, url_file: str, new_password: bool) -> Answer:
    """Make or update the roles and tables; again, it adds only what is missing."""
    from memdir.server.admin import APP_ROLE, set_up_server_database

    if url_file and os.path.lexists(url_file):
        if new_password:
            check_new_output_file(url_file)
        url_file = ""  # written by the first init; it still holds
    check_new_output_file(url_file)
    migrations, address = set_up_server_database(url, new_password=new_password)
    lines = [f"migrated: {name}" for name in migrations] or ["the tables are up to date"]
    if address and url_file:
        write_private_output(url_file, f"{address}\n".encode())
        lines += [
            f"address for serve: {url_file}",
            f"Next: memdir serve --database-file {url_file}",
        ]
    elif address:
        lines += [f"address for serve, shown only now: {address}"]
        lines += screen.block("Next:", "memdir serve --database that address", "")
    else:
        text = f"the role {APP_ROLE} keeps its password; --new-password makes another"
        lines += screen.block("", text, "")
    shown = {} if url_file else {"url": address}
    return Answer({"migrations": migrations, "url_file": url_file, **shown}, lines)


@admin_command("memdir serve admin invite ann --space shop --token-file ann.token")
@click.argument("name")
@click.option("--space", required=True, metavar="SPACE", help="It is made if it is new.")
@click.option("--role", type=ROLES, default="writer", show_default=True)
@click.option(
    "--days",
    type=click.IntRange(1, 3_650),
    default=TOKEN_DAYS,
    show_default=True,
    metavar="N",
    help="How long the token is good.",
)
@click.option("--token-file", metavar="FILE", default="", help="Write the token there (0600).")
def invite_command(
    screen: Screen, url: str, name: str, space: str, role: str, days: int, token_file: str
) -> Answer:
    """Make NAME a member of a space, and give out a token; again, it changes the role."""
    from memdir.server.admin import invite

    check_new_output_file(token_file)
    done = invite(url, name, space, role, days)
    if token_file:
        write_private_output(token_file, f"{done.token}\n".encode())
    lines = [f"{name} is a {role} of {space}" + ", a new space" * done.space_is_new]
    shown = token_file or "FILE"
    lines += [f"token: {token_file or done.token}"]
    if not token_file:
        lines += screen.block("", "It is shown only now: put it in a file with mode 0600.", "")
    lines += screen.block("Next:", f"memdir team join https://… --token-file {shown}", "")
    fields = {"name": name, "space": space, "role": role, "days": days}
    fields |= {"new_space": done.space_is_new, "new_person": done.person_is_new}
    return Answer(
        fields | {"token" if not token_file else "token_file": token_file or done.token}, lines
    )


@admin_command("memdir serve admin revoke ann")
@click.argument("name")
@click.option("--space", metavar="SPACE", default="", help="Only leave this space.")
def revoke_command(screen: Screen, url: str, name: str, space: str) -> Answer:
    """Take back all tokens and memberships of NAME; it holds from the next request on."""
    from memdir.server.admin import revoke

    tokens, spaces = revoke(url, name, space)
    lines = [f"{name} left {', '.join(spaces) or 'no space'}"]
    lines += [f"{plural(tokens, 'token')} revoked"] if not space else []
    text = f"memdir serve admin invite {name} --space SPACE lets them in again"
    lines += screen.block("", text, "")
    return Answer({"name": name, "spaces": spaces, "tokens": tokens}, lines)


@admin_command("memdir serve admin purge auth.md --space shop")
@click.argument("path")
@click.option("--space", required=True, metavar="SPACE")
@click.option("--dry-run", is_flag=True, help="Say what would go; change nothing.")
def purge_command(screen: Screen, url: str, path: str, space: str, dry_run: bool) -> Answer:
    """Erase PATH with all its versions and proposals; clients erase it when they sync."""
    from memdir.server.admin import purge_from_space

    versions, seq = purge_from_space(url, path, space, dry_run=dry_run)
    would = "would be " if dry_run else ""
    lines = [f"{would}purged {path} of {space}: {plural(versions, 'version')}"]
    if not dry_run:
        text = "Backups of the database and its write-ahead log still have it until they expire."
        lines += screen.block("", text, "")
    lines += [DRY_RUN] if dry_run else []
    fields = {"path": path, "space": space, "versions": versions, "seq": seq}
    return Answer(fields | {"dry_run": dry_run}, lines)


@admin_command("memdir serve admin export shop --to shop-memories")
@click.argument("space")
@click.option("--to", "folder", required=True, metavar="DIR", help="A new or empty directory.")
@click.option("--dry-run", is_flag=True, help="List the files; write nothing.")
def export_command(screen: Screen, url: str, space: str, folder: str, dry_run: bool) -> Answer:
    """Write the memories of SPACE as plain files."""
    from memdir.server.admin import export_space

    paths = export_space(url, space, folder, dry_run=dry_run)
    would = "would write" if dry_run else "wrote"
    lines = [f"{would} {plural(len(paths), 'memory', 'memories')} to {folder}"]
    if dry_run:
        lines += [f"  {path}" for path in paths] + [DRY_RUN]
    else:
        lines += screen.block("Next:", f"memdir list --dir {folder}", "")
    return Answer({"space": space, "to": folder, "paths": paths, "dry_run": dry_run}, lines)


@admin_command("memdir serve admin audit --space shop")
@click.option("--space", metavar="SPACE", default="", help="Only of this space.")
@click.option("--act", metavar="ACT", default="", help="push, propose, decide, invite, purge, …")
@click.option(
    "--limit", type=click.IntRange(1, 10_000), default=AUDITED, show_default=True, metavar="N"
)
def audit_command(screen: Screen, url: str, space: str, act: str, limit: int) -> Answer:
    """List who changed what, the newest first. Reading is not written down."""
    from memdir.server.admin import list_server_audit

    rows = list_server_audit(url, space, act, limit)
    shown = [
        (row["at"], row["person"], row["act"], row["space"], _detail(row["detail"])) for row in rows
    ]
    lines = screen.table(shown, (20, 16, 8, 16)) or ["nothing was changed yet"]
    return Answer({"audit": rows}, lines)


def _detail(detail: dict[str, Any]) -> str:
    parts = []
    for key, value in detail.items():
        parts.append(f"{key}: {', '.join(map(str, value)) if isinstance(value, list) else value}")
    return "; ".join(parts)
