"""A memory as it is inspected: its whole text, and where in the file each line stands."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from memdir.core.frontmatter import Document, read
from memdir.core.loading import CODE, COMMENT, OPEN, layers
from memdir.core.memory import Memory

MAX_CHARACTERS = 262_144  # of a memory that are inspected; more is reported by its length alone


class Page:
    """The text of one memory; `lines` are those of the body, `first` is the first one's number."""

    __slots__ = ("document", "first", "lines", "memory", "text")

    def __init__(self, memory: Memory, text: str) -> None:
        self.memory = memory
        self.text = text
        self.document: Document = read(text[:MAX_CHARACTERS])
        self.first = 1 + text[: len(text[:MAX_CHARACTERS]) - len(self.document.body)].count("\n")
        self.lines = [line.rstrip("\r") for line in self.document.body.split("\n")]

    @property
    def path(self) -> str:
        """Where it lies below the store."""
        return self.memory.path

    @property
    def length(self) -> int:
        """Lines of the whole file."""
        return self.text.count("\n") + (not self.text.endswith("\n") and bool(self.text))

    def prose(self) -> Iterator[tuple[int, str]]:
        """The lines that are neither code nor comment, with their numbers in the file."""
        for number, (layer, line) in enumerate(layers(self.lines), self.first):
            if layer not in (CODE, OPEN, COMMENT):
                yield number, line


def command(verb: str, path: str, *more: str) -> str:
    """A command on one memory that can be pasted."""
    # A path that starts like an option would be taken for one.
    dashes = ["--"] if path.startswith("-") else []
    return shlex.join(["memdir", verb, *more, *dashes, path])
