"""What an administrator does, straight in the database: members, purge, export, audit."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from memdir.errors import BadInput, Missing
from memdir.hot.disk import Disk, disk_failure
from memdir.hot.memory import encode
from memdir.server.database import (
    FOLDER,
    INIT,
    first_line,
    list_migrations,
    migrate,
    server_database_unreachable,
)

APP_ROLE = "memdir_app"
ROLES = ("reader", "writer", "maintainer")
TOKEN_START = "memdir_"  # so that scanners can know one
TOKEN_BYTES = 32
PASSWORD_BYTES = 24
ACTOR = "admin"
MAX_ROWS = 10_000
NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


class Invited(NamedTuple):
    token: str
    space_is_new: bool
    person_is_new: bool


@contextmanager
def open_connection(url: str) -> Iterator[psycopg.Connection[Any]]:
    try:
        with psycopg.connect(url, autocommit=True, connect_timeout=10) as connection:
            yield connection
    except psycopg.OperationalError as error:
        raise server_database_unreachable(error) from None
    except psycopg.errors.InsufficientPrivilege as error:
        hint = "log in as a role that may create roles and schemas, such as postgres"
        raise BadInput(f"the database refuses: {first_line(error)}", next=hint) from None
    except psycopg.ProgrammingError as error:
        raise BadInput(f"the database cannot be used: {first_line(error)}", next=INIT) from None


@contextmanager
def _as_owner(url: str) -> Iterator[psycopg.Connection[Any]]:
    """One transaction as the owner of the tables; first they must be there, and up to date."""
    with open_connection(url) as connection, connection.transaction():
        if not connection.execute("select to_regclass('memdir.migration')").fetchone()[0]:  # type: ignore[index]
            raise BadInput("the database has no tables of memdir yet", next=INIT)
        newest = connection.execute("select max(number) from memdir.migration").fetchone()
        if newest is None or newest[0] != list_migrations()[-1].number:
            raise BadInput("the database is not at the migration of this memdir", next=INIT)
        connection.execute("set local role memdir_owner")
        connection.execute("set local search_path = memdir, pg_temp")
        yield connection


def set_up_server_database(url: str, *, new_password: bool = False) -> tuple[list[str], str]:
    """The migrations done, and the address to serve with: empty if the role kept its password."""
    exists = "select 1 from pg_roles where rolname = %s"
    with open_connection(url) as connection:
        new_password = not connection.execute(exists, (APP_ROLE,)).fetchone() or new_password
        done = [f"{m.number:04d} {m.name}" for m in migrate(connection)]
        if not new_password:
            return done, ""
        password = secrets.token_urlsafe(PASSWORD_BYTES)
        # Hashed here: the words of a statement may stand in the log of the database.
        hashed = connection.pgconn.encrypt_password(
            password.encode(), APP_ROLE.encode(), b"scram-sha-256"
        )
        change = sql.SQL("alter role {} password {}").format(
            sql.Identifier(APP_ROLE), sql.Literal(hashed.decode())
        )
        connection.execute(change)
    return done, application_url(url, password)


def application_url(url: str, password: str) -> str:
    """The same database, with the role of the application."""
    parts = {key: str(value) for key, value in conninfo_to_dict(url).items() if value is not None}
    name = quote(parts.pop("dbname", parts.get("user", "")), safe="")
    for key in ("user", "password", "passfile"):
        parts.pop(key, None)
    more = f"?{urlencode(parts)}" if parts else ""
    return f"postgresql://{APP_ROLE}:{quote(password)}@/{name}{more}"


def invite(url: str, name: str, space: str, role: str, days: int) -> Invited:
    check_name_on_server(name, "name")
    if name == ACTOR:  # the audit log means the administrator by it
        raise BadInput(f"the name {ACTOR} is taken", next="choose another")
    check_name_on_server(space, "space")
    token = TOKEN_START + secrets.token_urlsafe(TOKEN_BYTES)
    hashed = hashlib.sha256(token.encode()).digest()
    with _as_owner(url) as connection:
        sql = "select new_space, new_person from invite(%s, %s, %s, %s, %s, %s)"
        row = connection.execute(sql, (name, space, role, hashed, days, ACTOR)).fetchone()
    assert row is not None
    return Invited(token, *row)


def revoke(url: str, name: str, space: str = "") -> tuple[int, list[str]]:
    """How many tokens are revoked, and the spaces left: all, or the one named without a token."""
    with _as_owner(url) as connection:
        if not connection.execute("select 1 from person where name = %s", (name,)).fetchone():
            hint = "memdir serve admin audit --act invite lists who was invited"
            raise Missing(f"nobody has the name {name[:64]!r}", next=hint)
        sql = "select tokens, spaces from revoke(%s, %s, %s)"
        row = connection.execute(sql, (name, space, ACTOR)).fetchone()
        assert row is not None
        if space and not row[1]:
            hint = "leave out --space to revoke the tokens of this person"
            raise Missing(f"{name} is no member of {space[:64]!r}", next=hint)
    return row[0], row[1]


def purge_from_space(url: str, path: str, space: str, *, dry_run: bool = False) -> tuple[int, int]:
    """How many versions went, and the number of the change that tells it."""
    with _as_owner(url) as connection:
        there = connection.execute(
            "select (select count(*) from version v where v.space = s.id and v.path = m.path)"
            " + (m.body is not null)::int, s.seq"
            " from memory m join space s on s.id = m.space where s.name = %s and m.path = %s",
            (space, path),
        ).fetchone()
        if there is None:
            hint = f"memdir serve admin export {space} writes what there is"
            raise Missing(
                f"there is no memory {path[:80]!r} in the space {space[:64]!r}", next=hint
            )
        if dry_run:
            return there[0], there[1]
        seq = connection.execute("select purge(%s, %s, %s)", (space, path, ACTOR)).fetchone()
    with open_connection(url) as connection:  # the old rows leave their pages; not in a transaction
        connection.execute("vacuum memdir.memory, memdir.version, memdir.proposal")
    assert seq is not None
    return there[0], seq[0]


def export_space(url: str, space: str, folder: str, *, dry_run: bool = False) -> list[str]:
    """What stands in the space as plain files; the folder must be new or empty."""
    target = Path(folder).absolute()
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise BadInput(f"{folder} is there and not empty", path=folder, next="name a new folder")
    with _as_owner(url) as connection:
        if not connection.execute("select 1 from space where name = %s", (space,)).fetchone():
            hint = "memdir serve admin audit --act invite shows the names of spaces"
            raise Missing(f"there is no space {space[:64]!r}", next=hint)
        rows = connection.execute(
            "select m.path, m.body from memory m join space s on s.id = m.space"
            " where s.name = %s and m.body is not null order by m.path",
            (space,),
        ).fetchall()
        if not dry_run:
            connection.execute(
                "insert into audit (person, act, space, detail) values (%s, 'export', %s, %s)",
                (ACTOR, space, Jsonb({"memories": len(rows)})),
            )
    if not dry_run:
        try:
            disk = Disk(str(target))
            disk.make_root()
            disk.put_all({path: encode(body) for path, body in rows})
        except OSError as error:
            raise disk_failure(error, folder, "the export cannot be written") from None
    return [path for path, _ in rows]


def list_server_audit(url: str, space: str, act: str, limit: int) -> list[dict[str, Any]]:
    """Newest first."""
    given = {"space": space, "act": act, "limit": min(limit, MAX_ROWS)}
    with _as_owner(url) as connection:
        cursor = connection.cursor(row_factory=dict_row)
        return cursor.execute((FOLDER / "list_audit.sql").read_bytes(), given).fetchall()


def check_name_on_server(given: str, what: str) -> None:
    if not NAME.fullmatch(given):
        message = f"{what} {given[:64]!r} is not up to 64 of a-z, 0-9, dot, - and _"
        raise BadInput(message, next="start it with a letter or digit")
