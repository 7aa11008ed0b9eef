"""Nobody gets a row of a space they are no member of: by a route, by a tool, or by a statement."""

import hashlib
import random

import psycopg
import pytest

from memdir.errors import BadInput
from memdir.server import admin
from memdir.server.database import OPTIONS
from tests.helpers.team import Team
from tests.helpers.terminal import memdir

SPACES, PROBES = 6, 600
MARK = "only-for-members"


def routes(space: str) -> list[tuple[str, object]]:
    """Every route of a space, with what would be sent to it."""
    item = {"path": "a.md", "version": 1, "body": "of a stranger"}
    return [
        (f"/v1/spaces/{space}/changes", None),
        (f"/v1/spaces/{space}/memories/a.md", None),
        (f"/v1/spaces/{space}/history/a.md", None),
        (f"/v1/spaces/{space}/search?q=members", None),
        (f"/v1/spaces/{space}/proposals", None),
        (f"/v1/spaces/{space}/push", {"items": [item]}),
        (f"/v1/spaces/{space}/proposals", {"items": [item]}),
        (f"/v1/spaces/{space}/proposals/1", {"accept": True}),
    ]


def fill(team: Team) -> dict[str, str]:
    """Spaces with one member and one memory each, and the member's token."""
    found = {}
    for number in range(SPACES):
        person = f"p{number}"
        space = team.space(**{person: "maintainer"})
        token = team.tokens[f"{person}@{space}"]
        body = f"{MARK} members {space}"
        assert team.push(token, space, ("a.md", 0, body)).status == 200
        proposed = {"items": [{"path": "b.md", "version": 0, "body": body}]}
        assert team.ask(token, f"/v1/spaces/{space}/proposals", proposed).status == 200
        found[space] = token
    return found


def probe(team: Team, tokens: dict[str, str], probes: int, seed: int) -> tuple[int, list[str]]:
    """How many asked a space of others, and each answer that told or changed anything."""
    dice, foreign, broken = random.Random(seed), 0, []
    absent = {
        path: team.ask(next(iter(tokens.values())), path, given).bytes
        for path, given in routes("no-such-space")
    }
    while foreign < probes:
        own, other = dice.sample([*tokens], 2)
        for path, given in routes(other):
            answer = team.ask(tokens[own], path, given)
            missing = absent[path.replace(other, "no-such-space")]
            foreign += 1
            if answer.status != 404 or answer.bytes != missing:
                broken.append(f"{path}: {answer.status} {answer.bytes[:200]!r}")
    return foreign, broken


def test_a_space_of_others_answers_like_one_that_is_not_there(team):
    tokens = fill(team)
    foreign, broken = probe(team, tokens, PROBES, 1)
    assert foreign >= PROBES
    assert broken == []
    for space, token in tokens.items():
        (item,) = team.changes(token, space)["items"]
        assert item["body"].startswith(MARK), "a stranger changed it"
        mine = team.ask(token, "/v1/spaces").json["spaces"]
        assert [row["space"] for row in mine] == [space]


TABLES = ("space", "memory", "version", "proposal")
FORBIDDEN = ("person", "token", "member", "audit")


def seen_by(connection: psycopg.Connection, person: int | None, table: str) -> set[int]:
    """Spaces of the rows that a statement without any condition gets."""
    with connection.transaction():
        connection.execute("select set_config('memdir.person', %s, true)", (str(person or ""),))
        column = "id" if table == "space" else "space"
        rows = connection.execute(f"select distinct {column} from memdir.{table}")
        return {row[0] for row in rows}


def test_a_statement_that_forgot_its_condition_sees_own_spaces_only(team, owner):
    fill(team)
    members = owner.execute("select person, array_agg(space) from member group by 1").fetchall()
    with psycopg.connect(team.app, autocommit=True) as connection:
        for person, spaces in members:
            for table in TABLES:
                assert seen_by(connection, person, table) <= set(spaces), table
            assert seen_by(connection, person, "space") == set(spaces)
        for table in TABLES:
            assert seen_by(connection, None, table) == set(), "without a person there is no row"
        for table in FORBIDDEN:  # the server itself may not read who is a member
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f"select * from memdir.{table}")
        person, (space, *_) = members[0]
        connection.execute("select set_config('memdir.person', %s, false)", (str(person),))
        connection.execute("select set_config('memdir.name', 'p0', false)")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):  # in the name of another
            connection.execute(
                "insert into memdir.memory (space, path, version, seq, hash, body, author)"
                " values (%s, 'x.md', 1, 99, '', 'x', 'somebody')",
                (space,),
            )


def test_without_forced_security_the_same_probe_is_caught(own_team):
    """The control: if the tables were open, these tests would see it, and it would not start."""
    admin.invite(own_team.url, "ann", "shop", "writer", 1)
    with psycopg.connect(own_team.url, autocommit=True) as connection:
        connection.execute(
            "insert into memdir.memory (space, path, version, seq, hash, body, author)"
            " select id, 'a.md', 1, 1, '', 'text', 'ann' from memdir.space"
        )
        connection.execute("alter table memdir.memory disable row level security")
    with psycopg.connect(own_team.app, autocommit=True) as connection:
        assert seen_by(connection, None, "memory") != set()
    answer = memdir("serve", "--database", own_team.app, "--port", "0")
    assert answer.code == 1
    assert "not forced on: memory" in " ".join(answer.stderr.split())


def test_nothing_of_a_request_that_failed_is_left_on_its_connection(team):
    (space, token), *_ = fill(team).items()
    with psycopg.connect(team.app, autocommit=True, options=OPTIONS) as connection:
        key = hashlib.sha256(token.encode()).digest()
        with pytest.raises(psycopg.Error):
            connection.execute("select (memdir.get(%s, %s, 'a.md')).status / 0", (key, space))
        connection.execute("select memdir.get(%s, %s, 'a.md')", (key, space))
        left = connection.execute("select current_setting('memdir.person', true)").fetchone()
        assert left in [("",), (None,)]
        assert connection.execute("select count(*) from memdir.memory").fetchone() == (0,)


def start_with(url: str):
    return memdir("serve", "--database", url, "--port", "0", "--json")


ROLES = {
    "SUPERUSER": "superuser in role memdir_app",
    "BYPASSRLS": "bypassrls in role memdir_app",
    "CREATEROLE": "createrole in role memdir_app",
    "the role memdir_owner": "in role memdir_app, memdir_owner",
}


@pytest.mark.parametrize("power", ROLES)
def test_a_role_that_row_level_security_does_not_hold_is_refused_at_start(own_team, power):
    role = f"strong{own_team.database}"
    with psycopg.connect(own_team.url, autocommit=True) as connection:
        connection.execute(f"create role {role} login {ROLES[power]}")
    answer = start_with(own_team.postgres.url(own_team.database, role))
    assert answer.code == 1
    assert answer.error["message"].startswith(f"the role {role} has {power}")
    assert "memdir_app" in answer.error["next"]


def test_a_database_that_cannot_be_had_is_said_without_a_traceback(postgres, database):
    for url, said in {
        postgres.url(database, "memdir_app"): "has no tables of memdir yet",
        "postgresql://memdir_app@127.0.0.1:1/x": "cannot be reached",
        "mysql://x": "no address of a PostgreSQL database",
        "": "no address of a PostgreSQL database",
        "postgresql://x?nonsense=1": "cannot be used",
    }.items():
        answer = start_with(url)
        assert answer.code == 1
        assert said in answer.error["message"]
        assert answer.error["next"]


def test_names_of_people_and_spaces_have_one_form(own_team):
    for name, space in (("Ann Lee", "shop"), ("ann", "../shop"), ("admin", "shop"), ("", "shop")):
        with pytest.raises(BadInput):
            admin.invite(own_team.url, name, space, "writer", 1)
