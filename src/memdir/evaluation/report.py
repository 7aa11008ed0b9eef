"""What an evaluation says: sections of figures, tables and charts, the same for every reader."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from memdir.evaluation.metrics import Mean

SHARE, MS, COUNT, TEXT = "share", "ms", "count", "text"  # units
NOTHING = "–"
Value = str | float | None
Say = Callable[[str], None]  # who waits is told what is under way


@dataclass(frozen=True)
class Goal:
    """At least `value`, or at most; `aim` is what we would like beyond it."""

    value: float
    at_most: bool = False
    aim: float | None = None

    def met(self, value: float | None) -> bool:
        """True where the figure is as good as it should be."""
        if value is None:
            return False
        # Shares are printed with three decimals; what prints alike is judged alike.
        value = round(value, 3)
        return value <= self.value if self.at_most else value >= self.value


@dataclass(frozen=True)
class Figure:
    """One number with what is needed to believe it; a missing one says why in `remark`."""

    name: str
    value: float | None
    unit: str = SHARE
    n: int | None = None
    low: float | None = None
    high: float | None = None
    goal: Goal | None = None
    remark: str = ""


@dataclass(frozen=True)
class Table:
    """Rows below headings; each column has a unit."""

    name: str
    columns: tuple[tuple[str, str], ...]  # heading, unit
    rows: tuple[tuple[Value, ...], ...]


@dataclass(frozen=True)
class Chart:
    """One bar per label; `most` is the value of a full bar."""

    name: str
    bars: tuple[tuple[str, float], ...]
    unit: str = SHARE
    most: float = 1.0


@dataclass(frozen=True)
class Section:
    """What belongs together."""

    title: str
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()
    charts: tuple[Chart, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Report:
    """A whole evaluation: of what (`kind`), where the data lies, and what was found."""

    kind: str
    subject: str
    summary: str
    sections: tuple[Section, ...] = field(default=())

    @property
    def figures(self) -> list[Figure]:
        """All of them, in order."""
        return [figure for section in self.sections for figure in section.figures]


def of_mean(name: str, mean: Mean | None, goal: Goal | None = None) -> Figure:
    """A figure that is a mean over prompts."""
    if mean is None:
        return Figure(name, None, n=0, goal=goal, remark="there was nothing to measure")
    return Figure(name, mean.value, SHARE, mean.n, mean.low, mean.high, goal)


def spell(value: Value, unit: str) -> str:
    """A value as people read it."""
    if value is None:
        return NOTHING
    if isinstance(value, str):
        return value
    if unit == SHARE:
        return f"{value:.3f}"
    return f"{value:,.2f}" if unit == MS else f"{value:,.0f}"


def spell_goal(figure: Figure) -> str:
    """The goal and whether it is met; nothing where there is none."""
    if figure.goal is None:
        return ""
    sign = "≤" if figure.goal.at_most else "≥"
    aim = "" if figure.goal.aim is None else f" (aim {_plain(figure.goal.aim)})"
    return f"{sign} {_plain(figure.goal.value)} {verdict(figure)}{aim}"


def verdict(figure: Figure) -> str:
    """`met`, `missed`, or nothing where there is no goal."""
    if figure.goal is None:
        return ""
    return "met" if figure.goal.met(figure.value) else "missed"


def count(number: int, one: str, many: str = "") -> str:
    """`1 store`, `2 stores`, `3 memories`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _plain(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:g}"


def fields(report: Report) -> dict[str, object]:
    """The report for a program: figures by name, tables by name, each row an object."""
    return {
        "set": report.kind,
        "data": report.subject,
        "summary": report.summary,
        "figures": {figure.name: _figure_fields(figure) for figure in report.figures},
        "tables": {
            table.name: [_row_fields(table, row) for row in table.rows]
            for section in report.sections
            for table in section.tables
        },
        "remarks": [text for section in report.sections for text in section.remarks],
    }


def _figure_fields(figure: Figure) -> dict[str, object]:
    goal = figure.goal
    return {
        "value": figure.value,
        "unit": figure.unit,
        "n": figure.n,
        "low": figure.low,
        "high": figure.high,
        "goal": None if goal is None else goal.value,
        "goal_is": None if goal is None else ("at most" if goal.at_most else "at least"),
        "aim": None if goal is None else goal.aim,
        "met": None if goal is None else goal.met(figure.value),
        "remark": figure.remark,
    }


def _row_fields(table: Table, row: tuple[Value, ...]) -> dict[str, object]:
    return {name: value for (name, _), value in zip(table.columns, row, strict=True)}
