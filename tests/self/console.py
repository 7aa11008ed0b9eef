"""Runs the ```console blocks of a document and compares what they print with what is shown.

In the shown output `…` stands for anything within its line; a line that is only `…` for any
number of lines. Commands share one home, one project and the directory they change to.
"""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

PROMPT = "$ "
ANY = "…"
SECONDS = 60


@dataclass
class Command:
    line: int  # in the document, from 1
    text: str
    shown: list[str]


def commands(document: str, language: str = "console") -> list[Command]:
    """Every command of the document's blocks in that language, in order.

    A backslash at the end of a line continues the command on the next one.
    """
    found: list[Command] = []
    for block in re.finditer(rf"^( *)```{language}\n(.*?)\n *```$", document, re.M | re.S):
        first = document.count("\n", 0, block.start(2)) + 1
        for number, line in enumerate(block[2].split("\n"), first):
            text = line.removeprefix(block[1])
            if text.startswith(PROMPT):
                found.append(Command(number, text.removeprefix(PROMPT), []))
            elif number == first:
                raise ValueError(f"line {number}: a console block begins with `{PROMPT}`")
            elif found[-1].text.endswith("\\") and not found[-1].shown:
                found[-1].text += f"\n{text}"
            else:
                found[-1].shown.append(text)
    return found


def matches(shown: list[str], printed: list[str]) -> bool:
    """Both lists without their blank ends; inner blank lines count."""
    patterns = [
        r"(?:.*\n)*?"
        if line.strip() == ANY
        else ".*".join(re.escape(part) for part in line.split(ANY)) + r"\n"
        for line in _trimmed(shown)
    ]
    return bool(re.fullmatch("".join(patterns), "".join(f"{line}\n" for line in _trimmed(printed))))


def _trimmed(lines: list[str]) -> list[str]:
    return "\n".join(line.rstrip() for line in lines).strip("\n").split("\n")


class Terminal:
    """A shell in a throw-away home, standing in a throw-away git project."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.here = self.home / "project"
        self.here.mkdir(parents=True)
        self._left = folder / "here"
        self._environment = {
            "HOME": str(self.home),
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "NO_COLOR": "1",
            "COLUMNS": "100",
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        self.run("git init -q -b main && git config user.name me && git config user.email me@here")

    def run(self, text: str) -> tuple[int, list[str]]:
        """Exit code and printed lines, errors among them; a `cd` lasts."""
        run = subprocess.run(
            ["bash", "-c", f"trap 'pwd >\"$0\"' EXIT\n{text}\n", str(self._left)],
            cwd=self.here,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=SECONDS,
        )
        self.here = Path(self._left.read_text().rstrip("\n"))
        return run.returncode, run.stdout.decode(errors="replace").splitlines()


def differences(document: str, terminal: Terminal) -> list[str]:
    """Where the document does not say what happens; `make` lines are left to their own test."""
    found = []
    for command in commands(document):
        if command.text.startswith("make "):
            continue
        code, printed = terminal.run(command.text)
        broke = code in (3, 126, 127) or any("Traceback (most recent" in line for line in printed)
        if broke or not matches(command.shown, printed):
            lines = [f"line {command.line}: $ {command.text}", "  shown:", *command.shown]
            found.append("\n    ".join([*lines, f"  printed (exit code {code}):", *printed]))
    return found
