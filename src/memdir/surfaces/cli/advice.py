"""Suggested commands that work when they are pasted: they name the store that was asked for."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from memdir.surfaces.cli.visible import wrap

PROJECT, TEAM, RECORDS = "project", "team", "records"
UNBROKEN = "\0"  # stands for a blank of a command; no text that is shown holds it
_QUOTED = r"[\w~/.-]{0,300}'[^'\n]{0,300}'"
_WITH_VALUE = "dir|root|project|scope|batch|file|type|to|action|target"
_VALUE = rf"--(?:{_WITH_VALUE}) (?:{_QUOTED}|[^\s;,]{{1,300}})"
_FLAG = r"--?[a-z-]{0,30}(?![\w-])"
_NAME = r"[A-Z]{3,20}\b|[\w~-]{0,100}[./][\w~/.@-]{0,300}\w"
# A command up to where prose may begin: options, then names that look like no word of prose.
_COMMAND = re.compile(
    rf"\bmemdir (?:records )?[a-z][a-z-]{{0,20}}(?: (?:{_VALUE}|{_FLAG}|{_QUOTED}|{_NAME})){{0,12}}"
)


@dataclass(frozen=True)
class Advice:
    """Completes the commands in a text with the options that say where."""

    commands: Sequence[str] = ()
    dir: str | None = None
    project: str | None = None
    scope: str = PROJECT
    home: str = ""  # a person's: paths below it start with `~`, which their shell expands

    def __call__(self, text: str, scope: str = "") -> str:
        """The text with each command naming its store; `scope` is the one it is about."""
        place = self.place(scope or self.scope)
        if not place or not self.commands:
            return text
        # `pid 7 (memdir save)` says what a process does; a command may name its place already.
        names = "|".join(name for name in self.commands if name != RECORDS)
        given = r"(?!-| --(?:dir|root|project|scope)\b)"
        known = rf"(?<!\d \()\bmemdir (?:{RECORDS} [a-z-]{{1,20}}|{names})\b{given}"
        ours, start = self.place_of_records(), f"memdir {RECORDS} "
        return re.sub(
            known, lambda found: found[0] + (ours if found[0].startswith(start) else place), text
        )

    def place(self, scope: str) -> str:
        """The options, each with a space before it."""
        given = [("--project", self.project or "")]
        if self.dir:  # says where alone: a scope beside it is refused, or is a folder of it
            given.append(("--dir", f"{self.dir.rstrip('/')}/{TEAM}" if scope == TEAM else self.dir))
        if scope == RECORDS or (scope != PROJECT and not self.dir):
            given.append(("--scope", scope))
        return self._options(given)

    def place_of_records(self) -> str:
        """The same for a command of `memdir records`, whose scope is known."""
        root = self.dir if self.scope == RECORDS else None
        return self._options([("--project", self.project or ""), ("--root", root or "")])

    def _options(self, given: list[tuple[str, str]]) -> str:
        return "".join(f" {name} {self._word(value)}" for name, value in sorted(given) if value)

    def _word(self, value: str) -> str:
        """A value for the shell; a quoted `~` would be a name like any other."""
        home = self.home.rstrip("/")
        if home and value.startswith(home + "/"):
            return "~/" + shlex.quote(value[len(home) + 1 :])
        return shlex.quote(value)


def unbroken(text: str) -> str:
    """The text with its commands as one word each: one that is wrapped cannot be pasted."""
    return _COMMAND.sub(lambda found: found[0].replace(" ", UNBROKEN), text)


def wrap_steps(text: str, columns: int, first: str = "", rest: str = "") -> list[str]:
    """Lines of whole words and whole commands; a command is never moved from its label."""
    words = unbroken(text)
    if _COMMAND.match(text) and first.strip():
        indent = first[: len(first) - len(first.lstrip())]
        words, first = first.lstrip().replace(" ", UNBROKEN) + words, indent
    return [one.replace(UNBROKEN, " ") for one in wrap(words, columns, first, rest)]
