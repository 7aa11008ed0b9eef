"""How the tests call `memdir`: in this process where a process adds nothing, else for real."""

import io
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memdir.cli.main import run_command_line

SCRIPT = [sys.executable, "-c", "from memdir.cli.main import main; main()"]
SECONDS = 60


@dataclass(frozen=True)
class Answer:
    code: int
    bytes: bytes
    stderr: str

    @property
    def text(self) -> str:
        return self.bytes.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.bytes)

    @property
    def error(self) -> Any:
        return self.json["error"]


def memdir(*words: str, stdin: bytes = b"") -> Answer:
    """One command in this process, with streams of its own."""
    out, err = _stream(), _stream()
    kept = sys.stdin, sys.stdout, sys.stderr
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    sys.stdout, sys.stderr = out, err
    try:
        code = run_command_line(words)
    finally:
        sys.stdin, sys.stdout, sys.stderr = kept
    out.flush()
    err.flush()
    return Answer(code, out.buffer.getvalue(), err.buffer.getvalue().decode())


def _stream() -> Any:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8")


def process(*words: str, stdin: bytes = b"", **env: str) -> Answer:
    """The console script in a process of its own."""
    done = subprocess.run(
        [*SCRIPT, *words],
        input=stdin,
        capture_output=True,
        env={**os.environ, **env},
        timeout=SECONDS,
    )
    return Answer(done.returncode, done.stdout, done.stderr.decode())


def tree(*roots: Path) -> dict[str, tuple[str, int, bytes]]:
    """Everything below these directories: kind, mode and content."""
    found = {}
    for root in roots:
        for here, folders, names in os.walk(root):
            for name in [*folders, *names]:
                path = Path(here, name)
                facts = path.lstat()
                content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
                if path.is_symlink():
                    content = os.fsencode(os.readlink(path))
                found[str(path)] = (oct(facts.st_mode), facts.st_nlink, content)
    return found
