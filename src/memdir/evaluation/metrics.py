"""Figures of merit, each a share between 0 and 1. A ranking is a list of paths, best first."""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass

RESAMPLES = 1_000
SEED = 20_260_302
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Mean:
    """A mean over `n` prompts, and the interval that 95 % of resamples fall into."""

    value: float
    n: int
    low: float
    high: float


def recall_at(k: int, ranking: Sequence[str], gold: Collection[str]) -> float:
    """The share of the gold among the first `k`."""
    return len(set(ranking[:k]) & set(gold)) / len(set(gold))


def reciprocal_rank(ranking: Sequence[str], gold: Collection[str]) -> float:
    """1 over the rank of the first gold; 0 where there is none."""
    return next((1 / rank for rank, path in enumerate(ranking, 1) if path in gold), 0.0)


def ndcg_at(k: int, ranking: Sequence[str], gold: Collection[str]) -> float:
    """Gold counts less the lower it stands; 1 when all of it stands on top."""
    gain = sum(_discount(rank) for rank, path in enumerate(ranking[:k], 1) if path in gold)
    return gain / sum(_discount(rank) for rank in range(1, min(k, len(set(gold))) + 1))


def _discount(rank: int) -> float:
    return 1 / math.log2(rank + 1)


def precision(right: int, said: int) -> float | None:
    """How much of what was said is right; None where nothing was said."""
    return right / said if said else None


def mean(values: Sequence[float], seed: int = SEED) -> Mean | None:
    """The mean with its bootstrap interval, the same in every run; None of nothing."""
    if not values:
        return None
    n, chance = len(values), random.Random(seed)
    drawn = sorted(sum(chance.choices(values, k=n)) / n for _ in range(RESAMPLES))
    tail = (1 - CONFIDENCE) / 2
    return Mean(sum(values) / n, n, quantile(drawn, tail), quantile(drawn, 1 - tail))


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
