"""The interval of a share that was counted."""

from __future__ import annotations

import math

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
