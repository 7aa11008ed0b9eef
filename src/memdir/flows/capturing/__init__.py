"""Capture: read what is new → notice → draft → plan → save, hold or retire → move on.

At any moment it may be killed: a plan that was written down is carried out by the next run, and
the cursor moves only when all of it is on disk.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol, cast

from memdir import registry
from memdir.adapters.captures import Captures
from memdir.adapters.disk import failure
from memdir.adapters.log_file import log
from memdir.app import App, state_folder
from memdir.core.errors import Missing
from memdir.core.progress import PATIENCE, Progress, is_due
from memdir.core.scope import below
from memdir.core.transcript import Cursor, Said, Session, Stretch
from memdir.flows.capturing.choosing import PURPOSE, UNTIL_END, Told, basis, choose
from memdir.flows.capturing.moving import Move
from memdir.flows.capturing.outcome import (
    CLIENT,
    CUT,
    GONE,
    HANDED_OVER,
    LOST,
    NO_SIGNAL,
    NOTHING_NEW,
    WAITS,
    WROTE,
    Outcome,
    Request,
    report,
)
from memdir.flows.capturing.settling import carry_out

__all__ = [
    "CLIENT",
    "Outcome",
    "Reader",
    "Request",
    "begin",
    "capture",
    "captures_of",
    "finish",
    "missed",
    "open_reader",
    "report",
]


class Reader(Protocol):
    """Reads the transcripts of one client, none outside of `root`."""

    root: str

    def read(self, path: str, since: Cursor, last: str = "") -> Stretch: ...
    def sessions(self, project: str) -> list[Session]: ...


def open_reader(app: App, client: str, path: str = "") -> Reader:
    """The reader of a client's transcripts; a `path` that a person named may lie anywhere."""
    member = registry.load("transcripts", client.replace("-", "_"), app.config.own)
    # What was decided counts, not the variable: a repository may have set that.
    environ = {**app.config.environ, "CLAUDE_CONFIG_DIR": app.config.claude_dir}
    reader = cast(Reader, member.open_reader(app.config.home, environ))
    if path:
        reader.root = os.path.dirname(os.path.realpath(path))
    return reader


def captures_of(app: App) -> Captures:
    """What capture keeps of this store."""
    return Captures(state_folder(app.config))


def capture(app: App, request: Request, reader: Reader | None = None) -> Outcome:
    """read → notice → draft → plan → settle → move the cursor; one run of a store at a time"""
    captures = captures_of(app)
    if app.dry_run:
        return _run(app, captures, request, reader)
    with captures.lock.held("memdir capture", app.tell):
        finished = _finish(app, captures)
        outcome = _run(app, captures, request, reader)
    things = {**finished.things, **outcome.things}
    return replace(outcome, decided=(*finished.decided, *outcome.decided), things=things)


def finish(app: App) -> Outcome:
    """Carry out what an earlier run had written down when it was cut off."""
    captures = captures_of(app)
    with captures.lock.held("memdir capture", app.tell):
        return _finish(app, captures)


def begin(app: App, request: Request) -> None:
    """Note that a conversation began: should nobody say that it ended, it is made up for."""
    captures = captures_of(app)
    with captures.lock.held("memdir capture", app.tell):
        known = captures.load(request.session)
        if known.path != request.transcript:
            captures.keep(
                replace(known, client=request.client, path=request.transcript, time=app.now())
            )
            captures.prune(app.now())


def missed(app: App, but: Sequence[str], most: int) -> list[Request]:
    """Conversations that went on after they were looked at last, the newest first.

    Also those whose model may be asked again by now.
    """
    found = []
    for known in captures_of(app).sessions():
        if known.session in but or not known.path or _waits(app, known):
            continue
        size = _size(known.path) if _is_theirs(app, known) else None
        if size is not None and (size != known.size or known.failures):
            found.append(Request(known.path, known.session, known.client or CLIENT, turns=0))
        if len(found) >= most:
            break
    return found


def _waits(app: App, known: Progress) -> bool:
    """True while a model is not to be asked; with other limits, or another model, it is at once."""
    if not known.failures or is_due(known.after, app.now()):
        return False
    return known.asked == basis(app)


def _is_theirs(app: App, known: Progress) -> bool:
    """True for a file among the client's own; any other is read only when a person names it."""
    if known.client == HANDED_OVER:
        return False
    root = os.path.realpath(open_reader(app, known.client or CLIENT).root)
    folder = os.path.realpath(os.path.dirname(known.path))
    return folder == root or below(folder, root)


def _run(app: App, captures: Captures, request: Request, reader: Reader | None) -> Outcome:
    session = request.session or os.path.splitext(os.path.basename(request.transcript))[0]
    known = captures.load(session)
    size = _size(request.transcript)
    move = Move(app, captures, known, request, size if size is not None else known.size)
    if size is None:
        return move.on(known.cursor, GONE)
    waits = request.model is None and _waits(app, known)
    if (
        size == known.size
        and request.client == (known.client or request.client)
        and (waits or not known.failures)
    ):
        after, reason = (known.after, WAITS) if waits else (0.0, NOTHING_NEW)
        return Outcome(waiting=int(waits), reason=reason, after=after)
    if not request.ends and known.turns + request.turns < app.config.options.capture_every:
        return move.later()
    reader = reader or open_reader(app, request.client)
    try:
        stretch = reader.read(request.transcript, known.cursor, request.last)
    except Missing:
        return move.on(known.cursor, GONE)
    if stretch.unreadable and (stretch.lost or not known.cursor.id):
        return move.stay(stretch)
    outcome = _take(move, stretch, waits)
    remarks = tuple(text for is_so, text in ((stretch.cut, CUT), (stretch.lost, LOST)) if is_so)
    for remark in remarks if not app.dry_run else ():
        log(app.config.state_dir, PURPOSE, f"session {session}: {remark}")
    return replace(outcome, remarks=remarks)


def _take(move: Move, stretch: Stretch, waits: bool) -> Outcome:
    """notice → draft → settle, of what was read"""
    app, request, known = move.app, move.request, move.known
    if _wrote_itself(stretch.said, app):
        return move.on(stretch.cursor, WROTE)
    given_up = known.why if request.model is None and _given_up(app, known) else ""
    told = Told(
        known.session,
        request.client,
        stretch,
        known,
        WAITS if waits else "",
        given_up,
        request.ends,
    )
    chosen = choose(app, told, _model(app, request, known))
    if chosen.reason == UNTIL_END and not chosen.catches:
        return move.later()
    if not chosen.catches and not chosen.left:
        return move.on(stretch.cursor, NO_SIGNAL + _unread(stretch), chosen.tokens)
    return move.settle(stretch, chosen)


def _model(app: App, request: Request, known: Progress) -> str | None:
    """Who is asked. A dry run asks nobody but the one a person named; and patience has an end."""
    if request.model is not None:
        return request.model
    return "" if app.dry_run or _given_up(app, known) else None


def _given_up(app: App, known: Progress) -> bool:
    return known.failures >= PATIENCE and known.asked in ("", basis(app))


def _unread(stretch: Stretch) -> str:
    if not stretch.broken:
        return ""
    return f" ({stretch.broken:,} of {stretch.lines:,} lines could not be read)"


def _wrote_itself(said: Sequence[Said], app: App) -> bool:
    """True where the agent of the conversation wrote into one of the stores at hand."""
    roots = {app.config.store, *app.config.scopes.values()}
    roots |= {os.path.realpath(root) for root in roots}
    wrote = {os.path.normpath(path) for one in said for path in one.wrote}
    return any(below(path, root) for path in wrote for root in roots)


def _finish(app: App, captures: Captures) -> Outcome:
    plan = captures.plan()
    if plan is None:
        return Outcome()
    things = {item.id: item.catch for item in plan.items}
    return Outcome(tuple(carry_out(app, captures, plan, again=True)), things=things)


def _size(path: str) -> int | None:
    """None where there is no such file; one that cannot be looked at may be there."""
    try:
        return os.stat(path).st_size
    except NotADirectoryError:
        return _changed(os.path.dirname(path))
    except (FileNotFoundError, ValueError):
        return None
    except OSError as error:
        raise failure(error, path, "the transcript cannot be looked at") from None


def _changed(table: str) -> int | None:
    """When a database was last written: a conversation inside it has no size of its own."""
    files = [path for path in (table, f"{table}-wal") if os.path.isfile(path)]
    return max((os.stat(path).st_mtime_ns for path in files), default=None)
