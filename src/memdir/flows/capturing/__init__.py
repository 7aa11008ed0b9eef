"""Capture: read what is new → notice → draft → plan → save, hold or retire → move on.

At any moment it may be killed: a plan that was written down is carried out by the next run, and
the cursor moves only when all of it is on disk.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, cast

from memdir import registry
from memdir.adapters.captures import Captures
from memdir.adapters.disk import failure
from memdir.app import App, state_folder
from memdir.core.accounts import HELD, SAVED, Entry
from memdir.core.errors import Missing
from memdir.core.progress import PATIENCE, Plan, Progress, is_due, pause
from memdir.core.scope import below
from memdir.core.transcript import Cursor, Said, Session, Stretch
from memdir.flows.capturing.choosing import Choice, Told, choose
from memdir.flows.capturing.planning import make_plan
from memdir.flows.capturing.settling import carry_out, try_out

CLIENT = "claude-code"
NOTHING_NEW = "nothing new was said"
NOT_YET = "not this turn: capture.every"
WROTE = "the agent wrote memories itself"
NO_SIGNAL = "nothing worth keeping was said"
WAITS = "it waits for the model"
GONE = "the transcript is gone"


class Reader(Protocol):
    """Reads the transcripts of one client, none outside of `root`."""

    root: str

    def read(self, path: str, since: Cursor, last: str = "") -> Stretch: ...
    def sessions(self, project: str) -> list[Session]: ...


@dataclass(frozen=True)
class Request:
    """A conversation that should be looked at.

    `last` is a reply that may not be in the file yet; `turns` have ended since the last request;
    `ends`: it is looked at now, however few turns that were.
    """

    transcript: str
    session: str = ""
    client: str = CLIENT
    last: str = ""
    turns: int = 1
    ends: bool = True
    model: str | None = None  # None: the one of the settings; empty: none


@dataclass(frozen=True)
class Outcome:
    """What came of it; after `after` it is worth another try."""

    decided: tuple[Entry, ...] = ()
    waiting: int = 0
    tokens: int = 0
    reason: str = ""
    after: float = 0.0

    def of(self, what: str) -> list[Entry]:
        """What was decided in that way."""
        return [one for one in self.decided if one.what == what]

    @property
    def received(self) -> int:
        """Everything that was decided on, and what still waits."""
        return len(self.decided) + self.waiting


def open_reader(app: App, client: str, path: str = "") -> Reader:
    """The reader of a client's transcripts; a `path` that a person named may lie anywhere."""
    member = registry.load("transcripts", client.replace("-", "_"))
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
    return replace(outcome, decided=(*finished, *outcome.decided))


def finish(app: App) -> Outcome:
    """Carry out what an earlier run had written down when it was cut off."""
    captures = captures_of(app)
    with captures.lock.held("memdir capture", app.tell):
        return Outcome(_finish(app, captures))


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
    """Conversations that went on after they were looked at last, the newest first."""
    found = []
    for known in captures_of(app).sessions():
        if known.session in but or not known.path or not is_due(known.after, app.now()):
            continue
        if _size(known.path) not in (None, known.size):
            found.append(Request(known.path, known.session, known.client or CLIENT, turns=0))
        if len(found) >= most:
            break
    return found


def _run(app: App, captures: Captures, request: Request, reader: Reader | None) -> Outcome:
    session = request.session or os.path.splitext(os.path.basename(request.transcript))[0]
    known = captures.load(session)
    size = _size(request.transcript)
    move = _Move(app, captures, known, request, size if size is not None else known.size)
    if size is None:
        return move.on(known.cursor, GONE)
    waits = bool(known.failures) and not is_due(known.after, app.now())
    if size == known.size and (waits or not known.failures):
        after, reason = (known.after, WAITS) if waits else (0.0, NOTHING_NEW)
        return Outcome(waiting=int(waits), reason=reason, after=after)
    if not request.ends and known.turns + request.turns < app.config.options.capture_every:
        return move.later()
    reader = reader or open_reader(app, request.client)
    try:
        stretch = reader.read(request.transcript, known.cursor, request.last)
    except Missing:
        return move.on(known.cursor, GONE)
    if _wrote_itself(stretch.said, app):
        return move.on(stretch.cursor, WROTE)
    if known.failures >= PATIENCE:
        request = replace(request, model="")
    told = Told(session, request.client, stretch, known, WAITS if waits else "")
    chosen = choose(app, told, request.model)
    if not chosen.catches and not chosen.left:
        return move.on(stretch.cursor, NO_SIGNAL, chosen.tokens)
    return move.settle(stretch, chosen)


def _wrote_itself(said: Sequence[Said], app: App) -> bool:
    """True where the agent of the conversation wrote into one of the stores at hand."""
    roots = {app.config.store, *app.config.scopes.values()}
    roots |= {os.path.realpath(root) for root in roots}
    wrote = {os.path.normpath(path) for one in said for path in one.wrote}
    return any(below(path, root) for path in wrote for root in roots)


def _finish(app: App, captures: Captures) -> tuple[Entry, ...]:
    plan = captures.plan()
    return tuple(carry_out(app, captures, plan, again=True)) if plan else ()


def _size(path: str) -> int | None:
    """None where there is no such file; one that cannot be looked at may be there."""
    try:
        return os.stat(path).st_size
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    except OSError as error:
        raise failure(error, path, "the transcript cannot be looked at") from None


@dataclass(frozen=True)
class _Move:
    """From how far a conversation was known to how far it is known now."""

    app: App
    captures: Captures
    known: Progress
    request: Request
    size: int

    def later(self) -> Outcome:
        """Count the turns; the conversation is looked at when there were enough."""
        turns = self.known.turns + self.request.turns
        self._keep(replace(self._here(), turns=turns, size=self.known.size))
        return Outcome(reason=NOT_YET)

    def on(self, cursor: Cursor, reason: str, tokens: int = 0) -> Outcome:
        """There is nothing to do: only the cursor moves, and what waited came to nothing."""
        plan = Plan("", self._at(cursor), dropped=self._waiting(), reason=reason)
        done: Sequence[Entry] = ()
        if plan.dropped and not self.app.dry_run:
            self.captures.announce(plan)
            done = carry_out(self.app, self.captures, plan)
        else:
            self._keep(plan.progress)
        return Outcome(tuple(done), 0, tokens, reason)

    def settle(self, stretch: Stretch, chosen: Choice) -> Outcome:
        """Write the plan down, then carry it out."""
        after, progress = 0.0, self._at(stretch.cursor)
        if chosen.left:  # a model has to see the rest: nothing moves but what was done
            failures = self.known.failures + (not chosen.waits)
            after = chosen.after or self.app.now() + pause(failures)
            progress = replace(
                self._here(),
                cursor=self.known.cursor,
                failures=failures,
                after=after,
                done=(*self.known.done, *chosen.done),
            )
        plan = make_plan(self.app, progress, self.known, stretch, chosen, self._waiting())
        if self.app.dry_run:
            done = try_out(self.app, plan)
        else:
            self.captures.announce(plan)
            done = carry_out(self.app, self.captures, plan)
        return Outcome(tuple(done), len(plan.waits), chosen.tokens, chosen.reason, after)

    def _here(self) -> Progress:
        """The same place, as it is known now."""
        return replace(
            self.known,
            client=self.request.client,
            path=self.request.transcript,
            size=self.size,
            turns=0,
            time=self.app.now(),
        )

    def _at(self, cursor: Cursor) -> Progress:
        """Further on, with nothing left behind."""
        return replace(self._here(), cursor=cursor, failures=0, after=0.0, done=())

    def _waiting(self) -> tuple[str, ...]:
        """The things of this conversation that wait."""
        account = self.captures.journal.account()
        return tuple(one.id for one in account.waiting if one.session == self.known.session)

    def _keep(self, progress: Progress) -> None:
        if not self.app.dry_run:
            self.captures.keep(progress)


def report(decided: Sequence[Entry], most: int = 5) -> str:
    """One line for the user; empty where nothing happened."""
    saved = [one.name for one in decided if one.what == SAVED]
    held = sum(one.what == HELD for one in decided)
    if not saved and not held:
        return ""
    parts = []
    if saved:
        names = ", ".join(saved[:most]) + (", …" if len(saved) > most else "")
        noun = "memory" if len(saved) == 1 else "memories"
        parts.append(f"saved {len(saved)} {noun} ({names})")
    if held:
        parts.append(f"{held} held (memdir review)")
    return "memdir: " + ", ".join(parts)
