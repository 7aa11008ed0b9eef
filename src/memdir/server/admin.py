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

from memdir.errors import BadInput, Missing
from memdir.hot.disk import Disk, disk_failure
from memdir.hot.memory import encode
from memdir.server.database import INIT, first_line, unreachable
from memdir.server.migrations import list_migrations, migrate

APP_ROLE = "memdir_app"
ROLES = ("reader", "writer", "maintainer")
TOKEN_START = "memdir_"  # so that scanners can know one
TOKEN_BYTES = 32
PASSWORD_BYTES = 24
ACTOR = "admin"
MAX_ROWS = 10_000
NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


class Initiated(NamedTuple):
    migrations: list[str]
    url: str  # for `memdir serve`; empty if the role had its password before


class Invited(NamedTuple):
    token: str
    space_is_new: bool
    person_is_new: bool


class Revoked(NamedTuple):
    tokens: int
    spaces: list[str]


class Purged(NamedTuple):
    versions: int
    seq: int


@contextmanager
def open_connection(url: str) -> Iterator[psycopg.Connection[Any]]:
    try:
        with psycopg.connect(url, autocommit=True, connect_timeout=10) as connection:
            yield connection
    except psycopg.OperationalError as error:
        raise unreachable(error) from None
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


def initiate(url: str, *, new_password: bool = False) -> Initiated:
    """Roles, tables, and the address to serve with; again, it only adds what is missing."""
    exists = "select 1 from pg_roles where rolname = %s"
    with open_connection(url) as connection:
        new_password = not connection.execute(exists, (APP_ROLE,)).fetchone() or new_password
        done = [f"{m.number:04d} {m.name}" for m in migrate(connection)]
        if not new_password:
            return Initiated(done, "")
        password = secrets.token_urlsafe(PASSWORD_BYTES)
        # Hashed here: the words of a statement may stand in the log of the database.
        hashed = connection.pgconn.encrypt_password(
            password.encode(), APP_ROLE.encode(), b"scram-sha-256"
        )
        change = sql.SQL("alter role {} password {}").format(
            sql.Identifier(APP_ROLE), sql.Literal(hashed.decode())
        )
        connection.execute(change)
    return Initiated(done, application_url(url, password))


def application_url(url: str, password: str) -> str:
    """The same database, with the role of the application."""
    parts = {key: str(value) for key, value in conninfo_to_dict(url).items() if value is not None}
    name = quote(parts.pop("dbname", parts.get("user", "")), safe="")
    for key in ("user", "password", "passfile"):
        parts.pop(key, None)
    more = f"?{urlencode(parts)}" if parts else ""
    return f"postgresql://{APP_ROLE}:{quote(password)}@/{name}{more}"


def invite(url: str, name: str, space: str, role: str, days: int) -> Invited:
    check_server_name(name, "name")
    if name == ACTOR:  # the audit log means the administrator by it
        raise BadInput(f"the name {ACTOR} is taken", next="choose another")
    check_server_name(space, "space")
    token = TOKEN_START + secrets.token_urlsafe(TOKEN_BYTES)
    with _as_owner(url) as connection:

        def is_new(table: str, value: str) -> bool:
            query = sql.SQL("insert into {} (name) values (%s) on conflict do nothing returning id")
            return bool(connection.execute(query.format(sql.Identifier(table)), (value,)).rowcount)

        invited = Invited(token, is_new("space", space), is_new("person", name))
        connection.execute(
            "insert into member (person, space, role) select p.id, s.id, %s from person p, space s"
            " where p.name = %s and s.name = %s"
            " on conflict (person, space) do update set role = excluded.role",
            (role, name, space),
        )
        connection.execute(
            "insert into token (hash, person, expires)"
            " select %s, id, now() + make_interval(days => %s) from person where name = %s",
            (hashlib.sha256(token.encode()).digest(), days, name),
        )
        _write_audit(connection, "invite", space, {"name": name, "role": role, "days": days})
    return invited


def revoke(url: str, name: str, space: str = "") -> Revoked:
    """All tokens and memberships of a person, or the membership in one space."""
    with _as_owner(url) as connection:
        found = connection.execute("select id from person where name = %s", (name,)).fetchone()
        if found is None:
            hint = "memdir serve admin audit --act invite lists who was invited"
            raise Missing(f"nobody has the name {name[:64]!r}", next=hint)
        left = [
            row[0]
            for row in connection.execute(
                "delete from member m using space s where m.space = s.id and m.person = %s"
                " and (%s = '' or s.name = %s) returning s.name",
                (found[0], space, space),
            )
        ]
        if space and not left:
            hint = "leave out --space to revoke the tokens of this person"
            raise Missing(f"{name} is no member of {space[:64]!r}", next=hint)
        tokens = 0
        if not space:
            tokens = connection.execute(
                "update token set revoked = now() where person = %s and revoked is null",
                (found[0],),
            ).rowcount
        _write_audit(connection, "revoke", space or None, {"name": name, "spaces": left})
    return Revoked(tokens, sorted(left))


def purge(url: str, path: str, space: str, *, dry_run: bool = False) -> Purged:
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
            return Purged(there[0], there[1])
        seq = connection.execute("select purge(%s, %s, %s)", (space, path, ACTOR)).fetchone()
    with open_connection(url) as connection:  # the old rows leave their pages; not in a transaction
        connection.execute("vacuum memdir.memory, memdir.version, memdir.proposal")
    assert seq is not None
    return Purged(there[0], seq[0])


def export(url: str, space: str, folder: str, *, dry_run: bool = False) -> list[str]:
    """What stands in the space as plain files; the folder must be new or empty."""
    target = Path(folder)
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
            _write_audit(connection, "export", space, {"memories": len(rows)})
    if not dry_run:
        try:
            disk = Disk(folder)
            disk.make_root()
            disk.put_all({path: encode(body) for path, body in rows})
        except OSError as error:
            raise disk_failure(error, folder, "the export cannot be written") from None
    return [path for path, _ in rows]


def list_audit(url: str, space: str, act: str, limit: int) -> list[dict[str, Any]]:
    """Newest first."""
    with _as_owner(url) as connection:
        rows = connection.execute(
            "select to_char(at at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"'), person, act,"
            " coalesce(space, ''), detail from audit where (%s = '' or space = %s)"
            " and (%s = '' or act = %s) order by id desc limit %s",
            (space, space, act, act, min(limit, MAX_ROWS)),
        ).fetchall()
    return [dict(zip(("at", "person", "act", "space", "detail"), row, strict=True)) for row in rows]


def check_server_name(given: str, what: str) -> None:
    if not NAME.fullmatch(given):
        message = f"{what} {given[:64]!r} is not up to 64 of a-z, 0-9, dot, - and _"
        raise BadInput(message, next="start it with a letter or digit")


def _write_audit(
    connection: psycopg.Connection[Any], act: str, space: str | None, detail: dict[str, Any]
) -> None:
    from psycopg.types.json import Jsonb

    connection.execute(
        "insert into audit (person, act, space, detail) values (%s, %s, %s, %s)",
        (ACTOR, act, space, Jsonb(detail)),
    )
