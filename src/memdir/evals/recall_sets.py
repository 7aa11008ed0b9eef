"""Recall on public test sets: the ranking alone, then the text that an agent would get."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from memdir.evals import report
from memdir.evals.prompt_sets import PromptSet, Query
from memdir.evals.report import (
    COUNT,
    SHARE,
    TEXT,
    Figure,
    Goal,
    Report,
    Say,
    Section,
    Table,
    average,
    mean_figure,
)
from memdir.recall import answer
from memdir.recall.scan import Scan
from memdir.store.ports import Search
from memdir.store.writer import App
from memdir.text.terminal import count

SCOPE = "project"
DEPTH = 20  # results per search
CUTS = (1, 5, 10, 20)
BODIES = 5  # memories shown in full
SMALL_STORE_FILES = 20  # larger stores are harder to search
MANY_PROMPTS = 500  # enough to tell small differences apart
# The goals of the specification of recall, by set and figure.
GOALS = {
    "corpus": {"R@5": Goal(0.848), "MRR": Goal(0.787), "R@20": Goal(0.95)},
    "locomo": {"R@10": Goal(0.62)},
}
FIXED = (
    "The constants of the ranking are fixed in the product; nothing is fitted in a run. But they "
    "were chosen, and the table of common words was made, on public memory directories, those of "
    "the corpus among them: on other stores the figures may be lower."
)
SMALL_N = "Differences below 0.05 cannot be told apart at this n; the intervals show why."
ABSTENTION = (
    "Silent: neither a body nor a pointer is injected. Other stores: every prompt is put to the "
    "stores of all other repositories. Precision and recall of silence count these and the "
    "prompts without gold as wanted silence."
)
COVERAGE = (
    "Coverage: gold that is shown as a body, a pointer or a standing rule; every prompt in a "
    "fresh session. Standing rules are injected once per session and not counted in the "
    "characters per prompt."
)


@dataclass(frozen=True)
class Ranking:
    query: Query
    ranking: tuple[str, ...]
    milliseconds: float


@dataclass(frozen=True)
class Injection:
    query: Query
    store: str
    shown: tuple[str, ...]  # paths of bodies and pointers
    characters: int


def rank_all(
    queries: Iterable[Query], searches: Mapping[str, Search], limit: int, say: Say
) -> list[Ranking]:
    for search in searches.values():
        search.find("warm up", 1)  # reads the store, so that only the search is timed
    result = []
    for number, query in enumerate(queries):
        if number and not number % 100:
            say(f"{number} prompts asked")
        start = time.perf_counter()
        hits = searches[query.store].find(query.prompt, limit).hits
        spent = (time.perf_counter() - start) * 1000
        paths = tuple(hit.memory.path for hit in hits if hit.score > 0)
        result.append(Ranking(query, paths[:limit], spent))
    return result


def recalls(ranked: Iterable[Ranking], k: int) -> list[float]:
    return [report.recall_at(k, item.ranking, item.query.gold) for item in ranked]


def ranks(ranked: Iterable[Ranking]) -> list[float]:
    return [report.reciprocal_rank(item.ranking, item.query.gold) for item in ranked]


def ask_store(app: App, query: Query, store: str = "") -> Injection:
    injected = answer.recall([(SCOPE, app)], query.prompt).injected
    shown = tuple(item.memory.path for item in (*injected.bodies, *injected.pointers))
    return Injection(query, store, shown, len(injected.text))


def evaluate_recall(prompts: PromptSet, depth: int, app: App, say: Say) -> Report:
    asked = [query for query in prompts.queries if query.gold]
    searches = {name: Scan(store) for name, store in prompts.stores.items()}
    ranked = rank_all(asked, searches, depth, say)
    sections = [_show_ranking(prompts, ranked, depth)]
    if prompts.name == "corpus":
        sections += _evaluate_injection(prompts, ranked, app, say)
    files = sum(len(store.files()) for store in prompts.stores.values())
    summary = (
        f"{count(len(prompts.queries), 'prompt')}, {len(asked):,} with gold, put to "
        f"{count(len(prompts.stores), 'store')} with {count(files, 'memory', 'memories')}"
    )
    return Report(prompts.name, prompts.data, summary, tuple(sections))


def _show_ranking(prompts: PromptSet, ranked: list[Ranking], depth: int) -> Section:
    goals = GOALS.get(prompts.name, {})
    cuts = sorted({*[cut for cut in CUTS if cut <= depth], depth})
    gains = [report.ndcg_at(10, item.ranking, item.query.gold) for item in ranked]
    figures = [
        *[mean_figure(f"R@{k}", recalls(ranked, k), goals.get(f"R@{k}")) for k in cuts],
        mean_figure("MRR", ranks(ranked), goals.get("MRR")),
        mean_figure("nDCG@10", gains),
        *report.time_figures("ms per prompt", [item.milliseconds for item in ranked]),
    ]
    groups: dict[str, list[Ranking]] = {}
    sizes: dict[str, list[Ranking]] = {f"{sign} {SMALL_STORE_FILES} files": [] for sign in "≤>"}
    small, large = sizes.values()
    for item in ranked:
        store = item.query.store
        groups.setdefault(prompts.groups[store], []).append(item)
        is_small = len(prompts.stores[store].files()) <= SMALL_STORE_FILES
        (small if is_small else large).append(item)
    tables = (
        tabulate_recall(
            "by store size", "store", {name: part for name, part in sizes.items() if part}
        ),
        tabulate_recall(f"by {prompts.group}", prompts.group, groups),
    )
    remarks = [FIXED]
    if prompts.left_out:
        remarks.insert(
            0, f"Left out: {prompts.left_out:,} questions without an answer in the data."
        )
    remarks += [SMALL_N] if len(ranked) < MANY_PROMPTS else []
    return Section("Ranking, abstention off", tuple(figures), tables, tuple(remarks))


def tabulate_recall(name: str, label: str, groups: Mapping[str, list[Ranking]]) -> Table:
    cuts = (1, 5, 20)
    shares = [(f"R@{k}", SHARE) for k in cuts]
    rows = [
        (group, len(part), *(average(recalls(part, k)) for k in cuts), average(ranks(part)))
        for group, part in groups.items()
    ]
    return Table(name, ((label, TEXT), ("n", COUNT), *shares, ("MRR", SHARE)), tuple(rows))


def _evaluate_injection(
    prompts: PromptSet, ranked: Sequence[Ranking], app: App, say: Say
) -> list[Section]:
    apps = {
        name: replace(app, store=store, search=Scan(store))
        for name, store in prompts.stores.items()
    }
    own = [ask_store(apps[query.store], query, query.store) for query in prompts.queries]
    others: list[Injection] = []
    for name, store_app in apps.items():
        say(f"prompts of other repositories put to {name}")
        others += [
            ask_store(store_app, query, name)
            for query in prompts.queries
            if prompts.groups[query.store] != prompts.groups[name]
        ]
    return [_show_abstention(ranked, own, others), _show_coverage(apps, own)]


def _show_abstention(
    ranked: Sequence[Ranking], own: list[Injection], others: list[Injection]
) -> Section:
    silent = {item.query.id for item in own if not item.characters}
    before = recalls(ranked, BODIES)
    after = [
        0.0 if item.query.id in silent else value
        for item, value in zip(ranked, before, strict=True)
    ]
    loss = (average(before) or 0.0) - (average(after) or 0.0)
    without = [item for item in own if not item.query.gold]
    wanted = [*others, *without]
    right = sum(not item.characters for item in wanted)
    total = right + len(silent) - sum(not item.characters for item in without)
    figures = (
        mean_figure("R@5 with abstention", after),
        Figure("loss of R@5", loss, SHARE, len(before), goal=Goal(0.02, at_most=True)),
        mean_figure(
            "silent on other stores", [float(not item.characters) for item in others], Goal(0.5)
        ),
        mean_figure(
            "silent where nothing is gold", [float(not item.characters) for item in without]
        ),
        Figure("precision of silence", report.precision(right, total), SHARE, total),
        Figure("recall of silence", report.precision(right, len(wanted)), SHARE, len(wanted)),
    )
    return Section("Abstention on", figures, remarks=(ABSTENTION,))


def _show_coverage(apps: Mapping[str, App], own: list[Injection]) -> Section:
    rules = {name: answer.standing_rules([(SCOPE, app)]) for name, app in apps.items()}
    seen = []
    for item in own:
        paths = [*item.shown, *(memory.path for _, memory in rules[item.store][1])]
        if item.query.gold:
            seen.append(report.recall_at(len(paths), paths, item.query.gold))
    sizes = [float(item.characters) for item in own]
    standing = [float(len(text)) for text, _ in rules.values()]
    limit = Goal(4_000, at_most=True)
    figures = (
        mean_figure("coverage", seen, Goal(0.96)),
        Figure("injected characters, median", report.median(sizes), COUNT, len(sizes), goal=limit),
        Figure("standing characters, median", report.median(standing), COUNT, len(standing)),
    )
    title = "Coverage: what an agent without a loaded index can see"
    return Section(title, figures, remarks=(COVERAGE,))
