"""What git leaves in a file when two sides changed the same lines and nobody has decided yet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memdir.core.finding import Finding

START, END = "<<<<<<< ", ">>>>>>> "  # and a name of the side, as git writes them


def inspect_marks(path: str, lines: Sequence[str], fix: str) -> Iterator[Finding]:
    """One finding for each conflict: a start that has an end below it."""
    start = 0
    for number, line in enumerate(lines, 1):
        if line.startswith(START):
            start = number
        elif start and line.startswith(END):
            message = f"a merge was left undecided here, up to line {number}"
            yield Finding("conflict", path, message, fix, start)
            start = 0
