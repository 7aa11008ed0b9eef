"""Shares with Wilson's interval: within 0 and 1, and fit for small counts."""

from __future__ import annotations

import math

from evals.report import SHARE, Figure, Goal, precision_figure

Z = 1.959964  # standard deviations that hold 95 %


def wilson(part: int, whole: int) -> tuple[float | None, float | None]:
    """The interval of `part` out of `whole`."""
    if not whole:
        return None, None
    share, square = part / whole, Z * Z / whole
    middle = share + square / 2
    spread = Z * math.sqrt(share * (1 - share) / whole + square / (4 * whole))
    low, high = (middle - spread) / (1 + square), (middle + spread) / (1 + square)
    return max(low, 0.0), min(high, 1.0)


def share_figure(name: str, part: int, whole: int, goal: Goal | None = None) -> Figure:
    """A share as the report shows it; of nothing there is none, and no goal."""
    remark = "" if whole else "none to measure"
    goal = goal if whole else None
    return Figure(
        name, precision_figure(part, whole), SHARE, whole, *wilson(part, whole), goal, remark
    )
