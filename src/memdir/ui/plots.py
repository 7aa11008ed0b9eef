"""Small plots as SVG: attributes and classes only, since the page allows no inline style."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup, escape

WIDTH, HEIGHT = 256, 92
TOP, BOTTOM = 14, 16  # room for labels
NAMES, NUMBERS = 76, 34  # the same beside the bars of types
GAP = 2


def draw_bars(values: Sequence[int], labels: Sequence[str], title: str, unit: str) -> Markup:
    """A bar for each day; the highest one bears its number."""
    peak = max([*values, 1])
    step = WIDTH / max(len(values), 1)
    room = HEIGHT - TOP - BOTTOM
    parts = []
    for i, (value, label) in enumerate(zip(values, labels, strict=True)):
        height = max(round(value / peak * room, 1), 1.5 if value else 0.8)
        shape = f'x="{i * step:.1f}" y="{HEIGHT - BOTTOM - height:.1f}" height="{height}"'
        kind = "bar" if value else "bar none"
        parts.append(
            f'<rect class="{kind}" {shape} width="{step - GAP:.1f}" rx="1.5">'
            f"<title>{escape(label)}: {value:,} {escape(unit)}</title></rect>"
        )
    if any(values):
        at = (values.index(peak) + 0.5) * step
        end = " end" if at > WIDTH / 2 else ""
        parts.append(f'<text class="value{end}" x="{at:.1f}" y="{TOP - 4}">{peak:,}</text>')
    return _svg(parts, labels, title)


def draw_line(values: Sequence[int], labels: Sequence[str], title: str, limit: int) -> Markup:
    """A line over time below a limit, which is drawn when it is near."""
    peak = max([*values, 1])
    peak = limit if limit and peak > limit / 3 else peak
    room, step = HEIGHT - TOP - BOTTOM, WIDTH / max(len(values) - 1, 1)
    points = [
        (i * step, HEIGHT - BOTTOM - min(value / peak, 1.2) * room)
        for i, value in enumerate(values)
    ]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    area = f"0,{HEIGHT - BOTTOM} {line} {points[-1][0]:.1f},{HEIGHT - BOTTOM}"
    parts = [
        f'<polygon class="area" points="{area}"/>',
        f'<polyline class="line" points="{line}"/>',
    ]
    x, y = points[-1]
    parts.append(f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="3"/>')
    parts.append(f'<text class="value end" x="{x - 8:.1f}" y="{y + 3:.1f}">{values[-1]:,}</text>')
    if peak == limit:
        parts.append(f'<line class="limit" x1="0" x2="{WIDTH}" y1="{TOP}" y2="{TOP}"/>')
    return _svg(parts, labels, title)


def draw_shares(rows: Sequence[tuple[str, Sequence[int]]], title: str) -> Markup:
    """A bar for each row, in parts that become fainter."""
    peak = max([sum(parts) for _, parts in rows] or [1]) or 1
    high = 16
    html = []
    for i, (label, shares) in enumerate(rows):
        x, y = float(NAMES), i * high
        html.append(f'<text class="label" x="0" y="{y + 11}">{escape(label[:12])}</text>')
        for number, share in enumerate(shares):
            width = share / peak * (WIDTH - NAMES - NUMBERS)
            if share:
                html.append(
                    f'<rect class="part p{number}" x="{x:.1f}" y="{y + 3}" '
                    f'width="{max(width - 1, 1):.1f}" height="9" rx="1.5"/>'
                )
            x += width
        html.append(f'<text class="value" x="{x + 6:.1f}" y="{y + 11}">{sum(shares):,}</text>')
    height = max(len(rows), 1) * high
    return Markup(
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}">'
        + "".join(html)
        + "</svg>"
    )


def _svg(parts: Sequence[str], labels: Sequence[str], title: str) -> Markup:
    ends = ""
    if labels:
        y = HEIGHT - 2
        ends = f'<text class="label" x="0" y="{y}">{escape(labels[0])}</text>'
        ends += f'<text class="label end" x="{WIDTH}" y="{y}">{escape(labels[-1])}</text>'
    return Markup(
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">'
        f"{''.join(parts)}{ends}</svg>"
    )
