"""What was acknowledged is there, whatever is killed: the server, or the database below it."""

import signal
import time

from memdir.server import admin
from tests.helpers.postgres import Postgres
from tests.helpers.team import Team
from tests.server.load import run_load


def test_a_server_killed_under_load_loses_nothing(own_team):
    own_team.start()

    def kill():
        for _ in range(2):
            time.sleep(0.5)
            own_team.stop(signal.SIGKILL)
            own_team.start()

    tally = run_load(own_team, writers=4, readers=1, writes=200, meanwhile=kill)
    assert (tally.lost, tally.missed) == (0, 0)
    assert tally.errors > 0


def test_a_database_restarted_under_load_loses_nothing(postgres):
    own = Postgres(durable=True)
    team = Team(own.start(), own.new_database())
    try:
        admin.set_up_server_database(team.url)
        team.start()

        def restart():
            for how in ("fast", "immediate"):  # in order, then like a power cut
                time.sleep(0.3)
                own.stop(how)
                own.start()

        tally = run_load(team, writers=4, readers=1, writes=200, meanwhile=restart)
        assert (tally.lost, tally.missed) == (0, 0)
        assert tally.errors > 0
        space = team.space(ann="reader")
        assert team.ask(team.tokens[f"ann@{space}"], "/v1/spaces").status == 200
    finally:
        team.stop()
        own.remove()


def test_a_request_is_one_statement_and_one_round_trip():
    own = Postgres()
    own.settings |= {"log_statement": "all", "log_min_messages": "log"}
    team = Team(own.start(), own.new_database())
    try:
        admin.set_up_server_database(team.url)
        space, ann = team.member("maintainer")
        team.start()
        paths = ("changes", "memories/a.md", "history/a.md", "search?q=x", "proposals")
        log = own.folder / "log"
        for turn in range(3):  # at the first time a connection also prepares
            before = len(log.read_text())
            asked = [team.push(ann, space, (f"{turn}.md", 0, "x"))]
            asked += [team.ask(ann, f"/v1/spaces/{space}/{path}") for path in paths]
            asked += [team.ask(ann, "/v1/spaces")]
            lines = log.read_text()[before:].splitlines()
        said = [
            line for line in lines if "LOG:  " in line and ("execute" in line or "state" in line)
        ]
        assert len(said) == len(asked)
        assert all("select status, answer from" in line for line in said)
    finally:
        team.stop()
        own.remove()


def test_without_a_database_it_says_so_and_comes_back(postgres):
    own = Postgres()
    team = Team(own.start(), own.new_database())
    try:
        admin.set_up_server_database(team.url)
        space = team.space(ann="reader")
        team.start()
        token = team.tokens[f"ann@{space}"]
        own.stop("immediate")
        gone = team.ask(token, "/v1/spaces")
        assert (gone.status, gone.headers["retry-after"]) == (503, "1")
        assert "cannot be reached" in gone.error["message"]
        assert team.ask("", "/healthz").status == 503
        own.start()
        for _ in range(600):
            if team.ask(token, "/v1/spaces").status == 200:
                break
            time.sleep(0.1)
        assert team.ask(token, "/v1/spaces").status == 200
    finally:
        team.stop()
        own.remove()
