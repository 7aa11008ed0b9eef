"""What models may cost, and what they did cost."""

from __future__ import annotations

from dataclasses import dataclass

from typing import cast
from memdir import registry
from memdir.adapters.ledger import Ledger
from memdir.adapters.wrappers.metered import Metered
from memdir.core.budget import Limits
from memdir.core.errors import BadInput
from memdir.core.model import member_and_name
from memdir.core.ports import Model
from memdir.app import App
from memdir.adapters.ledger import Ledger, day_of
from memdir.app import App
from memdir.core.budget import Call, Limits, Spent, spent_by


@dataclass(frozen=True)
class Spending:
    """The limits, what counts against them, and every call, the newest first."""

    limits: Limits
    spent: Spent
    day: str
    session: str
    calls: tuple[Call, ...]

    @property
    def today(self) -> list[Call]:
        """The calls of this day."""
        return [call for call in self.calls if call.day == self.day]


def spending(app: App, session: str = "") -> Spending:
    """What the ledger says, for all stores together; nothing is changed."""
    options = app.config.options
    day = day_of(app.now())
    calls = Ledger(app.config.state_dir, app.now).calls()
    limits = Limits(options.session_tokens, options.day_tokens, options.run_tokens)
    newest = tuple(sorted(calls, key=lambda call: call.time, reverse=True))
    return Spending(limits, spent_by(calls, day, session), day, session, newest)


def open_model(
    app: App, purpose: str, session: str = "", *, named: str = "", run: int | None = None
) -> Metered:
    """The model that the settings name, within the budget; an error where there is none.

    `named` is one for this purpose alone, `run` what its calls may cost together.
    """
    options = app.config.options
    wanted = named or options.model
    if not wanted:
        raise BadInput("no model is set", next="set model.name in config.toml or MEMDIR_MODEL")
    member, name = member_and_name(wanted)
    opened = registry.load("models", member, app.config.own).open_model(
        name, options.model_base_url, app.config.environ
    )
    limits = Limits(options.session_tokens, options.day_tokens, run)
    ledger = Ledger(app.config.state_dir, app.now)
    return Metered(cast(Model, opened), ledger, limits, purpose, session)
