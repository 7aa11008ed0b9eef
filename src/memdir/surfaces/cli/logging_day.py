"""log-day: a line for today's log."""

from __future__ import annotations

import click

from memdir.adapters.daily_log import LONGEST_BYTES
from memdir.core.draft import CREATED
from memdir.flows import logging_day as flow
from memdir.surfaces.cli.inputs import STDIN, guess_type, read_day, read_text
from memdir.surfaces.cli.session import Session, command
from memdir.surfaces.cli.visible import line


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
    added = flow.log_day(app, text, guess_type(text) if type is None else type, day)
    fields = {
        "change": CREATED,
        "path": added.path,
        "entry": flow.written(added),
        "remarks": list(added.remarks),
        "dry_run": app.dry_run,
    }
    would = "would be logged in" if app.dry_run else "logged in"
    lines = [f"{would} {line(session.short(added.path))}"]
    lines += [f"  {line(text)}" for text in flow.written(added).rstrip("\n").split("\n")]
    for remark in added.remarks:
        lines += session.screen.block("note:", remark)
    session.screen.answer(fields, lines)
