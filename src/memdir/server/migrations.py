"""Numbered SQL files, forward only: each once, in its order, in a transaction of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import psycopg

from memdir.errors import BadInput

FOLDER = Path(__file__).parent / "sql"
LOCK = 0x6D656D646972  # "memdir": one migration at a time in a database
LEAST_VERSION = 15  # of PostgreSQL


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
