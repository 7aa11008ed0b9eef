"""Figures with intervals, tables and charts; one page of a terminal, or fields for a program."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Protocol

Z = 1.959964  # standard deviations that hold 95 %
RESAMPLES = 1_000
SEED = 20_260_302
CONFIDENCE = 0.95
SHARE, MS, COUNT, TEXT = "share", "ms", "count", "text"  # units
NAME_COLUMNS = 30
BAR_COLUMNS = 28
FULL, EIGHTHS = "█", " ▏▎▍▌▋▊▉"

Value = str | float | None
Cell = str | tuple[str, str]
Say = Callable[[str], None]  # who waits is told what is under way


@dataclass(frozen=True)
class Goal:
    """At least `value`, or at most; `aim` is what we would like beyond it."""

    value: float
    at_most: bool = False
    aim: float | None = None

    def met(self, value: float | None) -> bool:
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
    """A whole evaluation: of what (`kind`), where the data lies, and what came of it."""

    kind: str
    subject: str
    summary: str
    sections: tuple[Section, ...] = ()

    @property
    def figures(self) -> list[Figure]:
        return [figure for section in self.sections for figure in section.figures]


class Paper(Protocol):
    """What the page is written on; the command line's screen is one."""

    columns: int

    def paint(self, text: str, style: str) -> str: ...
    def block(self, label: str, text: str, indent: str = "  ", style: str = "") -> list[str]: ...
    def table(self, rows: Sequence[Sequence[Cell]], most: Sequence[int] = ()) -> list[str]: ...


def wilson(part: int, whole: int) -> tuple[float | None, float | None]:
    """Wilson's interval of `part` out of `whole`: within 0 and 1, and fit for small counts."""
    if not whole:
        return None, None
    share, square = part / whole, Z * Z / whole
    middle = share + square / 2
    spread = Z * math.sqrt(share * (1 - share) / whole + square / (4 * whole))
    low, high = (middle - spread) / (1 + square), (middle + spread) / (1 + square)
    return max(low, 0.0), min(high, 1.0)


def recall_at(k: int, ranking: Sequence[str], gold: Collection[str]) -> float:
    """The share of the gold among the first `k`."""
    return len(set(ranking[:k]) & set(gold)) / len(set(gold))


def reciprocal_rank(ranking: Sequence[str], gold: Collection[str]) -> float:
    """1 over the rank of the first gold; 0 where there is none."""
    return next((1 / rank for rank, path in enumerate(ranking, 1) if path in gold), 0.0)


def ndcg_at(k: int, ranking: Sequence[str], gold: Collection[str]) -> float:
    """Gold counts less the lower it stands; 1 when all of it stands on top."""
    gains = [1 / math.log2(rank + 1) for rank in range(1, k + 1)]
    gain = sum(gain for gain, path in zip(gains, ranking, strict=False) if path in gold)
    return gain / sum(gains[: len(set(gold))])


def precision(right: int, said: int) -> float | None:
    """How much of what was said is right; None where nothing was said."""
    return right / said if said else None


def average(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def mean_figure(name: str, values: Sequence[float], goal: Goal | None = None) -> Figure:
    """The mean with its bootstrap interval, the same in every run."""
    if not values:
        return Figure(name, None, n=0, goal=goal, remark="there was nothing to measure")
    n, chance = len(values), random.Random(SEED)
    drawn = sorted(sum(chance.choices(values, k=n)) / n for _ in range(RESAMPLES))
    low, high = (quantile(drawn, (1 + sign * CONFIDENCE) / 2) for sign in (-1, 1))
    return Figure(name, sum(values) / n, SHARE, n, low, high, goal)


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


def count(number: int, singular: str, plural: str = "") -> str:
    """`1 store`, `2 stores`, `3 memories`."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def spell(value: Value, unit: str) -> str:
    """A value as people read it."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    if unit == SHARE:
        return f"{value:.3f}"
    return f"{value:,.2f}" if unit == MS else f"{value:,.0f}"


def _spell_goal(figure: Figure) -> str:
    """The goal and whether it is met; a remark where there is none."""
    goal = figure.goal
    if goal is None:
        return figure.remark
    value, aim = (
        "" if number is None else f"{number:,.0f}" if number >= 10 else f"{number:g}"
        for number in (goal.value, goal.aim)
    )
    verdict = "met" if goal.met(figure.value) else "missed"
    return f"{'≤' if goal.at_most else '≥'} {value} {verdict}" + (f" (aim {aim})" if aim else "")


def fields(report: Report) -> dict[str, object]:
    """The report for a program: figures by name, tables by name, each row an object."""
    return {
        "set": report.kind,
        "data": report.subject,
        "summary": report.summary,
        "figures": {figure.name: _figure_fields(figure) for figure in report.figures},
        "tables": {
            table.name: [
                {name: value for (name, _), value in zip(table.columns, row, strict=True)}
                for row in table.rows
            ]
            for section in report.sections
            for table in section.tables
        },
        "remarks": [text for section in report.sections for text in section.remarks],
    }


def _figure_fields(figure: Figure) -> dict[str, object]:
    goal = figure.goal
    judged = {
        "goal": goal and goal.value,
        "goal_is": goal and ("at most" if goal.at_most else "at least"),
        "aim": goal and goal.aim,
        "met": goal and goal.met(figure.value),
    }
    measured = asdict(figure)
    remark = {"remark": measured.pop("remark")}
    del measured["name"], measured["goal"]
    return {**measured, **judged, **remark}


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
    intervals = [
        "" if item.low is None else f"{spell(item.low, item.unit)}–{spell(item.high, item.unit)}"
        for item in figures
    ]
    columns: list[tuple[str, list[str]]] = [
        ("", [item.name for item in figures]),
        ("value", [spell(item.value, item.unit) for item in figures]),
        ("95 %", intervals),
        ("n", ["" if item.n is None else f"{item.n:,}" for item in figures]),
        ("goal", [_spell_goal(item) for item in figures]),
    ]
    shown = [column for column in columns if any(column[1])]
    texts = [_align(head, cells, head in ("value", "n")) for head, cells in shown]
    rows = _rows(texts, is_last_text=shown[-1][0] == "goal")
    for row, item in zip(rows[1:], figures, strict=True):
        if item.goal:
            row[-1] = (str(row[-1]), "green" if item.goal.met(item.value) else "red")
    return paper.table(rows, (NAME_COLUMNS,))


def _align(head: str, cells: Sequence[str], right: bool) -> list[str]:
    texts = [head, *cells]
    size = max(map(len, texts))
    return [text.rjust(size) for text in texts] if right else texts


def _rows(texts: list[list[str]], *, is_last_text: bool) -> list[list[Cell]]:
    """Columns as rows below a dim head. A last column may be cut; a number must not be."""
    columns = texts if is_last_text else [*texts, [""] * len(texts[0])]
    rows: list[list[Cell]] = [list(row) for row in zip(*columns, strict=True)]
    rows[0] = [(str(text), "dim") for text in rows[0]]
    return rows


def _table(table: Table, paper: Paper) -> list[str]:
    texts = []
    for i, (head, unit) in enumerate(table.columns):
        cells = [spell(row[i], unit) for row in table.rows]
        texts.append(_align(head, cells, unit != TEXT))
    is_text = table.columns[-1][1] == TEXT
    rows = _rows(texts, is_last_text=is_text)
    return paper.table(rows, _limits(table, texts + [[""]] * (not is_text), paper.columns))


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
