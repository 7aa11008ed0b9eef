"""What an administrator of the team server does: `memdir serve admin`."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable
from typing import Any

import click

from memdir.cli.output import Answer, Screen
from memdir.cli.serve import DATABASE_VARIABLE, check_server_extra, read_database_url
from memdir.errors import BadInput, Unwritable
from memdir.text.terminal import plural

DRY_RUN = "dry run: nothing was written"
ROLES = click.Choice(("reader", "writer", "maintainer"))
TOKEN_DAYS = 365
AUDITED = 50  # rows, unless asked for more


@click.group("admin", invoke_without_command=True)
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
            check_server_extra()
            answer = run(screen, read_database_url(database, database_file), **options)
            screen.answer(answer.fields, answer.lines)
            return answer.code

        options = [
            click.Option(
                ["--database"],
                metavar="URL",
                envvar=DATABASE_VARIABLE,
                default="",
                help="postgresql://…, as an administrator.",
            ),
            click.Option(
                ["--database-file"], metavar="FILE", default="", help="The address is in a file."
            ),
            click.Option(["--json"], is_flag=True, help="Print one JSON object."),
        ]
        own = getattr(call, "__click_params__", [])[::-1]
        help = f"{inspect.cleandoc(run.__doc__ or '')}\n\n\b\nExample:\n  {example}"
        name = run.__name__.removesuffix("_command")
        command = click.Command(name, callback=call, params=[*own, *options], help=help)
        admin.add_command(command)
        return command

    return declare


def write_private(path: str, text: str) -> None:
    """A new file of one line that only its owner can read."""
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(text + "\n")
    except FileExistsError:
        raise BadInput(f"{path} is there already", path=path, next="name a new file") from None
    except (OSError, ValueError) as error:
        cause = getattr(error, "strerror", None) or "not a file name"
        raise Unwritable(f"{path}: {cause}", path=path, next="name a file to write") from None


def check_new_file(path: str) -> None:
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
    from memdir.server.admin import APP_ROLE, initiate

    if url_file and os.path.lexists(url_file):
        if new_password:
            check_new_file(url_file)
        url_file = ""  # written by the first init; it still holds
    check_new_file(url_file)
    migrations, address = initiate(url, new_password=new_password)
    lines = [f"migrated: {name}" for name in migrations] or ["the tables are up to date"]
    if address and url_file:
        write_private(url_file, address)
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

    check_new_file(token_file)
    done = invite(url, name, space, role, days)
    if token_file:
        write_private(token_file, done.token)
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
    from memdir.server.admin import purge

    versions, seq = purge(url, path, space, dry_run=dry_run)
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
    from memdir.server.admin import export

    paths = export(url, space, folder, dry_run=dry_run)
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
    from memdir.server.admin import list_audit

    rows = list_audit(url, space, act, limit)
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
