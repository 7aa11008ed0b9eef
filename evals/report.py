"""Reports of figures with goals and tables, for a terminal or as JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Protocol

from memdir import evals as measured

SHARE, MS, COUNT, TEXT = measured.SHARE, measured.MS, "count", "text"  # units
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


def precision_figure(right: int, total: int) -> float | None:
    return right / total if total else None


def average_figure(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def mean_figure(name: str, values: Sequence[float], goal: Goal | None = None) -> Figure:
    remark = "" if values else "there was nothing to measure"
    return Figure(*measured.mean_figure(name, values), goal=goal, remark=remark)


def median_figure(values: Sequence[float]) -> float | None:
    return measured.quantile_figure(sorted(values), 0.5) if values else None


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
