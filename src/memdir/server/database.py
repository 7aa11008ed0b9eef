"""The pool of connections of the server, and what the role it logs in with may not be."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import psycopg
from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from memdir.errors import BadInput, MemdirError
from memdir.server.migrations import (
    FOLDER,
    check_postgres_version,
    list_migrations,
    newer_database,
)

Pool = AsyncConnectionPool[AsyncConnection[Any]]
INIT = "run: memdir serve admin init --database URL, as an administrator"
WAIT_SECONDS = 2.0  # for a free connection
RETRY_SECONDS = 5.0  # then a lost connection is made anew when it is asked for
STATEMENT_SECONDS = 15
OPTIONS = f"-c search_path=memdir,pg_temp -c statement_timeout={STATEMENT_SECONDS}s"


class Unavailable(MemdirError):
    """The database gives no answer now; nothing was changed."""

    code = "unavailable"


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
        raise unreachable(error) from None
    except psycopg.ProgrammingError as error:  # also a URL that is none
        raise BadInput(f"the database cannot be used: {first_line(error)}", next=INIT) from None


def unreachable(error: Exception) -> Unavailable:
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
            raise unreachable(error) from None
        assert row is not None
        return row[0], row[1]
