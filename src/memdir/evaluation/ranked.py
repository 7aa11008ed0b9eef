"""Put every prompt of a set to one search: what it ranked, and how long it took."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from memdir.core.ports import Search, Store
from memdir.evaluation import metrics
from memdir.evaluation.report import Say
from memdir.evaluation.sets import PromptSet, Query

Open = Callable[[Store], Search]


@dataclass(frozen=True)
class Ranked:
    """One prompt: the paths that came back with a positive score, best first, and the time."""

    query: Query
    ranking: tuple[str, ...]
    milliseconds: float


def open_all(prompts: PromptSet, open: Open) -> dict[str, Search]:
    """A search for each store that has read it, so that only finding is timed."""
    searches = {name: open(store) for name, store in prompts.stores.items()}
    for search in searches.values():
        search.find("warm up", 1)
    return searches


def rank(
    queries: Iterable[Query], searches: Mapping[str, Search], limit: int, say: Say
) -> list[Ranked]:
    """Strict: what has no positive score was not returned."""
    found = []
    for count, query in enumerate(queries):
        if count and not count % 100:
            say(f"{count} prompts asked")
        start = time.perf_counter()
        hits = searches[query.store].find(query.prompt, limit).hits
        spent = (time.perf_counter() - start) * 1000
        paths = tuple(hit.memory.path for hit in hits if hit.score > 0)
        found.append(Ranked(query, paths[:limit], spent))
    return found


def recalls(ranked: Iterable[Ranked], k: int) -> list[float]:
    """The share of gold among the first `k`, prompt by prompt."""
    return [metrics.recall_at(k, one.ranking, one.query.gold) for one in ranked if one.query.gold]


def ranks(ranked: Iterable[Ranked]) -> list[float]:
    """1 over the rank of the first gold, prompt by prompt."""
    return [
        metrics.reciprocal_rank(one.ranking, one.query.gold) for one in ranked if one.query.gold
    ]


def gains(ranked: Iterable[Ranked], k: int) -> list[float]:
    """nDCG, prompt by prompt."""
    return [metrics.ndcg_at(k, one.ranking, one.query.gold) for one in ranked if one.query.gold]


def times(ranked: Iterable[Ranked]) -> list[float]:
    """Milliseconds, prompt by prompt."""
    return [one.milliseconds for one in ranked]


def average(values: list[float]) -> float | None:
    """The plain mean; None of nothing."""
    return sum(values) / len(values) if values else None
