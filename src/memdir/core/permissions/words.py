"""A command line as its words. What a shell would make more of than words is refused."""

from __future__ import annotations

from dataclasses import dataclass

LONGEST = 1000  # characters
# They chain, redirect, expand, group, escape or comment, wherever they stand without quotes …
SPECIAL = frozenset(";&|<>()$`\\*?[]{}!#\n\r")
# … and these do so between double quotes, too.
SPECIAL_QUOTED = frozenset("$`\\!\n\r")


@dataclass(frozen=True)
class Words:
    """The words of a command, or why it has none."""

    words: tuple[str, ...] = ()
    reason: str = ""


def split(command: object) -> Words:
    """Words between blanks; quotes keep blanks and special characters."""
    if not isinstance(command, str) or not command.strip():
        return Words(reason="there is no command")
    if len(command) > LONGEST:
        return Words(reason="the command is too long")
    if not command.replace("\t", " ").isprintable():
        return Words(reason="only one plain line is taken: no line ends, no hidden characters")
    found: list[str] = []
    word: str | None = None
    quote = ""
    for char in command:
        if quote == "" and char in "'\"":
            quote, word = char, word or ""
        elif quote == char:
            quote = ""
        elif (quote == "" and char in SPECIAL) or (quote == '"' and char in SPECIAL_QUOTED):
            return Words(reason=f"{char} is not taken: one plain command, with patterns in '…'")
        elif quote == "" and char in " \t":
            found += [] if word is None else [word]
            word = None
        else:
            word = (word or "") + char
    if quote:
        return Words(reason="a quote is not closed")
    found += [] if word is None else [word]
    return Words(tuple(found))
