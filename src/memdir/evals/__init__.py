"""Figures of recall, with intervals that are the same in every run."""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

RESAMPLES = 1_000
SEED = 20_260_302
CONFIDENCE = 0.95
SHARE, MS = "share", "ms"  # units


class Figure(NamedTuple):
    name: str
    value: float | None  # None if there was nothing to measure
    unit: str
    n: int
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Report:
    kind: str
    data: str
    summary: str
    title: str
    figures: tuple[Figure, ...]
    remarks: tuple[str, ...]


def recall_at(k: int, ranking: Sequence[str], gold: Collection[str]) -> float:
    return len(set(ranking[:k]) & set(gold)) / len(set(gold))


def reciprocal_rank(ranking: Sequence[str], gold: Collection[str]) -> float:
    return next((1 / rank for rank, path in enumerate(ranking, 1) if path in gold), 0.0)


def ndcg_at(k: int, ranking: Sequence[str], gold: Collection[str]) -> float:
    """Normalized discounted cumulative gain: 1 if all gold is on top."""
    gains = [1 / math.log2(rank + 1) for rank in range(1, k + 1)]
    gain = sum(gain for gain, path in zip(gains, ranking, strict=False) if path in gold)
    return gain / sum(gains[: len(set(gold))])


def mean_figure(name: str, values: Sequence[float]) -> Figure:
    """The mean with its bootstrap interval."""
    if not values:
        return Figure(name, None, SHARE, 0)
    n, chance = len(values), random.Random(SEED)
    drawn = sorted(sum(chance.choices(values, k=n)) / n for _ in range(RESAMPLES))
    low, high = (quantile_figure(drawn, (1 + sign * CONFIDENCE) / 2) for sign in (-1, 1))
    return Figure(name, sum(values) / n, SHARE, n, low, high)


def quantile_figure(ordered: Sequence[float], share: float) -> float:
    """The value that `share` of these sorted values do not exceed, interpolated."""
    position = share * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)


def time_figures(name: str, milliseconds: Sequence[float]) -> list[Figure]:
    n, ordered = len(milliseconds), sorted(milliseconds)
    return [
        Figure(f"{name}, {label}", quantile_figure(ordered, share) if ordered else None, MS, n)
        for label, share in (("median", 0.5), ("p95", 0.95))
    ]
