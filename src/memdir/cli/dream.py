"""Dream, log-day."""

from __future__ import annotations

from dataclasses import asdict

import click

from memdir.cli.command import STDIN, Session, command, guess_type, read_day, read_text
from memdir.cli.output import Fields, Screen, advised, change_fields, dry_files, dry_lines
from memdir.format.draft import CREATED, RETIRED
from memdir.store import logs
from memdir.store.logs import LONGEST_BYTES
from memdir.store.writer import App, Done
from memdir.text.terminal import count, cut, line
from memdir.upkeep.dream import Disputed, Gathered, Run
from memdir.upkeep.dream import run as flow

# dream: logs and memories brought together, in one batch that one undo takes back.

FEW = 12  # of many things, shown one by one
LONGEST_REASON = 240  # characters
SIGNS = {CREATED: "+", RETIRED: "-"}


@command("dream", "memdir dream --dry-run", changes=True, bulk=True)
@click.option("--model", is_flag=True, help="Let a model find better titles and merges; it costs.")
def dream(session: Session, model: bool) -> int:
    """Bring logs and memories together: save, merge, date, put away, index.

    What the logs say to remember is saved. Memories that say the same become one, dates are
    written out, the index is put in order. What is old and contradicted by the code, or by a
    newer CLAUDE.md, goes into the trash. Nothing is deleted; one undo takes all of it back.
    """
    app = session.app
    run = flow(app, model=model)
    done = advised(session.screen, run.done)
    session.screen.answer(_fields(app, run, done), _lines(session.screen, run, done))
    return int(bool(run.lost))


def _fields(app: App, run: Run, done: Done) -> Fields:
    work, oriented = run.plan.work, run.oriented
    fields: Fields = {
        "before": asdict(run.before),
        "after": asdict(run.plan.after),
        "changes": [change_fields(change) for change in done.changes],
        "batch": "" if done.dry_run else run.batch,
        "lost": run.lost,
        "accounted": [asdict(one) for one in run.accounted],
        "log_entries": oriented.logs.entries,
        "log_silent": oriented.logs.silent,
        "held": run.held,
        "old": list(oriented.old),
        "disputed": [asdict(one) for one in oriented.disputed],
        "contradictions": [asdict(one) for one in work.contradictions],
        "proposals": [asdict(one) for one in work.proposals],
        "remarks": [*work.remarks, *done.remarks],
        "store": app.store.root,
        "dry_run": done.dry_run,
    }
    return {**fields, "files": dry_files(done)} if done.dry_run else fields


def _lines(screen: Screen, run: Run, done: Done) -> list[str]:
    lines = [_headline(done)]
    for change in done.changes[:FEW]:
        lines.append(f"  {SIGNS.get(change.kind, '~')} {line(change.path)}")
        reason = cut(change.reason, LONGEST_REASON)
        lines += screen.block("", reason, "      ") if reason else []
    lines += _more(len(done.changes))
    lines += _open_ends(screen, run, done)
    lines += [f"  lost: {line(path)}" for path in run.lost]
    for text in (*run.plan.work.remarks[:FEW], *done.remarks):
        lines += screen.block("note:", text)
    if done.dry_run:
        return lines + dry_lines(screen, done)
    return [*lines, "", "All of it back: " + screen.advise("memdir undo")] if run.batch else lines


def _headline(done: Done) -> str:
    if not done.changes:
        return "nothing to do: logs, memories and index are in order"
    would = "would change" if done.dry_run else "changed"
    return f"{would} {count(len(done.changes), 'file')}:"


def _open_ends(screen: Screen, run: Run, done: Done) -> list[str]:
    """What a person should look at: shown, never acted upon."""
    oriented, lines = run.oriented, list[str]()
    if oriented.logs.entries:
        lines += screen.block("logs:", screen.advise(_logged(oriented.logs)))
    if oriented.old:
        many = count(len(oriented.old), "memory", "memories")
        lines += screen.block("old:", f"{many} may be worn out: memdir prune goes through them")
    for one in oriented.disputed[:FEW]:
        lines += _dispute(screen, one)
    doubts = len(run.plan.work.contradictions) + len(run.plan.work.proposals)
    if doubts:
        said = f"{count(doubts, 'doubt')} for you to decide: memdir restructure --dry-run"
        lines += screen.block("?", said, style="yellow")
    return ["", *lines] if lines else []


def _logged(logs: Gathered) -> str:
    """What became of every new entry."""
    parts = [f"{count(len(logs.saved), 'thing')} to remember"] * bool(logs.saved)
    parts += [f"{len(logs.held):,} for you to decide on (memdir review)"] if logs.held else []
    parts += [f"{count(logs.silent, 'entry', 'entries')} with nothing to keep"] * bool(logs.silent)
    return f"{count(logs.entries, 'new entry', 'new entries')}: {', '.join(parts)}"


def _dispute(screen: Screen, one: Disputed) -> list[str]:
    what = "put away" if one.older else "marked, for you to decide"
    lines = screen.block("?", f"{one.path}: CLAUDE.md says otherwise ({what})", style="yellow")
    lines += screen.block("", f"line {one.line}: {one.says}", "    ")
    return lines + screen.block("", f"CLAUDE.md, line {one.claude_line}: {one.claude_says}", "    ")


def _more(many: int) -> list[str]:
    """How many things are not shown, and how to see them."""
    more = many - FEW
    return [f"  and {more:,} more (all of them with --json)"] if more > 0 else []


# log-day: a line for today's log.


@command(
    "log-day", 'memdir log-day "The staging cluster moves on Friday."', changes=True, dashes=True
)
@click.argument("text")
@click.option("--type", metavar="TYPE", help="See: memdir types. Default: from the wording.")
@click.option("--date", metavar="DAY", help="The day `yesterday` in the text counts from.")
def log_day(session: Session, text: str, type: str | None, date: str | None) -> None:
    """Append TEXT to the log of today; `-` reads it from standard input.

    Logs are for what is learned on the way. They are only ever added to, by as many writers as
    there are, and no agent reads them; memdir dream makes memories of what they say to remember.
    """
    app = session.app
    if text == STDIN:
        text = read_text(STDIN, LONGEST_BYTES, "the text")
    day = read_day(date) if date is not None else None
    added = logs.log_day(app, text, guess_type(text) if type is None else type, day)
    fields = {
        "change": CREATED,
        "path": added.path,
        "entry": logs.written(added),
        "remarks": list(added.remarks),
        "dry_run": app.dry_run,
    }
    would = "would be logged in" if app.dry_run else "logged in"
    lines = [f"{would} {line(session.short(added.path))}"]
    lines += [f"  {line(text)}" for text in logs.written(added).rstrip("\n").split("\n")]
    for remark in added.remarks:
        lines += session.screen.block("note:", remark)
    session.screen.answer(fields, lines)
