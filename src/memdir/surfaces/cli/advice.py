"""Suggested commands that work when they are pasted: they name the store that was asked for."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

PROJECT = "project"


@dataclass(frozen=True)
class Advice:
    """Completes the commands in a text with the options that say where."""

    commands: Sequence[str] = ()
    dir: str | None = None
    project: str | None = None
    scope: str = PROJECT

    def __call__(self, text: str, scope: str = "") -> str:
        """The text with each command naming its store; `scope` is the one it is about."""
        place = self.place(scope or self.scope)
        if not place or not self.commands:
            return text
        # `pid 7 (memdir save)` says what a process does; a command may name its place already.
        names = "|".join(self.commands)
        known = rf"(?<!\d \()\bmemdir (?:{names})\b(?!-| --(?:dir|project|scope)\b)"
        return re.sub(known, lambda found: found[0] + place, text)

    def place(self, scope: str) -> str:
        """The options, each with a space before it."""
        wanted = scope if scope != PROJECT else ""
        given = (("--dir", self.dir), ("--project", self.project), ("--scope", wanted))
        return "".join(f" {option} {shlex.quote(value)}" for option, value in given if value)
