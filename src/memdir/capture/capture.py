"""Capture: read the new part of a conversation, draft memories, save or hold them.

A conversation is a transcript of a client, or messages that an agent hands over.
"""

from __future__ import annotations

import datetime
import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace

from memdir.capture.agent import UNUSABLE, Captured, ask_capture_agent
from memdir.capture.agent_tools import ProjectReader
from memdir.capture.origin import sign_draft
from memdir.capture.plan import ACTOR, CLIENT, Outcome, Request, carry_out_drafts, plan_drafts
from memdir.capture.progress import (
    MAX_FAILURES,
    Captures,
    HandledRequest,
    Plan,
    Progress,
    capture_pause_seconds,
    is_capture_due,
)
from memdir.capture.sessions import (
    HANDED_OVER,
    GivenMessage,
    Reader,
    make_records,
    open_session,
    session_belongs_to_client,
    transcript_size,
)
from memdir.capture.signals import (
    Catch,
    Origin,
    Signal,
    draft_quote,
    draft_requests,
    is_conversation_worth_asking,
    notice_requests,
    refuse_secret_drafts,
    request_is_met,
)
from memdir.clients.conversation import Message, NewMessages
from memdir.errors import BadInput, Missing
from memdir.format.draft import check_draft
from memdir.hot import safe
from memdir.hot.place import is_below
from memdir.hot.run import log_hook
from memdir.models.ledger import LedgerBroken, OverBudget, OverRun, open_model
from memdir.models.model import ModelFailed
from memdir.store.writer import App, store_state_folder
from memdir.text.secrets import find_secrets

PURPOSE = "capture"
MAX_LISTED = 20  # memories shown to the model
SEARCH_CHARACTERS = 8_000  # of the requests, used to find these memories
TURN_SECONDS = 30.0  # most runs take one or two turns, and the worker lives for four
NOTHING_NEW = "nothing new was said"
NOT_YET = "not this turn: capture.every"
UNTIL_END = "the model reads a conversation when it ends"
WROTE = "the agent wrote memories itself"
NO_SIGNAL = "nothing worth keeping was said"
WAITS = "it waits for the model"
GONE = "the transcript is gone"
CUT = "so much was said that its oldest part was not read"
LOST = "the place up to which it was read is gone from the transcript: all of it was read again"


def open_capture_states(app: App) -> Captures:
    return Captures(store_state_folder(app.config))


def capture(app: App, request: Request, reader: Reader | None = None) -> Outcome:
    """Capture the new part of a conversation, one run per store at a time.

    The plan of a run that was killed is carried out first.
    """
    captures = open_capture_states(app)
    if app.dry_run:
        return _Run(app, captures, request).capture(reader)
    with captures.lock.held("memdir capture", app.tell):
        before = _finish(app, captures)
        outcome = _Run(app, captures, request).capture(reader)
    things = {**before.things, **outcome.things}
    return replace(outcome, decided=(*before.decided, *outcome.decided), things=things)


def hand_over_messages(
    app: App,
    conversation: str | Sequence[GivenMessage],
    *,
    session: str = "",
    client: str = "",
    model: str | None = "",
) -> Outcome:
    """Capture a transcript, given by its path, or messages (`role`, `content`)."""
    app = replace(app, actor=ACTOR)
    if isinstance(conversation, str):
        path = os.path.abspath(conversation)
        if not os.path.exists(path) and not os.path.isfile(os.path.dirname(path)):
            raise Missing(f"there is no transcript {path}", path=path, next="check its spelling")
        request = Request(path, session, client or CLIENT, model=model)
        return capture(app, request, open_session(app, request.client, path))
    records = make_records(conversation, app.store.root)
    name = session or f"{HANDED_OVER}-{records[0].get('uuid', '')}"
    # The file can be temporary: the cursor is a message id.
    with tempfile.TemporaryDirectory(prefix="memdir-") as folder:
        path = os.path.join(folder, "conversation.jsonl")
        with open(path, "x", encoding="ascii") as file:
            file.write("".join(json.dumps(record) + "\n" for record in records))
        request = Request(path, name, HANDED_OVER, model=model)
        return capture(app, request, open_session(app, CLIENT, path))


def finish_capture_plan(app: App) -> Outcome:
    captures = open_capture_states(app)
    with captures.lock.held("memdir capture", app.tell):
        return _finish(app, captures)


def _finish(app: App, captures: Captures) -> Outcome:
    plan = captures.plan()
    return carry_out_drafts(app, captures, plan, again=True) if plan else Outcome()


def begin_capture_session(app: App, request: Request) -> None:
    """Note the start: a session whose end is never reported is captured later."""
    captures = open_capture_states(app)
    with captures.lock.held("memdir capture", app.tell):
        known = captures.load(request.session)
        if known.path != request.transcript:
            here = replace(known, client=request.client, path=request.transcript, time=app.now())
            captures.keep(here)
            captures.prune(app.now())


def find_uncaptured_sessions(app: App, but: Sequence[str], limit: int) -> list[Request]:
    """Sessions that grew since they were last read, or whose model may be tried again."""
    requests: list[Request] = []
    for known in open_capture_states(app).sessions():
        if len(requests) >= limit:
            break
        if known.session in but or not known.path or _must_wait(app, known):
            continue
        client = known.client or CLIENT
        size = (
            transcript_size(known.path)
            if session_belongs_to_client(app, client, known.path)
            else None
        )
        if size is not None and (size != known.size or known.failures):
            requests.append(Request(known.path, known.session, client, turns=0))
    return requests


class _Run:
    def __init__(self, app: App, captures: Captures, request: Request) -> None:
        name = os.path.splitext(os.path.basename(request.transcript))[0]
        self.app, self.captures, self.request = app, captures, request
        self.known = captures.load(request.session or name)

    def capture(self, reader: Reader | None) -> Outcome:
        app, request, known = self.app, self.request, self.known
        size = transcript_size(request.transcript)
        if size is None:
            return self._move_on(self._here(known.size), GONE)
        waits = WAITS if request.model is None and _must_wait(app, known) else ""
        same = size == known.size and request.client == (known.client or request.client)
        if same and waits:
            return Outcome(waiting=1, reason=WAITS, after=known.after)
        if same and not known.failures:
            return Outcome(reason=NOTHING_NEW)
        if not request.ends and known.turns + request.turns < app.config.options.capture_every:
            return self._count_turns()
        here = self._here(size)
        reader = reader or open_session(app, request.client)
        try:
            new = reader.read(request.transcript, known.cursor, request.last)
        except Missing:
            return self._move_on(here, GONE)
        if new.unreadable and (new.lost or not known.cursor.id):
            if known.client in ("", request.client):  # naming the wrong client changes nothing
                self._keep(here)
            reason = f"0 of {new.lines:,} lines could be read as a transcript of {request.client}"
            return Outcome(reason=reason, unreadable=True)
        remarks = tuple(text for is_so, text in ((new.cut, CUT), (new.lost, LOST)) if is_so)
        for remark in remarks:
            _log(app, f"session {known.session}: {remark}")
        waits = waits if request.ends else UNTIL_END
        return replace(self._take(new, here, waits), remarks=remarks)

    def _take(self, new: NewMessages, here: Progress, waits: str) -> Outcome:
        app, request, known = self.app, self.request, self.known
        there = replace(here, cursor=new.cursor)
        if _wrote_memories(new.said, app):
            return self._move_on(there, WROTE)
        # A dry run asks only a model that a person named.
        model = "" if request.model is None and app.dry_run else request.model
        chosen = choose_captured_drafts(app, new, known, request.client, model, waits)
        own = [
            it
            for it in chosen.catches
            if not (it.hold and it.origin.message in request.handed_over)
        ]
        chosen = replace(chosen, catches=tuple(own))
        if chosen.reason == UNTIL_END and not chosen.catches:
            return self._count_turns()
        if not chosen.catches and not chosen.left:
            unread = f"{new.broken:,} of {new.lines:,} lines could not be read"
            reason = f"{NO_SIGNAL} ({unread})" if new.broken else NO_SIGNAL
            return self._move_on(there, reason, chosen.tokens)
        after, progress = 0.0, _settled(there)
        if chosen.left:  # a model must see the rest, so the cursor stays
            failures = known.failures + (not waits)
            after = chosen.after or app.now() + capture_pause_seconds(failures)
            if chosen.reason == UNTIL_END:  # not read up to its size
                here, after = replace(here, size=known.size), 0.0
            progress = replace(
                here,
                failures=failures,
                after=after,
                why=chosen.reason,
                done=(*known.done, *chosen.done),
                asked=_model_settings(app),
            )
        reason = chosen.reason or "nothing worth keeping was found in it"
        waiting = self._waiting()
        plan = plan_drafts(
            app, progress, new.said, chosen.catches, waiting, left=chosen.left, reason=reason
        )
        outcome = carry_out_drafts(app, self.captures, plan)
        return replace(outcome, tokens=chosen.tokens, reason=chosen.reason, after=after)

    def _here(self, size: int) -> Progress:
        path, client = self.request.transcript, self.request.client
        now = self.app.now()
        return replace(self.known, client=client, path=path, size=size, turns=0, time=now)

    def _count_turns(self) -> Outcome:
        turns = self.known.turns + self.request.turns
        self._keep(replace(self._here(self.known.size), turns=turns))
        return Outcome(reason=NOT_YET)

    def _move_on(self, progress: Progress, reason: str, tokens: int = 0) -> Outcome:
        plan = Plan("", _settled(progress), dropped=self._waiting(), reason=reason)
        if plan.dropped:
            return replace(carry_out_drafts(self.app, self.captures, plan), tokens=tokens)
        self._keep(plan.progress)
        return Outcome(reason=reason, tokens=tokens)

    def _waiting(self) -> tuple[str, ...]:
        account = self.captures.journal.account()
        return tuple(item.id for item in account.waiting if item.session == self.known.session)

    def _keep(self, progress: Progress) -> None:
        if not self.app.dry_run:
            self.captures.keep(progress)


def _settled(progress: Progress) -> Progress:
    return replace(progress, failures=0, after=0.0, asked="", why="", done=())


def _must_wait(app: App, known: Progress) -> bool:
    """A change of the model or its limits ends the wait."""
    return (
        bool(known.failures)
        and _same_model(app, known)
        and not is_capture_due(known.after, app.now())
    )


def _same_model(app: App, known: Progress) -> bool:
    return known.asked in ("", _model_settings(app))


def _model_settings(app: App) -> str:
    options = app.config.options
    limits = options.session_tokens, options.day_tokens, options.run_tokens
    name = options.capture_model or options.model
    return " ".join([name, options.model_base_url, *map(str, limits)])


def _wrote_memories(said: Sequence[Message], app: App) -> bool:
    roots = {app.config.store, *app.config.scopes.values()}
    roots |= {os.path.realpath(root) for root in roots}
    wrote = {os.path.normpath(path) for message in said for path in message.wrote}
    return any(is_below(path, root) for path in wrote for root in roots)


@dataclass(frozen=True)
class Choice:
    """`left`: something waits for a model, until `after` if known.

    `done`: requests that are among the catches although the rest waits.
    """

    catches: tuple[Catch, ...] = ()
    left: bool = False
    done: tuple[HandledRequest, ...] = ()
    tokens: int = 0
    reason: str = ""
    after: float = 0.0


def choose_captured_drafts(
    app: App, new: NewMessages, known: Progress, client: str, model: str | None, waits: str = ""
) -> Choice:
    """Drafts by a model within the budget, or requests in the person's own words.

    `model`: None for the configured one, empty for none. `waits`: why it is not asked yet.
    """
    said, origin = new.said, Origin(client=client, session=known.session)
    done = {(item.message, item.quote) for item in known.done}
    noticed = notice_requests(said)
    signals = [item for item in noticed if (item.said.id, draft_quote(item.quote)) not in done]
    options = app.config.options
    named = (options.capture_model or options.model) if model is None else model
    if not named:
        return _own_words(signals, said, origin)
    if model is None and known.failures >= MAX_FAILURES and _same_model(app, known):
        reason = f"the model failed {MAX_FAILURES} times ({known.why})"
        return _own_words(signals, said, origin, reason)
    asked = [signal for signal in signals if signal.asked_for]
    at_once = _own_words(asked, said, origin)
    if len(asked) == len(signals) and not is_conversation_worth_asking(said, signals):
        return at_once  # only requests, which need no model
    met = tuple(HandledRequest(signal.said.id, draft_quote(signal.quote)) for signal in asked)
    at_once = replace(at_once, left=True, done=met)
    if waits:
        return replace(at_once, reason=waits, after=known.after)
    try:
        captured = _ask_model(app, named, signals, said, origin)
    except OverRun as error:  # waiting would not help
        reason = f"no model was asked: {error.message} (budget.run_tokens)"
        _log(app, reason)
        return _own_words(signals, said, origin, reason)
    except (OverBudget, ModelFailed, LedgerBroken, BadInput) as error:
        if model and isinstance(error, BadInput):
            raise  # whoever named the model sees the error at once
        after = _tomorrow(app.now()) if isinstance(error, OverBudget) else 0.0
        return replace(at_once, reason=error.message, after=after)
    return _merge(app, captured, signals, said, origin, known.done)


def _ask_model(
    app: App, named: str, signals: Sequence[Signal], said: Sequence[Message], origin: Origin
) -> Captured:
    run_tokens = app.config.options.run_tokens
    model = open_model(app, PURPOSE, origin.session, named=named, run=run_tokens)
    text = "\n".join(signal.quote for signal in signals)[:SEARCH_CHARACTERS]
    related = app.search.find(text, MAX_LISTED)
    captured = ask_capture_agent(
        said,
        signals,
        origin,
        [hit.memory for hit in related.hits[:MAX_LISTED]],
        model,
        ProjectReader(app.config.checkout, app.config.store),
        total=related.searched,
        seconds=TURN_SECONDS,
    )
    model.produced(captured.produced)
    return captured


def _merge(
    app: App,
    captured: Captured,
    signals: Sequence[Signal],
    said: Sequence[Message],
    origin: Origin,
    done: Sequence[HandledRequest],
) -> Choice:
    """The model's drafts, and the requests it missed in the person's own words.

    Rules are added the same way if the run broke off or a draft cannot be saved.
    """
    taken, reason = [], captured.reason
    for catch in captured.catches:
        if problem := _problem(app, catch):
            reason = reason or f"{UNUSABLE}: {problem}"
        else:
            taken.append(catch)
    if reason:
        _log(app, reason)
    wanted = [signal for signal in signals if reason or signal.asked_for]
    left = [signal for signal in wanted if not request_is_met(signal, signals, taken)]
    taken += _explain(draft_requests(left, said, origin), reason)
    kept = [catch for catch in taken if not _repeats(catch, done)]
    return Choice(_sign(kept, said), tokens=captured.usage.total, reason=reason)


def _problem(app: App, catch: Catch) -> str:
    if catch.draft is None:
        return ""
    if find_secrets(catch.draft.body):
        return "a draft holds what looks like a secret"
    try:
        check_draft(catch.draft, app.rules())
    except BadInput as error:
        return error.message
    return ""


def _own_words(
    signals: Sequence[Signal], said: Sequence[Message], origin: Origin, reason: str = ""
) -> Choice:
    drafts = _explain(draft_requests(signals, said, origin), reason)
    return Choice(_sign(drafts, said), reason=reason if signals else "")


def _explain(catches: Sequence[Catch], reason: str) -> list[Catch]:
    why = f"{reason}; " if reason else ""
    return [replace(item, hold=f"{why}{item.hold}") if item.hold else item for item in catches]


def _sign(catches: Sequence[Catch], said: Sequence[Message]) -> tuple[Catch, ...]:
    return tuple(
        replace(item, draft=sign_draft(item.draft, item.origin))
        if item.draft and not item.refuse
        else item
        for item in refuse_secret_drafts(catches, said)
    )


def _repeats(catch: Catch, done: Sequence[HandledRequest]) -> bool:
    """True for a draft of a request that was saved before."""
    quote = draft_quote(catch.origin.quote)
    return any(
        item.message == catch.origin.message
        and bool(item.quote and quote and (item.quote in quote or quote in item.quote))
        for item in done
    )


def _log(app: App, text: str) -> None:
    if not app.dry_run:
        log_hook(app.config.state_dir, PURPOSE, text)


def _tomorrow(now: float) -> float:
    tomorrow = datetime.datetime.fromtimestamp(now + safe.DAY).astimezone()
    return tomorrow.replace(hour=0, minute=0, second=1).timestamp()
