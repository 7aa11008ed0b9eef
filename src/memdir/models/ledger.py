"""The ledger of what was spent on models, and a model that is asked only within its budget.

One JSON line per event, appended and never rewritten. A call has two lines with one id: `reserved`
with the estimate before it is made, and its outcome with the true figures afterwards. The last
line of an id counts, so a process that was killed in between has spent its estimate. A third line
may tell what became of the answer.
"""

from __future__ import annotations

import datetime
import json
import math
import os
import secrets
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import cast

from memdir.errors import BadInput, MemdirError
from memdir.models.budget import (
    ANSWERED,
    Call,
    LedgerBroken,
    Limits,
    OverBudget,
    OverRun,
    Spent,
    cost,
    estimate,
    spent_by,
    too_much,
    too_much_for_run,
)
from memdir.models.model import Answer, Model, ModelFailed, Question, Usage, member_and_name
from memdir.store import registry, state
from memdir.store.lock import Lock
from memdir.store.writer import App

FILE = "ledger.jsonl"
MAX_FILE_BYTES = 64 * 1024 * 1024  # some 150,000 calls
MAX_LINE_BYTES = 64 * 1024
MAX_PRODUCED_CHARACTERS = 500
LOCK_SECONDS = 1.0  # it is held for the time of a few writes
LINE_START = b'{"id": "'


class Ledger:
    """Only the holder of its lock reads and appends: two processes cannot both take the rest."""

    def __init__(self, folder: str, now: Callable[[], float]) -> None:
        self.folder, self.path = folder, os.path.join(folder, FILE)
        self.now = now
        self._lock = Lock(self.path + ".lock", LOCK_SECONDS, LOCK_SECONDS)

    def reserve(
        self, purpose: str, model: str, session: str, wanted: Usage, limits: Limits
    ) -> Call:
        """Put the estimate down, if it fits; from then on it counts for everybody."""
        now = self.now()
        day = day_of(now)
        call = Call(secrets.token_hex(8), now, day, purpose, model, session, wanted)
        with self._lock.held("memdir ledger", lambda _: None):
            spent = spent_by(self.calls(), day, session)
            if reason := too_much(wanted.total, spent, limits, session):
                hint = "wait, or raise budget.session_tokens or budget.day_tokens in config.toml"
                raise OverBudget(reason, next=hint)
            self._append(call)
        return call

    def settle(self, call: Call, usage: Usage, outcome: str, produced: str = "") -> None:
        """What the call really cost; may be called again once it is known what came of it."""
        produced = produced[:MAX_PRODUCED_CHARACTERS]
        settled = replace(call, time=self.now(), usage=usage, outcome=outcome, produced=produced)
        with self._lock.held("memdir ledger", lambda _: None):
            self.calls()  # a damaged ledger stays as it is
            self._append(settled)

    def spent(self, day: str, session: str) -> Spent:
        """Tokens of that day and that session."""
        return spent_by(self.calls(), day, session)

    def calls(self) -> list[Call]:
        """Every call once, in the order they were reserved."""
        try:
            lines, torn = state.read_lines(self.folder, FILE, MAX_FILE_BYTES)
        except OSError as error:
            raise self._broken(f"cannot be read: {error.strerror}") from None
        calls: dict[str, Call] = {}
        for number, line in enumerate(lines, 1):
            try:
                call = read(line)
            except state.DAMAGE:
                raise self._broken(f"line {number} cannot be read") from None
            calls[call.id] = call
        # What stands behind the last line end is a write that was cut off: its call was not made,
        # or its estimate stands. Anything else there is garbage like any other.
        if len(torn) > MAX_LINE_BYTES or not LINE_START.startswith(torn[: len(LINE_START)]):
            raise self._broken(f"line {len(lines) + 1} cannot be read")
        return [*calls.values()]

    def _append(self, call: Call) -> None:
        with state.explained(self.path, "the ledger cannot be written"):
            state.append(self.folder, FILE, write(call) + b"\n")

    def _broken(self, what: str) -> LedgerBroken:
        hint = f"look at it, then move it away: mv {self.path} {self.path}.old"
        message = f"{self.path}: {what}; no model is asked while nobody knows what was spent"
        return LedgerBroken(message, path=self.path, next=hint)


def day_of(now: float) -> str:
    """The user's day, as YYYY-MM-DD."""
    return datetime.datetime.fromtimestamp(now).astimezone().date().isoformat()


def write(call: Call) -> bytes:
    """One line, without its end."""
    time = datetime.datetime.fromtimestamp(call.time, datetime.UTC).isoformat()
    texts = {key: getattr(call, key) for key in ("day", "purpose", "model", "session")}
    line = {"id": call.id, "time": time, **texts, **asdict(call.usage)}
    return json.dumps({**line, "outcome": call.outcome, "produced": call.produced}).encode("ascii")


def read(line: bytes) -> Call:
    """The inverse of `write`; earlier versions wrote neither cost nor what was produced."""
    said = json.loads(line)
    texts = [said[key] for key in ("id", "day", "purpose", "model", "session", "outcome")]
    texts.append(said.get("produced", ""))
    cost = said.get("cost")
    counts = [said[key] for key in ("input_tokens", "output_tokens", "cached_tokens")]
    if not all(type(text) is str for text in texts):
        raise ValueError("not a text")
    if not all(type(count) is int and count >= 0 for count in counts):
        raise ValueError("not a count")
    if cost is not None and not (type(cost) in (int, float) and 0 <= cost < math.inf):
        raise ValueError("not a cost")
    time = datetime.datetime.fromisoformat(said["time"]).timestamp()
    id, day, purpose, model, session, outcome, produced = texts
    given, made, cached = counts
    usage = Usage(given, made, cached, cost)
    return Call(id, time, day, purpose, model, session, usage, outcome, produced)


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
