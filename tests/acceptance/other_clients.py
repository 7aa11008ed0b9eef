"""Codex, Gemini CLI and opencode for real: where they lie, how they get there, how they are asked.

python -m tests.acceptance.other_clients NAME [VERSION]     installs one with npm; else the newest
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.acceptance import client, fence
from tests.acceptance.equipped import run_memdir, wait_for_rest
from tests.acceptance.other_apis import Generate, Recorded, Responses, serve_recorded
from tests.helpers.scripted_server import Reply, serve

RUN_SECONDS = 240  # opencode waits long for a network that is not there


@dataclass(frozen=True)
class Client:
    """One that npm has: its package, its program below node_modules, how it is asked."""

    name: str
    package: str
    program: str
    words: Callable[[str], list[str]]
    settings: Callable[[str], dict[str, str]]  # files below the home, for an API at an address
    serve: Callable[[], Any]
    variables: Callable[[str], dict[str, str]] = lambda address: {}

    def folder(self) -> Path:
        return client.folder() / "others" / self.name

    def found(self) -> Path | None:
        return client.program(self.folder(), (self.program,))


@contextmanager
def _anthropic() -> Iterator[Recorded]:
    with serve(Reply("Done.")) as script:
        recorded = Recorded(script.address)
        script.keep = lambda one: recorded.requests.append((one.path, one.body))  # type: ignore[method-assign]
        yield recorded


def _codex(address: str) -> dict[str, str]:
    lines = ['model = "gpt-5"', 'model_provider = "fake"', "", "[model_providers.fake]"]
    lines += ['name = "fake"', f'base_url = "{address}/v1"', 'wire_api = "responses"', ""]
    return {".codex/config.toml": "\n".join(lines)}


def _gemini(address: str) -> dict[str, str]:
    values = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
    return {".gemini/settings.json": json.dumps(values)}


def _opencode(address: str) -> dict[str, str]:
    options = {"baseURL": f"{address}/v1", "apiKey": "none"}
    values = {"provider": {"anthropic": {"options": options}}, "autoupdate": False}
    return {".config/opencode/opencode.json": json.dumps(values, indent=2)}


CLIENTS = (
    Client(
        "codex",
        "@openai/codex",
        "@openai/codex/bin/codex.js",
        lambda prompt: ["exec", "--dangerously-bypass-hook-trust", prompt],
        _codex,
        lambda: serve_recorded(Responses),
    ),
    Client(
        "gemini-cli",
        "@google/gemini-cli",
        "@google/gemini-cli/bundle/gemini.js",
        lambda prompt: ["-m", "gemini-2.5-flash", "-p", prompt],
        _gemini,
        lambda: serve_recorded(Generate),
        lambda address: {
            "GEMINI_API_KEY": "none",
            "GOOGLE_GEMINI_BASE_URL": address,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        },
    ),
    Client(
        "opencode",
        "opencode-ai",
        "opencode-linux-*/bin/opencode",
        # Word by word: a word with blanks in it gets quotes around it.
        lambda prompt: ["run", "-m", "anthropic/claude-sonnet-4-5", *prompt.split()],
        _opencode,
        _anthropic,
        lambda address: {
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "npm_config_fetch_retries": "0",
            "npm_config_offline": "true",
        },
    ),
)


class Other:
    """A throw-away home with two projects, one of those clients, and an API."""

    def __init__(self, top: Path, one: Client, checkout: Path, api: Recorded) -> None:
        fence.refuse_if_open()
        self.client, self.checkout, self.api, self.top = one, checkout, api, top
        self.program = str(one.found())
        self.home, self.project, self.elsewhere = (top / n for n in ("home", "here", "elsewhere"))
        for folder in (self.home, self.project, self.elsewhere):
            folder.mkdir(parents=True)
        for folder in (self.project, self.elsewhere):
            subprocess.run(["git", "init", "-q", str(folder)], check=True)
        for path, text in one.settings(api.address).items():
            (self.home / path).parent.mkdir(parents=True, exist_ok=True)
            (self.home / path).write_text(text, encoding="utf-8")

    def environment(self) -> dict[str, str]:
        node = os.path.dirname(shutil.which("node") or "/usr/bin/node")
        return {
            "HOME": str(self.home),
            "PATH": f"/usr/local/bin:/usr/bin:/bin:{node}",
            "TERM": "dumb",
            "LANG": "C.UTF-8",
            "TMPDIR": str(self.top),
            **self.client.variables(self.api.address),
        }

    def memdir(self, *words: str, project: Path | None = None) -> Any:
        return run_memdir(self.checkout, words, project or self.project, self.environment())

    def ask(self, prompt: str) -> str:
        """One question without a screen; everything that the model was sent."""
        del self.api.requests[:]
        done = subprocess.run(
            [*client.command(self.program), *self.client.words(prompt)],
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
        return self.api.sent()

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


def missing(one: Client) -> str:
    """Why a client cannot be tried; empty where it can."""
    if one.found():
        return ""
    return f"{one.name} is not installed: python -m tests.acceptance.other_clients {one.name}"


if __name__ == "__main__":
    names = {one.name: one for one in CLIENTS}
    if len(sys.argv) < 2 or sys.argv[1] not in names:
        sys.exit(f"name one of: {', '.join(names)}")
    one = names[sys.argv[1]]
    print(client.install(one.package, one.folder(), (one.program,), (*sys.argv[2:], "")[0]))
