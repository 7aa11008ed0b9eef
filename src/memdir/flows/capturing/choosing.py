"""What a stretch of a conversation comes to: drafts of a model, or mechanical ones."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, replace

from memdir.app import App
from memdir.core.agent.turn import Captured
from memdir.core.budget import LedgerBroken, OverBudget, OverRun
from memdir.core.capturing import Catch, Origin, Signal
from memdir.core.errors import BadInput
from memdir.core.model import ModelFailed
from memdir.core.origin import quote, signed
from memdir.core.progress import Done, Progress
from memdir.core.transcript import Said, Stretch

PURPOSE = "capture"
MANIFEST = 20  # memories that a model is shown
ASKED_CHARACTERS = 8_000  # of what was said, to find them
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
    """A stretch of a conversation; `waits` is why the model is not asked yet."""

    session: str
    client: str
    stretch: Stretch
    known: Progress
    waits: str = ""


def choose(app: App, told: Told, model: str | None) -> Choice:
    """notice → (a model, within the budget) → drafts; what was done already is left out"""
    from memdir.core.triage import triage

    said, known = told.stretch.said, told.known
    signals = [one for one in triage(said) if not _was_done(one, known.done)]
    if not signals:
        return Choice()
    origin = Origin(client=told.client, session=told.session)
    options = app.config.options
    named = (options.capture_model or options.model) if model is None else model
    if not named:
        return Choice(_sign(_mechanical(signals, said, origin)))
    at_once = _at_once(signals, said, origin)
    if told.waits:
        return replace(at_once, reason=told.waits, after=known.after, waits=True)
    try:
        captured = _ask(app, named, signals, said, origin)
    except OverRun as error:  # to wait would not help
        return Choice(_sign(_mechanical(signals, said, origin)), reason=error.message)
    except (OverBudget, ModelFailed, LedgerBroken, BadInput) as error:
        if model and isinstance(error, BadInput):
            raise  # whoever named it just now is told at once
        after = _tomorrow(app.now()) if isinstance(error, OverBudget) else 0.0
        return replace(at_once, reason=error.message, after=after)
    catches = tuple(one for one in captured.catches if not _repeats(one, known.done))
    return Choice(_sign(catches), tokens=captured.usage.total, reason=captured.reason)


def _ask(
    app: App, named: str, signals: Sequence[Signal], said: Sequence[Said], origin: Origin
) -> Captured:
    from memdir.adapters.looking import Looking
    from memdir.steps.capture import capture

    run = app.config.options.run_tokens
    model = app.model(PURPOSE, origin.session, named=named, run=run)
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
    asked = [one for one in signals if one.asked_for]
    done = tuple(Done(one.said.id, quote(one.quote)) for one in asked)
    return Choice(_sign(_mechanical(asked, said, origin)), len(asked) < len(signals), done)


def _mechanical(
    signals: Sequence[Signal], said: Sequence[Said], origin: Origin
) -> tuple[Catch, ...]:
    from memdir.core.triage.drafts import catches

    return tuple(catches(signals, said, origin))


def _sign(catches: Sequence[Catch]) -> tuple[Catch, ...]:
    """Every draft says in its header where it comes from."""
    return tuple(
        Catch(one.origin, signed(one.draft, one.origin), one.forget, one.hold) if one.draft else one
        for one in catches
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
