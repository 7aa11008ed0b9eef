"""An evaluation of one's own store: offline, nothing is written, no model is asked."""

from __future__ import annotations

import time
from collections.abc import Mapping

from memdir import flows
from memdir.app import App
from memdir.core import frontmatter
from memdir.core.errors import MemdirError
from memdir.core.memory import Memory
from memdir.core.ports import Search
from memdir.evaluation import metrics, upkeep
from memdir.evaluation.agent import Agent, open_agent
from memdir.evaluation.asking import ask_descriptions, ask_links, sample
from memdir.evaluation.ranked import Ranked, rank, ranks, recalls
from memdir.evaluation.report import MS, Figure, Report, Say, Section, count, of_mean
from memdir.evaluation.sets import Query

DEPTH = 20
LATER = (
    "Past prompts with the memories that were then used: not measured yet; comes with capture.",
    "Time of the hook in a process of its own: not measured yet; `make bench` measures it.",
)


def evaluate_own(app: App, say: Say) -> Report:
    """read → ask its own descriptions and links → look at its state"""
    listed, findings = flows.list_memories(app)
    memories = [one.memory for one in listed]
    say(f"reading {len(memories):,} memories")
    texts = _read(app, memories)
    documents = {path: frontmatter.read(text) for path, text in texts.items()}
    names = {memory.name: memory.path for memory in memories}
    agent = open_agent(app)
    linked, dangling = ask_links(documents, names)
    described = ask_descriptions(memories)
    say(f"asking {len(described):,} descriptions and {len(linked):,} links")
    summary = f"{count(len(memories), 'memory', 'memories')}, {app.config.scope} scope"
    sections = (
        _found(app.search, described, linked, dangling),
        _speed(agent, described),
        upkeep.evaluate_load(app.store, agent.standing),
        upkeep.evaluate_index(app),
        upkeep.evaluate_pairs(texts),
        upkeep.evaluate_claims(app),
        upkeep.evaluate_ages(listed),
        upkeep.evaluate_hygiene(findings, dangling),
        Section("Not measured yet", remarks=LATER),
    )
    return Report("own", app.store.root, summary, sections)


def _read(app: App, memories: list[Memory]) -> dict[str, str]:
    """The whole text of each memory; one that cannot be read is among the findings."""
    texts = {}
    for memory in memories:
        try:
            texts[memory.path] = frontmatter.decode(app.store.view(memory.path))
        except MemdirError:
            continue
    return texts


def _found(
    search: Search, described: list[Query], linked: list[Query], dangling: list[tuple[str, str]]
) -> Section:
    """Does a memory come back when its own words, or those around a link to it, are said?"""
    asked = _rank(search, described)
    around = [_without(one, one.query.id) for one in _rank(search, sample(linked))]
    links = [1.0] * len(linked) + [0.0] * len(dangling)
    figures = (
        of_mean("self-recall R@1", metrics.mean(recalls(asked, 1))),
        of_mean("self-recall R@5", metrics.mean(recalls(asked, 5))),
        of_mean("self-recall MRR", metrics.mean(ranks(asked))),
        of_mean("links that lead somewhere", metrics.mean(links)),
        of_mean("linked memory found, R@5", metrics.mean(recalls(around, 5))),
    )
    remark = (
        "Self-recall: each description without its stop words and every third word, in another "
        "order, should find its memory. Links: the line around a [[link]] should find its target."
    )
    return Section("Is it found?", figures, remarks=(remark,))


def _rank(search: Search, queries: list[Query]) -> list[Ranked]:
    searches: Mapping[str, Search] = {"": search}
    return rank(queries, searches, DEPTH, _unheard)


def _unheard(text: str) -> None:
    """For a part that is over quickly."""


def _without(ranked: Ranked, path: str) -> Ranked:
    """The memory with the link in it is no answer to its own question."""
    left = tuple(one for one in ranked.ranking if one != path)
    return Ranked(ranked.query, left, ranked.milliseconds)


def _speed(agent: Agent, queries: list[Query]) -> Section:
    """The whole way of a prompt in this process: search, choose, write what is injected."""
    spent = []
    for query in queries:
        start = time.perf_counter()
        agent.ask(query.prompt)
        spent.append((time.perf_counter() - start) * 1000)
    figures = (
        Figure("recall, ms, median", metrics.median(spent), MS, len(spent)),
        Figure("recall, ms, p95", metrics.p95(spent), MS, len(spent)),
    )
    return Section("How fast, on this machine", figures)
