"""A report as one HTML file: nothing is loaded from elsewhere, nothing in it runs."""

from __future__ import annotations

import html
import re

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

OURS = '<meta name="generator" content="memdir eval">'  # how we know a file that we may replace
BAR_WIDTH, ROW_HEIGHT, LABEL_WIDTH, VALUE_WIDTH = 320, 24, 260, 80
LABEL_CHARACTERS = 30  # in the widest of the usual fonts
# Controls, turned or hidden text, half characters: what could lie to who reads the page.
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)
STYLE = """
:root { --paper: #fff; --ink: #1b1f24; --dim: #5b6470; --line: #d9dee4; --bar: #2f6fb5;
  --met: #1a7f37; --missed: #b42318; color-scheme: light dark; }
@media (prefers-color-scheme: dark) { :root { --paper: #14171a; --ink: #e6e9ec;
  --dim: #9aa4af; --line: #30363d; --bar: #6cb0f5; --met: #4ac26b; --missed: #ff7b72; } }
body { background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif;
  max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
h3, figcaption { font-size: 1rem; font-weight: 600; margin: 1.2rem 0 .3rem; }
p, td, th, figcaption { overflow-wrap: anywhere; } .dim, th { color: var(--dim); }
table { border-collapse: collapse; margin: .6rem 0; }
th, td { text-align: left; padding: .2rem .9rem .2rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; font-weight: normal; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.met { color: var(--met); } .missed { color: var(--missed); }
figure { margin: 1rem 0; } svg { max-width: 100%; height: auto; overflow: visible; }
svg text { fill: var(--ink); font: 13px system-ui, sans-serif; } svg rect { fill: var(--bar); }
"""


def html_page(report: Report) -> str:
    """The whole file."""
    title = f"memdir eval {report.kind}"
    parts = [
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        OURS,
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">",
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{_safe(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>",
        f"<h1>{_safe(title)}</h1>\n<p>{_safe(report.summary)}</p>",
        f'<p class="dim">{_safe(report.subject)}</p>',
        *[_section(section) for section in report.sections],
        "</body>\n</html>\n",
    ]
    return "\n".join(parts)


def _section(section: Section) -> str:
    parts = [f"<section>\n<h2>{_safe(section.title)}</h2>"]
    parts += [_figures(section.figures)] if section.figures else []
    parts += [_table(table) for table in section.tables if table.rows]
    parts += [_chart(chart) for chart in section.charts if chart.bars]
    parts += [f'<p class="dim">{_safe(text)}</p>' for text in section.remarks]
    return "\n".join([*parts, "</section>"])


def _figures(figures: tuple[Figure, ...]) -> str:
    heads = (("figure", 0), ("value", 1), ("95 % interval", 1), ("n", 1), ("goal", 0))
    rows = [[(text, number, "") for text, number in heads]]
    for figure in figures:
        known = figure.low is not None and figure.high is not None
        ends = (spell(figure.low, figure.unit), spell(figure.high, figure.unit))
        goal = spell_goal(figure)
        cells = [
            (figure.name, 0, ""),
            (spell(figure.value, figure.unit), 1, ""),
            ("–".join(ends) if known else "", 1, ""),
            ("" if figure.n is None else f"{figure.n:,}", 1, ""),
            (" · ".join(filter(None, (goal, figure.remark))), 0, verdict(figure)),
        ]
        rows.append(cells)
    said = [at for at in range(len(heads)) if any(row[at][0] for row in rows[1:])]
    made = [_row("td" if at else "th", [row[one] for one in said]) for at, row in enumerate(rows)]
    return "<table>\n" + "\n".join(made) + "\n</table>"


def _table(table: Table) -> str:
    heads = [(head, int(unit != TEXT), "") for head, unit in table.columns]
    rows = [_row("th", heads)]
    for row in table.rows:
        pairs = zip(row, table.columns, strict=True)
        rows.append(_row("td", [(spell(v, unit), int(unit != TEXT), "") for v, (_, unit) in pairs]))
    return f"<h3>{_safe(table.name)}</h3>\n<table>\n" + "\n".join(rows) + "\n</table>"


def _row(tag: str, cells: list[tuple[str, int, str]]) -> str:
    """(text, is a number, verdict) of each cell."""
    made = []
    for text, number, kind in cells:
        kinds = " ".join(filter(None, ("number" if number else "", kind)))
        mark = f' class="{kinds}"' if kinds else ""
        made.append(f"<{tag}{mark}>{_safe(text)}</{tag}>")
    return f"<tr>{''.join(made)}</tr>"


def _chart(chart: Chart) -> str:
    width, height = LABEL_WIDTH + BAR_WIDTH + VALUE_WIDTH, ROW_HEIGHT * len(chart.bars)
    name = _safe(chart.name)
    parts = [
        f"<figure>\n<figcaption>{name}</figcaption>\n"
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{name}">'
    ]
    for at, (label, value) in enumerate(chart.bars):
        share = min(max(value / chart.most, 0.0), 1.0) if chart.most else 0.0
        top, long = at * ROW_HEIGHT, share * BAR_WIDTH
        short = label if len(label) <= LABEL_CHARACTERS else label[: LABEL_CHARACTERS - 1] + "…"
        parts += [
            f'<text y="{top + 17}">{_safe(short)}</text>',
            f'<rect x="{LABEL_WIDTH}" y="{top + 5}" width="{long:.1f}" height="{ROW_HEIGHT - 8}"'
            f' rx="2"><title>{_safe(label)}</title></rect>',
            f'<text x="{LABEL_WIDTH + long + 6:.1f}" y="{top + 17}">'
            f"{spell(value, chart.unit)}</text>",
        ]
    return "\n".join([*parts, "</svg>\n</figure>"])


def _safe(text: str) -> str:
    return html.escape(_HIDDEN.sub("�", text), quote=True)
