"""What triage knows of a language."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Language:
    """Its commonest words, those for always and never, and how things worth a memory are said.

    `passing` is what takes all of it back: perhaps, a fault, a request for one piece of work, what
    a user of the program shall see.
    """

    small: frozenset[str]
    always: re.Pattern[str]
    custom: re.Pattern[str]
    decided: re.Pattern[str]
    liked: re.Pattern[str]
    told_of_self: re.Pattern[str]
    passing: re.Pattern[str]
