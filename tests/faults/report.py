"""What the harnesses found, as a table of 80 columns and as JSON."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

WIDTH = 80
SHOWN = 6  # violations of each method that are printed; the JSON has them all
HEADINGS = ("method", "operations", "points", "fired", "violations", "controls", "s")
WIDTHS = (20, 12, 9, 9, 10, 8, 6)


@dataclass
class Row:
    """One method: what it tried, what fired, what it found, which known-bad stores it caught."""

    method: str
    operations: str
    points: int = 0
    fired: int = 0
    violations: int = 0
    controls: dict[str, bool] = field(default_factory=dict)
    seconds: float = 0.0
    remark: str = ""
    examples: list[str] = field(default_factory=list)

    @property
    def fine(self) -> bool:
        return not self.violations and self.fired == self.points and all(self.controls.values())

    def cells(self) -> tuple[str, ...]:
        found = f"{sum(self.controls.values())}/{len(self.controls)}" if self.controls else "-"
        numbers = (f"{self.points:,}", f"{self.fired:,}", f"{self.violations:,}")
        return (self.method, self.operations, *numbers, found, f"{self.seconds:.1f}")


@dataclass
class Report:
    """The whole run."""

    level: str
    rows: list[Row] = field(default_factory=list)
    not_run: list[str] = field(default_factory=list)

    @property
    def fine(self) -> bool:
        return all(row.fine for row in self.rows)

    def as_json(self) -> str:
        whole = dataclasses.asdict(self) | {"fine": self.fine}
        return json.dumps(whole, indent=1, ensure_ascii=False)


def line(cells: Sequence[str]) -> str:
    """Text to the left, numbers to the right."""
    parts = [
        cell[:width].ljust(width) if at < 2 else cell.rjust(width)
        for at, (cell, width) in enumerate(zip(cells, WIDTHS, strict=True))
    ]
    return " ".join(parts).rstrip()


def after(row: Row) -> list[str]:
    """What a row cannot say in its cells."""
    said = [f"  {row.remark}"] if row.remark else []
    said += [f"  MISSED control: {name}" for name, found in row.controls.items() if not found]
    if row.fired != row.points:
        said.append(f"  {row.points - row.fired} points did not fire")
    kinds: dict[str, list[str]] = {}
    for example in row.examples:
        kinds.setdefault(_kind(example), []).append(example)
    for examples in list(kinds.values())[:SHOWN]:
        more = f" (and {len(examples) - 1} like it)" if len(examples) > 1 else ""
        said.append(f"  VIOLATION {examples[0]}{more}")
    if len(kinds) > SHOWN:
        said.append(f"  ... and {len(kinds) - SHOWN} other kinds (--json has all)")
    return [piece for text in said for piece in _wrap(text)]


def _kind(example: str) -> str:
    """What went wrong, without where exactly."""
    text = example.partition(": ")[2] or example
    return re.sub(r"\d+|[0-9a-f]{8,}", "#", text)


def _wrap(text: str) -> list[str]:
    pieces = []
    while len(text) > WIDTH:
        cut = text.rfind(" ", 8, WIDTH)
        cut = cut if cut > 0 else WIDTH
        pieces.append(text[:cut])
        text = "    " + text[cut:].lstrip()
    return [*pieces, text]
