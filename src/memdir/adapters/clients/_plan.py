"""What a client is asked for, and what it answers: the files as they would be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from memdir.core.errors import BadInput

PLUGIN, SETTINGS = "plugin", "settings"
BOM = "\ufeff"


class UnsafeEdit(ValueError):
    """Why a text is left alone."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem


@dataclass(frozen=True)
class Insertion:
    """A text that stands where it did not stand before; `at` counts in the new text."""

    at: int
    text: str


@dataclass(frozen=True)
class Wish:
    """What a person asked for; an empty `way` leaves the choice to the client."""

    way: str = ""
    commands: bool = False
    remove: bool = False
    rules: bool = False  # also in the project at hand, where others may see them


@dataclass(frozen=True)
class Host:
    """What hooks run with, and where the client keeps its files."""

    python: str
    why: str  # this Python
    package: str  # the directory of the package that hooks run
    home: str
    claude_dir: str
    environ: Mapping[str, str] = field(repr=False)
    project: str = ""  # the checkout at hand


@dataclass(frozen=True)
class Edit:
    """One file: what stands there and what would; None is no file."""

    path: str  # where the client looks
    target: str  # the same, links followed
    old: bytes | None
    new: bytes | None
    insertions: tuple[Insertion, ...] = ()
    clean: bytes | None = None  # what would stand there without us
    added: str = ""  # what is put into a JSON file, as JSON

    @property
    def change(self) -> str:
        """What happens to the file, in one word."""
        if self.old == self.new:
            return "unchanged"
        if self.old is None:
            return "created"
        return "removed" if self.new is None else "updated"


@dataclass(frozen=True)
class Plan:
    """The answer of a client."""

    way: str
    edits: tuple[Edit, ...]
    hooks: Mapping[str, str]  # the client's name of an event, and the command line it runs
    remarks: tuple[str, ...] = ()


class ByHand(BadInput):
    """A file that is left as it is; `lines` is what a person would have to add to it."""

    def __init__(self, message: str, *, path: str, next: str, lines: str) -> None:
        super().__init__(message, path=path, next=next)
        self.lines = lines


def only_settings(title: str, wish: Wish) -> list[str]:
    """What a client without a plugin says to a wish; a plugin of it cannot be had."""
    if wish.way == PLUGIN:
        raise BadInput(f"there is no plugin for {title}", next="leave out --plugin")
    return [f"{title} gets no /memory commands"] if wish.commands else []
