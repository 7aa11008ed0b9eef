"""Restructure: an overgrown index becomes a short one, what it held becomes memories."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

import click

from memdir.cli.command import Session, command
from memdir.cli.output import (
    CHANGE,
    Answer,
    Fields,
    Screen,
    advised,
    dry_fields,
    dry_lines,
    more_lines,
    pick_all,
)
from memdir.format.draft import CREATED, RETIRED
from memdir.store.writer import App, Done
from memdir.text.terminal import count, cut, line, pad
from memdir.upkeep.proof import Figures
from memdir.upkeep.restructure import Plan
from memdir.upkeep.restructure import restructure as put_in_order

FEW = 12  # of many things, shown one by one
MAX_REASON = 240  # characters of what was done to one file
BAR = 14  # columns of the longest bar
SIGNS = {CREATED: "+", RETIRED: "-"}
LABELS = {
    "index_lines": "lines of the index",
    "index_characters": "characters of the index",
    "tokens": "tokens per session",
    "files": "memories",
    "inline": "lines of content in it",
    "long_pointers": "pointers too long",
    "overlong": "memories over 200 lines",
    "duplicates": "pairs that say the same",
    "orphans": "memories without pointer",
    "dangling": "pointers to nothing",
    "headless": "headers incomplete",
}


@command("restructure", "memdir restructure --dry-run", changes=True, bulk=True)
@click.option("--model", is_flag=True, help="Let a model find better titles; it costs.")
def restructure(session: Session, model: bool) -> Answer:
    """Make the index short: its content becomes memories.

    Pointers stay in the index, one line each; content goes into files with a header. Overlong
    files are split at headings, memories that say the same are merged. No line of knowledge is
    lost, or nothing is written. One undo takes it all back.
    """
    app = session.app
    plan, done = put_in_order(app, model=model)
    done = advised(session.screen, done)
    code = int(not all(check.ok for check in plan.checks))
    return Answer(_fields(app, plan, done), _lines(session.screen, plan, done), code)


def _fields(app: App, plan: Plan, done: Done) -> Fields:
    work = plan.work
    return {
        "before": asdict(plan.before),
        "after": asdict(plan.after),
        "changes": pick_all(done.changes, CHANGE),
        "batch": plan.batch if done.changes else "",
        "lost": list(map(asdict, plan.lost)),
        "accounted": list(map(asdict, work.accounted)),
        "checks": list(map(asdict, plan.checks)),
        "proposals": list(map(asdict, work.proposals)),
        "remarks": [*work.remarks, *done.remarks],
        "store": app.store.root,
        **dry_fields(done),
    }


def _lines(screen: Screen, plan: Plan, done: Done) -> Iterator[str]:
    if done.changes:
        would = "would restructure" if done.dry_run else "restructured"
        files = count(plan.before.files, "memory", "memories")
        subject = f"{files} and the index" if plan.before.files else "the index"
        yield f"{would} {subject}: {plan.title}"
        yield from ["", *_table(screen, plan.before, plan.after), ""]
        yield from change_lines(screen, done)
    else:
        yield "nothing to restructure: the index and its memories are in order"
    yield from ["", "Checked:"]
    for check in plan.checks:
        mark, style = ("ok", "green") if check.ok else ("!!", "red")
        yield from screen.block(mark, check.message, "  ", style)
        yield from screen.block("", check.fix, "     ") if check.fix else []
    if accounted := plan.work.accounted:
        lines = count(len(accounted), "line")
        yield from ["", f"{lines} no longer there word for word, each with its reason:"]
        texts = (f"{a.text.strip()[:100]} ({a.reason[:160]})" for a in accounted[:FEW])
        yield from screen.blocks("-", texts)
        yield from more_lines(len(accounted), FEW)
    yield from _decisions(screen, plan)
    yield from screen.blocks("note:", (*plan.work.remarks[:FEW], *done.remarks))
    if done.dry_run:
        yield from dry_lines(screen, done)
    elif done.changes:
        yield from ["", "All of it back: " + screen.advise("memdir undo")]


def _table(screen: Screen, before: Figures, after: Figures) -> Iterator[str]:
    """Each figure that is not nothing, before and after, with a bar for its size."""
    wide = max(map(len, LABELS.values()))
    yield f"  {pad('', wide)}  {'before':>7}  {pad('', BAR)}  {'after':>7}"
    for name, label in LABELS.items():
        old, new = getattr(before, name), getattr(after, name)
        if most := max(old, new):
            bars = ["█" * max(round(value / most * BAR), bool(value)) for value in (old, new)]
            figures = f"{old:>7,}  {screen.paint(pad(bars[0], BAR), 'dim')}  {new:>7,}"
            yield f"  {pad(label, wide)}  {figures}  {bars[1]}".rstrip()


def change_lines(screen: Screen, done: Done) -> Iterator[str]:
    """The files that changed, each with its reason."""
    for change in done.changes[:FEW]:
        yield f"  {SIGNS.get(change.kind, '~')} {line(change.path)}"
        reason = cut(change.reason, MAX_REASON)
        yield from screen.block("", reason, "      ") if reason else []
    yield from more_lines(len(done.changes), FEW)


def _decisions(screen: Screen, plan: Plan) -> Iterator[str]:
    """What a person has to decide: shown with the evidence, never acted upon."""
    proposals = plan.work.proposals
    yield from ["", "For you to decide:"] if proposals else []
    for proposal in proposals[:FEW]:
        text = f"{proposal.path}: {proposal.what} ({'; '.join(proposal.evidence)})"
        yield from screen.block("?", text, style="yellow")
        yield from [f"    {screen.advise(proposal.command)}"] if proposal.command else []
    yield from more_lines(len(proposals), FEW)
