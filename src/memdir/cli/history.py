"""Log, diff, undo: what happened, and taking it back."""

from __future__ import annotations

from collections.abc import Sequence

import click

from memdir.capture import review
from memdir.cli.command import Session, command, read_moment
from memdir.cli.output import (
    SHORT_ID,
    Cell,
    Fields,
    Screen,
    advised,
    diff_lines,
    done_fields,
    done_lines,
    kind,
    logged_fields,
    moment,
)
from memdir.cli.output import diff as diff_of
from memdir.errors import BadInput, Missing
from memdir.format.names import means
from memdir.hot.memory import INDEX, RECORD_INDEX
from memdir.store import look, ports
from memdir.store.ports import Logged
from memdir.store.writer import App, Done
from memdir.text.terminal import count, line

NEWEST = 20  # changes that a person gets to see
SHORTEST_ID = 4  # characters that may stand for a change
FEW = 30  # files that are named one by one
INDEXES = (INDEX, RECORD_INDEX)
SIGNS = {ports.ADDED: "+", ports.MODIFIED: "~", ports.GONE: "-"}


@command("log", "memdir log use-uv")
@click.argument("name", required=False, default="")
@click.option("-n", "number", default=NEWEST, show_default=True, help="How many; 0 is all.")
def log(session: Session, name: str, number: int) -> None:
    """List the changes, the newest first.

    Also those that an agent, an editor or a sync made: their actor is `outside`. The signs
    before a file: + came, ~ changed, - went.
    """
    limit = number if number > 0 else None
    found: list[tuple[str, Logged]] = []
    for scope, app in session.apps():
        found += [(scope, logged) for logged in look.log(app, name, limit)]
    several = session.config.scope.kind == "all"
    if several:
        found = sorted(found, key=lambda pair: -pair[1].time)[:limit]
    changes = [{**logged_fields(logged), "scope": scope} for scope, logged in found]
    rows = [_row(logged, [scope] if several else []) for scope, logged in found]
    none = f"no change of {line(name)}" if name else "no changes yet"
    lines = session.screen.table(rows) if rows else [none]
    if found:
        text = "Look at one: memdir diff ID · take one back: memdir undo ID"
        lines += ["", *session.screen.block("", session.screen.advise(text), "")]
    session.screen.answer({"changes": changes}, lines)


def _row(logged: Logged, more: Sequence[str] = ()) -> list[Cell]:
    # The index moves with nearly every change; it is only worth a word where it moved alone.
    paths = [(c, path) for c, path in logged.paths if path not in INDEXES] or logged.paths
    files = [SIGNS[change] + path for change, path in paths]
    outside = logged.cause.verb == ports.OUTSIDE
    what = "" if outside else _what(logged) + ": " * bool(files)
    where = [*more, moment(logged.time), logged.cause.actor]
    return [(logged.id[:SHORT_ID], "cyan"), *where, what + " ".join(files)]


def _what(logged: Logged) -> str:
    """The verb, the name where no file shows it, and the reason."""
    cause = logged.cause
    named = any(means(cause.name, path) for _, path in logged.paths)
    what = cause.verb if named else f"{cause.verb} {cause.name}".strip()
    return f"{what} ({cause.reason})" if cause.reason else what


@command("diff", "memdir diff use-uv")
@click.argument("change", metavar="[CHANGE|NAME]", required=False, default="")
def diff(session: Session, change: str) -> None:
    """Show what one change did.

    It is the newest, the one with this id, or the newest of this memory.
    """
    logged, versions = _find(_store_of(session, change), change)
    files: list[Fields] = [
        {"path": path, "change": kind(old, new), "diff": diff_of(path, old, new)}
        for path, old, new in versions
    ]
    lines = session.screen.table([_row(logged)])
    for file in files:
        lines += ["", *diff_lines(session.screen, str(file["diff"]))]
    session.screen.answer({"changes": [logged_fields(logged)], "files": files}, lines)


def _store_of(session: Session, change: str) -> App:
    """The store that was asked for; of all stores, the one whose history has that change."""
    if session.config.scope.kind != "all" or not change:
        return session.app
    found, missing = list[tuple[str, App]](), Missing("there is no change yet")
    for scope, app in session.apps():
        try:
            app.history.find(change)
            found.append((scope, app))
        except Missing as error:
            missing = error
    if len(found) > 1:
        scopes = ", ".join(scope for scope, _ in found)
        raise BadInput(f"{change!r} is in several scopes: {scopes}", next="choose one with --scope")
    if not found:
        raise missing
    return found[0][1]


def _find(app: App, wanted: str) -> tuple[Logged, list[tuple[str, bytes | None, bytes | None]]]:
    """A change by its id; else the newest change of the memory that is called so."""
    try:
        return look.diff(app, wanted)
    except Missing:
        found = look.log(app, wanted, 1) if wanted else []
        if not found:
            raise
    logged, versions = look.diff(app, found[0].id)
    return logged, [version for version in versions if means(wanted, version[0])]


@command("undo", "memdir undo", changes=True, bulk=True)
@click.argument("change", required=False)
@click.option("--batch", metavar="ID", help="Everything of one batch.")
@click.option("--since", metavar="TIME", help="Everything since: 10m, 2h, 2026-03-02T14:00.")
def undo(session: Session, change: str | None, batch: str | None, since: str | None) -> None:
    """Take a change back.

    It is the newest that still stands, unless you name one. Undo is itself a change, so it can
    be undone. Where something newer stands in the way, both texts are shown and nothing is
    written.
    """
    if sum(given is not None for given in (change, batch, since)) > 1:
        raise click.UsageError("Give CHANGE, --batch or --since.", click.get_current_context())
    if change is not None and len(change.strip()) < SHORTEST_ID:
        raise BadInput(f"{change!r} is too short for a change", next="memdir log lists them")
    if batch is not None and not batch.strip():
        raise BadInput("--batch is empty", next="memdir log --json shows the batch of each change")
    app = _store_of(session, change or "")
    start = None if since is None else read_moment(since, app.now())

    def told(done: Done) -> None:
        done = advised(session.screen, done)
        undone = list(done.undone)
        files = done_fields(app, done)
        fields = {**files, "changes": [logged_fields(logged) for logged in undone]}
        fields.setdefault("files", files["changes"])
        session.screen.answer(fields, _undone_lines(session.screen, undone, done))

    review.undo(app, change or "", batch or "", start, told)


def _undone_lines(screen: Screen, undone: list[Logged], done: Done) -> list[str]:
    head = "would undo" if done.dry_run else "undone"
    lines = [screen.paint(head, "green")]
    lines += screen.table([_row(logged) for logged in undone])
    if not done.changes:
        return [*lines, "  the files are as before already; nothing was written"]
    if done.dry_run:
        return [*lines, "", *done_lines(screen, done)]
    for change in done.changes[:FEW]:
        lines.append(f"  {line(change.path)} {change.reason or 'is back as it was'}")
    more = len(done.changes) - FEW
    lines += [f"  and {count(more, 'more file')}"] if more > 0 else []
    told = tuple(change.path for change in done.changes)  # their lines have said it
    for remark in done.remarks:
        lines += [] if remark.startswith(told) else screen.block("note:", remark)
    return lines
