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

# Writes under load, questions of strangers, kills of the server, ends of PostgreSQL.
SIZES = {
    "small": (500, 200, 2, 1),
    "quick": (100_000, 10_000, 10, 5),
    "full": (300_000, 50_000, 50, 20),
}
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
        admin.set_up_server_database(team.url)
        if defect:
            with psycopg.connect(team.url, autocommit=True) as connection:
                connection.execute("set search_path = memdir")
                connection.execute(defect)
        yield team.start()
    finally:
        team.stop()
        postgres.remove()


def feed(writes: int) -> tuple[str, bool, bool]:
    with a_team(durable=True) as team:
        tally = run_load(team, writers=WRITERS, readers=READERS, writes=writes)
    with a_team(defect=PLAIN.read_text()) as team:
        bad = run_load(team, writers=WRITERS, readers=2, writes=CONTROL_WRITES, largest=1)
    text = f"{tally.writes:,} writes by {WRITERS}, {READERS} readers of the feed"
    return text + _lost(tally), not (tally.missed or tally.lost), bad.missed > 0


def strangers(questions: int) -> tuple[str, bool, bool]:
    with a_team() as team:
        probes, broken = probe(team, fill(team), questions, 2)
    with a_team(defect=OPEN) as team:
        _, bad = probe(team, fill(team), 100, 2)
    text = f"{probes:,} questions for spaces of others: {len(broken)} answered otherwise than 404"
    return text, not broken, bool(bad)


def kills(times: int) -> tuple[str, bool, bool]:
    def kill(team: Team) -> None:
        team.stop(signal.SIGKILL)
        team.start()

    text, held = _under_load(times, kill, "kill -9 of the server")
    with a_team(defect=FORGETFUL) as team:
        bad = run_load(team, writers=2, readers=1, writes=CONTROL_WRITES)
    return text, held, bad.lost > 0


def restarts(times: int) -> tuple[str, bool, bool]:
    def restart(team: Team) -> None:
        team.postgres.stop("immediate")  # no checkpoint, as after a power cut
        team.postgres.start()

    return *_under_load(times, restart, "PostgreSQL ended at once"), True


def _under_load(times: int, act: Callable[[Team], None], what: str) -> tuple[str, bool]:
    done = 0
    with a_team(durable=True) as team:

        def meanwhile() -> None:
            nonlocal done
            while done < times:
                time.sleep(1)
                act(team)
                done += 1

        tally = run_load(team, writers=WRITERS, readers=2, writes=1, meanwhile=meanwhile)
    text = f"{what} x {done}, {tally.writes:,} writes{_lost(tally)}"
    return text, done == times and not (tally.missed or tally.lost)


def _lost(tally: Tally) -> str:
    return f": {tally.missed} missed, {tally.lost} lost, {tally.errors:,} asked again"


def main(level: str) -> int:
    if reason := pg.why_not():
        print(f"not run: {reason}")
        return 1
    fine = True
    for row, size in zip((feed, strangers, kills, restarts), SIZES[level], strict=True):
        start = time.monotonic()
        text, held, caught = row(size)
        fine = fine and held and caught
        verdict = "held" if held else "BROKEN"
        control = "caught" if caught else "NOT CAUGHT"
        seconds = time.monotonic() - start
        print(f"{row.__name__:10} {verdict:7} known-bad: {control:11} {text}; {seconds:.0f} s")
    print("all held" if fine else "NOT all held")
    return 0 if fine else 1
