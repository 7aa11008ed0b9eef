"""Codex, Gemini CLI and opencode for real: where they lie, how they get there, how they are asked.

python -m tests.acceptance.other_clients NAME [VERSION]     installs one with npm; else the newest
"""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.acceptance import client, fence
from tests.acceptance.equipped import run_memdir, wait_for_rest
from tests.helpers.scripted_server import Reply, Request, Script
from tests.helpers.tables import table

ANSWERS = table("other_clients", "answers")
RUN_SECONDS = 240  # opencode waits long for a network that is not there


class Canned(Script):
    """Each API of models that one of them asks; tokens are counted roughly."""

    def choose(self, request: Request) -> Reply:
        route = request.path.partition("?")[0]
        if route.endswith(":countTokens"):
            return Reply(raw=ANSWERS["count"].encode())
        if route.endswith(":generateContent"):
            return Reply(raw=ANSWERS["generate"].encode())
        if route.endswith(":streamGenerateContent"):
            return Reply(raw=f"data: {ANSWERS['generate']}\n\n".encode())
        if route.endswith("/responses"):
            events = [(json.loads(one)["type"], one) for one in ANSWERS["responses"]]
            return Reply(raw="".join(f"event: {e}\ndata: {d}\n\n" for e, d in events).encode())
        return Reply("Done.")


@dataclass(frozen=True)
class Client:
    """A row of tests/data/other_clients.toml."""

    name: str
    package: str
    program: str
    words: list[str]
    settings: dict[str, str]
    variables: dict[str, str] = field(default_factory=dict)

    def folder(self) -> Path:
        return client.folder() / "others" / self.name

    def found(self) -> Path | None:
        return client.program(self.folder(), (self.program,))


CLIENTS = tuple(Client(**row) for row in table("other_clients", "clients"))


class Other:
    """A throw-away home with two projects, one of those clients, and an API."""

    def __init__(self, top: Path, one: Client, checkout: Path, api: Script) -> None:
        fence.refuse_if_open()
        self.client, self.checkout, self.api, self.top = one, checkout, api, top
        self.program = str(one.found())
        self.home, self.project, self.elsewhere = (top / n for n in ("home", "here", "elsewhere"))
        for folder in (self.home, self.project, self.elsewhere):
            folder.mkdir(parents=True)
        for folder in (self.project, self.elsewhere):
            subprocess.run(["git", "init", "-q", str(folder)], check=True)
        for path, text in one.settings.items():
            (self.home / path).parent.mkdir(parents=True, exist_ok=True)
            (self.home / path).write_text(text.replace("ADDRESS", api.address), encoding="utf-8")

    def environment(self) -> dict[str, str]:
        node = os.path.dirname(shutil.which("node") or "/usr/bin/node")
        variables = self.client.variables.items()
        return {
            "HOME": str(self.home),
            "PATH": f"/usr/local/bin:/usr/bin:/bin:{node}",
            "TERM": "dumb",
            "LANG": "C.UTF-8",
            "TMPDIR": str(self.top),
            **{name: text.replace("ADDRESS", self.api.address) for name, text in variables},
        }

    def memdir(self, *words: str, project: Path | None = None) -> Any:
        return run_memdir(self.checkout, words, project or self.project, self.environment())

    def ask(self, prompt: str) -> str:
        """One question without a screen; everything that the model was sent."""
        del self.api.requests[:]
        given = {"PROMPT": [prompt], "WORDS": prompt.split()}
        words = [part for word in self.client.words for part in given.get(word, [word])]
        done = subprocess.run(
            [*client.command(self.program), *words],
            cwd=self.project,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=RUN_SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert "Done." in done.stdout
        bodies = [request.body for request in self.api.requests if request.method == "POST"]
        return "\n".join(json.dumps(body, ensure_ascii=False) for body in bodies)

    def rest(self) -> None:
        wait_for_rest(self.home)

    def files(self) -> dict[str, bytes]:
        """What lies in the home, but for memdir's own."""
        parts = (".local", ".cache", ".claude")
        return {
            str(path.relative_to(self.home)): path.read_bytes()
            for path in self.home.rglob("*")
            if path.is_file() and path.relative_to(self.home).parts[0] not in parts
        }


if __name__ == "__main__":
    names = {one.name: one for one in CLIENTS}
    if len(sys.argv) < 2 or sys.argv[1] not in names:
        sys.exit(f"name one of: {', '.join(names)}")
    one = names[sys.argv[1]]
    print(client.install(one.package, one.folder(), (one.program,), (*sys.argv[2:], "")[0]))
