"""Machines that share a remote: each with a home, a path and a person of its own."""

import os
import subprocess
from pathlib import Path

from tests.helpers.terminal import SCRIPT, SECONDS, Answer, memdir

SSH = """#!/bin/sh
# What ssh does: the last word is the command, for a shell of the other side.
while [ $# -gt 1 ]; do shift; done
exec sh -c "$1"
"""


class Machine:
    def __init__(self, folder: Path, name: str, origin: str, monkeypatch) -> None:
        self.name, self.monkeypatch = name, monkeypatch
        self.home = folder / f"{name}-home" / name
        self.project = self.home / f"work-of-{name}" / "shop"
        self.project.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main")
        if origin:
            self.git("remote", "add", "origin", origin)
        self.git("config", "user.name", name.title())
        self.git("config", "user.email", f"{name}@example.invalid")

    @property
    def env(self) -> dict[str, str]:
        kept = {
            name: os.environ[name]
            for name in ("PATH", "NO_COLOR", "GIT_SSH_COMMAND")
            if name in os.environ
        }
        return {**kept, "HOME": str(self.home), "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C.UTF-8"}

    def git(self, *words: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=self.project, env=self.env, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def __call__(self, *words: str) -> Answer:
        """A command of this machine's user, in this process."""
        with self.monkeypatch.context() as there:
            for name in [name for name in os.environ if name.startswith("XDG_")]:
                there.delenv(name)
            there.setenv("HOME", str(self.home))
            there.chdir(self.project)
            return memdir(*words)

    def json(self, *words: str) -> dict:
        answer = self(*words, "--json")
        assert answer.code == 0, answer.text
        return answer.json

    def start(self, *words: str) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [*SCRIPT, *words],
            cwd=self.project,
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def remember(self, text: str, name: str, type: str = "project", *more: str) -> None:
        answer = self("remember", text, "--name", name, "--type", type, "--anyway", *more)
        assert answer.code == 0, answer.stderr

    def store(self, scope: str = "project") -> Path:
        return Path(self.json("where", "--scope", scope)["store"])

    def files(self, scope: str = "project") -> dict[str, str]:
        return {path.name: path.read_text() for path in self.store(scope).glob("*.md")}

    def inbox(self) -> list[dict]:
        return self.json("review")["held"]


def said(answer: Answer) -> str:
    """All that a person reads, as one line."""
    return " ".join(f"{answer.text} {answer.stderr}".split())


def bare(folder: Path, name: str = "memory.git") -> str:
    path = folder / name
    subprocess.run(["git", "init", "--quiet", "--bare", str(path)], check=True, timeout=SECONDS)
    return str(path)


def everything_in(remote: str) -> str:
    """All text that ever left for this remote: names, contents and messages."""
    run = ["git", "--git-dir", remote, "cat-file", "--batch-all-objects", "--batch"]
    return subprocess.run(run, capture_output=True, check=True).stdout.decode("utf-8", "replace")
