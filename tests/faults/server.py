"""The team server under load, with kills, restarts and strangers: `make faults ARGS=server`.

Each row has its known-bad server, which must be caught.
"""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from memdir.server import admin
from tests.helpers import postgres as pg
from tests.helpers.postgres import Postgres
from tests.helpers.team import Team
from tests.server.load import Tally, run_load
from tests.server.test_tenants import fill, probe

WRITES = {"small": 500, "quick": 100_000, "full": 300_000}
PROBES = {"small": 200, "quick": 10_000, "full": 50_000}
KILLS = {"small": 2, "quick": 10, "full": 50}
RESTARTS = {"small": 1, "quick": 5, "full": 20}
WRITERS, READERS = 8, 3
CONTROL_WRITES = 300
PLAIN = Path(__file__).parents[1] / "server/plain_sequence.sql"
FORGETFUL = """
create or replace function push(
  given bytea, in_space text, items jsonb, named text, out status int, out answer text
) language sql as $$
  select 200, json_build_object('seq', 1, 'items', json_agg(json_build_object(
    'path', path, 'saved', true, 'version', version + 1)))::text
    from jsonb_to_recordset(items) as g(path text, version bigint) $$
"""
OPEN = "alter function get(bytea, text, text) security definer"


@contextmanager
def a_team(*, durable: bool = False, defect: str = "") -> Iterator[Team]:
    """A server on a PostgreSQL of its own; `defect` is SQL that spoils it."""
    postgres = Postgres(durable=durable)
    team = Team(postgres.start(), postgres.new_database())
    try:
        admin.initiate(team.url)
        if defect:
            with psycopg.connect(team.url, autocommit=True) as connection:
                connection.execute("set search_path = memdir")
                connection.execute(defect)
        yield team.start()
    finally:
        team.stop()
        postgres.remove()


def feed(level: str) -> tuple[str, bool, bool]:
    with a_team(durable=True) as team:
        tally = run_load(team, writers=WRITERS, readers=READERS, writes=WRITES[level])
    with a_team(defect=PLAIN.read_text()) as team:
        bad = run_load(team, writers=WRITERS, readers=2, writes=CONTROL_WRITES, largest=1)
    text = f"{tally.writes:,} writes by {WRITERS}, {READERS} readers of the feed: {_lost(tally)}"
    return text, not (tally.missed or tally.lost), bad.missed > 0


def strangers(level: str) -> tuple[str, bool, bool]:
    with a_team() as team:
        probes, broken = probe(team, fill(team), PROBES[level], 2)
    with a_team(defect=OPEN) as team:
        _, bad = probe(team, fill(team), 100, 2)
    text = f"{probes:,} questions for spaces of others: {len(broken)} answered otherwise than 404"
    return text, not broken, bool(bad)


def kills(level: str) -> tuple[str, bool, bool]:
    def kill(team: Team) -> None:
        team.stop(signal.SIGKILL)
        team.start()

    tally, done = _under_load(KILLS[level], kill)
    with a_team(defect=FORGETFUL) as team:
        bad = run_load(team, writers=2, readers=1, writes=CONTROL_WRITES)
    text = f"kill -9 of the server x {done}, {tally.writes:,} writes: {_lost(tally)}"
    return text, done == KILLS[level] and not (tally.missed or tally.lost), bad.lost > 0


def restarts(level: str) -> tuple[str, bool, bool]:
    def restart(team: Team) -> None:
        team.postgres.stop(signal.SIGQUIT)  # no checkpoint, as after a power cut
        team.postgres.start()

    tally, done = _under_load(RESTARTS[level], restart)
    text = f"PostgreSQL ended at once x {done}, {tally.writes:,} writes: {_lost(tally)}"
    return text, done == RESTARTS[level] and not (tally.missed or tally.lost), True


def _under_load(times: int, act: Callable[[Team], None]) -> tuple[Tally, int]:
    done = 0
    with a_team(durable=True) as team:

        def meanwhile() -> None:
            nonlocal done
            while done < times:
                time.sleep(1)
                act(team)
                done += 1

        tally = run_load(team, writers=WRITERS, readers=2, writes=1, meanwhile=meanwhile)
    return tally, done


def _lost(tally: Tally) -> str:
    return (
        f"{tally.missed} missed, {tally.lost} acknowledged and lost, {tally.errors:,} asked again"
    )


ROWS = {"feed": feed, "strangers": strangers, "kills": kills, "restarts": restarts}


def main(level: str, only: str = "") -> int:
    if reason := pg.why_not():
        print(f"not run: {reason}")
        return 1
    fine = True
    for name, row in ROWS.items():
        if only and name not in only.split(","):
            continue
        start = time.monotonic()
        text, held, caught = row(level)
        fine = fine and held and caught
        verdict = "held" if held else "BROKEN"
        control = "caught" if caught else "NOT CAUGHT"
        print(
            f"{name:10} {verdict:7} known-bad: {control:11} {text}; "
            f"{time.monotonic() - start:.0f} s",
            flush=True,
        )
    print("all held" if fine else "NOT all held")
    return 0 if fine else 1
