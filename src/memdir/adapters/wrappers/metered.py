"""A model that is asked only while the budget lasts, with every call in the ledger."""

from __future__ import annotations

from memdir.core.budget import ANSWERED, Call, Limits, estimate
from memdir.core.errors import MemdirError
from memdir.core.model import Answer, ModelFailed, Question, Usage
from memdir.core.ports import Ledger, Model


class Metered:
    """Reserve, ask, settle; over budget nothing is asked."""

    def __init__(
        self, model: Model, ledger: Ledger, limits: Limits, purpose: str, session: str = ""
    ) -> None:
        self.model = model
        self.ledger = ledger
        self.limits = limits
        self.purpose = purpose
        self.session = session

    @property
    def name(self) -> str:
        return self.model.name

    def answer(self, question: Question) -> Answer:
        wanted = estimate(question)
        call = self.ledger.reserve(self.purpose, self.name, self.session, wanted, self.limits)
        try:
            answer = self.model.answer(question)
        except ModelFailed as error:
            # Where nobody knows what it cost, the estimate stands.
            self._settle(call, wanted if error.usage is None else error.usage, error.code)
            raise
        self._settle(call, answer.usage, ANSWERED)
        return answer

    def _settle(self, call: Call, usage: Usage, outcome: str) -> None:
        try:
            self.ledger.settle(call, usage, outcome)
        except MemdirError:
            # The answer is paid for and worth keeping; its estimate stays in the ledger, and the
            # next reservation meets the same trouble before anything is spent.
            return
