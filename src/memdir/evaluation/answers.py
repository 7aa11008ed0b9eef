"""What an agent is really given: nothing where nothing fits, and the gold where it can see it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memdir.app import App
from memdir.evaluation import metrics
from memdir.evaluation.agent import Agent, Answer, on_store, open_agent
from memdir.evaluation.ranked import Ranked, average, recalls
from memdir.evaluation.report import (
    COUNT,
    SHARE,
    TEXT,
    Figure,
    Goal,
    Say,
    Section,
    Table,
    of_mean,
)
from memdir.evaluation.sets import PromptSet, Query

FIRST = 5
SILENCE = Goal(0.5)
LOSS = Goal(0.02, at_most=True)
COVERAGE = Goal(0.96)
CHARACTERS = Goal(4_000, at_most=True)


@dataclass(frozen=True)
class Told:
    """One prompt put to one store, and what came of it."""

    query: Query
    store: str
    answer: Answer


def evaluate(prompts: PromptSet, ranked: Sequence[Ranked], app: App, say: Say) -> list[Section]:
    """ask each store its own prompts, then those of every other repository"""
    agents = {name: open_agent(on_store(app, store)) for name, store in prompts.stores.items()}
    own = [
        Told(query, query.store, agents[query.store].ask(query.prompt)) for query in prompts.queries
    ]
    others: list[Told] = []
    for name, agent in agents.items():
        say(f"prompts of other repositories put to {name}")
        others += [
            Told(query, name, agent.ask(query.prompt))
            for query in prompts.queries
            if prompts.groups[query.store] != prompts.groups[name]
        ]
    return [_abstention(ranked, own, others), _coverage(agents, own)]


def _abstention(ranked: Sequence[Ranked], own: list[Told], others: list[Told]) -> Section:
    silent = {told.query.id for told in own if told.answer.silent}
    before = recalls(ranked, FIRST)
    after = [
        0.0 if one.query.id in silent else metrics.recall_at(FIRST, one.ranking, one.query.gold)
        for one in ranked
        if one.query.gold
    ]
    loss = (average(before) or 0.0) - (average(after) or 0.0)
    should = [*others, *[told for told in own if not told.query.gold]]
    right = sum(told.answer.silent for told in should)
    said = right + sum(told.answer.silent for told in own if told.query.gold)
    without = [told for told in own if not told.query.gold]
    with_gold = [told for told in own if told.query.gold]
    figures = (
        of_mean("R@5 with abstention", metrics.mean(after)),
        Figure("loss of R@5", loss, SHARE, len(before), goal=LOSS),
        of_mean("silent on other stores", _silence(others), SILENCE),
        of_mean("no body on other stores", metrics.mean([not one.answer.bodies for one in others])),
        of_mean("silent where nothing is gold", _silence(without)),
        of_mean("silent although there is gold", _silence(with_gold)),
        Figure("precision of silence", metrics.precision(right, said), SHARE, said),
        Figure("recall of silence", metrics.precision(right, len(should)), SHARE, len(should)),
    )
    return Section(
        "Abstention on",
        figures,
        (_by_store(others),),
        remarks=(
            "Silent: neither a body nor a pointer is injected. Other stores: every prompt is put "
            "to the stores of all other repositories. Precision and recall of silence count "
            "these and the prompts without gold as wanted silence.",
        ),
    )


def _silence(told: Iterable[Told]) -> metrics.Mean | None:
    return metrics.mean([float(one.answer.silent) for one in told])


def _by_store(others: list[Told]) -> Table:
    parts: dict[str, list[float]] = {}
    for one in others:
        parts.setdefault(one.store, []).append(float(one.answer.silent))
    rows = tuple((name, len(part), average(part)) for name, part in parts.items())
    return Table(
        "prompts of other repositories, by the store that is asked",
        (("store", TEXT), ("n", COUNT), ("silent", SHARE)),
        rows,
    )


def _coverage(agents: dict[str, Agent], own: list[Told]) -> Section:
    """Each prompt in a fresh session of an agent that has no index loaded."""
    asked = [one for one in own if one.query.gold]
    seen: dict[str, list[float]] = {"coverage": [], "gold as body": [], "or as pointer": []}
    for one in asked:
        gold, answer = one.query.gold, one.answer
        bodies, pointers = answer.bodies, (*answer.bodies, *answer.pointers)
        everything = (*pointers, *agents[one.store].standing_paths)
        for name, paths in zip(seen, (everything, bodies, pointers), strict=True):
            seen[name].append(metrics.recall_at(len(paths), paths, gold))
    sizes = [float(len(one.answer.text)) for one in own]
    spoken = [size for size in sizes if size]
    standing = [float(len(agent.standing)) for agent in agents.values()]
    chosen = [path in (*one.query.gold, *one.query.ok) for one in own for path in one.answer.bodies]
    figures = (
        of_mean("coverage", metrics.mean(seen["coverage"]), COVERAGE),
        of_mean("gold as body", metrics.mean(seen["gold as body"])),
        of_mean("gold as body or pointer", metrics.mean(seen["or as pointer"])),
        Figure("bodies that are gold or ok", average([float(c) for c in chosen]), n=len(chosen)),
        Figure(
            "injected characters, median", metrics.median(sizes), COUNT, len(sizes), goal=CHARACTERS
        ),
        Figure("the same, silent ones left out", metrics.median(spoken), COUNT, len(spoken)),
        Figure("injected characters, p95", metrics.p95(sizes), COUNT, len(sizes)),
        Figure("standing characters, median", metrics.median(standing), COUNT, len(standing)),
        Figure("standing characters, most", max(standing, default=0.0), COUNT, len(standing)),
    )
    return Section(
        "Coverage: what an agent without a loaded index can see",
        figures,
        remarks=(
            "Coverage: gold that is shown as a body, a pointer or a standing rule; every prompt "
            "in a fresh session. Standing rules are injected once per session and not counted "
            "in the characters per prompt.",
        ),
    )
