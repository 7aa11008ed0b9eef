"""Reports of figures with intervals and tables, for a terminal or as JSON."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Protocol

RESAMPLES = 1_000
SEED = 20_260_302
CONFIDENCE = 0.95
SHARE, MS, COUNT, TEXT = "share", "ms", "count", "text"  # units
TEXT_COLUMNS = 30  # limit of a column that is not the last

Value = str | float | None
Cell = str | tuple[str, str]
Say = Callable[[str], None]  # reports progress


@dataclass(frozen=True)
class Goal:
    value: float
    at_most: bool = False

    def met(self, value: float | None) -> bool:
        if value is None:
            return False
        # Shares are printed with three decimals; judge the printed value.
        value = round(value, 3)
        return value <= self.value if self.at_most else value >= self.value


@dataclass(frozen=True)
class Figure:
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
    name: str
    columns: tuple[tuple[str, str], ...]  # heading, unit
    rows: tuple[tuple[Value, ...], ...]


@dataclass(frozen=True)
class Section:
    title: str
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Report:
    kind: str
    subject: str
    summary: str
    sections: tuple[Section, ...] = ()

    @property
    def figures(self) -> list[Figure]:
        return [figure for section in self.sections for figure in section.figures]


class Paper(Protocol):
    def paint(self, text: str, style: str) -> str: ...
    def block(self, label: str, text: str, indent: str = "  ", style: str = "") -> list[str]: ...
    def table(self, rows: Sequence[Sequence[Cell]], limits: Sequence[int] = ()) -> list[str]: ...


def recall_at(k: int, ranking: Sequence[str], gold: Collection[str]) -> float:
    return len(set(ranking[:k]) & set(gold)) / len(set(gold))


def reciprocal_rank(ranking: Sequence[str], gold: Collection[str]) -> float:
    return next((1 / rank for rank, path in enumerate(ranking, 1) if path in gold), 0.0)


def ndcg_at(k: int, ranking: Sequence[str], gold: Collection[str]) -> float:
    """Normalized discounted cumulative gain: 1 if all gold is on top."""
    gains = [1 / math.log2(rank + 1) for rank in range(1, k + 1)]
    gain = sum(gain for gain, path in zip(gains, ranking, strict=False) if path in gold)
    return gain / sum(gains[: len(set(gold))])


def precision_figure(right: int, total: int) -> float | None:
    return right / total if total else None


def average_figure(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def mean_figure(name: str, values: Sequence[float], goal: Goal | None = None) -> Figure:
    """The mean with its bootstrap interval, the same in every run."""
    if not values:
        return Figure(name, None, n=0, goal=goal, remark="there was nothing to measure")
    n, chance = len(values), random.Random(SEED)
    drawn = sorted(sum(chance.choices(values, k=n)) / n for _ in range(RESAMPLES))
    low, high = (quantile_figure(drawn, (1 + sign * CONFIDENCE) / 2) for sign in (-1, 1))
    return Figure(name, sum(values) / n, SHARE, n, low, high, goal)


def quantile_figure(ordered: Sequence[float], share: float) -> float:
    """The value that `share` of these sorted values do not exceed, interpolated."""
    position = share * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)


def median_figure(values: Sequence[float]) -> float | None:
    return quantile_figure(sorted(values), 0.5) if values else None


def time_figures(name: str, milliseconds: Sequence[float]) -> list[Figure]:
    p95 = quantile_figure(sorted(milliseconds), 0.95) if milliseconds else None
    pairs = (("median", median_figure(milliseconds)), ("p95", p95))
    return [Figure(f"{name}, {label}", value, MS, len(milliseconds)) for label, value in pairs]


def spell_figure(value: Value, unit: str) -> str:
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    if unit == SHARE:
        return f"{value:.3f}"
    return f"{value:,.2f}" if unit == MS and value < 100 else f"{value:,.0f}"  # at most 5 columns


def evaluation_report_fields(report: Report) -> dict[str, object]:
    figures = {}
    for figure in report.figures:
        goal, fields = figure.goal, asdict(figure)
        del fields["name"], fields["goal"]
        remark = fields.pop("remark")
        figures[figure.name] = fields | {
            "goal": goal and goal.value,
            "goal_is": goal and ("at most" if goal.at_most else "at least"),
            "met": goal and goal.met(figure.value),
            "remark": remark,
        }
    tables = {}
    for section in report.sections:
        for table in section.tables:
            names = [name for name, _ in table.columns]
            tables[table.name] = [dict(zip(names, row, strict=True)) for row in table.rows]
    return {
        "set": report.kind,
        "data": report.subject,
        "summary": report.summary,
        "figures": figures,
        "tables": tables,
        "remarks": [text for section in report.sections for text in section.remarks],
    }


def evaluation_report_lines(report: Report, paper: Paper) -> list[str]:
    lines = paper.block(f"memdir eval {report.kind}:", report.summary, "", "bold")
    lines += paper.block("", report.subject, "")
    for section in report.sections:
        lines += ["", *(paper.paint(text, "bold") for text in paper.block("", section.title, ""))]
        lines += _figure_lines(section.figures, paper) if section.figures else []
        for table in section.tables:
            columns = [
                (heading, unit, [spell_figure(row[i], unit) for row in table.rows])
                for i, (heading, unit) in enumerate(table.columns)
            ]
            if table.rows:
                lines += ["", *paper.block("", table.name), *_grid(columns, paper)]
        lines += [""] if section.remarks and section.figures else []
        for text in section.remarks:
            lines += paper.block("", text)
    return lines


def _figure_lines(figures: Sequence[Figure], paper: Paper) -> list[str]:
    goals = []
    for item in figures:
        text = item.remark
        if item.goal:
            limit = item.goal.value
            verdict = "met" if item.goal.met(item.value) else "missed"
            text = f"{limit:,.0f} {verdict}" if limit >= 10 else f"{limit:g} {verdict}"
            text = f"{'≤' if item.goal.at_most else '≥'} {text}"
        goals.append(text)
    intervals = [
        ""
        if item.low is None
        else f"{spell_figure(item.low, item.unit)}–{spell_figure(item.high, item.unit)}"
        for item in figures
    ]
    columns = [
        ("", TEXT, [item.name for item in figures]),
        ("value", COUNT, [spell_figure(item.value, item.unit) for item in figures]),
        ("95 %", TEXT, intervals),
        ("n", COUNT, ["" if item.n is None else f"{item.n:,}" for item in figures]),
        ("goal", TEXT, goals),
    ]
    return _grid([column for column in columns if any(column[2])], paper)


def _grid(columns: Sequence[tuple[str, str, list[str]]], paper: Paper) -> list[str]:
    texts = []
    for heading, unit, cells in columns:
        size = 0 if unit == TEXT else max(map(len, (heading, *cells)))
        texts.append([cell.rjust(size) for cell in (heading, *cells)])
    if columns[-1][1] != TEXT:  # a last column may be cut, but not a number
        texts.append([""] * len(texts[0]))
    rows: list[list[Cell]] = [list(row) for row in zip(*texts, strict=True)]
    rows[0] = [(str(text), "dim") for text in rows[0]]
    return paper.table(rows, [TEXT_COLUMNS] * (len(texts) - 1))
