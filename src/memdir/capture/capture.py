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

from memdir.capture import sessions
from memdir.capture.ask import UNUSABLE, Drafted, Memories, ask_for_drafts
from memdir.capture.inbox import open_inbox, sign_captured_draft
from memdir.capture.plan import (
    ACTOR,
    CLIENT,
    Outcome,
    Request,
    carry_out_drafts,
    drop_turns_with_saves,
    leave_out_decided_captures,
    plan_drafts,
)
from memdir.capture.progress import (
    MAX_FAILURES,
    Captures,
    Plan,
    Progress,
    capture_pause_seconds,
    is_capture_due,
)
from memdir.capture.signals import (
    Catch,
    Origin,
    Signal,
    draft_requests,
    is_conversation_worth_asking,
    notice_requests,
    refuse_secret_drafts,
    rests_on_request,
)
from memdir.clients.conversation import PERSON, Message, NewMessages
from memdir.errors import BadInput, MemdirError, Missing
from memdir.format.draft import check_draft_format
from memdir.hot import safe
from memdir.hot.memory import stem
from memdir.hot.run import log_hook
from memdir.models.ledger import LedgerBroken, OverBudget, OverRun, open_model
from memdir.models.model import ModelFailed
from memdir.store.writer import App, store_state_folder
from memdir.text.secrets import find_secrets

PURPOSE = "capture"
MAX_LISTED = 20  # memories shown to the model
SEARCH_CHARACTERS = 8_000  # of the requests, used to find these memories
SECONDS = 30.0  # for an answer; the worker lives for four of them
NOTHING_NEW = "nothing new was said"
NOT_YET = "not this turn: capture.every"
UNTIL_END = "the model reads a conversation when it ends"
NO_SIGNAL = "nothing worth keeping was said"
WAITS = "it waits for the model"
GONE = "the transcript is gone"
CUT = "so much was said that its oldest part was not read"
LOST = "the place up to which it was read is gone from the transcript: all of it was read again"


def open_capture_states(app: App) -> Captures:
    return Captures(store_state_folder(app.config))


def capture(app: App, request: Request, reader: sessions.Reader | None = None) -> Outcome:
    """Capture the new part of a conversation, one run per store at a time.

    The plan of a run that was killed is carried out first.
    """
    captures = open_capture_states(app)
    if app.dry_run:
        return _capture_session(app, captures, request, reader)
    with captures.lock.held("memdir capture", app.tell):
        plan = captures.plan()
        before = carry_out_drafts(app, captures, plan, again=True) if plan else Outcome()
        outcome = _capture_session(app, captures, request, reader)
    things = {**before.things, **outcome.things}
    return replace(outcome, decided=(*before.decided, *outcome.decided), things=things)


def hand_over_messages(
    app: App,
    conversation: str | Sequence[sessions.GivenMessage],
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
        return capture(app, request, sessions.capture_reader(app, request.client, path))
    records = sessions.transcript_to_capture(conversation, app.store.root)
    name = session or f"{sessions.HANDED_OVER}-{records[0].get('uuid', '')}"
    # The file can be temporary: the cursor is a message id.
    with tempfile.TemporaryDirectory(prefix="memdir-") as folder:
        path = os.path.join(folder, "conversation.jsonl")
        with open(path, "x", encoding="ascii") as file:
            file.write("".join(json.dumps(record) + "\n" for record in records))
        request = Request(path, name, sessions.HANDED_OVER, model=model)
        return capture(app, request, sessions.capture_reader(app, CLIENT, path))


def finish_capture_plan(app: App) -> Outcome:
    captures = open_capture_states(app)
    with captures.lock.held("memdir capture", app.tell):
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
            open_inbox(app).expire(app.now())


def find_uncaptured_sessions(app: App, but: Sequence[str], limit: int) -> list[Request]:
    """Sessions that grew since they were last read, or whose model may be tried again."""
    requests: list[Request] = []
    for known in open_capture_states(app).sessions():
        if len(requests) >= limit:
            break
        if known.session in but or not known.path or _must_wait(app, known):
            continue
        client = known.client or CLIENT
        if not sessions.may_capture_session_unasked(app, client, known.path):
            continue
        size = sessions.transcript_size(known.path)
        if size is not None and (size != known.size or known.failures):
            requests.append(Request(known.path, known.session, client, turns=0))
    return requests


def _capture_session(
    app: App, captures: Captures, request: Request, reader: sessions.Reader | None
) -> Outcome:
    name = os.path.splitext(os.path.basename(request.transcript))[0]
    known = captures.load(request.session or name)
    here = replace(known, client=request.client, path=request.transcript, turns=0, time=app.now())
    size = sessions.transcript_size(request.transcript)
    if size is None:
        return _end_session(app, captures, here, GONE)
    must_wait = request.model is None and _must_wait(app, known)
    if size == known.size and request.client == (known.client or request.client):
        if must_wait:
            return Outcome(waiting=1, reason=WAITS, after=known.after)
        if not known.failures:
            return Outcome(reason=NOTHING_NEW)
    reader = reader or sessions.capture_reader(app, request.client)
    try:
        new = reader.read(request.transcript, known.cursor)
    except Missing:
        return _end_session(app, captures, here, GONE)
    if new.unreadable and (new.lost or not known.cursor.id):
        if known.client in ("", request.client):  # naming the wrong client changes nothing
            _keep(app, captures, replace(here, size=size))
        reason = f"0 of {new.lines:,} lines could be read as a transcript of {request.client}"
        return Outcome(reason=reason, unreadable=True)
    remarks = (CUT,) * new.cut + (LOST,) * new.lost
    for remark in remarks:
        _log(app, f"session {known.session}: {remark}")
    # A dry run asks only a model that a person named.
    model = "" if request.model is None and app.dry_run else request.model
    later = WAITS if must_wait else ""
    if not request.ends and known.turns + request.turns < app.config.options.capture_every:
        later = NOT_YET
    elif not request.ends and _model_name(app, model):
        later = UNTIL_END
    choice = choose_captured_drafts(app, new, known, request.client, model, later)
    # What the agent was handed as records is not held for review a second time.
    handed = request.handed_over
    own = [it for it in choice.catches if not (it.hold and it.origin.message in handed)]
    choice = replace(choice, catches=tuple(own))
    # The cursor stays where it is as long as a model has to see the rest.
    if choice.later in (NOT_YET, UNTIL_END):
        progress = replace(here, size=known.size, turns=known.turns + request.turns)
    elif choice.later:
        failures = known.failures + (choice.later != WAITS)
        after = choice.after or app.now() + capture_pause_seconds(failures)
        asked = _model_settings(app)
        tried = replace(here, failures=failures, after=after, why=choice.later, asked=asked)
        progress = replace(tried, size=size)
    else:
        progress = _settled(replace(here, size=size, cursor=new.cursor))
    outcome = _carry_out(app, captures, progress, new, choice)
    return replace(outcome, tokens=choice.tokens, after=progress.after, remarks=remarks)


def _carry_out(
    app: App, captures: Captures, progress: Progress, new: NewMessages, choice: Choice
) -> Outcome:
    waits = bool(choice.later) and bool(progress.after)
    catches, earlier = leave_out_decided_captures(app, captures, progress.session, choice.catches)
    if not catches and not waits:
        unread = f" ({new.broken:,} of {new.lines:,} lines could not be read)" if new.broken else ""
        reason = choice.later or choice.reason or earlier or f"{NO_SIGNAL}{unread}"
        if choice.later:
            _keep(app, captures, progress)
            return Outcome(reason=reason)
        return _end_session(app, captures, progress, reason)
    why, waiting = choice.later or choice.reason, _waiting(captures, progress)
    plan = plan_drafts(app, progress, new.said, catches, waiting, left=waits, reason=why)
    return replace(carry_out_drafts(app, captures, plan), reason=why)


def _end_session(app: App, captures: Captures, progress: Progress, reason: str) -> Outcome:
    """Nothing is left to do; what waited for a model is refused."""
    plan = Plan("", _settled(progress), dropped=_waiting(captures, progress), reason=reason)
    if plan.dropped:
        return carry_out_drafts(app, captures, plan)
    _keep(app, captures, plan.progress)
    return Outcome(reason=reason)


def _waiting(captures: Captures, progress: Progress) -> tuple[str, ...]:
    account = captures.journal.account()
    return tuple(item.id for item in account.waiting if item.session == progress.session)


def _keep(app: App, captures: Captures, progress: Progress) -> None:
    if not app.dry_run:
        captures.keep(progress)


def _settled(progress: Progress) -> Progress:
    return replace(progress, failures=0, after=0.0, asked="", why="")


def _must_wait(app: App, known: Progress) -> bool:
    """A change of the model or its limits ends the wait."""
    same = known.asked in ("", _model_settings(app))
    return bool(known.failures) and same and not is_capture_due(known.after, app.now())


def _model_settings(app: App) -> str:
    options = app.config.options
    limits = options.session_tokens, options.day_tokens, options.run_tokens
    return " ".join([_model_name(app, None), options.model_base_url, *map(str, limits)])


def _model_name(app: App, model: str | None) -> str:
    """None stands for the configured one."""
    options = app.config.options
    return (options.capture_model or options.model) if model is None else model


@dataclass(frozen=True)
class Choice:
    """`later`: why the rest must wait, until `after` if known."""

    catches: tuple[Catch, ...] = ()
    later: str = ""
    tokens: int = 0
    reason: str = ""
    after: float = 0.0


def choose_captured_drafts(
    app: App, new: NewMessages, known: Progress, client: str, model: str | None, later: str = ""
) -> Choice:
    """What the person asked for in their own words, and the drafts of a model within the budget.

    `model`: None for the configured one, empty for none. `later`: why the rest must wait.
    """
    origin = Origin(client=client, session=known.session)
    signals, named = notice_requests(new.said), _model_name(app, model)
    asked = [signal for signal in signals if signal.asked_for]
    own, at_once = (_own_words(some, new.said, origin) for some in (signals, asked))
    if later == NOT_YET:
        return replace(at_once, later=later)
    if not named:
        return own
    is_new_model = known.asked not in ("", _model_settings(app))
    if model is None and known.failures >= MAX_FAILURES and not is_new_model:
        reason = f"the model failed {MAX_FAILURES} times ({known.why})"
        return _own_words(signals, new.said, origin, reason)
    said = drop_turns_with_saves(app, new.said)
    if len(asked) == len(signals) and not is_conversation_worth_asking(said, signals):
        return at_once  # nothing but requests, which need no model
    if later:
        return replace(at_once, later=later, after=known.after)
    try:
        drafted = _ask_model(app, named, said, origin)
    except OverRun as error:  # waiting would not help
        reason = f"no model was asked: {error.message} (budget.run_tokens)"
        _log(app, reason)
        return _own_words(signals, new.said, origin, reason)
    except (OverBudget, ModelFailed, LedgerBroken, BadInput) as error:
        if model and isinstance(error, BadInput):
            raise  # whoever named the model sees the error at once
        tomorrow = datetime.datetime.fromtimestamp(app.now() + safe.DAY).astimezone()
        begins = tomorrow.replace(hour=0, minute=0, second=1).timestamp()
        after = begins if isinstance(error, OverBudget) else 0.0
        return replace(at_once, later=error.message, after=after)
    return _merge(app, drafted, signals, new.said, origin)


def _ask_model(app: App, named: str, said: Sequence[Message], origin: Origin) -> Drafted:
    run_tokens = app.config.options.run_tokens
    model = open_model(app, PURPOSE, origin.session, named=named, run=run_tokens)
    text = "\n".join(item.text for item in reversed(said) if item.who == PERSON)
    related = app.search.find(text[:SEARCH_CHARACTERS], MAX_LISTED)
    paths = app.store.files() if app.store.exists() else []
    names = {stem(path).lower().replace("-", "_"): path for path in paths if "/" not in path}

    def read(name: str) -> tuple[str, bytes] | None:
        path = names.get(name.lower().replace("-", "_"), "")
        try:
            return (stem(path), app.store.read(path)) if path else None
        except MemdirError:
            return None

    listed = [hit.memory for hit in related.hits[:MAX_LISTED]]
    memories = Memories(listed, related.searched, read)
    drafted = ask_for_drafts(said, origin, memories, model, SECONDS)
    model.produced(drafted.summary)
    return drafted


def _merge(
    app: App,
    drafted: Drafted,
    signals: Sequence[Signal],
    said: Sequence[Message],
    origin: Origin,
) -> Choice:
    """The person's requests and the model's drafts of other things.

    Rules are added in the person's words if the model did not get so far.
    """
    taken, reason = [], drafted.reason
    for catch in drafted.catches:
        if problem := _problem(app, catch):
            reason = reason or f"{UNUSABLE}: {problem}"
        else:
            taken.append(catch)
    if reason:
        _log(app, reason)
    wanted = [
        signal
        for signal in signals
        if signal.asked_for
        or (reason and not any(rests_on_request(item, signal) for item in taken))
    ]
    own = _explain(draft_requests(wanted, said, origin), reason)
    asked = [signal for signal in signals if signal.asked_for]
    taken = [item for item in taken if not any(rests_on_request(item, signal) for signal in asked)]
    return Choice(_sign([*own, *taken], said), tokens=drafted.usage.total, reason=reason)


def _problem(app: App, catch: Catch) -> str:
    if catch.draft is None or catch.refuse:
        return ""
    if find_secrets(catch.draft.body):
        return "a draft holds what looks like a secret"
    try:
        check_draft_format(catch.draft, app.rules())
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
        replace(item, draft=sign_captured_draft(item.draft, item.origin))
        if item.draft and not item.refuse
        else item
        for item in refuse_secret_drafts(catches, said)
    )


def _log(app: App, text: str) -> None:
    if not app.dry_run:
        log_hook(app.config.state_dir, PURPOSE, text)
