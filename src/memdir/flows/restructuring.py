"""Restructuring: verify → look → (propose) → plan → consolidate; one batch, one undo."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from memdir.flows.budgeting import open_model
from memdir.app import App, Desk, Done
from memdir.core import dates, frontmatter
from memdir.core.claim import STALE
from memdir.core.draft import Change
from memdir.core.errors import MemdirError
from memdir.core.memory import CREATED_KEYS, INDEX, MODIFIED_KEYS, README
from memdir.core.ports import Store
from memdir.core.restructuring.ideas import Ideas
from memdir.core.restructuring.planning import Plan, plan
from memdir.core.restructuring.work import Given, Page
from memdir.core.revision import style_of
from memdir.core.targets import Targets
from memdir.flows.verifying import verify
from memdir.steps.consolidate import consolidate
from memdir.steps.gather import gather
from memdir.steps.propose import propose

VERB = "restructure"
SAME_MOMENT = 5.0  # seconds: files that are all this close together were copied or checked out
FEWEST_COPIED = 3  # files that tell a copy from a busy minute
NANOSECONDS = 1e9
SECONDS = 60.0  # that a model may take: nobody waits for a prompt here

ToldPlan = Callable[[Plan, Done], None]


def restructure(
    app: App,
    told: ToldPlan,
    *,
    model: bool = False,
    stale: Mapping[str, tuple[str, ...]] | None = None,
) -> Plan:
    """verify → look → (plan → propose) → plan → consolidate

    Code and model are asked before the lock is taken: others need not wait for them.
    """
    plans: list[Plan] = []
    ideas = ask_for_ideas(app, VERB) if model else Ideas()
    evidence = _stale(app) if stale is None else stale

    def act(desk: Desk) -> list[Change]:
        now = app.now()
        batch = f"{VERB}-{int(now)}"
        made = replace(plan(look(desk.store, evidence), ideas), batch=batch)
        plans.append(made)
        desk.cause = replace(desk.cause, batch=batch, name=made.title)
        desk.plan = [*made.texts, *made.gone]
        return consolidate(made, desk.store, desk.shelf, now)

    app.change(VERB, act, lambda done: told(plans[-1], done))
    return plans[-1]


def _stale(app: App) -> dict[str, tuple[str, ...]]:
    """What the code says against the memories, each claim with the reason."""
    checked = verify(app)
    found = {
        path: tuple(f"{one.claim.text}: {one.reason}" for one in judged if one.verdict == STALE)
        for path, judged in checked.memories.items()
    }
    return {path: evidence for path, evidence in found.items() if evidence}


def ask_for_ideas(app: App, purpose: str) -> Ideas:
    """What the model of the settings proposes; without one, or where it fails, the reason."""
    try:
        opened = open_model(app, purpose)
    except MemdirError as error:
        ideas = Ideas(reason=error.message)
    else:
        seconds = max(app.config.options.model_timeout, SECONDS)
        ideas = propose(plan(look(app.store, {})).work, opened, seconds)
    if ideas.reason:
        app.tell(f"done without the model: {ideas.reason}")
    return ideas


def look(store: Store, stale: Mapping[str, tuple[str, ...]]) -> Given:
    """The store as a restructuring takes it; what cannot be read is left alone."""
    files, _ = gather(store, store.files())
    index_path = store.index_path
    index = frontmatter.decode(store.index() or b"")
    times = {path: (store.facts(path) or (0,))[0] / NANOSECONDS for path, _ in files}
    times[index_path] = (store.facts(index_path) or (0,))[0] / NANOSECONDS
    copied = _is_copied(times.values())
    every = {path: _page(data, times[path], not copied) for path, data in files}
    pages = {path: page for path, page in every.items() if page.text.strip("\ufeff \t\r\n")}
    readme = index_path == README
    samples = [(path, page.document) for path, page in pages.items()]
    scan = store.scan()
    return Given(
        pages=pages,
        index=Page("") if readme else Page(index, times[index_path], not copied),
        index_path=INDEX,
        readme=index if readme else "",
        taken=frozenset((*store.tree(), *(finding.path for finding in scan.findings))),
        gone=Targets(store).lost,
        stale=stale,
        empty=tuple(sorted(set(every) - set(pages))),
        style=style_of(samples),
    )


def _page(data: bytes, mtime: float, trusted: bool) -> Page:
    text = frontmatter.decode(data)
    document = frontmatter.read(text)
    told = dates.parse_time(document.get(*MODIFIED_KEYS, *CREATED_KEYS))
    return Page(text, mtime if told is None else told, trusted or told is not None)


def _is_copied(times: Collection[float]) -> bool:
    """Do most files have the time of a checkout or a copy, not of their writing?"""
    moments = sorted(moment for moment in times if moment)
    within = [
        bisect_right(moments, moment + SAME_MOMENT) - bisect_left(moments, moment - SAME_MOMENT)
        for moment in moments
    ]
    return sum(1 for near in within if near >= FEWEST_COPIED) * 2 > len(moments)
