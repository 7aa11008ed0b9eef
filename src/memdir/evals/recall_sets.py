"""Recall on public test sets: the ranking alone, then what an agent would really be given."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from memdir.evals import report
from memdir.evals.prompt_sets import PromptSet, Query
from memdir.evals.report import (
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
    average,
    count,
    mean_figure,
)
from memdir.recall import answer
from memdir.recall.scan import Scan
from memdir.store.ports import Search, Store
from memdir.store.writer import App

OpenSearch = Callable[[Store], Search]

SCOPE = "project"
DEPTH = 20  # memories that a search gives back at most
CUTS = (1, 5, 10, 20)
BODIES = 5  # memories that an agent is shown whole
SMALL_STORE_FILES = 20  # in larger stores a search has more to confuse
MANY_PROMPTS = 500  # from there on differences can be told apart
OURS = "memdir"
# The goals of the specification of recall, by set and figure.
GOALS = {
    "corpus": {"R@5": Goal(0.848, aim=0.86), "MRR": Goal(0.787, aim=0.80), "R@20": Goal(0.95)},
    "locomo": {"R@10": Goal(0.62)},
}
FIXED = (
    "The constants of the ranking are fixed in the product; nothing is fitted in a run, so no "
    "repository has to be left out of it. But they were chosen, and the table of common words "
    "was made, on public memory directories, those of the corpus among them: these are figures "
    "on known data, on other stores they may be lower."
)
SMALL_N = "Differences below 0.05 cannot be told apart at this n; the intervals show why."


@dataclass(frozen=True)
class Ranked:
    """One prompt: the paths that came back with a positive score, best first, and the time."""

    query: Query
    ranking: tuple[str, ...]
    milliseconds: float


@dataclass(frozen=True)
class Told:
    """One prompt put to one store, and what an agent in a fresh session is given."""

    query: Query
    store: str
    bodies: tuple[str, ...]
    pointers: tuple[str, ...]
    text: str


def rank(
    queries: Iterable[Query], searches: Mapping[str, Search], limit: int, say: Say | None = None
) -> list[Ranked]:
    """Put each prompt to its store; strict: what has no positive score was not returned."""
    result = []
    for number, query in enumerate(queries):
        if say and number and not number % 100:
            say(f"{number} prompts asked")
        start = time.perf_counter()
        hits = searches[query.store].find(query.prompt, limit).hits
        spent = (time.perf_counter() - start) * 1000
        paths = tuple(hit.memory.path for hit in hits if hit.score > 0)
        result.append(Ranked(query, paths[:limit], spent))
    return result


def recalls(ranked: Iterable[Ranked], k: int) -> list[float]:
    """The share of gold among the first `k`, prompt by prompt."""
    return [report.recall_at(k, item.ranking, item.query.gold) for item in ranked]


def ranks(ranked: Iterable[Ranked]) -> list[float]:
    """1 over the rank of the first gold, prompt by prompt."""
    return [report.reciprocal_rank(item.ranking, item.query.gold) for item in ranked]


def ask(app: App, query: Query, store: str = "") -> Told:
    """What an agent would be told: no index is loaded, nothing was told before."""
    injected = answer.recall([(SCOPE, app)], query.prompt).injected
    bodies, pointers = (
        tuple(item.memory.path for item in items) for items in (injected.bodies, injected.pointers)
    )
    return Told(query, store, bodies, pointers, injected.text)


def evaluate_recall(
    prompts: PromptSet,
    depth: int,
    app: App,
    say: Say,
    others: Mapping[str, OpenSearch] | None = None,
) -> Report:
    """rank → compare with other searches, if any → what is injected (where stores are real)"""
    depth = max(depth, 1)
    asked = [query for query in prompts.queries if query.gold]
    ranked: dict[str, list[Ranked]] = {}
    opens: dict[str, OpenSearch] = {OURS: Scan, **(others or {})}
    for name, open in opens.items():
        say(f"{prompts.name}: {name}")
        searches = {store_name: open(store) for store_name, store in prompts.stores.items()}
        for search in searches.values():
            search.find("warm up", 1)  # it has read the store then: only finding is timed
        ranked[name] = rank(asked, searches, depth, say)
    sections = [_show_ranking(prompts, ranked[OURS], depth)]
    sections += [_show_searches(ranked, depth)] if others else []
    if prompts.name == "corpus":
        sections += _evaluate_injection(prompts, ranked[OURS], app, say)
    files = sum(len(store.files()) for store in prompts.stores.values())
    summary = (
        f"{count(len(prompts.queries), 'prompt')}, {len(asked):,} with gold, put to "
        f"{count(len(prompts.stores), 'store')} with {count(files, 'memory', 'memories')}"
    )
    return Report(prompts.name, prompts.data, summary, tuple(sections))


def _show_ranking(prompts: PromptSet, ranked: list[Ranked], depth: int) -> Section:
    """The ranking alone: every prompt is answered."""
    goals = GOALS.get(prompts.name, {})
    cuts = sorted({*[cut for cut in CUTS if cut <= depth], depth})
    times = [item.milliseconds for item in ranked]
    figures = [
        *[mean_figure(f"R@{k}", recalls(ranked, k), goals.get(f"R@{k}")) for k in cuts],
        mean_figure("MRR", ranks(ranked), goals.get("MRR")),
        mean_figure("nDCG@10", _gains(ranked)),
        Figure("ms per prompt, median", report.median(times), MS, len(ranked)),
        Figure("ms per prompt, p95", report.p95(times), MS, len(ranked)),
    ]
    groups: dict[str, list[Ranked]] = {}
    sizes: dict[str, list[Ranked]] = {}
    files = {name: len(store.files()) for name, store in prompts.stores.items()}
    for item in sorted(ranked, key=lambda item: files[item.query.store] > SMALL_STORE_FILES):
        sign = "≤" if files[item.query.store] <= SMALL_STORE_FILES else ">"
        sizes.setdefault(f"{sign} {SMALL_STORE_FILES} files", []).append(item)
    for item in ranked:
        groups.setdefault(prompts.groups[item.query.store], []).append(item)
    tables = (
        _tabulate("by store size", "store", sizes, (1, 5, 20)),
        _tabulate(f"by {prompts.group}", prompts.group, groups, (1, 5, 20)),
    )
    charts = (_chart(f"R@5 by {prompts.group}", groups),) if 1 < len(groups) <= 20 else ()
    remarks = [*(f"Left out: {text}." for text in prompts.left_out), FIXED]
    remarks += [SMALL_N] if len(ranked) < MANY_PROMPTS else []
    return Section("Ranking, abstention off", tuple(figures), tables, charts, tuple(remarks))


def _show_searches(ranked: dict[str, list[Ranked]], depth: int) -> Section:
    """Ours beside what anybody could write in an afternoon, in the same run."""
    table = _tabulate("searches", "search", ranked, [cut for cut in CUTS if cut <= depth])
    more = (("nDCG@10", SHARE), ("ms", MS))
    rows = [
        (*row, average(_gains(part)), report.median([item.milliseconds for item in part]))
        for row, part in zip(table.rows, ranked.values(), strict=True)
    ]
    return Section(
        "Against simple searches, in the same run",
        tables=(Table("searches", (*table.columns, *more), tuple(rows)),),
        charts=(_chart("R@5", ranked),),
        remarks=("ms: the median per prompt, in this process, the store read before.",),
    )


def _gains(ranked: Iterable[Ranked]) -> list[float]:
    return [report.ndcg_at(10, item.ranking, item.query.gold) for item in ranked]


def _chart(name: str, groups: Mapping[str, list[Ranked]]) -> Chart:
    bars = ((label, average(recalls(part, 5)) or 0.0) for label, part in groups.items())
    return Chart(name, tuple(bars))


def _tabulate(
    name: str, label: str, groups: Mapping[str, list[Ranked]], cuts: Sequence[int]
) -> Table:
    shares = [(f"R@{k}", SHARE) for k in cuts]
    rows = [
        (group, len(part), *(average(recalls(part, k)) for k in cuts), average(ranks(part)))
        for group, part in groups.items()
    ]
    return Table(name, ((label, TEXT), ("n", COUNT), *shares, ("MRR", SHARE)), tuple(rows))


def _evaluate_injection(
    prompts: PromptSet, ranked: Sequence[Ranked], app: App, say: Say
) -> list[Section]:
    """Ask each store its own prompts, then those of every other repository."""
    apps = {
        name: replace(app, store=store, search=Scan(store))
        for name, store in prompts.stores.items()
    }
    own = [ask(apps[query.store], query, query.store) for query in prompts.queries]
    others: list[Told] = []
    for name, store_app in apps.items():
        say(f"prompts of other repositories put to {name}")
        others += [
            ask(store_app, query, name)
            for query in prompts.queries
            if prompts.groups[query.store] != prompts.groups[name]
        ]
    return [_show_abstention(ranked, own, others), _show_coverage(apps, own)]


def _show_abstention(ranked: Sequence[Ranked], own: list[Told], others: list[Told]) -> Section:
    silent = {told.query.id for told in own if not told.text}
    before = recalls(ranked, BODIES)
    after = [
        0.0 if item.query.id in silent else value
        for item, value in zip(ranked, before, strict=True)
    ]
    loss = (average(before) or 0.0) - (average(after) or 0.0)
    without = [told for told in own if not told.query.gold]
    with_gold = [told for told in own if told.query.gold]
    wanted = [*others, *without]
    right = sum(not told.text for told in wanted)
    said = right + sum(not told.text for told in with_gold)
    figures = (
        mean_figure("R@5 with abstention", after),
        Figure("loss of R@5", loss, SHARE, len(before), goal=Goal(0.02, at_most=True)),
        mean_figure("silent on other stores", _silences(others), Goal(0.5)),
        mean_figure("no body on other stores", [float(not told.bodies) for told in others]),
        mean_figure("silent where nothing is gold", _silences(without)),
        mean_figure("silent although there is gold", _silences(with_gold)),
        Figure("precision of silence", report.precision(right, said), SHARE, said),
        Figure("recall of silence", report.precision(right, len(wanted)), SHARE, len(wanted)),
    )
    stores: dict[str, list[Told]] = {}
    for told in others:
        stores.setdefault(told.store, []).append(told)
    table = Table(
        "prompts of other repositories, by the store that is asked",
        (("store", TEXT), ("n", COUNT), ("silent", SHARE)),
        tuple((name, len(part), average(_silences(part))) for name, part in stores.items()),
    )
    remark = (
        "Silent: neither a body nor a pointer is injected. Other stores: every prompt is put to "
        "the stores of all other repositories. Precision and recall of silence count these and "
        "the prompts without gold as wanted silence."
    )
    return Section("Abstention on", figures, (table,), remarks=(remark,))


def _silences(told: Iterable[Told]) -> list[float]:
    return [float(not item.text) for item in told]


def _show_coverage(apps: Mapping[str, App], own: list[Told]) -> Section:
    """Each prompt in a fresh session of an agent that has no index loaded."""
    rules = {name: answer.standing_rules([(SCOPE, app)]) for name, app in apps.items()}
    asked = [told for told in own if told.query.gold]

    def seen(*kinds: str) -> list[float]:
        result = []
        for told in asked:
            standing = tuple(memory.path for _, memory in rules[told.store][1])
            parts = {"body": told.bodies, "pointer": told.pointers, "rule": standing}
            paths = [path for kind in kinds for path in parts[kind]]
            result.append(report.recall_at(len(paths), paths, told.query.gold))
        return result

    sizes = [float(len(told.text)) for told in own]
    spoken = [size for size in sizes if size]
    standing = [float(len(text)) for text, _ in rules.values()]
    right = [
        float(path in (*told.query.gold, *told.query.ok)) for told in own for path in told.bodies
    ]
    limit = Goal(4_000, at_most=True)
    figures = (
        mean_figure("coverage", seen("body", "pointer", "rule"), Goal(0.96)),
        mean_figure("gold as body", seen("body")),
        mean_figure("gold as body or pointer", seen("body", "pointer")),
        Figure("bodies that are gold or ok", average(right), n=len(right)),
        Figure("injected characters, median", report.median(sizes), COUNT, len(sizes), goal=limit),
        Figure("the same, silent ones left out", report.median(spoken), COUNT, len(spoken)),
        Figure("injected characters, p95", report.p95(sizes), COUNT, len(sizes)),
        Figure("standing characters, median", report.median(standing), COUNT, len(standing)),
        Figure("standing characters, most", max(standing, default=0.0), COUNT, len(standing)),
    )
    remark = (
        "Coverage: gold that is shown as a body, a pointer or a standing rule; every prompt in a "
        "fresh session. Standing rules are injected once per session and not counted in the "
        "characters per prompt."
    )
    title = "Coverage: what an agent without a loaded index can see"
    return Section(title, figures, remarks=(remark,))
