"""A report as one page of a terminal: tables and bars in plain characters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from memdir.evaluation.report import (
    TEXT,
    Chart,
    Figure,
    Report,
    Section,
    Table,
    spell,
    spell_goal,
    verdict,
)

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
