"""Recall on a test set: the ranking alone, then what an agent would really be given."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from memdir.adapters.searches.scan import Scan
from memdir.app import App
from memdir.evaluation import answers, corpus, locomo, longmemeval, metrics
from memdir.evaluation.ranked import (
    Open,
    Ranked,
    average,
    gains,
    open_all,
    rank,
    ranks,
    recalls,
    times,
)
from memdir.evaluation.report import (
    COUNT,
    MS,
    SHARE,
    TEXT,
    Chart,
    Figure,
    Goal,
    Report,
    Say,
    Section,
    Table,
    count,
    of_mean,
)
from memdir.evaluation.sets import PromptSet

READERS: dict[str, Callable[[str], PromptSet]] = {
    "corpus": corpus.read,
    "locomo": locomo.read,
    "longmemeval": longmemeval.read,
}
DEPTH = 20  # memories that a search gives back at most
CUTS = (1, 5, 10, 20)
SMALL = 20  # files; in larger stores a search has more to confuse
MANY = 500  # prompts; from there on differences can be told apart
OURS = "memdir"
# The goals of the specification of recall, by set and figure.
GOALS = {
    "corpus": {
        "R@5": Goal(0.848, aim=0.86),
        "MRR": Goal(0.787, aim=0.80),
        "R@20": Goal(0.95),
    },
    "locomo": {"R@10": Goal(0.62)},
}
FIXED = (
    "The constants of the ranking are fixed in the product; nothing is fitted in a run, so no "
    "repository has to be left out of it. But they were chosen, and the table of common words "
    "was made, on public memory directories, those of the corpus among them: these are figures "
    "on known data, on other stores they may be lower."
)
SMALL_N = "Differences below 0.05 cannot be told apart at this n; the intervals show why."


def evaluate_recall(
    prompts: PromptSet, depth: int, app: App, say: Say, others: Mapping[str, Open] | None = None
) -> Report:
    """rank → compare with other searches, if any → what is injected (where stores are real)"""
    depth = max(depth, 1)
    searches: dict[str, Open] = {OURS: Scan, **(others or {})}
    ranked: dict[str, list[Ranked]] = {}
    for name, open in searches.items():
        say(f"{prompts.name}: {name}")
        ranked[name] = rank(prompts.with_gold, open_all(prompts, open), depth, say)
    sections = [_ranking(prompts, ranked[OURS], depth)]
    sections += [_compared(ranked, depth)] if others else []
    if prompts.name == "corpus":
        sections += answers.evaluate(prompts, ranked[OURS], app, say)
    files = sum(len(store.files()) for store in prompts.stores.values())
    summary = (
        f"{count(len(prompts.queries), 'prompt')}, {len(prompts.with_gold):,} with gold, put to "
        f"{count(len(prompts.stores), 'store')} with {count(files, 'memory', 'memories')}"
    )
    return Report(prompts.name, prompts.data, summary, tuple(sections))


def _ranking(prompts: PromptSet, ranked: list[Ranked], depth: int) -> Section:
    """The ranking alone: every prompt is answered."""
    goals = GOALS.get(prompts.name, {})
    cuts = sorted({*[cut for cut in CUTS if cut <= depth], depth})
    figures = [
        *[of_mean(f"R@{k}", metrics.mean(recalls(ranked, k)), goals.get(f"R@{k}")) for k in cuts],
        of_mean("MRR", metrics.mean(ranks(ranked)), goals.get("MRR")),
        of_mean("nDCG@10", metrics.mean(gains(ranked, 10))),
        Figure("ms per prompt, median", metrics.median(times(ranked)), MS, len(ranked)),
        Figure("ms per prompt, p95", metrics.p95(times(ranked)), MS, len(ranked)),
    ]
    groups: dict[str, list[Ranked]] = {}
    for one in ranked:
        groups.setdefault(prompts.groups[one.query.store], []).append(one)
    charts = (
        Chart(
            f"R@5 by {prompts.group}",
            tuple((name, _mean(recalls(part, 5))) for name, part in groups.items()),
        ),
    )
    left_out = tuple(f"Left out: {text}." for text in prompts.left_out)
    return Section(
        "Ranking, abstention off",
        tuple(figures),
        (_by_size(prompts, ranked), _table(f"by {prompts.group}", prompts.group, groups)),
        charts if 1 < len(groups) <= 20 else (),
        (*left_out, FIXED, SMALL_N) if len(ranked) < MANY else (*left_out, FIXED),
    )


def _by_size(prompts: PromptSet, ranked: list[Ranked]) -> Table:
    sizes = {name: len(store.files()) for name, store in prompts.stores.items()}
    parts = {
        f"≤ {SMALL} files": [one for one in ranked if sizes[one.query.store] <= SMALL],
        f"> {SMALL} files": [one for one in ranked if sizes[one.query.store] > SMALL],
    }
    return _table("by store size", "store", parts)


def _table(name: str, first: str, parts: dict[str, list[Ranked]]) -> Table:
    columns = ((first, TEXT), ("n", COUNT), ("R@1", SHARE), ("R@5", SHARE), ("R@20", SHARE))
    rows = [
        (
            label,
            len(part),
            *(average(recalls(part, k)) for k in (1, 5, 20)),
            average(ranks(part)),
        )
        for label, part in parts.items()
        if part
    ]
    return Table(name, (*columns, ("MRR", SHARE)), tuple(rows))


def _compared(ranked: dict[str, list[Ranked]], depth: int) -> Section:
    """Ours beside what anybody could write in an afternoon, in the same run."""
    columns = (
        *(("search", TEXT), ("n", COUNT), ("R@1", SHARE), ("R@5", SHARE), ("R@10", SHARE)),
        *(("R@20", SHARE), ("MRR", SHARE), ("nDCG@10", SHARE), ("ms", MS)),
    )
    rows = [
        (
            name,
            len(part),
            *(average(recalls(part, k)) if k <= depth else None for k in CUTS),
            average(ranks(part)),
            average(gains(part, 10)),
            metrics.median(times(part)),
        )
        for name, part in ranked.items()
    ]
    chart = Chart("R@5", tuple((name, _mean(recalls(part, 5))) for name, part in ranked.items()))
    return Section(
        "Against simple searches, in the same run",
        tables=(Table("searches", columns, tuple(rows)),),
        charts=(chart,),
        remarks=("ms: the median per prompt, in this process, the store read before.",),
    )


def _mean(values: list[float]) -> float:
    return average(values) or 0.0
