"""Figures with intervals, one page."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Protocol

# The interval of a share that was counted.

Z = 1.959964  # standard deviations that hold 95 %


def wilson(part: int, whole: int) -> tuple[float | None, float | None]:
    """Wilson's interval of `part` out of `whole`: within 0 and 1, and fit for small counts."""
    if not whole:
        return None, None
    share, square = part / whole, Z * Z / whole
    middle = share + square / 2
    spread = Z * math.sqrt(share * (1 - share) / whole + square / (4 * whole))
    low, high = (middle - spread) / (1 + square), (middle + spread) / (1 + square)
    return max(low, 0.0), min(high, 1.0)


# Figures of merit, each a share between 0 and 1. A ranking is a list of paths, best first.

RESAMPLES = 1_000
SEED = 20_260_302
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Mean:
    """A mean over `n` prompts, and the interval that 95 % of resamples fall into."""

    value: float
    n: int
    low: float
    high: float


def recall_at(k: int, ranking: Sequence[str], gold: Collection[str]) -> float:
    """The share of the gold among the first `k`."""
    return len(set(ranking[:k]) & set(gold)) / len(set(gold))


def reciprocal_rank(ranking: Sequence[str], gold: Collection[str]) -> float:
    """1 over the rank of the first gold; 0 where there is none."""
    return next((1 / rank for rank, path in enumerate(ranking, 1) if path in gold), 0.0)


def ndcg_at(k: int, ranking: Sequence[str], gold: Collection[str]) -> float:
    """Gold counts less the lower it stands; 1 when all of it stands on top."""
    gain = sum(_discount(rank) for rank, path in enumerate(ranking[:k], 1) if path in gold)
    return gain / sum(_discount(rank) for rank in range(1, min(k, len(set(gold))) + 1))


def _discount(rank: int) -> float:
    return 1 / math.log2(rank + 1)


def precision(right: int, said: int) -> float | None:
    """How much of what was said is right; None where nothing was said."""
    return right / said if said else None


def mean(values: Sequence[float], seed: int = SEED) -> Mean | None:
    """The mean with its bootstrap interval, the same in every run; None of nothing."""
    if not values:
        return None
    n, chance = len(values), random.Random(seed)
    drawn = sorted(sum(chance.choices(values, k=n)) / n for _ in range(RESAMPLES))
    tail = (1 - CONFIDENCE) / 2
    return Mean(sum(values) / n, n, quantile(drawn, tail), quantile(drawn, 1 - tail))


def quantile(ordered: Sequence[float], share: float) -> float:
    """The value that `share` of these sorted values do not exceed; between two, in proportion."""
    at = share * (len(ordered) - 1)
    below = math.floor(at)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (at - below)


def median(values: Sequence[float]) -> float | None:
    """The middle one; None of nothing."""
    return quantile(sorted(values), 0.5) if values else None


def p95(values: Sequence[float]) -> float | None:
    """What 95 % do not exceed; None of nothing."""
    return quantile(sorted(values), 0.95) if values else None


# What an evaluation says: sections of figures, tables and charts, the same for every reader.

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


# A report as one page of a terminal: tables and bars in plain characters.

Cell = str | tuple[str, str]
NAME_COLUMNS = 30
BAR_COLUMNS = 28
FULL, EIGHTHS = "█", " ▏▎▍▌▋▊▉"
VERDICTS = {"": "", "met": "green", "missed": "red"}


class Paper(Protocol):
    """What the page is written on; the command line's screen is one."""

    columns: int

    def paint(self, text: str, style: str) -> str: ...
    def block(self, label: str, text: str, indent: str = "  ", style: str = "") -> list[str]: ...
    def table(self, rows: Sequence[Sequence[Cell]], most: Sequence[int] = ()) -> list[str]: ...


def page(report: Report, paper: Paper) -> list[str]:
    """The lines of the page."""
    lines = paper.block(f"memdir eval {report.kind}:", report.summary, "", "bold")
    lines += paper.block("", report.subject, "")
    for section in report.sections:
        lines += ["", *_section(section, paper)]
    return lines


def _section(section: Section, paper: Paper) -> list[str]:
    lines = [paper.paint(text, "bold") for text in paper.block("", section.title, "")]
    lines += _figures(section.figures, paper)
    for table in section.tables:
        lines += ["", *paper.block("", table.name), *_table(table, paper)] if table.rows else []
    for chart in section.charts:
        lines += ["", *paper.block("", chart.name), *_chart(chart, paper)] if chart.bars else []
    lines += [""] if section.remarks and len(lines) > 1 else []
    for text in section.remarks:
        lines += paper.block("", text)
    return lines


def _figures(figures: Sequence[Figure], paper: Paper) -> list[str]:
    """Name and value; interval, n and goal where any of these figures has one."""
    if not figures:
        return []
    columns: list[tuple[str, list[str]]] = [
        ("", [figure.name for figure in figures]),
        ("value", [spell(figure.value, figure.unit) for figure in figures]),
        ("95 %", [_interval(figure) for figure in figures]),
        ("n", ["" if figure.n is None else f"{figure.n:,}" for figure in figures]),
        ("goal", [spell_goal(figure) or figure.remark for figure in figures]),
    ]
    shown = [one for one in columns if any(one[1])]
    texts = [_aligned(head, cells, head in ("value", "n")) for head, cells in shown]
    # A last column may be cut; a number must not be.
    texts += [] if shown[-1][0] == "goal" else [[""] * (len(figures) + 1)]
    rows: list[list[Cell]] = [list(row) for row in zip(*texts, strict=True)]
    rows[0] = [(str(text), "dim") for text in rows[0]]
    for row, figure in zip(rows[1:], figures, strict=True):
        row[-1] = (str(row[-1]), VERDICTS[verdict(figure)])
    return paper.table(rows, (NAME_COLUMNS,))


def _aligned(head: str, cells: Sequence[str], right: bool) -> list[str]:
    texts = [head, *cells]
    size = max(map(len, texts))
    return [text.rjust(size) for text in texts] if right else texts


def _interval(figure: Figure) -> str:
    if figure.low is None or figure.high is None:
        return ""
    return f"{spell(figure.low, figure.unit)}–{spell(figure.high, figure.unit)}"


def _table(table: Table, paper: Paper) -> list[str]:
    texts = []
    for at, (head, unit) in enumerate(table.columns):
        cells = [spell(row[at], unit) for row in table.rows]
        texts.append(_aligned(head, cells, unit != TEXT))
    numbers = table.columns[-1][1] != TEXT
    texts += [[""] * (len(table.rows) + 1)] if numbers else []
    rows: list[list[Cell]] = [list(row) for row in zip(*texts, strict=True)]
    rows[0] = [(str(text), "dim") for text in rows[0]]
    return paper.table(rows, _limits(table, texts, paper.columns))


def _limits(table: Table, texts: list[list[str]], columns: int) -> list[int]:
    """Numbers take what they need; the columns of text share the rest."""
    units = [unit for _, unit in table.columns]
    needed = [max(map(len, column)) for column in texts[: len(units)]]
    free = columns - sum(size for size, unit in zip(needed, units, strict=True) if unit != TEXT)
    share = max((free - 2 * len(texts) - 2) // max(units.count(TEXT), 1), 12)
    return [share if unit == TEXT else columns for unit in units]


def _chart(chart: Chart, paper: Paper) -> list[str]:
    values = [spell(value, chart.unit) for _, value in chart.bars]
    size = max(map(len, values))
    rows: list[list[Cell]] = [
        [label, text.rjust(size), (bar(value / chart.most if chart.most else 0), "cyan")]
        for (label, value), text in zip(chart.bars, values, strict=True)
    ]
    return paper.table(rows, (NAME_COLUMNS,))


def bar(share: float, columns: int = BAR_COLUMNS) -> str:
    """A bar of blocks; the last one may be a part of a block."""
    eighths = round(min(max(share, 0.0), 1.0) * columns * 8)
    return (FULL * (eighths // 8) + EIGHTHS[eighths % 8]).rstrip()
