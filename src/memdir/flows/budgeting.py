"""What models may cost, and what they did cost."""

from __future__ import annotations

from dataclasses import dataclass

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
