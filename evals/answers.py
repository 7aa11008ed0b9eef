"""What an agent is told for a prompt: bodies, pointers or nothing, with and without a loaded index.

The constant CHANCE_STEP was chosen on this data. So each figure of the decision is also measured
on one repository at a time, with the constant chosen on all others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from evals.report import (
    COUNT,
    SHARE,
    TEXT,
    Figure,
    Goal,
    Section,
    Table,
    average_figure,
    mean_figure,
    median_figure,
)
from memdir.evals import quantile_figure, recall_at
from memdir.evals.recall_sets import PromptSet, Query
from memdir.hot import recall as decision
from memdir.hot.inject import inject_memories
from memdir.hot.memory import decode
from memdir.hot.recall import INDEX_CHARACTERS, Place
from memdir.hot.run import SessionState
from memdir.hot.standing import collect_standing_rules
from memdir.recall.scan import Scan
from memdir.store.ports import Store

NOW = 2_000_000_000.0  # any fixed time: ages change no figure
ORDINARY = Path(__file__).with_name("ordinary_prompts.txt")
STEPS = (0.115, 0.135, 0.155, 0.175, 0.195)  # choices of CHANCE_STEP when a repository is left out
FIRST = 5


@dataclass(frozen=True)
class Asked:
    """An answer in a new session."""

    group: str  # the repository of the store
    query: Query
    bodies: tuple[str, ...]
    shown: tuple[str, ...]  # bodies and pointers
    characters: int


class Asking:
    """A store that is asked prompts as the hook does, with its index loaded or not."""

    def __init__(self, group: str, store: Store, loaded: int = 0) -> None:
        self.group = group
        self.store = store
        self.search = Scan(store)
        self.place = Place("project", store, self.search, index_loaded=loaded)

    def ask(self, query: Query) -> Asked:
        answer = decision.recall([self.place], query.prompt, SessionState())
        given = inject_memories(
            answer.bodies, answer.pointers, SessionState(), now=NOW, nonce="0123abcd"
        )
        bodies = tuple(item.memory.path for item in given.bodies)
        pointers = tuple(item.memory.path for item in given.pointers)
        return Asked(self.group, query, bodies, bodies + pointers, len(given.text))


@contextmanager
def chance_step(step: float) -> Iterator[None]:
    """Another constant for a while."""
    before, decision.CHANCE_STEP = decision.CHANCE_STEP, step
    try:
        yield
    finally:
        decision.CHANCE_STEP = before


def leave_one_out(
    measure: Callable[[], list[Asked]], cost: Callable[[list[Asked]], float]
) -> list[Asked]:
    """Each repository's answers with the step that costs least on all other repositories."""
    answers = {}
    for step in STEPS:
        with chance_step(step):
            answers[step] = measure()
    result = []
    for group in {item.group for item in answers[STEPS[0]]}:
        costs = {
            step: cost([item for item in given if item.group != group])
            for step, given in answers.items()
        }
        best = min(costs, key=lambda step: costs[step])
        result += [item for item in answers[best] if item.group == group]
    return result


def share_of(asked: Sequence[Asked], holds: Callable[[Asked], bool]) -> list[float]:
    return [float(holds(item)) for item in asked]


def no_body(item: Asked) -> bool:
    return not item.bodies


class Decision:
    """Own prompts, prompts of other repositories and ordinary ones, put to every store."""

    def __init__(self, prompts: PromptSet) -> None:
        self.prompts = prompts
        self.stores = {
            name: Asking(prompts.groups[name], store) for name, store in prompts.stores.items()
        }
        lines = ORDINARY.read_text("utf-8").split("\n")
        self.ordinary = [Query(line, line, "", ()) for line in lines if line.strip()]
        self.first: dict[str, list[str]] = {}  # the first hits without a decision
        for query in prompts.queries:
            hits = self.stores[query.store].search.find(query.prompt, FIRST).hits
            self.first[query.id] = [hit.memory.path for hit in hits]

    def ask_all(self) -> list[Asked]:
        asked = [self.stores[query.store].ask(query) for query in self.prompts.queries]
        for asking in self.stores.values():
            asked += [asking.ask(query) for query in self.ordinary]
            asked += [
                asking.ask(query)
                for query in self.prompts.queries
                if self.prompts.groups[query.store] != asking.group
            ]
        return asked

    def own(self, asked: Sequence[Asked]) -> list[Asked]:
        groups = self.prompts.groups
        return [item for item in asked if item.group == groups.get(item.query.store)]

    def others(self, asked: Sequence[Asked]) -> list[Asked]:
        groups = self.prompts.groups
        return [
            item for item in asked if item.query.store and item.group != groups[item.query.store]
        ]

    def losses(self, asked: Sequence[Asked]) -> list[float]:
        return [
            recall_at(FIRST, self.first[item.query.id], item.query.gold)
            - recall_at(len(item.shown), item.shown, item.query.gold)
            for item in self.own(asked)
            if item.query.gold
        ]

    def cost(self, asked: Sequence[Asked]) -> float:
        bodies = average_figure(share_of(self.others(asked), lambda item: bool(item.shown)))
        return (average_figure(self.losses(asked)) or 0.0) + (bodies or 0.0) / 4

    def figures(self, asked: Sequence[Asked]) -> list[Figure]:
        losses, own = self.losses(asked), self.own(asked)
        useful = [
            float(path in (*item.query.gold, *item.query.ok))
            for item in own
            for path in item.bodies
        ]
        ordinary = [item for item in asked if not item.query.store]
        return [
            Figure(
                "loss of R@5, pointers counted",
                average_figure(losses),
                SHARE,
                len(losses),
                goal=Goal(0.05, at_most=True),
            ),
            mean_figure("bodies that are gold or useful", useful, Goal(0.75)),
            mean_figure(
                "other repository: no body", share_of(self.others(asked), no_body), Goal(0.70)
            ),
            mean_figure("ordinary prompts: no body", share_of(ordinary, no_body), Goal(0.667)),
        ]


def evaluate_answers(prompts: PromptSet) -> list[Section]:
    trial = Decision(prompts)
    asked = trial.ask_all()
    plain, left = trial.figures(asked), trial.figures(leave_one_out(trial.ask_all, trial.cost))
    rows = tuple((one.name, one.value, other.value) for one, other in zip(plain, left, strict=True))
    columns = (("figure", TEXT), ("plain", SHARE), ("left out", SHARE))
    remark = "Left out: each repository with the constant chosen on all other repositories."
    section = Section(
        "Three answers: bodies, pointers, nothing",
        tuple(plain),
        (Table("leave one repository out", columns, rows),),
        (remark,),
    )
    return [section, _show_sizes(prompts), _show_coverage(prompts, trial.own(asked))]


def _show_sizes(prompts: PromptSet) -> Section:
    stores = {
        name: Asking(prompts.groups[name], store, INDEX_CHARACTERS)
        for name, store in prompts.stores.items()
    }
    asked = [stores[query.store].ask(query) for query in prompts.queries]
    sizes = sorted(float(item.characters) for item in asked if item.characters)
    p95 = quantile_figure(sizes, 0.95) if sizes else None
    figures = (
        Figure(
            "characters, median",
            median_figure(sizes),
            COUNT,
            len(sizes),
            goal=Goal(1_500, at_most=True),
        ),
        Figure("characters, p95", p95, COUNT, len(sizes), goal=Goal(4_500, at_most=True)),
    )
    return Section("Prompts that are answered, the index loaded by the client", figures)


def _show_coverage(prompts: PromptSet, own: Sequence[Asked]) -> Section:
    rules, indexes = {}, {}
    for name, store in prompts.stores.items():
        told = collect_standing_rules([("project", store)], index_loaded=False)[1]
        rules[name] = [item.path for _, item in told]
        indexes[name] = decode(store.index() or b"")
    without, loaded = [], []
    for item in own:
        gold, at = item.query.gold, item.query.store
        if gold:
            seen = [*item.shown, *rules[at]]
            without.append(recall_at(len(seen), seen, gold))
            seen += [path for path in gold if f"({path})" in indexes[at]]
            loaded.append(recall_at(len(seen), seen, gold))
    figures = (
        mean_figure("coverage with the index", loaded, Goal(0.96)),
        mean_figure("coverage without the index", without, Goal(0.93)),
    )
    remark = "Gold that an agent sees as body, pointer, standing rule or line of the loaded index."
    return Section("Coverage", figures, remarks=(remark,))
