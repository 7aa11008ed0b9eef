"""Where answers go: one JSON object or lines of at most so many columns; remarks go to stderr."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import NoReturn

from memdir.core.errors import Unwritable
from memdir.surfaces.cli.advice import Advice, wrap_steps
from memdir.surfaces.cli.visible import cut, line, pad, width, wrap

NARROWEST, WIDEST, USUAL = 40, 120, 80  # columns
ROWS = 24  # where nobody says how many
Cell = str | tuple[str, str]  # a text, or a text and its style
STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


class ReaderGone(Exception):
    """Whoever read our output has closed it; nobody is left to tell."""


class Screen:
    """Prints for a person or, once `json` is set, for a program."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.json = False
        self.advise = Advice()  # a command may tell it more
        self.begun = False  # a command runs; until then only help is printed
        self.answered = False  # a program gets one object, so a late error goes to stderr
        plain = bool(environ.get("NO_COLOR")) or environ.get("TERM") == "dumb"
        self.person = sys.stdout.isatty()  # somebody looks at it; else a program reads it
        self.colour = self.person and not plain
        size = shutil.get_terminal_size((USUAL, ROWS))
        self.columns = min(max(size.columns, NARROWEST), WIDEST)
        self.rows = size.lines

    def answer(self, fields: Mapping[str, object], lines: Sequence[str]) -> None:
        """The answer of a command, out of our hands when this returns."""
        self.answered = True
        if self.json:
            # ASCII only: half characters and controls stay inside their escapes.
            lines = [json.dumps(fields, indent=2)]
        with _delivered():
            sys.stdout.write("".join(text + "\n" for text in lines))
            sys.stdout.flush()

    def folded(self, text: str) -> list[str]:
        """The lines of a text, for a person no wider than the screen, for a program as they are."""
        lines = text.split("\n") if text else []
        if not self.person:
            return lines
        fits = self.columns
        return [
            part for one in lines for part in ([one] if width(one) <= fits else wrap(one, fits))
        ]

    def raw(self, data: bytes) -> None:
        """These very bytes."""
        self.answered = True
        with _delivered():
            sys.stdout.flush()
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()

    def tell(self, text: str) -> None:
        """A remark beside the answer."""
        self.complain(wrap_steps(line(self.advise(text)), self.columns, "memdir: ", "  "))

    def complain(self, lines: Sequence[str]) -> None:
        """Lines for stderr, as they are; that nobody can hear them must not stop a change."""
        with suppress(OSError):
            sys.stderr.write("".join(text + "\n" for text in lines))
            sys.stderr.flush()

    def paint(self, text: str, style: str) -> str:
        """The text in a style, where the terminal shows styles."""
        return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if self.colour and style else text

    def block(self, label: str, text: str, indent: str = "  ", style: str = "") -> list[str]:
        """`label text`, wrapped, further lines below its text."""
        start = indent + (label + " " if label else "")
        first, *more = wrap_steps(line(text), self.columns, start, " " * width(start))
        first = indent + self.paint(label, style) + first[len(indent + label) :]
        return [first.rstrip(), *more]

    def table(self, rows: Sequence[Sequence[Cell]], most: Sequence[int] = ()) -> list[str]:
        """Columns two spaces apart; the last one takes what is left and is cut there."""
        if not rows:
            return []
        cells = [[(cell, "") if isinstance(cell, str) else cell for cell in row] for row in rows]
        shown = [[(line(text), style) for text, style in row] for row in cells]
        limits = [*most, *[self.columns] * len(shown[0])]
        sizes = [
            min(limits[at], max(width(row[at][0]) for row in shown)) for at in range(len(shown[0]))
        ]
        sizes[-1] = max(self.columns - sum(sizes[:-1]) - 2 * len(sizes), 8)
        return [self._row(row, sizes) for row in shown]

    def _row(self, cells: Sequence[tuple[str, str]], sizes: Sequence[int]) -> str:
        texts = [pad(cut(text, size), size) for (text, _), size in zip(cells, sizes, strict=True)]
        texts[-1] = texts[-1].rstrip()
        painted = [self.paint(t, s) for t, (_, s) in zip(texts, cells, strict=True) if t]
        return "  " + "  ".join(painted).rstrip()

    def unheard(self, error: OSError) -> NoReturn:
        """Help, which click prints itself, could not be written."""
        with _delivered("nothing was changed", "write it where there is room"):
            raise error


@contextmanager
def _delivered(
    stands: str = "what was changed stands", next: str = "memdir log shows what was changed"
) -> Iterator[None]:
    """Turn a failed write to stdout into what it means; what was changed by then stands."""
    try:
        yield
    except OSError as error:
        # Python would try once more when it ends, and complain in its own words.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise ReaderGone from None
        raise Unwritable(
            f"the answer cannot be written: {error.strerror}; {stands}", next=next
        ) from None
