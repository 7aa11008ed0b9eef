"""The real client: where it lies, and how it gets there. It is never part of the repository.

python -m tests.acceptance.client [VERSION]     installs one with npm; the newest by default
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

PACKAGE = "@anthropic-ai/claude-code"
# Newer ones are a program each, older ones a script for node.
PROGRAMS = ("claude-code-linux-*/claude", "claude-code/cli.js")
VERSION = re.compile(r"\d{1,9}\.\d{1,9}\.\d{1,9}")
INSTALL = "make acceptance-client VERSION=2.1.325"


def folder() -> Path:
    """Outside of the tree; one folder below for each version."""
    given = os.environ.get("ACCEPTANCE_DIR")
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(given) if given else Path(cache, "memdir-acceptance")


def program(version: str) -> Path | None:
    """The client of that version, where it is installed."""
    below = folder() / version / "node_modules" / PACKAGE.partition("/")[0]
    found = [path for pattern in PROGRAMS for path in sorted(below.glob(pattern))]
    # Some versions come for two C libraries; the other one's program does not run.
    return next((path for path in found if "musl" not in str(path)), None)


def versions() -> list[str]:
    """What is installed, newest first."""
    if not folder().is_dir():
        return []
    names = [path.name for path in folder().iterdir() if VERSION.fullmatch(path.name)]
    names.sort(key=lambda name: [int(part) for part in name.split(".")], reverse=True)
    return [name for name in names if program(name)]


def command(path: str) -> list[str]:
    """How a client is started."""
    return ["node", path] if path.endswith(".js") else [path]


def install(version: str) -> Path:
    """By its number: asked for none, npm quietly takes an old one that suits an old node."""
    version = version or _output("npm", "view", PACKAGE, "version")
    if not VERSION.fullmatch(version):
        sys.exit(f"{version!r} is no version; example: {INSTALL}")
    if found := program(version):
        return found
    where = folder() / version
    where.mkdir(parents=True, exist_ok=True)
    quiet = ["--no-audit", "--no-fund", "--loglevel=error"]
    _output("npm", "install", *quiet, "--prefix", str(where), f"{PACKAGE}@{version}")
    found = program(version)
    if found is None:
        sys.exit(f"npm left no client for this machine in {where}")
    return found


def _output(*words: str) -> str:
    if shutil.which(words[0]) is None:
        sys.exit(f"{words[0]} is not installed; it is needed once, to get the client")
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(words)}\n{done.stderr.strip()[-2000:]}")
    return done.stdout.strip()


if __name__ == "__main__":
    print(install((*sys.argv[1:], "")[0]))
