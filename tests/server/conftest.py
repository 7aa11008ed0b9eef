"""One PostgreSQL and one server for the tests of a process; each test has spaces of its own."""

from collections.abc import Iterator

import psycopg
import pytest

from memdir.server import admin
from tests.helpers import postgres as pg
from tests.helpers.postgres import Postgres
from tests.helpers.team import Team


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    if reason := pg.why_not():
        pytest.skip(reason)
    server = Postgres()
    try:
        yield server.start()
    finally:
        server.remove()


@pytest.fixture
def database(postgres: Postgres) -> str:
    """The name of an empty database."""
    return postgres.new_database()


@pytest.fixture(scope="session")
def team(postgres: Postgres) -> Iterator[Team]:
    """A server that runs; do not stop it."""
    team = _make(postgres)
    try:
        yield team.start()
    finally:
        team.stop()


@pytest.fixture
def own_team(postgres: Postgres) -> Iterator[Team]:
    """A database of one test, whose server it starts and stops."""
    team = _make(postgres)
    yield team
    team.stop()


def _make(postgres: Postgres) -> Team:
    team = Team(postgres, postgres.new_database())
    admin.set_up_server_database(team.url)
    return team


@pytest.fixture
def owner(postgres: Postgres, team: Team) -> Iterator[psycopg.Connection]:
    """The database of `team` as a superuser, past every rule."""
    with psycopg.connect(team.url, autocommit=True, options="-c search_path=memdir") as connection:
        yield connection
