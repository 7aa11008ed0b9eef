"""Members who write and read at once, and what must hold of what they saw.

Used small by the tests, and large by `make faults ARGS=server`.
"""

import http.client
import json
import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

from tests.helpers.team import SECONDS, Team

PAUSE_SECONDS = 0.02


@dataclass
class Ledger:
    """What was acknowledged: per path the last body whose push was answered with 200."""

    saved: dict[str, str] = field(default_factory=dict)
    errors: int = 0
    writes: int = 0


class Member:
    """One connection that is opened again when it breaks."""

    def __init__(self, team: Team, token: str) -> None:
        self.team = team
        self.headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self.connection: http.client.HTTPConnection | None = None

    def ask(self, path: str, given: Any = None) -> tuple[int, Any]:
        """Status and answer; 0 if nobody answered."""
        try:
            if self.connection is None:
                self.connection = http.client.HTTPConnection(
                    "127.0.0.1", self.team.port, timeout=SECONDS
                )
            body = None if given is None else json.dumps(given)
            self.connection.request("POST" if body else "GET", path, body, self.headers)
            answer = self.connection.getresponse()
            return answer.status, json.loads(answer.read())
        except (OSError, http.client.HTTPException, ValueError):
            self.close()
            time.sleep(PAUSE_SECONDS)
            return 0, None

    def close(self) -> None:
        if self.connection:
            self.connection.close()
        self.connection = None


def write(
    member: Member, space: str, name: str, ledger: Ledger, more: Callable[[], bool], largest: int
) -> None:
    """New memories in groups, and sometimes a new text of one of them; each text is told once."""
    dice, versions, number = random.Random(name), {}, 0
    while more():
        paths = []
        for _ in range(dice.randint(1, largest)):
            old = dice.random() < 0.2 and versions
            number += 1
            paths.append(dice.choice([*versions]) if old else f"{name}-{number}.md")
        paths = [*dict.fromkeys(paths)]
        items = [
            {"path": path, "version": versions.get(path, 0), "body": f"{path} {number}"}
            for path in paths
        ]
        for _ in range(200):  # the same push again is harmless, so a lost answer costs nothing
            status, answer = member.ask(f"/v1/spaces/{space}/push", {"items": items})
            if status == 200:
                break
            ledger.errors += 1
            time.sleep(PAUSE_SECONDS)
        else:
            continue
        versions |= {item["path"]: item["version"] for item in answer["items"]}
        ledger.saved |= {item["path"]: item["body"] for item in items}
        ledger.writes += len(items)
    member.close()


def follow(
    member: Member, space: str, seen: dict[str, str], done: Callable[[], bool], limit: int = 200
) -> None:
    """A reader of the feed that never looks back."""
    cursor = 0
    while True:
        last = done()
        status, page = member.ask(f"/v1/spaces/{space}/changes?after={cursor}&limit={limit}")
        if status != 200:
            continue
        seen |= {item["path"]: item["body"] for item in page["items"]}
        if page["next"] == cursor:
            if last:
                return member.close()
            time.sleep(PAUSE_SECONDS)
        cursor = page["next"]


@dataclass
class Tally:
    writes: int
    errors: int
    missed: int  # acknowledged, and a reader of the feed has something older or nothing
    lost: int  # acknowledged, and not there


def run_load(
    team: Team,
    *,
    writers: int,
    readers: int,
    writes: int,
    largest: int = 5,
    meanwhile: Callable[[], None] = lambda: None,
) -> Tally:
    """`meanwhile` kills and restarts; nobody stops writing before it is done."""
    space = team.space(reader="reader", **{f"writer{n}": "writer" for n in range(writers)})
    ledgers = [Ledger() for _ in range(writers)]
    views: list[dict[str, str]] = [{} for _ in range(readers)]
    there: dict[str, str] = {}
    acted, over = threading.Event(), threading.Event()

    def member(person: str) -> Member:
        return Member(team, team.tokens[f"{person}@{space}"])

    def more() -> bool:
        return sum(ledger.writes for ledger in ledgers) < writes or not acted.is_set()

    with ThreadPoolExecutor(writers + readers) as pool:
        reading = [
            pool.submit(follow, member("reader"), space, seen, over.is_set) for seen in views
        ]
        writing = [
            pool.submit(write, member(f"writer{n}"), space, f"w{n}", ledger, more, largest)
            for n, ledger in enumerate(ledgers)
        ]
        try:
            meanwhile()
        finally:
            acted.set()
            wait(writing)
            over.set()
        for done in (*writing, *reading):
            done.result()
    follow(member("reader"), space, there, lambda: True, 1000)
    saved = {path: body for ledger in ledgers for path, body in ledger.saved.items()}
    return Tally(
        sum(ledger.writes for ledger in ledgers),
        sum(ledger.errors for ledger in ledgers),
        max(sum(seen.get(path) != body for path, body in saved.items()) for seen in views),
        sum(there.get(path) != body for path, body in saved.items()),
    )
