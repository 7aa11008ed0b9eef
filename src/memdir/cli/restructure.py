"""Restructure, dream, log-day."""

from __future__ import annotations

from collections.abc import Iterator

import click

from memdir.cli import output
from memdir.cli.command import STDIN, Session, command, read_day_option, read_text_option
from memdir.cli.output import CHANGE, Answer, Fields, Screen, pick, pick_all
from memdir.format.draft import CREATED, RETIRED
from memdir.format.type_guess import guess_memory_type
from memdir.store import logs
from memdir.store.logs import LONGEST_BYTES
from memdir.store.writer import Done
from memdir.text.terminal import cut_text, one_line, plural
from memdir.upkeep import dream as dream_module
from memdir.upkeep.restructure import Figures, Plan
from memdir.upkeep.restructure import restructure_store as put_in_order

FEW = 12  # items shown one by one
MAX_REASON = 240  # characters
DREAMT = (
    "before after=plan.after changes batch lost=plan.lost accounted "
    "log_entries=oriented.logs.entries log_silent=oriented.logs.silent held old=oriented.old "
    "proposals=plan.work.proposals"
)
SIGNS = {CREATED: "+", RETIRED: "-"}
LABELS = {
    "index_lines": "index lines",
    "index_characters": "index characters",
    "tokens": "tokens per session",
    "files": "memories",
    "inline": "lines of content",
    "long_pointers": "overlong pointers",
    "overlong": "overlong memories",
    "duplicates": "near-duplicates",
    "orphans": "without a pointer",
    "dangling": "dead pointers",
    "headless": "incomplete headers",
}


DIFF = "With --dry-run: show every changed line."


@command("restructure", "memdir restructure --dry-run", changes=True)
@click.option("--diff", "show_diff", is_flag=True, help=DIFF)
def restructure_command(session: Session, show_diff: bool) -> Answer:
    """Pointers stay in the index, one line each; content moves to files with a header. Overlong
    files are split at headings, memories that say the same are merged. If a line of knowledge
    would be lost, nothing is written. One undo takes it all back.
    """
    app, screen = session.app, session.screen
    plan, done = put_in_order(app)
    done, work = screen.advised(done), plan.work
    fields = pick(
        plan,
        "before after changes batch lost accounted=work.accounted checks proposals=work.proposals",
        changes=pick_all(done.changes, CHANGE),
        batch=plan.batch if done.changes else "",
        remarks=[*work.remarks, *done.remarks],
        store=app.store.root,
        **output.dry_run_fields(done),
    )
    code = int(not all(check.ok for check in plan.checks))
    lines = [*_restructure_lines(screen, plan, done), *_last_lines(screen, plan, done, show_diff)]
    return Answer(fields, lines, code)


def _restructure_lines(screen: Screen, plan: Plan, done: Done) -> Iterator[str]:
    if done.changes:
        would = "would restructure" if done.dry_run else "restructured"
        files = f"{plural(plan.before.files, 'memory', 'memories')} and " * bool(plan.before.files)
        yield from screen.block("", f"{would} {files}the index: {plan.title}", "")
        yield from ["", *_figures(screen, plan.before, plan.after), ""]
        yield from _change_lines(screen, done)
    else:
        text = "nothing to restructure: the index and its memories are in order"
        yield from screen.block("", text, "")
    # Shown with the evidence for a person to decide, never acted upon.
    proposals = plan.work.proposals
    yield from ["", "For you to decide:"] if proposals else []
    for proposal in proposals[:FEW]:
        text = f"{proposal.path}: {proposal.what} ({'; '.join(proposal.evidence)})"
        yield from screen.block("?", text, style="yellow")
        yield from [f"    {screen.advise(proposal.command)}"] if proposal.command else []
    yield from screen.more_lines(len(proposals), FEW)
    if accounted := plan.work.accounted:
        lines = plural(len(accounted), "line")
        text = f"{lines} changed or dropped, each with its reason:"
        yield from ["", *screen.block("", text, "")]
        texts = (f"{a.text.strip()[:100]} ({a.reason[:160]})" for a in accounted[:FEW])
        yield from screen.blocks("-", texts)
        yield from screen.more_lines(len(accounted), FEW)
    yield from ["", "Checked:"]
    for check in plan.checks:
        mark, style = ("ok", "green") if check.ok else ("!!", "red")
        yield from screen.block(mark, check.message, "  ", style)
        yield from screen.block("", check.fix, "     ") if check.fix else []


def _figures(screen: Screen, before: Figures, after: Figures) -> list[str]:
    rows = []
    for name, label in LABELS.items():
        old, new = getattr(before, name), getattr(after, name)
        rows += [(label, f"{old:>7,}", f"{new:>7,}")] if old or new else []
    return screen.table(rows, headings=("", " before", "  after"))


def _change_lines(screen: Screen, done: Done) -> Iterator[str]:
    for change in done.changes[:FEW]:
        yield f"  {SIGNS.get(change.kind, '~')} {one_line(change.path)}"
        reason = cut_text(change.reason, MAX_REASON)
        yield from screen.block("", reason, "      ") if reason else []
    yield from screen.more_lines(len(done.changes), FEW)


def _last_lines(screen: Screen, plan: Plan, done: Done, show_diff: bool) -> Iterator[str]:
    yield from screen.blocks("note:", (*plan.work.remarks[:FEW], *done.remarks))
    if done.dry_run and (show_diff or not done.changes):
        yield from screen.dry_lines(done)
    elif done.dry_run:
        yield from ["", *screen.block("", f"{output.DRY_RUN}; --diff shows every line", "")]
    elif done.changes:
        yield from ["", "Undo all of it: " + screen.advise("memdir undo")]


@command("dream", "memdir dream --dry-run", changes=True)
@click.option("--diff", "show_diff", is_flag=True, help=DIFF)
def dream_command(session: Session, show_diff: bool) -> Answer:
    """Saves what the logs say to remember, merges memories that say the same, makes dates absolute
    and tidies the index. Old memories that the code contradicts move to the trash. Nothing is
    deleted; one undo takes it all back.
    """
    app, screen = session.app, session.screen
    run = dream_module.run_dream(app)
    done = screen.advised(run.done)
    fields = pick(
        run,
        DREAMT,
        changes=pick_all(done.changes, CHANGE),
        batch="" if done.dry_run else run.batch,
        remarks=[*run.plan.work.remarks, *done.remarks],
        store=app.store.root,
        **output.dry_run_fields(done),
    )
    lines = ["nothing to do: logs, memories and index are in order"]
    if done.changes:
        would = "would change" if done.dry_run else "changed"
        lines = [f"{would} {plural(len(done.changes), 'file')}:", *_change_lines(screen, done)]
    if doubts := [*_doubts(screen, run)]:
        lines += ["", *doubts]
    return Answer(fields, [*lines, *_last_lines(screen, run.plan, done, show_diff)])


def _doubts(screen: Screen, run: dream_module.Run) -> Iterator[str]:
    logs, old = run.oriented.logs, run.oriented.old
    if logs.entries:
        text = (
            f"{plural(logs.entries, 'new entry', 'new entries')}: {len(logs.saved):,} to remember, "
            f"{len(logs.held):,} for you to decide on (memdir review), {logs.silent:,} with "
            "nothing to keep"
        )
        yield from screen.block("logs:", screen.advise(text))
    if old:
        many = plural(len(old), "memory", "memories")
        text = f"{many} may be stale: memdir prune --all goes through them"
        yield from screen.block("old:", text)
    if doubts := len(run.plan.work.proposals):
        text = f"{plural(doubts, 'question')} for you to decide: memdir restructure --dry-run"
        yield from screen.block("?", text, style="yellow")


@command(
    "log-day", 'memdir log-day "The staging cluster moves on Friday."', changes=True, dashes=True
)
@click.argument("text")
@click.option("--type", metavar="TYPE", help="See memdir types; else guessed.")
@click.option("--date", metavar="DAY", help="The day that `yesterday` in the text counts from.")
def log_day_command(session: Session, text: str, type: str | None, date: str | None) -> Answer:
    """Logs are only appended to, by any number of writers, and no agent reads them; memdir dream
    makes memories of what they say to remember.
    """
    app = session.app
    if text == STDIN:
        text = read_text_option(STDIN, LONGEST_BYTES, "the text")
    day = read_day_option(date) if date is not None else None
    type = guess_memory_type(text).type if type is None else type
    path, written, remarks = logs.log_day(app, text, type, day)
    entry = logs.write_daily_log_entry(written)
    fields: Fields = {"change": CREATED, "path": path, "entry": entry}
    fields |= {"remarks": remarks, "dry_run": app.dry_run}
    would = "would be logged in" if app.dry_run else "logged in"
    lines = [f"{would} {one_line(session.short(path))}"]
    lines += [f"  {one_line(text)}" for text in entry.rstrip("\n").split("\n")]
    return Answer(fields, [*lines, *session.screen.blocks("note:", remarks)])
