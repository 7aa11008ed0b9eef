"""A team: a database of PostgreSQL, `memdir serve` as a process, and members who ask it."""

import http.client
import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from memdir.server import admin
from tests.helpers.postgres import Postgres

MAIN = "from memdir.cli.main import main; main()"
SECONDS = 60


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    bytes: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.bytes)

    @property
    def error(self) -> Any:
        return self.json["error"]


@dataclass
class Team:
    """`url` is the administrator's address, `app` the one that the server gets."""

    postgres: Postgres
    database: str
    process: subprocess.Popen | None = None
    port: int = 0
    spaces: int = 0
    tokens: dict[str, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return self.postgres.url(self.database)

    @property
    def app(self) -> str:
        return self.postgres.url(self.database, "memdir_app")

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self, *options: str, program: str = MAIN) -> "Team":
        words = [sys.executable, "-c", program or MAIN, "serve", "--json"]
        self.process = subprocess.Popen(
            [*words, "--port", str(self.port), "--rate", "100000", *options],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "MEMDIR_DATABASE": self.app},
        )
        text = ""
        while "}" not in text:
            line = self.process.stdout.readline()
            assert line, f"the server did not start: {text}"
            text += line
        self.port = json.loads(text)["port"]
        return self

    def stop(self, how: int = signal.SIGTERM) -> None:
        if self.process:
            self.process.send_signal(how)
            self.process.communicate(timeout=SECONDS)
            self.process = None

    def space(self, **members: str) -> str:
        """A new space; each member is invited, and `tokens[NAME@SPACE]` is theirs."""
        self.spaces += 1
        name = f"space-{os.getpid()}-{self.spaces}"
        for person, role in members.items():
            self.invite(person, name, role)
        return name

    def member(self, role: str) -> tuple[str, str]:
        """A new space with one member, and their token."""
        space = self.space(ann=role)
        return space, self.tokens[f"ann@{space}"]

    def invite(self, person: str, space: str, role: str = "writer", days: int = 30) -> str:
        token = admin.invite(self.url, person, space, role, days).token
        self.tokens[f"{person}@{space}"] = token
        return token

    def ask(
        self,
        token: str,
        path: str,
        given: Any = None,
        method: str = "",
        headers: dict[str, str] | None = None,
        **query: object,
    ) -> Answer:
        """`given` is sent as JSON, bytes as they are."""
        body = given if isinstance(given, bytes) or given is None else json.dumps(given).encode()
        sent = {"Authorization": f"Bearer {token}"} if token else {}
        sent |= {"Content-Type": "application/json"} if body is not None else {}
        sent |= headers or {}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        try:
            where = path + (f"?{urlencode(query)}" if query else "")
            connection.request(method or ("GET" if body is None else "POST"), where, body, sent)
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, found, answer.read())
        finally:
            connection.close()

    def push(
        self, token: str, space: str, *items: tuple[str, int, str | None], **more: Any
    ) -> Answer:
        rows = [dict(zip(("path", "version", "body"), item, strict=True)) for item in items]
        return self.ask(token, f"/v1/spaces/{space}/push", {"items": rows, **more})

    def changes(self, token: str, space: str, after: int = 0, limit: int = 1000) -> Any:
        answer = self.ask(token, f"/v1/spaces/{space}/changes", after=after, limit=limit)
        assert answer.status == 200, answer
        return answer.json
