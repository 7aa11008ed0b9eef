"""Restructure: an overgrown index becomes a short one, what it held becomes memories."""

from __future__ import annotations

from dataclasses import asdict

import click

from memdir.cli.command import Session, command
from memdir.cli.output import Fields, Screen, advised, change_fields, dry_files, dry_lines
from memdir.format.draft import CREATED, RETIRED
from memdir.store.writer import App, Done
from memdir.text.terminal import count, cut, line, pad
from memdir.upkeep.proof import Figures
from memdir.upkeep.restructure import Plan
from memdir.upkeep.restructure import restructure as flow

FEW = 12  # of many things, shown one by one
LONGEST_REASON = 240  # characters of what was done to one file
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
def restructure(session: Session, model: bool) -> int:
    """Make the index short: its content becomes memories.

    Pointers stay in the index, one line each; content goes into files with a header. Overlong
    files are split at headings, memories that say the same are merged. No line of knowledge is
    lost, or nothing is written. One undo takes it all back.
    """
    app = session.app
    plan, done = flow(app, model=model)
    done = advised(session.screen, done)
    session.screen.answer(_fields(app, plan, done), _lines(session.screen, plan, done))
    return int(not all(check.ok for check in plan.checks))


def _fields(app: App, plan: Plan, done: Done) -> Fields:
    work = plan.work
    fields: Fields = {
        "before": asdict(plan.before),
        "after": asdict(plan.after),
        "changes": [change_fields(change) for change in done.changes],
        "batch": plan.batch if done.changes else "",
        "lost": [asdict(one) for one in plan.lost],
        "accounted": [asdict(one) for one in work.accounted],
        "checks": [asdict(check) for check in plan.checks],
        "contradictions": [asdict(one) for one in work.contradictions],
        "proposals": [asdict(one) for one in work.proposals],
        "remarks": [*work.remarks, *done.remarks],
        "store": app.store.root,
        "dry_run": done.dry_run,
    }
    return {**fields, "files": dry_files(done)} if done.dry_run else fields


def _lines(screen: Screen, plan: Plan, done: Done) -> list[str]:
    lines = [_headline(plan, done)]
    if done.changes:
        lines += ["", *_table(screen, plan.before, plan.after)]
        lines += ["", *_changes(screen, done)]
    lines += ["", "Checked:"]
    for check in plan.checks:
        mark, style = ("ok", "green") if check.ok else ("!!", "red")
        lines += screen.block(mark, check.message, "  ", style)
        lines += screen.block("", check.fix, "     ") if check.fix else []
    lines += _accounted(screen, plan) + _decisions(screen, plan)
    for text in (*plan.work.remarks[:FEW], *done.remarks):
        lines += screen.block("note:", text)
    if done.dry_run:
        lines += dry_lines(screen, done)
    elif done.changes:
        lines += ["", "All of it back: " + screen.advise("memdir undo")]
    return lines


def _headline(plan: Plan, done: Done) -> str:
    if not done.changes:
        return "nothing to restructure: the index and its memories are in order"
    would = "would restructure" if done.dry_run else "restructured"
    files = plan.before.files
    what = f"{count(files, 'memory', 'memories')} and the index" if files else "the index"
    return f"{would} {what}: {plan.title}"


def _table(screen: Screen, before: Figures, after: Figures) -> list[str]:
    """Each figure that is not nothing, before and after, with a bar for its size."""
    wide = max(map(len, LABELS.values()))
    lines = [f"  {pad('', wide)}  {'before':>7}  {pad('', BAR)}  {'after':>7}"]
    for name, label in LABELS.items():
        old, new = getattr(before, name), getattr(after, name)
        if old or new:
            bars = [pad(_bar(value, max(old, new)), BAR) for value in (old, new)]
            figures = f"{old:>7,}  {screen.paint(bars[0], 'dim')}  {new:>7,}"
            lines.append(f"  {pad(label, wide)}  {figures}  {bars[1].rstrip()}".rstrip())
    return lines


def _bar(value: int, most: int) -> str:
    return "█" * max(round(value / most * BAR), bool(value)) if most else ""


def _changes(screen: Screen, done: Done) -> list[str]:
    lines = []
    for change in done.changes[:FEW]:
        lines.append(f"  {SIGNS.get(change.kind, '~')} {line(change.path)}")
        reason = cut(change.reason, LONGEST_REASON)
        lines += screen.block("", reason, "      ") if reason else []
    return lines + _more(len(done.changes))


def _more(many: int) -> list[str]:
    """How many things are not shown, and how to see them."""
    more = many - FEW
    return [f"  and {more:,} more (all of them with --json)"] if more > 0 else []


def _accounted(screen: Screen, plan: Plan) -> list[str]:
    found = plan.work.accounted
    if not found:
        return []
    head = f"{count(len(found), 'line')} no longer there word for word, each with its reason:"
    lines = ["", head]
    for one in found[:FEW]:
        lines += screen.block("-", f"{one.text.strip()[:100]} ({one.reason[:160]})")
    return lines + _more(len(found))


def _decisions(screen: Screen, plan: Plan) -> list[str]:
    """What a person has to decide: shown with the evidence, never acted upon."""
    lines: list[str] = []
    if plan.work.contradictions:
        lines += [
            "",
            "Suspected contradictions, shown but not settled; the newer one is often right:",
        ]
    for one in plan.work.contradictions[:FEW]:
        lines += screen.block("?", one.reason, style="yellow")
        for path, number, says in (
            (one.first, one.first_line, one.first_says),
            (one.second, one.second_line, one.second_says),
        ):
            lines += screen.block("", f"{path}:{number}", "    ")
            lines += screen.block("", says, "      ")
    lines += _more(len(plan.work.contradictions))
    if plan.work.proposals:
        lines += ["", "For you to decide:"]
    for proposal in plan.work.proposals[:FEW]:
        said = "; ".join(proposal.evidence)
        lines += screen.block("?", f"{proposal.path}: {proposal.what} ({said})", style="yellow")
        lines += [f"    {screen.advise(proposal.command)}"] if proposal.command else []
    return lines + _more(len(plan.work.proposals))
