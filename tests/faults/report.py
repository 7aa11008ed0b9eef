"""What the harnesses found, as a table of 80 columns and as a page."""

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.faults.stage import Tally

WIDTH = 80
SHOWN = 6  # kinds of violations that are printed; the JSON has them all
HEADINGS = ("method", "operations", "points", "fired", "violations", "controls", "s")


@dataclass
class Row:
    """One method: what it tried, what it found, which known-bad stores it caught."""

    method: str
    operations: str
    tally: Tally
    remark: str
    controls: dict[str, bool]
    seconds: float
    name: str
    level: str

    @property
    def fine(self) -> bool:
        tally = self.tally
        return not tally.violations and tally.fired == tally.points and all(self.controls.values())

    def lines(self) -> list[str]:
        tally = self.tally
        numbers = (f"{tally.points:,}", f"{tally.fired:,}", f"{tally.violations:,}")
        controls = f"{sum(self.controls.values())}/{len(self.controls)}"
        said = [self.remark] if self.remark else []
        said += [f"MISSED control: {name}" for name, found in self.controls.items() if not found]
        if tally.fired != tally.points:
            said.append(f"{tally.points - tally.fired} points did not fire")
        kinds: dict[str, list[str]] = {}
        for example in tally.examples:  # what went wrong, without where exactly
            kind = re.sub(r"[0-9a-f]{8,}|\d+", "#", example.partition(": ")[2])
            kinds.setdefault(kind, []).append(example)
        for examples in list(kinds.values())[:SHOWN]:
            said.append(f"VIOLATION ({len(examples)} like it) {examples[0]}")
        if len(kinds) > SHOWN:
            said.append(f"... and {len(kinds) - SHOWN} other kinds (--json has all)")
        wrapped = [line for text in said for line in textwrap.wrap(text, WIDTH - 4)]
        first = line((self.method, self.operations, *numbers, controls, f"{self.seconds:.1f}"))
        return [first, *(f"  {text}" for text in wrapped)]


def line(cells: Sequence[str]) -> str:
    """Text to the left, numbers to the right."""
    method, operations, points, fired, violations, controls, seconds = cells
    return (
        f"{method[:20]:20} {operations[:12]:12} {points:>9} {fired:>9} "
        f"{violations:>10} {controls:>8} {seconds:>6}"
    )


HEAD = """\
# Reliability

Made by `make reliability-report`; do not edit. Each method breaks the store on purpose,
and counts where that fired and what was lost or torn then. A control is a store with one
protection switched off, which the method must find, or it would prove nothing.

| method | level | tried | points | fired | violations | controls found | missed |
| --- | --- | --- | ---: | ---: | ---: | --- | --- |
"""


def page(rows: Sequence[dict[str, Any]], not_run: Sequence[str]) -> str:
    """The same for people who only read: what was tried, what was found, what was not run."""
    text = HEAD
    for row in rows:
        tally, controls = row["tally"], row["controls"]
        numbers = " | ".join(f"{tally[name]:,}" for name in ("points", "fired", "violations"))
        found = ", ".join(name for name, caught in controls.items() if caught) or "-"
        missed = ", ".join(name for name, caught in controls.items() if not caught) or "-"
        what = f"{row['method']} | {row['level']} | {row['operations']}"
        text += f"| {what} | {numbers} | {found} | {missed} |\n"
    remarks = [f"{row['method']}: {row['remark'].strip()}" for row in rows if row["remark"]]
    remarks += [f"not run: {reason}" for reason in not_run]
    lines = [textwrap.fill(f"- {remark}", 100, subsequent_indent="  ") for remark in remarks]
    return "\n".join([text, *lines]) + "\n"
