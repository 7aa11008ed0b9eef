"""The tables come from numbered files: from empty, from each earlier state, and once."""

import threading

import psycopg
import pytest

from memdir.server import admin
from memdir.server.database import list_migrations, migrate
from tests.helpers.team import Team
from tests.helpers.terminal import memdir

NUMBERS = [migration.number for migration in list_migrations()]


def connect(url: str) -> psycopg.Connection:
    return psycopg.connect(url, autocommit=True)


def shape(url: str) -> list[tuple]:
    """Columns, functions and policies of the schema."""
    with connect(url) as connection:
        return [
            row
            for query in (
                "select table_name, column_name, data_type, is_nullable"
                " from information_schema.columns where table_schema = 'memdir' order by 1, 2",
                "select proname, pg_get_function_identity_arguments(oid), md5(prosrc)"
                " from pg_proc where pronamespace = 'memdir'::regnamespace order by 1, 2",
                "select tablename, policyname, cmd, qual, with_check from pg_policies"
                " where schemaname = 'memdir' order by 1, 2, 3",
                "select indexdef from pg_indexes where schemaname = 'memdir' order by 1",
            )
            for row in connection.execute(query)
        ]


def test_there_are_several_and_no_number_is_left_out():
    assert [*range(1, len(NUMBERS) + 1)] == NUMBERS
    assert len(NUMBERS) > 2


@pytest.mark.parametrize("start", NUMBERS)
def test_from_every_earlier_state_the_end_is_the_same_and_nothing_is_lost(postgres, start):
    fresh, older = (postgres.url(postgres.new_database()) for _ in range(2))
    admin.set_up_server_database(fresh)
    with connect(older) as connection:
        migrate(connection, start)
        connection.execute(
            "insert into memdir.person (name) values ('ann');"
            "insert into memdir.space (name, seq) values ('shop', 1);"
            "insert into memdir.member select p.id, s.id, 'writer'"
            " from memdir.person p, memdir.space s;"
            "insert into memdir.memory (space, path, version, seq, hash, body, author)"
            " select id, 'a.md', 1, 1, '', 'merge the database', 'ann' from memdir.space"
        )
    answer = memdir("serve", "admin", "init", "--database", older, "--json")
    assert len(answer.json["migrations"]) == len(NUMBERS) - start
    assert shape(older) == shape(fresh)
    with connect(older) as connection:
        row = connection.execute("select path, words @@ 'merg'::tsquery from memdir.memory")
        assert row.fetchall() == [("a.md", True)]


def test_names_that_differ_in_accents_only_both_stay_under_two_names(postgres, database):
    with connect(postgres.url(database)) as connection:
        migrate(connection, 4)
        connection.execute(
            "insert into memdir.space (name, seq) values ('shop', 2);"
            "insert into memdir.memory (space, path, version, seq, hash, body, author)"
            " select id, p, 1, n, '', p, 'ann' from memdir.space,"
            " (values ('cafe\u0301.md', 1), ('caf\u00e9.md', 2)) as names (p, n)"
        )
        migrate(connection)
        rows = "select path, body, seq from memdir.memory order by seq"
        assert connection.execute(rows).fetchall() == [
            ("caf\u00e9.md", "caf\u00e9.md", 2),
            ("cafe\u0301.md", None, 3),
            ("caf\u00e9-4.md", "cafe\u0301.md", 4),
        ]
        assert connection.execute("select seq from memdir.space").fetchone() == (4,)


def test_several_at_once_migrate_once(postgres, database):
    url, done = postgres.url(database), []

    def begin() -> None:
        with connect(url) as connection:
            done.append(len(migrate(connection)))

    threads = [threading.Thread(target=begin) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done) == [0, 0, 0, len(NUMBERS)]


def test_a_server_does_not_start_on_an_older_or_a_newer_database(postgres, database):
    team = Team(postgres, database)
    with connect(team.url) as connection:
        migrate(connection, NUMBERS[-1] - 1)
    answer = memdir("serve", "--database", team.app, "--port", "0", "--json")
    assert f"at migration {NUMBERS[-1] - 1} of {NUMBERS[-1]}" in answer.error["message"]
    assert "admin init" in answer.error["next"]
    with connect(team.url) as connection:
        migrate(connection)
        connection.execute("insert into memdir.migration values (99, 'later')")
    for words in (
        ["serve", "--port", "0", "--database", team.app],
        ["serve", "admin", "init", "--database", team.url],
    ):
        error = memdir(*words, "--json").error
        assert "migration 99" in error["message"]
        assert "update memdir" in error["next"]
