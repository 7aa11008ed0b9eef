"""A sandbox with memdir as a user gets it: the plugin from a marketplace, or hooks by setup."""

import json
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from tests.acceptance import client
from tests.acceptance.sandbox import RUN_SECONDS, Sandbox
from tests.acceptance.scripted_api import flat
from tests.helpers.processes import of_home, wait_for_none
from tests.self.source import ROOT

PARTS = (".claude-plugin", "plugin", "src/memdir")  # of a checkout: what the plugin consists of
MARKETPLACE, ID = "memdir", "memdir@memdir"
PLUGIN, SETTINGS = "plugin", "settings"
WAYS = (PLUGIN, SETTINGS)
CLI = "from memdir.cli.main import main; main()"
HOOKS = "src/memdir/hot"
PYTHON_NAMES = ("python3.14", "python3.13", "python3.12", "python3.11", "python3")
TOOLS = ("sh", "bash", "cat", "env", "git", "grep", "ls", "mkdir", "mv", "rm", "uname")


def copy_checkout(where: Path) -> Path:
    """A checkout of memdir as it lies here, without what was compiled and left behind."""
    compiled = shutil.ignore_patterns("__pycache__")
    for part in PARTS:
        shutil.copytree(ROOT / part, where / part, symlinks=True, ignore=compiled)
    return where


def copy_package(where: Path) -> Path:
    """The same with what `memdir[llm]` needs beside it, as pip lays it out."""
    copy_checkout(where)
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if "memdir" not in path.name and path.suffix != ".pth":
            (where / "src" / path.name).symlink_to(path)
    return where


class Equipped(Sandbox):
    """`checkout` is the memdir that gets installed; nothing of it is on the PATH."""

    checkout: Path

    @property
    def settings(self) -> Path:
        return self.home / ".claude/settings.json"

    # memdir

    def install(self, way: str) -> None:
        if way == SETTINGS:
            self.memdir("setup", "claude-code", "--settings")
        else:
            self.manage("marketplace", "add", str(self.checkout))
            self.manage("install", ID)

    def copy_plugin(self, template: "Equipped") -> None:
        """What the client did when it installed the plugin in another home: half the time."""
        shutil.copytree(template.home, self.home, symlinks=True, dirs_exist_ok=True)
        places = {template.home: self.home, template.checkout: self.checkout}
        for path in (self.settings, *self.home.glob(".claude/plugins/*.json")):
            text = path.read_text("utf-8")
            for old, new in places.items():
                text = text.replace(str(old), str(new))
            path.write_text(text, encoding="utf-8")

    def manage(self, *words: str) -> str:
        """What `claude plugin` says to that."""
        running = self.start("plugin", *words, stderr=subprocess.STDOUT)
        said: str = running.communicate(timeout=RUN_SECONDS)[0]
        assert running.returncode == 0, said
        return said

    def memdir_line(self, *words: str) -> str:
        """A command of memdir for a shell that does not know it."""
        command = shlex.join([sys.executable, "-P", "-c", CLI, *words])
        return f"PYTHONPATH={shlex.quote(str(self.checkout / 'src'))} {command}"

    def memdir(self, *words: str) -> Any:
        """What a command of memdir answers, in the project."""
        return run_memdir(self.checkout, words, self.project, self.environment())

    def choose(self, **options: object) -> None:
        """Settings of memdir: `model__name` is `model.name`."""
        rows = [f"{key.replace('__', '.')} = {json.dumps(one)}" for key, one in options.items()]
        path = self.home / ".config/memdir/config.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(rows), encoding="utf-8")

    def offer_client(self) -> None:
        """Put the client on the PATH, as its users have it."""
        folder = self.top / "client"
        folder.mkdir()
        line = shlex.join(client.command(self.program))
        (folder / "claude").write_text(f'#!/bin/sh\nexec {line} "$@"\n', encoding="utf-8")
        (folder / "claude").chmod(0o755)
        self.variables["PATH"] = f"{folder}:{self.environment()['PATH']}"

    def own_path(self, python: str) -> None:
        """A PATH with tools of a shell and, under each name, this script as Python."""
        folder = self.top / "bin"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for tool in TOOLS:
            (folder / tool).symlink_to(shutil.which(tool) or f"/bin/{tool}")
        for name in PYTHON_NAMES:
            (folder / name).write_text(f"#!/bin/sh\n{python}\n", encoding="utf-8")
            (folder / name).chmod(0o755)
        self.variables["PATH"] = str(folder)

    def finish(self, prompt: str, *arguments: str) -> None:
        """A session that succeeds, and what goes on behind it."""
        assert self.ask(prompt, *arguments).succeeded
        self.rest()

    # What came of it

    def rest(self) -> list[str]:
        return wait_for_rest(self.home)

    def memories(self) -> dict[str, bytes]:
        """Every file of the project's store."""
        files = (path for path in self.store().rglob("*") if path.is_file())
        return {str(path.relative_to(self.store())): path.read_bytes() for path in files}

    def attachments(self) -> list[tuple[str, str]]:
        """What hooks added to the conversations, as the client wrote it down: event, text."""
        files = self.home.glob(".claude/projects/*/**/*.jsonl")
        lines = [line for path in files for line in path.read_text("utf-8").splitlines()]
        rows = [json.loads(line).get("attachment") or {} for line in lines]
        return [
            (row["hookEvent"], flat(row["content"]))
            for row in rows
            if row.get("type") == "hook_additional_context"
        ]


def run_memdir(checkout: Path, words: tuple[str, ...], project: Path, env: dict[str, str]) -> Any:
    done = subprocess.run(
        [sys.executable, "-P", "-c", CLI, *words, "--json"],
        cwd=project,
        env={**env, "PYTHONPATH": str(checkout / "src")},
        capture_output=True,
        text=True,
        timeout=RUN_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def wait_for_rest(home: Path) -> list[str]:
    """Wait until nothing runs any more; the sockets that were open meanwhile."""
    sockets: list[str] = []

    def running() -> list[str]:
        left = [(pid, b" ".join(words).decode("utf-8", "replace")) for pid, words in of_home(home)]
        sockets.extend(f"{words}: {one}" for pid, words in left for one in _sockets(pid))
        return [words for _, words in left]

    wait_for_none(running, RUN_SECONDS)
    return sockets


def _sockets(pid: str) -> list[str]:
    """What it opened itself: the client hands over input and output as sockets, too."""
    found = []
    try:
        for name in os.listdir(f"/proc/{pid}/fd"):
            target = os.readlink(f"/proc/{pid}/fd/{name}")
            found += [target] if target.startswith("socket:") and int(name) > 2 else []
    except OSError:
        return found  # it has ended meanwhile
    return found
