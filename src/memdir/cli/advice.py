"""Suggested commands name the store that was asked for, so they work when they are pasted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from shlex import quote
from typing import NamedTuple

from memdir.text import pattern
from memdir.text.terminal import wrap

PROJECT, TEAM, RECORDS = "project", "team", "records"
UNBROKEN = "\0"  # stands for a blank of a command; no text that is shown holds it
_QUOTED = r"[\w~/.-]{0,300}'[^'\n]{0,300}'"
_WITH_VALUE = "dir|root|project|scope|batch|file|type|to|action|target"
_VALUE = rf"--(?:{_WITH_VALUE}) (?:{_QUOTED}|[^\s;,]{{1,300}})"
_FLAG = r"--?[a-z-]{0,30}(?![\w-])"
_NAME = r"[A-Z]{3,20}\b|[\w~-]{0,100}[./][\w~/.@-]{0,300}\w"
# A command up to where prose may begin: options, then names that look like no word of prose.
_COMMAND = pattern(
    rf"\bmemdir (?:records )?[a-z][a-z-]{{0,20}}(?: (?:{_VALUE}|{_FLAG}|{_QUOTED}|{_NAME})){{0,12}}"
)


class Advice(NamedTuple):
    """Completes the commands in a text with the options that say where."""

    commands: Sequence[str] = ()
    dir: str | None = None
    project: str | None = None
    scope: str = PROJECT
    home: str = ""  # a person's: paths below it start with `~`, which their shell expands

    def __call__(self, text: str, scope: str = "") -> str:
        """The text with each command naming its store; `scope` is the one it is about."""
        place = self._place(scope or self.scope)
        if not place or not self.commands:
            return text
        # `pid 7 (memdir save)` says what a process does; a command may name its place already.
        names = "|".join(name for name in self.commands if name != RECORDS)
        given = r"(?!-| --(?:dir|root|project|scope)\b)"
        known = rf"(?<!\d \()\bmemdir (?:{RECORDS} [a-z-]{{1,20}}|{names})\b{given}"
        root = self.dir if self.scope == RECORDS else None  # the scope of records is known
        ours = self._options([("--project", self.project), ("--root", root)])
        start = f"memdir {RECORDS} "
        return re.sub(known, lambda m: m[0] + (ours if m[0].startswith(start) else place), text)

    def _place(self, scope: str) -> str:
        given = [("--project", self.project)]
        if self.dir:  # says where alone: a scope beside it is refused, or is a folder of it
            given.append(("--dir", f"{self.dir.rstrip('/')}/{TEAM}" if scope == TEAM else self.dir))
        if scope == RECORDS or (scope != PROJECT and not self.dir):
            given.append(("--scope", scope))
        return self._options(given)

    def _options(self, given: Iterable[tuple[str, str | None]]) -> str:
        """The options, each with a space before it."""
        return "".join(f" {name} {self._word(value)}" for name, value in sorted(given) if value)

    def _word(self, value: str) -> str:
        """A value for the shell; a quoted `~` would be a name like any other."""
        home = self.home.rstrip("/")
        below = home and value.startswith(home + "/")
        return "~/" + quote(value[len(home) + 1 :]) if below else quote(value)


def wrap_steps(text: str, columns: int, first: str = "", rest: str = "") -> list[str]:
    """Lines of whole words and whole commands; a command is never moved from its label."""
    words = _COMMAND.sub(lambda match: match[0].replace(" ", UNBROKEN), text)
    if first.strip() and _COMMAND.match(text):
        indent = first[: len(first) - len(first.lstrip())]
        words, first = first.lstrip().replace(" ", UNBROKEN) + words, indent
    return [part.replace(UNBROKEN, " ") for part in wrap(words, columns, first, rest)]
