"""Real clients: where they lie, and how they get there. They are never part of the repository.

python -m tests.acceptance.client [VERSION]     installs Claude Code with npm; the newest by default
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

PACKAGE = "@anthropic-ai/claude-code"
# Newer ones are a program each, older ones a script for node.
PROGRAMS = ("@anthropic-ai/claude-code-linux-*/claude", "@anthropic-ai/claude-code/cli.js")
VERSION = re.compile(r"\d{1,9}\.\d{1,9}\.\d{1,9}")
INSTALL = "make acceptance-client VERSION=2.1.325"


def folder() -> Path:
    """Outside of the tree; one folder below for each version."""
    given = os.environ.get("ACCEPTANCE_DIR")
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(given) if given else Path(cache, "memdir-acceptance")


def program(top: Path, patterns: tuple[str, ...], version: str = "") -> Path | None:
    """The program of that version in a client's folder, or of the newest."""
    names = [path.name for path in top.iterdir()] if top.is_dir() else []
    names = [name for name in names if VERSION.fullmatch(name) and version in ("", name)]
    names.sort(key=lambda name: [int(part) for part in name.split(".")], reverse=True)
    below = [top / name / "node_modules" for name in names]
    found = [path for at in below for pattern in patterns for path in sorted(at.glob(pattern))]
    # Some come for several C libraries and processors; the other ones' programs do not run.
    fitting = (path for path in found if "musl" not in str(path) and "baseline" not in str(path))
    return next(fitting, None)


def command(path: str) -> list[str]:
    """How a client is started."""
    return ["node", path] if path.endswith(".js") else [path]


def install(package: str, top: Path, patterns: tuple[str, ...], version: str) -> Path:
    """By its number: asked for none, npm quietly takes an old one that suits an old node."""
    version = version or _output("npm", "view", package, "version")
    if not VERSION.fullmatch(version):
        sys.exit(f"{version!r} is no version; example: {INSTALL}")
    if found := program(top, patterns, version):
        return found
    where = top / version
    where.mkdir(parents=True, exist_ok=True)
    quiet = ["--no-audit", "--no-fund", "--loglevel=error"]
    _output("npm", "install", *quiet, "--prefix", str(where), f"{package}@{version}")
    found = program(top, patterns, version)
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
    print(install(PACKAGE, folder(), PROGRAMS, (*sys.argv[1:], "")[0]))
