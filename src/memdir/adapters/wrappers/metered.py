"""A model that is asked only while the budget lasts, with every call in the ledger."""

from __future__ import annotations

from dataclasses import replace

from memdir.core.budget import ANSWERED, Call, Limits, OverRun, estimate, too_much_for_run
from memdir.core.errors import MemdirError
from memdir.core.model import Answer, ModelFailed, Question, Usage
from memdir.core.ports import Ledger, Model
from memdir.core.price import cost


class Metered:
    """Reserve, ask, settle; over budget nothing is asked. Its calls together are one run."""

    def __init__(
        self, model: Model, ledger: Ledger, limits: Limits, purpose: str, session: str = ""
    ) -> None:
        self.model = model
        self.ledger = ledger
        self.limits = limits
        self.purpose = purpose
        self.session = session
        self.used = 0  # tokens of this run
        self._cached = 0  # tokens that a cache gave for the last answer
        self._last: tuple[Call, Usage, str] | None = None

    @property
    def name(self) -> str:
        return self.model.name

    def answer(self, question: Question) -> Answer:
        wanted = estimate(question, self._cached)
        if reason := too_much_for_run(wanted.total, self.used, self.limits):
            raise OverRun(reason, next="raise budget.run_tokens in config.toml")
        call = self.ledger.reserve(self.purpose, self.name, self.session, wanted, self.limits)
        try:
            answer = self.model.answer(question)
        except ModelFailed as error:
            # Where nobody knows what it cost, the estimate stands.
            self._settle(call, wanted if error.usage is None else error.usage, error.code)
            raise
        self._cached = answer.usage.cached_tokens
        self._settle(call, answer.usage, ANSWERED)
        return answer

    def produced(self, what: str) -> None:
        """Put down what became of the last answer; it is told once that is on disk."""
        if self._last is not None:
            self._write(*self._last, what)

    def _settle(self, call: Call, usage: Usage, outcome: str) -> None:
        self.used += usage.total
        usage = replace(usage, cost=cost(self.name, usage))
        self._last = call, usage, outcome
        self._write(call, usage, outcome)

    def _write(self, call: Call, usage: Usage, outcome: str, produced: str = "") -> None:
        try:
            self.ledger.settle(call, usage, outcome, produced)
        except MemdirError:
            # The answer is paid for and worth keeping; its estimate stays in the ledger, and the
            # next reservation meets the same trouble before anything is spent.
            return
