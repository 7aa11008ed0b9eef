"""The pool of connections of the server, and what the role it logs in with may not be."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import psycopg
from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from memdir.errors import BadInput, MemdirError
from memdir.server.migrations import check_postgres_version, list_migrations, newer_database

Pool = AsyncConnectionPool[AsyncConnection[Any]]
INIT = "run: memdir serve admin init --database URL, as an administrator"
WAIT_SECONDS = 2.0  # for a free connection
RETRY_SECONDS = 5.0  # then a lost connection is made anew when it is asked for
STATEMENT_SECONDS = 15
OPTIONS = f"-c search_path=memdir,pg_temp -c statement_timeout={STATEMENT_SECONDS}s"

_ROLE = """
select current_user, bool_or(r.rolsuper), bool_or(r.rolbypassrls), bool_or(r.rolcreaterole),
       bool_or(r.rolname = 'memdir_owner')
from pg_roles r where pg_has_role(current_user, r.oid, 'member')
"""
_OPEN_TABLES = """
select string_agg(c.relname, ', ' order by c.relname) from pg_class c
where c.relnamespace = 'memdir'::regnamespace and c.relkind in ('r', 'p')
  and c.relname <> 'migration' and not (c.relrowsecurity and c.relforcerowsecurity)
"""
_NEWEST = "select max(number) from memdir.migration"


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


async def _check_role(connection: AsyncConnection[Any]) -> None:
    row = await (await connection.execute(_ROLE)).fetchone()
    assert row is not None
    role, *powers = row
    names = ("SUPERUSER", "BYPASSRLS", "CREATEROLE", "the role memdir_owner")
    held = [name for name, has in zip(names, powers, strict=True) if has]
    if held:
        message = (
            f"the role {role} has {' and '.join(held)}, so row-level security would not hold it"
        )
        hint = "log in as memdir_app: memdir serve admin init says with which address"
        raise BadInput(message, next=hint)


async def _check_tables(connection: AsyncConnection[Any]) -> None:
    exists = await (await connection.execute("select to_regnamespace('memdir')")).fetchone()
    if exists is None or exists[0] is None:
        raise BadInput("the database has no tables of memdir yet", next=INIT)
    newest = await (await connection.execute(_NEWEST)).fetchone()
    assert newest is not None
    known = list_migrations()[-1].number
    if (newest[0] or 0) > known:
        raise newer_database(newest[0])
    if (newest[0] or 0) < known:
        message = f"the database is at migration {newest[0] or 0} of {known}"
        raise BadInput(message, next=INIT)
    bare = await (await connection.execute(_OPEN_TABLES)).fetchone()
    if bare is not None and bare[0]:
        message = f"row-level security is not forced on: {bare[0]}"
        hint = f"ALTER TABLE memdir.{bare[0].split(',')[0]} FORCE ROW LEVEL SECURITY, and ENABLE it"
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
