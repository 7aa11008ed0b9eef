"""What the server costs beside the same statements in pgbench: CPU per request, in one run.

    python benchmarks/server.py [--rounds 3] [--seconds 3]

Both sides alternate. The CPU of PostgreSQL and of the server counts, that of pgbench and of the
client that sends the requests does not. Where pgbench has to make the words that a client would
bring, what making them costs is measured apart and taken off its side. `push … unscanned` is the
server without its search for secrets: it shows where the CPU goes, nobody can start it that way.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import quote

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

import psycopg  # noqa: E402

from memdir.server import admin  # noqa: E402
from tests.helpers import postgres as pg  # noqa: E402
from tests.helpers.postgres import Postgres  # noqa: E402
from tests.helpers.team import Team  # noqa: E402

PEOPLE, SPACES, MEMORIES = 50, 20, 1_000
CLIENTS, CONNECTIONS = 8, 4
WORDS = "merge the database migration branch before the release and run tests"
BODY = "A memory of about one kilobyte. " * 30
GOALS = {"get": 0.28, "pull 100": 0.70, "push 1": 0.60, "push 50": 0.90, "search": 0.90}
UNSCANNED = " unscanned"
KINDS = (*GOALS, f"push 1{UNSCANNED}", f"push 50{UNSCANNED}")
WITHOUT_SCAN = """
import memdir.server.intake as intake
intake.find_secrets = lambda text: ()
from memdir.cli.main import main
main()
"""

SET = (
    f"\\set p random(1,{PEOPLE})\n\\set s ((:p-1) % {SPACES})+1\n\\set i random(1,{MEMORIES})\n"
    "\\set r random(1,1000000000)\n"
)
TOKEN = "sha256(convert_to('tok'||:p::int,'UTF8'))"
SPACE = "'space-'||:s::int"
ITEMS = (
    "(select jsonb_agg(jsonb_build_object('path','n'||:r::int||'-'||g||'.md','version',0,"
    f"'hash',md5(g::text)||md5(:r::text),'body','{BODY}'||g||:r::int))"
    " from generate_series(1,{count}) g)"
)
PUSH = "select status, answer from push({token},{space},{items},'')"


def statements(kind: str) -> tuple[str, str]:
    """What the server sends, for pgbench; and what only makes its words."""
    kind = kind.removesuffix(UNSCANNED)
    if kind.startswith("push"):
        items = ITEMS.format(count=kind.split()[1])
        made = f"select {TOKEN},{SPACE},{items}"
        return PUSH.format(token=TOKEN, space=SPACE, items=items), made
    call = {
        "get": f"get({TOKEN},{SPACE},'k'||:i::int||'.md')",
        "pull 100": f"changes({TOKEN},{SPACE},(:i::int*0.9)::bigint,100)",
        "search": f"search({TOKEN},array[{SPACE}],'{WORDS}',10,400)",
    }[kind]
    return f"select status, answer from {call}", ""


def request(kind: str, dice: random.Random) -> bytes:
    person = dice.randint(1, PEOPLE)
    space = f"/v1/spaces/space-{(person - 1) % SPACES + 1}"
    kind, body = kind.removesuffix(UNSCANNED), b""
    if kind.startswith("push"):
        stamp, count = dice.randint(1, 10**9), int(kind.split()[1])
        items = [
            {"path": f"w{stamp}-{n}.md", "version": 0, "body": f"{BODY}{n}{stamp}"}
            for n in range(count)
        ]
        path, body = f"{space}/push", json.dumps({"items": items}).encode()
    else:
        path = (
            space
            + {
                "get": f"/memories/k{dice.randint(1, MEMORIES)}.md",
                "pull 100": f"/changes?after={int(dice.randint(1, MEMORIES) * 0.9)}&limit=100",
                "search": f"/search?q={quote(WORDS)}&limit=10",
            }[kind]
        )
    method = "POST" if body else "GET"
    head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer tok{person}\r\n"
    if body:
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + b"\r\n" + body


async def ask_for(kind: str, port: int, seconds: float) -> tuple[int, int]:
    """How many requests were answered, and how many of them not with 200."""
    end, done, bad = time.monotonic() + seconds, 0, 0

    async def client(number: int) -> None:
        nonlocal done, bad
        dice = random.Random(f"{kind} {number} {time.time_ns()}")
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while time.monotonic() < end:
            writer.write(request(kind, dice))
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(re.search(rb"content-length: (\d+)", head)[1])
            await reader.readexactly(length)
            done += 1
            bad += b" 200 " not in head[:20]
        writer.close()

    await asyncio.gather(*(client(number) for number in range(CLIENTS)))
    return done, bad


def fill(url: str) -> None:
    """People with the tokens tok1, tok2, …; spaces of memories of about one kilobyte."""
    with psycopg.connect(url, autocommit=True, options="-c search_path=memdir") as connection:
        for statement in (
            f"insert into person (name) select 'p'||g from generate_series(1,{PEOPLE}) g",
            f"insert into space (name, seq) select 'space-'||g, {MEMORIES}"
            f" from generate_series(1,{SPACES}) g",
            "insert into token (hash, person, expires) select"
            " sha256(convert_to('tok'||substr(name,2),'UTF8')), id, now()+'1 day' from person",
            "insert into member select p.id, s.id, 'writer' from person p join space s"
            f" on substr(s.name,7)::int = (substr(p.name,2)::int-1) % {SPACES} + 1",
            "insert into memory (space, path, version, seq, hash, body, author)"
            f" select s.id, 'k'||g||'.md', 1, g, '', '{BODY}' || g || case when g % 10 = 0"
            " then ' merge the migration' else ' nothing' end, 'p1' from space s,"
            f" generate_series(1,{MEMORIES}) g",
            "vacuum analyze",
        ):
            connection.execute(statement)


def tree(pid: int) -> list[int]:
    found, todo = [], [pid]
    while todo:
        found.append(todo.pop())
        for path in Path(f"/proc/{found[-1]}/task").glob("*/children"):
            todo += map(int, path.read_text().split())
    return found


def cpu_seconds(pid: int) -> float:
    """Of a process, its children, and those of them that ended."""
    ticks = 0
    for number, one in enumerate(tree(pid)):
        try:
            fields = Path(f"/proc/{one}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        ticks += int(fields[11]) + int(fields[12])
        ticks += int(fields[13]) + int(fields[14]) if number == 0 else 0
    return ticks / os.sysconf("SC_CLK_TCK")


class Bench:
    def __init__(self, postgres: Postgres, team: Team, seconds: int) -> None:
        self.postgres, self.team, self.seconds = postgres, team, seconds

    def raw_ms(self, sql: str) -> float:
        """CPU of PostgreSQL per transaction of pgbench."""
        with tempfile.NamedTemporaryFile("w", suffix=".sql", dir=self.postgres.folder) as file:
            file.write(f"{SET}{sql};\n")
            file.flush()
            os.chmod(file.name, 0o644)
            before = cpu_seconds(self.postgres.pid)
            words = ["-n", "-f", file.name, "-c", CLIENTS, "-j", 1, "-M", "prepared"]
            words += ["-T", self.seconds, "-U", "memdir_app", "-h", "127.0.0.1"]
            out = self.postgres.run("pgbench", *words, "-p", self.postgres.port, self.team.database)
        used = cpu_seconds(self.postgres.pid) - before
        return 1000 * used / int(re.search(r"processed: (\d+)", out)[1])

    def served_ms(self, kind: str) -> tuple[float, float, int]:
        """CPU of both per request, requests per second, and how many went wrong."""
        pids = [self.postgres.pid, self.team.process.pid]
        before = sum(map(cpu_seconds, pids))
        words = [sys.executable, __file__, "--client", kind, str(self.team.port), str(self.seconds)]
        out = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        done, bad = map(int, out.split())
        return 1000 * (sum(map(cpu_seconds, pids)) - before) / done, done / self.seconds, bad


def measure(bench: Bench, kind: str, rounds: int) -> dict[str, float]:
    sql, made = statements(kind)
    rows = []
    for _ in range(rounds):
        raw = bench.raw_ms(sql) - (bench.raw_ms(made) if made else 0)
        served, rate, bad = bench.served_ms(kind)
        rows.append((raw / served, raw, served, rate, bad))
    median = [statistics.median(row[n] for row in rows) for n in range(4)]
    ratios = sorted(row[0] for row in rows)
    return {
        **dict(zip(("ratio", "pgbench_ms", "server_ms", "per_second"), median, strict=True)),
        "least": ratios[0],
        "most": ratios[-1],
        "bad": sum(row[4] for row in rows),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--only", default=",".join(KINDS))
    parser.add_argument("--client", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.client:
        kind, port, seconds = given.client
        print(*asyncio.run(ask_for(kind, int(port), float(seconds))))
        return 0
    if reason := pg.why_not():
        print(f"not run: {reason}")
        return 1
    postgres = Postgres()
    team = Team(postgres.start(), postgres.new_database())
    missed = 0
    try:
        with psycopg.connect(team.url, autocommit=True) as connection:
            connection.execute(f"alter database {team.database} set search_path = memdir")
        admin.set_up_server_database(team.url)
        fill(team.url)
        bench = Bench(postgres, team, given.seconds)
        print("request            CPU ratio       goal   pgbench   server    /s")
        for kind in given.only.split(","):
            program = WITHOUT_SCAN if kind.endswith(UNSCANNED) else ""
            team.start("--connections", str(CONNECTIONS), program=program)
            row = measure(bench, kind, given.rounds)
            team.stop()
            goal = GOALS.get(kind, 0)
            missed += row["ratio"] < goal or row["bad"] > 0
            print(
                f"{kind:18} {row['ratio']:.2f} ({row['least']:.2f}-{row['most']:.2f})"
                f"  {goal or '-':>5}  {row['pgbench_ms']:6.2f} ms {row['server_ms']:6.2f} ms"
                f" {row['per_second']:6.0f}" + f"  {row['bad']} bad" * bool(row["bad"]),
                flush=True,
            )
    finally:
        team.stop()
        postgres.remove()
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
