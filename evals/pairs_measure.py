"""How well a score tells two groups apart, with intervals, and on repositories it never saw."""

from __future__ import annotations

import random
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memdir.evals import CONFIDENCE, RESAMPLES, SEED, quantile_figure

# The choices a fitted score would have: the weight of the heads, and what a link takes off.
HEADS, LINKS = (0.3, 0.5, 0.7), (0.0, 0.05, 0.1)


@dataclass(frozen=True)
class Scored:
    """A pair with what the score is made of."""

    positive: bool
    repos: frozenset[str]
    score: float
    head: float
    body: float
    linked: bool


def auc(positives: Sequence[float], negatives: Sequence[float]) -> float | None:
    """How often a positive scores above a negative; a tie is half."""
    if not positives or not negatives:
        return None
    ordered = sorted(negatives)
    wins = sum(bisect_left(ordered, one) + bisect_right(ordered, one) for one in positives)
    return wins / 2 / len(positives) / len(negatives)


def auc_interval(
    positives: Sequence[tuple[float, ...]], negatives: Sequence[tuple[float, ...]]
) -> list[tuple[float, float]]:
    """For each score of the tuples, then for first minus second: 95 % of the resamples."""
    chance = random.Random(SEED)
    drawn: list[list[float]] = []
    for _ in range(RESAMPLES):
        some = chance.choices(positives, k=len(positives))
        others = chance.choices(negatives, k=len(negatives))
        values = [
            auc(*([one[at] for one in group] for group in (some, others))) or 0.0
            for at in range(len(positives[0]))
        ]
        drawn.append([*values, values[0] - values[1]])
    tail = (1 - CONFIDENCE) / 2
    columns = [sorted(column) for column in zip(*drawn, strict=True)]
    return [
        (quantile_figure(column, tail), quantile_figure(column, 1 - tail)) for column in columns
    ]


def left_out_scores(scored: Sequence[Scored]) -> list[float]:
    """Each pair's score by the choices that were best on the repositories of all other pairs."""
    best: dict[frozenset[str], tuple[float, float]] = {}
    for one in scored:
        if one.repos not in best:
            others = [other for other in scored if not other.repos & one.repos]
            best[one.repos] = max(
                ((head, link) for head in HEADS for link in LINKS),
                key=lambda choice: _auc_of(others, lambda pair: _score(pair, *choice)),
            )
    return [_score(one, *best[one.repos]) for one in scored]


def left_out_verdicts(scored: Sequence[Scored]) -> list[bool]:
    """Each pair's verdict by the threshold with the best F1 on all other repositories."""
    best: dict[frozenset[str], float] = {}
    for one in scored:
        if one.repos not in best:
            others = [other for other in scored if not other.repos & one.repos]
            best[one.repos] = max(
                (other.score for other in others), key=lambda least: _f1(others, least), default=1.0
            )
    return [one.score >= best[one.repos] for one in scored]


def _score(pair: Scored, head: float, link: float) -> float:
    return head * pair.head + (1 - head) * pair.body - (link if pair.linked else 0.0)


def _auc_of(scored: Sequence[Scored], score: Callable[[Scored], float]) -> float:
    groups = [[score(one) for one in scored if one.positive == side] for side in (True, False)]
    return auc(*groups) or 0.0


def _f1(scored: Sequence[Scored], least: float) -> float:
    said = [one for one in scored if one.score >= least]
    right = sum(one.positive for one in said)
    positives = sum(one.positive for one in scored)
    return 2 * right / (len(said) + positives) if positives else 0.0
