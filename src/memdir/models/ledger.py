"""Spending on models: limits, the ledger of calls, and a model within its budget.

The ledger has one JSON line per event, appended and never rewritten. A call has two lines with one
id: `reserved` with the estimate before the call, then its outcome with the actual figures. The last
line of an id counts, so a process killed in between has spent its estimate. A third line may give
the result of the answer.
"""

from __future__ import annotations

import datetime
import json
import math
import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import NamedTuple, cast

from memdir.errors import BadInput, MemdirError
from memdir.models.model import (
    Answer,
    Model,
    ModelFailed,
    Question,
    Usage,
    count_model_tokens,
    model_member_and_name,
)
from memdir.store import registry, state
from memdir.store.state import Lock
from memdir.store.writer import App

FILE = "ledger.jsonl"
MAX_FILE_BYTES = 64 * 1024 * 1024  # about 150,000 calls
MAX_LINE_BYTES = 64 * 1024
MAX_PRODUCED_CHARACTERS = 500
LOCK_SECONDS = 1.0  # it is held for a few writes
LINE_START = b'{"id": "'
RESERVED = "reserved"  # outcome of a call without an answer yet; its estimate counts
ANSWERED = "answered"
_KINDS = ("input", "output", "cached")


class OverBudget(MemdirError):
    """The call would cost more tokens than are left; it was not made."""

    code = "over_budget"


class OverRun(OverBudget):
    """The call exceeds the limit of one run, so waiting does not help."""


class LedgerBroken(MemdirError):
    """The spending is unknown, so no call is made."""

    code = "ledger_broken"


@dataclass(frozen=True)
class Limits:
    """Tokens, uncached input and output together; 0 allows no call.

    `run` covers all calls of one run; None means no such limit.
    """

    session: int
    day: int
    run: int | None = None


class Spent(NamedTuple):
    session: int
    day: int


@dataclass(frozen=True)
class Call:
    """A call in the ledger; `day` is the user's local day, `usage` an estimate at first."""

    id: str
    time: float
    day: str
    purpose: str
    model: str
    session: str
    usage: Usage
    outcome: str = RESERVED
    produced: str = ""  # result of the answer, in a few words


def estimate_usage(question: Question, cached: int = 0) -> Usage:
    """The highest cost of a question in tokens; `cached` were cached in the last turn."""
    schema = json.dumps(question.schema) if question.schema else ""
    given = count_model_tokens(*question.texts, schema)
    cached = min(cached, given) if question.earlier else 0
    return Usage(given - cached, question.max_tokens, cached)


def ledger_day(now: float) -> str:
    return datetime.datetime.fromtimestamp(now).astimezone().date().isoformat()


def write_ledger_line(call: Call) -> bytes:
    time = datetime.datetime.fromtimestamp(call.time, datetime.UTC).isoformat()
    line = asdict(call)
    usage = line.pop("usage")
    return json.dumps({**line, **usage, "time": time}).encode("ascii")


def read_ledger_line(line: bytes) -> Call:
    """The inverse of `write_ledger_line`; earlier versions wrote neither `cost` nor `produced`."""
    values = {"produced": "", "cost": None, **json.loads(line)}
    given, made, cached = counts = [values.pop(f"{kind}_tokens") for kind in _KINDS]
    cost, time = values.pop("cost"), datetime.datetime.fromisoformat(values.pop("time"))
    if not (
        all(type(text) is str for text in values.values())
        and all(type(count) is int and count >= 0 for count in counts)
        and (cost is None or (type(cost) in (int, float) and 0 <= cost < math.inf))
    ):
        raise ValueError("not a call")
    return Call(**values, time=time.timestamp(), usage=Usage(given, made, cached, cost))


class Ledger:
    """Only the holder of its lock reads and appends: two processes cannot both spend the rest."""

    def __init__(self, folder: str, now: Callable[[], float]) -> None:
        self.folder, self.path = folder, os.path.join(folder, FILE)
        self.now = now
        self._lock = Lock(self.path + ".lock", LOCK_SECONDS, LOCK_SECONDS)

    def reserve(
        self, purpose: str, model: str, session: str, wanted: Usage, limits: Limits
    ) -> Call:
        """Record the estimate if it fits; it counts for every process from then on."""
        now = self.now()
        day = ledger_day(now)
        call = Call(secrets.token_hex(8), now, day, purpose, model, session, wanted)
        with self._lock.held("memdir ledger", lambda _: None):
            spent = self.spent(day, session)
            reason = _shortage("this day", wanted.total, spent.day, limits.day)
            if session:
                of_session = _shortage("this session", wanted.total, spent.session, limits.session)
                reason = of_session or reason
            if reason:
                hint = "wait, or raise budget.session_tokens or budget.day_tokens in config.toml"
                raise OverBudget(reason, next=hint)
            self._append(call)
        return call

    def settle(self, call: Call, usage: Usage, outcome: str, produced: str = "") -> None:
        produced = produced[:MAX_PRODUCED_CHARACTERS]
        settled = replace(call, time=self.now(), usage=usage, outcome=outcome, produced=produced)
        with self._lock.held("memdir ledger", lambda _: None):
            self.calls()  # raises if the ledger is damaged: then nothing is appended
            self._append(settled)

    def spent(self, day: str, session: str) -> Spent:
        """Tokens on that day, and in that session, which may last several days."""
        calls = self.calls()
        of_session = [call for call in calls if session and call.session == session]
        of_day = [call for call in calls if call.day == day]
        return Spent(*(sum(call.usage.total for call in some) for some in (of_session, of_day)))

    def calls(self) -> list[Call]:
        try:
            lines, torn = state.read_state_lines(self.folder, FILE, MAX_FILE_BYTES)
        except OSError as error:
            raise self._broken(f"cannot be read: {error.strerror}") from None
        calls: dict[str, Call] = {}
        for number, line in enumerate(lines, 1):
            try:
                call = read_ledger_line(line)
            except state.DAMAGE:
                raise self._broken(f"line {number} cannot be read") from None
            calls[call.id] = call
        # An unfinished last line is a write that was killed: its call was not made, or its
        # estimate counts. Anything else there is damage.
        if len(torn) > MAX_LINE_BYTES or not LINE_START.startswith(torn[: len(LINE_START)]):
            raise self._broken(f"line {len(lines) + 1} cannot be read")
        return [*calls.values()]

    def _append(self, call: Call) -> None:
        with state.state_errors(self.path, "the ledger cannot be written"):
            state.append_state(self.folder, FILE, write_ledger_line(call) + b"\n")

    def _broken(self, problem: str) -> LedgerBroken:
        hint = f"look at it, then move it away: mv {self.path} {self.path}.old"
        message = f"{self.path}: {problem}; no model is asked while nobody knows what was spent"
        return LedgerBroken(message, path=self.path, next=hint)


def _shortage(name: str, wanted: int, used: int, limit: int) -> str:
    if used + wanted <= limit:
        return ""
    left = max(limit - used, 0)
    return f"the call needs about {wanted:,} tokens; {name} has {left:,} of {limit:,} left"


class Metered:
    """A model that is asked only within the budget; its calls together are one run."""

    def __init__(
        self, model: Model, ledger: Ledger, limits: Limits, purpose: str, session: str = ""
    ) -> None:
        self.model = model
        self.ledger = ledger
        self.limits = limits
        self.purpose = purpose
        self.session = session
        self.used = 0  # tokens of this run
        self._cached = 0  # cached tokens of the last answer
        self._last: tuple[Call, Usage, str] | None = None

    @property
    def name(self) -> str:
        return self.model.name

    def answer(self, question: Question) -> Answer:
        wanted, limit = estimate_usage(question, self._cached), self.limits.run
        reason = limit is not None and _shortage("this run", wanted.total, self.used, limit)
        if reason:
            raise OverRun(reason, next="raise budget.run_tokens in config.toml")
        call = self.ledger.reserve(self.purpose, self.name, self.session, wanted, self.limits)
        try:
            answer = self.model.answer(question)
        except ModelFailed as error:
            # If the cost is unknown, the estimate counts.
            self._settle(call, wanted if error.usage is None else error.usage, error.code)
            raise
        self._cached = answer.usage.cached_tokens
        self._settle(call, answer.usage, ANSWERED)
        return answer

    def produced(self, summary: str) -> None:
        if self._last is not None:
            self._write(*self._last, summary)

    def _settle(self, call: Call, usage: Usage, outcome: str) -> None:
        self.used += usage.total
        self._last = call, usage, outcome
        self._write(call, usage, outcome)

    def _write(self, call: Call, usage: Usage, outcome: str, produced: str = "") -> None:
        # Keep the answer, since it is paid for: its estimate is in the ledger, and the next
        # reservation fails before anything is spent.
        with suppress(MemdirError):
            self.ledger.settle(call, usage, outcome, produced)


@dataclass(frozen=True)
class Spending:
    limits: Limits
    spent: Spent
    day: str
    session: str
    calls: tuple[Call, ...]

    @property
    def today(self) -> list[Call]:
        return [call for call in self.calls if call.day == self.day]


def read_model_spending(app: App, session: str = "") -> Spending:
    options = app.config.options
    day, ledger = ledger_day(app.now()), Ledger(app.config.state_dir, app.now)
    limits = Limits(options.session_tokens, options.day_tokens, options.run_tokens)
    newest = tuple(sorted(ledger.calls(), key=lambda call: call.time, reverse=True))
    return Spending(limits, ledger.spent(day, session), day, session, newest)


def open_model(
    app: App, purpose: str, session: str = "", *, named: str = "", run: int | None = None
) -> Metered:
    options = app.config.options
    wanted = named or options.model
    if not wanted:
        raise BadInput("no model is set", next="set model.name in config.toml or MEMDIR_MODEL")
    member, name = model_member_and_name(wanted)
    opened = registry.load("models", member, app.config.own).open_model(
        name, options.model_base_url, app.config.environ
    )
    limits = Limits(options.session_tokens, options.day_tokens, run)
    ledger = Ledger(app.config.state_dir, app.now)
    return Metered(cast(Model, opened), ledger, limits, purpose, session)
