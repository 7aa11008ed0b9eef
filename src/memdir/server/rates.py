"""How often one token, and how often somebody without a known one, may ask."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable

MAX_KEYS = 20_000  # the longest unused one is forgotten


class Rates:
    """A bucket per key: `burst` requests at once, refilled by `per_second`."""

    def __init__(self, per_second: float, burst: float, now: Callable[[], float]) -> None:
        self.per_second = per_second
        self.burst = burst
        self.now = now
        self._levels: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()

    def __contains__(self, key: Hashable) -> bool:
        return key in self._levels

    def forget(self, key: Hashable) -> None:
        self._levels.pop(key, None)

    def wait_seconds(self, key: Hashable) -> float:
        """Takes one; 0.0 if it was there, else for how long to wait."""
        now = self.now()
        level, then = self._levels.pop(key, (self.burst, now))
        level = min(self.burst, level + (now - then) * self.per_second)
        allowed = level >= 1
        self._levels[key] = (level - 1 if allowed else level, now)
        if len(self._levels) > MAX_KEYS:
            self._levels.popitem(last=False)
        return 0.0 if allowed else (1 - level) / self.per_second
