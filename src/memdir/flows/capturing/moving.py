"""From how far a conversation was known to how far it is known now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memdir.adapters.captures import Captures
from memdir.app import App
from memdir.core.accounts import Entry
from memdir.core.progress import Plan, Progress, pause
from memdir.core.transcript import Cursor, Stretch
from memdir.flows.capturing.choosing import UNTIL_END, Choice, basis
from memdir.flows.capturing.outcome import NOT_YET, Outcome, Request
from memdir.flows.capturing.planning import make_plan
from memdir.flows.capturing.settling import carry_out, try_out


@dataclass(frozen=True)
class Move:
    """One step of a conversation; `size` is that of its transcript now."""

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

    def stay(self, stretch: Stretch) -> Outcome:
        """Nobody can read it: nothing is known but its size, and what waits goes on waiting."""
        client = self.request.client
        reason = f"0 of {stretch.lines:,} lines could be read as a transcript of {client}"
        if self.known.client in ("", client):  # whoever names the wrong client changes nothing
            self._keep(self._here())
        return Outcome(reason=reason, unreadable=True)

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
                asked=basis(self.app),
                why=chosen.reason,
                done=(*self.known.done, *chosen.done),
            )
            if chosen.reason == UNTIL_END:  # not read as far as its size says
                after, progress = 0.0, replace(progress, size=self.known.size, after=0.0)
        plan = make_plan(self.app, progress, self.known, stretch, chosen, self._waiting())
        if self.app.dry_run:
            done = try_out(self.app, plan)
        else:
            self.captures.announce(plan)
            done = carry_out(self.app, self.captures, plan)
        things = {item.id: item.catch for item in plan.items}
        return Outcome(tuple(done), len(plan.waits), chosen.tokens, chosen.reason, after, things)

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
        return replace(
            self._here(), cursor=cursor, failures=0, after=0.0, asked="", why="", done=()
        )

    def _waiting(self) -> tuple[str, ...]:
        """The things of this conversation that wait."""
        account = self.captures.journal.account()
        return tuple(one.id for one in account.waiting if one.session == self.known.session)

    def _keep(self, progress: Progress) -> None:
        if not self.app.dry_run:
            self.captures.keep(progress)
