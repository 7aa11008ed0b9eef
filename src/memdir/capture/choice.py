"""What a stretch of a conversation comes to: a model's drafts, or requests in their own words."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, replace

from memdir.capture.agent import UNUSABLE, Captured
from memdir.capture.agent import capture as ask_agent
from memdir.capture.agent_tools import ProjectReader
from memdir.capture.drafts import catches, refuse_secrets
from memdir.capture.forget import met
from memdir.capture.origin import quote, signed
from memdir.capture.progress import PATIENCE, Done, Progress
from memdir.capture.signals import Catch, Origin, Signal, is_worth_reading, notice
from memdir.clients.conversation import Message, NewMessages
from memdir.errors import BadInput
from memdir.format.draft import check
from memdir.hot.log import log
from memdir.models.ledger import LedgerBroken, OverBudget, OverRun, open_model
from memdir.models.model import ModelFailed
from memdir.store.writer import App
from memdir.text.secrets import find_secrets

PURPOSE = "capture"
MAX_LISTED = 20  # memories that a model is shown
SEARCH_CHARACTERS = 8_000  # of the requests, to find them
UNTIL_END = "the model reads a conversation when it ends"
TURN_SECONDS = 30.0  # most runs take one or two turns, and the worker lives for four


@dataclass(frozen=True)
class Choice:
    """The catches; `left`: something has to wait for a model, until `after` where that is known.

    `done` are requests that are among the catches although the rest waits. `waits`: the model was
    not even asked.
    """

    catches: tuple[Catch, ...] = ()
    left: bool = False
    done: tuple[Done, ...] = ()
    tokens: int = 0
    reason: str = ""
    after: float = 0.0
    waits: bool = False


def choose(
    app: App,
    stretch: NewMessages,
    known: Progress,
    client: str,
    model: str | None,
    *,
    waits: str = "",
    given_up: str = "",
    ends: bool = True,
) -> Choice:
    """notice → (a model, within the budget) → drafts; what was done already is left out

    `model`: None for the one of the settings, empty for none. `waits` is why it is not asked yet,
    `given_up` why it failed the last time, where it is not asked any more.
    """
    said = stretch.said
    signals = [signal for signal in notice(said) if not _was_done(signal, known.done)]
    options = app.config.options
    named = (options.capture_model or options.model) if model is None else model
    if not signals and not (named and is_worth_reading(said, ())):
        return Choice()
    origin = Origin(client=client, session=known.session)
    if not named:
        reason = f"the model failed {PATIENCE} times ({given_up})" if given_up else ""
        return _without_model(signals, said, origin, reason)
    asked = [signal for signal in signals if signal.asked_for]
    at_once = _without_model(asked, said, origin)
    if len(asked) == len(signals) and not is_worth_reading(said, signals):
        return at_once  # only requests, which need no model
    done = tuple(Done(signal.said.id, quote(signal.quote)) for signal in asked)
    at_once = replace(at_once, left=True, done=done)
    if not ends:
        return replace(at_once, reason=UNTIL_END, waits=True)
    if waits:
        return replace(at_once, reason=waits, after=known.after, waits=True)
    try:
        captured = _ask_model(app, named, signals, said, origin)
    except OverRun as error:  # to wait would not help
        reason = f"no model was asked: {error.message} (budget.run_tokens)"
        _log(app, reason)
        return _without_model(signals, said, origin, reason)
    except (OverBudget, ModelFailed, LedgerBroken, BadInput) as error:
        if model and isinstance(error, BadInput):
            raise  # whoever named it just now is told at once
        after = _tomorrow(app.now()) if isinstance(error, OverBudget) else 0.0
        return replace(at_once, reason=error.message, after=after)
    return _merge(app, captured, signals, said, origin, known.done)


def model_settings(app: App) -> str:
    """What a person can change so that a model answers after all: then it is asked again."""
    options = app.config.options
    limits = options.session_tokens, options.day_tokens, options.run_tokens
    name = options.capture_model or options.model
    return " ".join([name, options.model_base_url, *map(str, limits)])


def _merge(
    app: App,
    captured: Captured,
    signals: Sequence[Signal],
    said: Sequence[Message],
    origin: Origin,
    done: Sequence[Done],
) -> Choice:
    """The model's drafts; a request that it left open is taken in the words of the conversation.

    It left none open where it was done and its drafts can be saved.
    """
    asked = [signal for signal in signals if signal.asked_for]
    own = catches(asked, said, origin)  # they may be among its drafts
    problems = ["" if catch in own else _problem(app, catch) for catch in captured.catches]
    taken = [catch for catch, why in zip(captured.catches, problems, strict=True) if not why]
    lost = [catch for catch in captured.catches if catch not in taken]
    # Of a run that broke off, or of which nothing can be used, all the rest is open.
    broke_off = bool(captured.reason) or not any(catch not in own for catch in taken)
    left = [
        signal
        for signal in signals
        if not met(signal, signals, taken) and (broke_off or met(signal, signals, lost))
    ]
    reason = captured.reason or next((f"{UNUSABLE}: {why}" for why in problems if why), "")
    if reason:
        _log(app, reason)
        more = [catch for catch in catches(left, said, origin) if catch not in taken]
        taken += _explain(more, reason)
    kept = [catch for catch in taken if not _repeats(catch, done)]
    return Choice(_sign(kept, said), tokens=captured.usage.total, reason=reason)


def _problem(app: App, catch: Catch) -> str:
    """Why the writer would not take a draft; empty where it would."""
    if catch.draft is None:
        return ""
    if find_secrets(catch.draft.body):
        return "a draft holds what looks like a secret"
    try:
        check(catch.draft, app.rules())
    except BadInput as error:
        return error.message
    return ""


def _ask_model(
    app: App, named: str, signals: Sequence[Signal], said: Sequence[Message], origin: Origin
) -> Captured:
    run_tokens = app.config.options.run_tokens
    model = open_model(app, PURPOSE, origin.session, named=named, run=run_tokens)
    text = "\n".join(signal.quote for signal in signals)[:SEARCH_CHARACTERS]
    found = app.search.find(text, MAX_LISTED)
    captured = ask_agent(
        said,
        signals,
        origin,
        [hit.memory for hit in found.hits[:MAX_LISTED]],
        model,
        ProjectReader(app.config.checkout, app.config.store),
        total=found.searched,
        tokens=run_tokens,
        seconds=TURN_SECONDS,
    )
    model.produced(captured.produced)
    return captured


def _without_model(
    signals: Sequence[Signal], said: Sequence[Message], origin: Origin, reason: str = ""
) -> Choice:
    drafts = _explain(catches(signals, said, origin), reason)
    return Choice(_sign(drafts, said), reason=reason)


def _explain(catches: Sequence[Catch], reason: str) -> list[Catch]:
    """With why no model has seen them; what was asked for is saved all the same."""
    why = f"{reason}; " if reason else ""
    return [replace(item, hold=f"{why}{item.hold}") if item.hold else item for item in catches]


def _sign(catches: Sequence[Catch], said: Sequence[Message]) -> tuple[Catch, ...]:
    """Every draft says in its header where it comes from; none repeats a secret."""
    return tuple(
        replace(item, draft=signed(item.draft, item.origin))
        if item.draft and not item.refuse
        else item
        for item in refuse_secrets(catches, said)
    )


def _was_done(signal: Signal, done: Sequence[Done]) -> bool:
    place = signal.said.id, quote(signal.quote)
    return any((item.message, item.quote) == place for item in done)


def _repeats(catch: Catch, done: Sequence[Done]) -> bool:
    """True for a model's draft of what was saved at once, unless it is the better text of it."""
    said = quote(catch.origin.quote)
    for item in done:
        same = item.quote and said and (item.quote in said or said in item.quote)
        if item.message == catch.origin.message and same:
            return not (catch.draft and item.name and catch.draft.name == item.name)
    return False


def _log(app: App, text: str) -> None:
    if not app.dry_run:
        log(app.config.state_dir, PURPOSE, text)


def _tomorrow(now: float) -> float:
    """The next midnight of the user's day: from then on there is budget again."""
    try:
        today = datetime.datetime.fromtimestamp(now).astimezone()
        night = (today + datetime.timedelta(days=1)).replace(hour=0, minute=0, second=1)
        return night.timestamp()
    except (ValueError, OverflowError, OSError):
        return now + 86_400
