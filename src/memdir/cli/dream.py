"""Dream, log-day."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

import click

from memdir.cli.command import STDIN, Session, command, guess_type, read_day, read_text
from memdir.cli.output import (
    CHANGE,
    Answer,
    Fields,
    Screen,
    advised,
    dry_fields,
    dry_lines,
    pick_all,
)
from memdir.cli.restructure import FEW, change_lines
from memdir.format.draft import CREATED
from memdir.store import logs
from memdir.store.logs import LONGEST_BYTES
from memdir.store.writer import App, Done
from memdir.text.terminal import count, line
from memdir.upkeep.dream import Gathered, Run
from memdir.upkeep.dream import run as bring_together

# dream: logs and memories brought together, in one batch that one undo takes back.


@command("dream", "memdir dream --dry-run", changes=True, bulk=True)
@click.option("--model", is_flag=True, help="Let a model find better titles and merges; it costs.")
def dream(session: Session, model: bool) -> Answer:
    """Bring logs and memories together: save, merge, date, put away, index.

    What the logs say to remember is saved. Memories that say the same become one, dates are
    written out, the index is put in order. What is old and contradicted by the code
    goes into the trash. Nothing is deleted; one undo takes all of it back.
    """
    app = session.app
    run = bring_together(app, model=model)
    done = advised(session.screen, run.done)
    return Answer(_fields(app, run, done), _lines(session.screen, run, done), int(bool(run.lost)))


def _fields(app: App, run: Run, done: Done) -> Fields:
    work, oriented = run.plan.work, run.oriented
    return {
        "before": asdict(run.before),
        "after": asdict(run.plan.after),
        "changes": pick_all(done.changes, CHANGE),
        "batch": "" if done.dry_run else run.batch,
        "lost": run.lost,
        "accounted": list(map(asdict, run.accounted)),
        "log_entries": oriented.logs.entries,
        "log_silent": oriented.logs.silent,
        "held": run.held,
        "old": oriented.old,
        "proposals": list(map(asdict, work.proposals)),
        "remarks": [*work.remarks, *done.remarks],
        "store": app.store.root,
        **dry_fields(done),
    }


def _lines(screen: Screen, run: Run, done: Done) -> Iterator[str]:
    if done.changes:
        would = "would change" if done.dry_run else "changed"
        yield f"{would} {count(len(done.changes), 'file')}:"
    else:
        yield "nothing to do: logs, memories and index are in order"
    yield from change_lines(screen, done)
    if doubts := [*_doubts(screen, run)]:
        yield from ["", *doubts]
    yield from (f"  lost: {line(path)}" for path in run.lost)
    yield from screen.blocks("note:", (*run.plan.work.remarks[:FEW], *done.remarks))
    if done.dry_run:
        yield from dry_lines(screen, done)
    elif run.batch:
        yield from ["", "All of it back: " + screen.advise("memdir undo")]


def _doubts(screen: Screen, run: Run) -> Iterator[str]:
    """What a person should look at: shown, never acted upon."""
    oriented, work = run.oriented, run.plan.work
    if oriented.logs.entries:
        yield from screen.block("logs:", screen.advise(_log_summary(oriented.logs)))
    if oriented.old:
        many = count(len(oriented.old), "memory", "memories")
        yield from screen.block("old:", f"{many} may be worn out: memdir prune goes through them")
    if doubts := len(work.proposals):
        text = f"{count(doubts, 'doubt')} for you to decide: memdir restructure --dry-run"
        yield from screen.block("?", text, style="yellow")


def _log_summary(logs: Gathered) -> str:
    """What became of every new entry."""
    parts = [f"{count(len(logs.saved), 'thing')} to remember"] * bool(logs.saved)
    parts += [f"{len(logs.held):,} for you to decide on (memdir review)"] * bool(logs.held)
    parts += [f"{count(logs.silent, 'entry', 'entries')} with nothing to keep"] * bool(logs.silent)
    return f"{count(logs.entries, 'new entry', 'new entries')}: {', '.join(parts)}"


# log-day: a line for today's log.


@command(
    "log-day", 'memdir log-day "The staging cluster moves on Friday."', changes=True, dashes=True
)
@click.argument("text")
@click.option("--type", metavar="TYPE", help="See: memdir types. Default: from the wording.")
@click.option("--date", metavar="DAY", help="The day `yesterday` in the text counts from.")
def log_day(session: Session, text: str, type: str | None, date: str | None) -> Answer:
    """Append TEXT to the log of today; `-` reads it from standard input.

    Logs are for what is learned on the way. They are only ever added to, by as many writers as
    there are, and no agent reads them; memdir dream makes memories of what they say to remember.
    """
    app = session.app
    if text == STDIN:
        text = read_text(STDIN, LONGEST_BYTES, "the text")
    day = read_day(date) if date is not None else None
    added = logs.log_day(app, text, guess_type(text) if type is None else type, day)
    entry = logs.write_entry(added.entry)
    fields = {
        "change": CREATED,
        "path": added.path,
        "entry": entry,
        "remarks": added.remarks,
        "dry_run": app.dry_run,
    }
    would = "would be logged in" if app.dry_run else "logged in"
    lines = [f"{would} {line(session.short(added.path))}"]
    lines += [f"  {line(text)}" for text in entry.rstrip("\n").split("\n")]
    return Answer(fields, [*lines, *session.screen.blocks("note:", added.remarks)])
