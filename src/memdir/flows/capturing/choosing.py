"""What a stretch of a conversation comes to: drafts of a model, or mechanical ones."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, replace

from memdir.flows.budgeting import open_model
from memdir.adapters.log_file import log
from memdir.app import App
from memdir.core.agent.grounds import met
from memdir.core.agent.turn import UNUSABLE, Captured
from memdir.core.budget import LedgerBroken, OverBudget, OverRun
from memdir.core.capturing import Catch, Origin, Signal
from memdir.core.drafting import check
from memdir.core.errors import BadInput
from memdir.core.model import ModelFailed
from memdir.core.origin import quote, signed
from memdir.core.progress import PATIENCE, Done, Progress
from memdir.core.secrets import find_secrets
from memdir.core.transcript import Said, Stretch

PURPOSE = "capture"
MANIFEST = 20  # memories that a model is shown
ASKED_CHARACTERS = 8_000  # of what was said, to find them
UNTIL_END = "the model reads a conversation when it ends"
TURN_SECONDS = 30.0  # most are done in one or two, and the worker lives for four


@dataclass(frozen=True)
class Choice:
    """The catches; `left`: something has to wait for a model, until `after` where that is known.

    `done` is what was asked for and is among the catches although the rest waits. `waits`: the
    model was not even asked.
    """

    catches: tuple[Catch, ...] = ()
    left: bool = False
    done: tuple[Done, ...] = ()
    tokens: int = 0
    reason: str = ""
    after: float = 0.0
    waits: bool = False


@dataclass(frozen=True)
class Told:
    """A stretch of a conversation; `waits` is why the model is not asked yet.

    `given_up` is why it failed the last time, where it is not asked any more. While the
    conversation goes on, `ends` is False: the model reads it once, at its end.
    """

    session: str
    client: str
    stretch: Stretch
    known: Progress
    waits: str = ""
    given_up: str = ""
    ends: bool = True


def choose(app: App, told: Told, model: str | None) -> Choice:
    """notice → (a model, within the budget) → drafts; what was done already is left out"""
    from memdir.core.triage.signals import is_worth_reading, notice

    said, known = told.stretch.said, told.known
    signals = [one for one in notice(said) if not _was_done(one, known.done)]
    options = app.config.options
    named = (options.capture_model or options.model) if model is None else model
    if not signals and not (named and is_worth_reading(said, ())):
        return Choice()
    origin = Origin(client=told.client, session=told.session)
    if not named:
        why = f"the model failed {PATIENCE} times ({told.given_up})" if told.given_up else ""
        found = _mechanical(signals, said, origin)
        return Choice(_sign(_held(found, why) if why else found, said), reason=why)
    at_once = _at_once(signals, said, origin)
    if not at_once.left:  # only requests, which need no model
        return replace(at_once, done=())
    if not told.ends:
        return replace(at_once, reason=UNTIL_END, waits=True)
    if told.waits:
        return replace(at_once, reason=told.waits, after=known.after, waits=True)
    try:
        captured = _ask(app, named, signals, said, origin)
    except OverRun as error:  # to wait would not help
        why = f"no model was asked: {error.message} (budget.run_tokens)"
        _log(app, why)
        return Choice(_sign(_held(_mechanical(signals, said, origin), why), said), reason=why)
    except (OverBudget, ModelFailed, LedgerBroken, BadInput) as error:
        if model and isinstance(error, BadInput):
            raise  # whoever named it just now is told at once
        after = _tomorrow(app.now()) if isinstance(error, OverBudget) else 0.0
        return replace(at_once, reason=error.message, after=after)
    return _drafted(app, told, captured, signals, origin)


def basis(app: App) -> str:
    """What decides whether a model answers, as far as a person sets it: once changed, try again."""
    one = app.config.options
    limits = one.session_tokens, one.day_tokens, one.run_tokens
    return " ".join([one.capture_model or one.model, one.model_base_url, *map(str, limits)])


def _drafted(
    app: App, told: Told, captured: Captured, signals: Sequence[Signal], origin: Origin
) -> Choice:
    """The model's drafts; a signal that it left open is taken in the words of the conversation.

    It left none open that said to the end what is worth keeping, in drafts that can be saved.
    """
    asked = [one for one in signals if one.asked_for]
    own = _mechanical(asked, told.stretch.said, origin)  # they may be among its drafts
    problems = ["" if one in own else _problem(app, one) for one in captured.catches]
    taken = [one for one, why in zip(captured.catches, problems, strict=True) if not why]
    lost = [one for one in captured.catches if one not in taken]
    # Of a run that broke off, or of which nothing can be used, all the rest is open.
    theirs = [one for one in taken if one not in own]
    whole = bool(captured.reason) or not theirs
    left = [
        one
        for one in signals
        if not met(one, signals, taken) and (whole or met(one, signals, lost))
    ]
    why = captured.reason or next((f"{UNUSABLE}: {one}" for one in problems if one), "")
    if why:
        _log(app, why)
        found = _mechanical(left, told.stretch.said, origin)
        taken += _held([one for one in found if one not in taken], why)
    catches = [one for one in taken if not _repeats(one, told.known.done)]
    return Choice(_sign(catches, told.stretch.said), tokens=captured.usage.total, reason=why)


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


def _held(catches: Sequence[Catch], why: str) -> list[Catch]:
    """With the reason why no model has seen to them; what was asked for is saved all the same."""
    return [replace(one, hold=f"{why}; {one.hold}") if one.hold else one for one in catches]


def _log(app: App, why: str) -> None:
    if not app.dry_run:
        log(app.config.state_dir, PURPOSE, why)


def _ask(
    app: App, named: str, signals: Sequence[Signal], said: Sequence[Said], origin: Origin
) -> Captured:
    from memdir.adapters.looking import Looking
    from memdir.steps.capture import capture

    run = app.config.options.run_tokens
    model = open_model(app, PURPOSE, origin.session, named=named, run=run)
    text = "\n".join(one.quote for one in signals)[:ASKED_CHARACTERS]
    found = app.search.find(text, MANIFEST)
    captured = capture(
        said,
        signals,
        origin,
        [hit.memory for hit in found.hits[:MANIFEST]],
        model,
        Looking(app.config.checkout, app.config.store),
        total=found.searched,
        tokens=run,
        seconds=TURN_SECONDS,
    )
    model.produced(captured.produced)
    return captured


def _at_once(signals: Sequence[Signal], said: Sequence[Said], origin: Origin) -> Choice:
    """No model for now: what somebody asked for is done all the same, the rest waits."""
    from memdir.core.triage.signals import is_worth_reading

    asked = [one for one in signals if one.asked_for]
    done = tuple(Done(one.said.id, quote(one.quote)) for one in asked)
    left = len(asked) < len(signals) or is_worth_reading(said, signals)
    return Choice(_sign(_mechanical(asked, said, origin), said), left, done)


def _mechanical(
    signals: Sequence[Signal], said: Sequence[Said], origin: Origin
) -> tuple[Catch, ...]:
    from memdir.core.triage.drafts import catches

    return tuple(catches(signals, said, origin))


def _sign(catches: Sequence[Catch], said: Sequence[Said]) -> tuple[Catch, ...]:
    """Every draft says in its header where it comes from; none repeats a secret."""
    from memdir.core.triage.drafts import refuse_secrets

    return tuple(
        replace(one, draft=signed(one.draft, one.origin)) if one.draft and not one.refuse else one
        for one in refuse_secrets(catches, said)
    )


def _was_done(signal: Signal, done: Sequence[Done]) -> bool:
    return any(one.message == signal.said.id and one.quote == quote(signal.quote) for one in done)


def _repeats(catch: Catch, done: Sequence[Done]) -> bool:
    """True for a model's draft of what was saved at once, unless it is the better text of it."""
    said = quote(catch.origin.quote)
    for one in done:
        same = one.quote and said and (one.quote in said or said in one.quote)
        if one.message == catch.origin.message and same:
            return not (catch.draft and one.name and catch.draft.name == one.name)
    return False


def _tomorrow(now: float) -> float:
    """The next midnight of the user's day: from then on there is budget again."""
    try:
        today = datetime.datetime.fromtimestamp(now).astimezone()
        night = (today + datetime.timedelta(days=1)).replace(hour=0, minute=0, second=1)
        return night.timestamp()
    except (ValueError, OverflowError, OSError):
        return now + 86_400
