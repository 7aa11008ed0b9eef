"""The database: numbered migrations, the role that must not be too strong, and the pool."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from memdir.errors import BadInput, MemdirError

Pool = AsyncConnectionPool[AsyncConnection[Any]]
INIT = "run: memdir serve admin init --database URL, as an administrator"
WAIT_SECONDS = 2.0  # for a free connection
RETRY_SECONDS = 5.0  # then a lost connection is made anew when it is asked for
STATEMENT_SECONDS = 15
OPTIONS = f"-c search_path=memdir,pg_temp -c statement_timeout={STATEMENT_SECONDS}s"
FOLDER = Path(__file__).parent / "sql"
LOCK = 0x6D656D646972  # "memdir": one migration at a time in a database
LEAST_VERSION = 15  # of PostgreSQL


class Unavailable(MemdirError):
    """The database gives no answer now; nothing was changed."""

    code = "unavailable"


class Migration(NamedTuple):
    number: int
    name: str
    sql: str


def list_migrations() -> list[Migration]:
    found = []
    for path in sorted(FOLDER.glob("[0-9]*.sql")):
        number, _, name = path.stem.partition("_")
        found.append(Migration(int(number), name, path.read_text(encoding="utf-8")))
    return found


def migrate(connection: psycopg.Connection[Any], upto: int = 0) -> list[Migration]:
    """Those that were missing, now in the database; the connection is in autocommit.

    `upto` stops at an earlier number: tests migrate from there.
    """
    check_postgres_version(connection.info.server_version)
    connection.execute((FOLDER / "roles.sql").read_text(encoding="utf-8"))
    connection.execute("select pg_advisory_lock(%s)", (LOCK,))
    try:
        _make_schema(connection)
        known = list_migrations()
        done = [row[0] for row in connection.execute("select number from memdir.migration")]
        if max(done, default=0) > known[-1].number:
            raise newer_database(max(done))
        missing = [m for m in known if m.number not in done and m.number <= (upto or m.number)]
        for migration in missing:
            with connection.transaction():
                connection.execute("set local role memdir_owner")
                connection.execute("set local search_path = memdir, pg_temp")
                connection.execute(migration.sql.encode())
                connection.execute(
                    "insert into migration (number, name) values (%s, %s)", migration[:2]
                )
        return missing
    finally:
        connection.execute("select pg_advisory_unlock(%s)", (LOCK,))


def check_postgres_version(number: int) -> None:
    if number // 10_000 < LEAST_VERSION:
        message = f"this is PostgreSQL {number // 10_000}; memdir needs {LEAST_VERSION} or newer"
        raise BadInput(message, next="upgrade it, or name another database")


def newer_database(number: int) -> BadInput:
    message = f"the database is at migration {number}, which this memdir does not know"
    return BadInput(message, next="update memdir on this machine")


def _make_schema(connection: psycopg.Connection[Any]) -> None:
    with connection.transaction():
        if not connection.execute("select pg_has_role('memdir_owner', 'member')").fetchone()[0]:  # type: ignore[index]
            connection.execute("grant memdir_owner to current_user")
        connection.execute("create schema if not exists memdir authorization memdir_owner")
        connection.execute(
            "create table if not exists memdir.migration (number int primary key,"
            " name text not null, at timestamptz not null default now())"
        )
        connection.execute("alter table memdir.migration owner to memdir_owner")
        connection.execute("grant usage on schema memdir to memdir_app")
        connection.execute("grant select on memdir.migration to memdir_app")


@asynccontextmanager
async def open_pool(url: str, size: int) -> AsyncIterator[Pool]:
    pool: Pool = AsyncConnectionPool(
        url,
        min_size=size,
        max_size=size,
        timeout=WAIT_SECONDS,
        reconnect_timeout=RETRY_SECONDS,
        configure=_prepare_connection,
        kwargs={"autocommit": True, "options": OPTIONS, "connect_timeout": 5},
        open=False,
    )
    await check_database(url)
    await pool.open()
    try:
        yield pool
    finally:
        await pool.close()


async def _prepare_connection(connection: AsyncConnection[Any]) -> None:
    connection.prepare_threshold = 0  # every statement is one of a dozen: prepared at once


async def check_database(url: str) -> None:
    """Refuses a role that row-level security does not hold, and tables that do not force it."""
    try:
        async with await AsyncConnection.connect(url, connect_timeout=5) as connection:
            check_postgres_version(connection.info.server_version)
            await _check_role(connection)
            await _check_tables(connection)
    except psycopg.OperationalError as error:
        raise server_database_unreachable(error) from None
    except psycopg.ProgrammingError as error:  # also a URL that is none
        raise BadInput(f"the database cannot be used: {first_line(error)}", next=INIT) from None


def server_database_unreachable(error: Exception) -> Unavailable:
    hint = "check that PostgreSQL runs, and the host, name and password in the address"
    return Unavailable(f"the database cannot be reached: {first_line(error)}", next=hint)


def first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


async def _ask(connection: AsyncConnection[Any], sql: bytes) -> tuple[Any, ...]:
    row: tuple[Any, ...] | None = await (await connection.execute(sql)).fetchone()
    return row or (None,)


async def _check_role(connection: AsyncConnection[Any]) -> None:
    role, *powers = await _ask(connection, (FOLDER / "check_role.sql").read_bytes())
    names = ("SUPERUSER", "BYPASSRLS", "CREATEROLE", "the role memdir_owner")
    held = " and ".join(name for name, has in zip(names, powers, strict=True) if has)
    if held:
        message = f"the role {role} has {held}, so row-level security would not hold it"
        hint = "log in as memdir_app: memdir serve admin init says with which address"
        raise BadInput(message, next=hint)


async def _check_tables(connection: AsyncConnection[Any]) -> None:
    if (await _ask(connection, b"select to_regclass('memdir.migration')"))[0] is None:
        raise BadInput("the database has no tables of memdir yet", next=INIT)
    newest = (await _ask(connection, b"select max(number) from memdir.migration"))[0] or 0
    known = list_migrations()[-1].number
    if newest > known:
        raise newer_database(newest)
    if newest < known:
        raise BadInput(f"the database is at migration {newest} of {known}", next=INIT)
    if bare := (await _ask(connection, (FOLDER / "check_tables.sql").read_bytes()))[0]:
        message = f"row-level security is not forced on: {bare}"
        hint = f"ALTER TABLE memdir.{bare.split(',')[0]} FORCE ROW LEVEL SECURITY, and ENABLE it"
        raise BadInput(message, next=hint)


class Database:
    """One call is one round trip and one transaction; answers come as JSON from the database."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool

    async def call(self, sql: str, arguments: tuple[object, ...]) -> tuple[int, str | None]:
        try:
            async with self.pool.connection() as connection:
                row = await (await connection.execute(sql, arguments)).fetchone()
        except (psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout) as error:
            if not isinstance(error, PoolTimeout | psycopg.errors.QueryCanceled):
                await self.pool.check()  # after a restart every connection is a dead one
            raise server_database_unreachable(error) from None
        assert row is not None
        return row[0], row[1]
