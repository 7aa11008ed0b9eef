"""State of capture for one store: the journal, the read positions and the plan.

`captures/journal` has a JSON line for each item received and each decision. `captures/sessions/`
has a small file per session. `captures/plan` exists from before the first memory of a run is saved
until after the last. All writes are durable.
"""

from __future__ import annotations

import datetime
import functools
import json
import os
import types
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any, cast, get_args, get_origin, get_type_hints

from memdir.capture.signals import Catch
from memdir.clients.conversation import Cursor
from memdir.errors import MemdirError
from memdir.hot import disk, safe
from memdir.hot.place import store_key
from memdir.store import state
from memdir.store.state import Lock

RECEIVED, SAVED, REFUSED, HELD = "received", "saved", "refused", "held"
DECISIONS = (SAVED, REFUSED, HELD)
MAX_JOURNAL_BYTES = 512 * 1024
MAX_TIME_SECONDS = 1e12  # a larger number is damage
KEPT_DECISIONS = 500  # kept as lines when the journal is shortened
KEPT_DAYS = 60  # for the file of an idle session
NOTICE_SECONDS, LOCK_SECONDS = 5.0, 30.0
# Pauses after each failure of a model; the last one repeats.
PAUSE_SECONDS = (60, 300, 900, 3600, 6 * 3600, 24 * 3600)
MAX_PAUSE_SECONDS = 2 * 24 * 3600  # a longer pause comes from a wrong clock
MAX_FAILURES = 7  # after which a conversation is captured without the model
FOLDER, SESSIONS, PLAN, DAMAGED = "captures", "sessions", "plan", "plan.damaged"


@dataclass(frozen=True)
class Entry:
    """One line of the journal: a thing was received, or something was decided on it.

    `name` is the memory it became; `reason` says why it was refused, held, or has to wait.
    """

    id: str
    what: str
    time: float
    session: str = ""
    name: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Account:
    received: int
    saved: int
    refused: int
    held: int
    waiting: tuple[Entry, ...]
    problems: tuple[str, ...] = ()

    @property
    def balances(self) -> bool:
        decided = self.saved + self.refused + self.held
        return self.received == decided + len(self.waiting) and not self.problems


@dataclass(frozen=True)
class Progress:
    """The state of one session in one store.

    `size`: of the transcript when it was last read, -1 before; `turns`: ended since. After
    `failures` of a model (the last reason is `why`) nothing is tried before `after`, unless the
    model or its limits differ from `asked`.
    """

    session: str
    client: str = ""
    path: str = ""
    cursor: Cursor = field(default_factory=Cursor)
    size: int = -1
    turns: int = 0
    failures: int = 0
    after: float = 0.0
    time: float = 0.0
    asked: str = ""
    why: str = ""


@dataclass(frozen=True)
class Item:
    """`target`: path of the memory to retire.

    `refuse`: why it must not be saved; its text is then not written down either.
    """

    id: str
    catch: Catch
    target: str = ""
    refuse: str = ""


@dataclass(frozen=True)
class Plan:
    """Everything a run will do, written before it does any of it.

    `waits` wait for a model; `dropped` waited for nothing. `progress` is valid when all is done.
    """

    batch: str
    progress: Progress
    items: tuple[Item, ...] = ()
    waits: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    reason: str = ""


def restore_value(kind: Any, value: Any) -> Any:
    """Inverse of `asdict` for these classes; raises one of `state.DAMAGE`."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is types.UnionType:  # X | None; an unknown day is empty
        absent = value is None or (value == "" and parts[0] is datetime.date)
        return None if absent else restore_value(parts[0], value)
    if origin is tuple:
        inner = parts[:1] * len(value) if parts[1:] == (...,) else parts
        return tuple(restore_value(part, item) for part, item in zip(inner, value, strict=True))
    if kind is datetime.date:
        return datetime.date.fromisoformat(value)
    if kind is float and type(value) in (int, float) and abs(value) <= MAX_TIME_SECONDS:
        return value  # every float here is a time; NaN is not
    if kind in (str, int, bool) and type(value) is kind:
        return value
    if kind in (float, str, int, bool):
        raise ValueError("not what was written")
    hints = _hints(kind)  # other versions may write other fields
    known = [(name, item) for name, item in value.items() if name in hints]
    return kind(**{name: restore_value(hints[name], item) for name, item in known})


_hints = functools.cache(get_type_hints)


def balance_capture_journal(entries: Iterable[Entry], totals: Counter[str]) -> Account:
    """Counts each thing once; waiting things are counted, never computed as the rest."""
    count = totals.total()
    received: dict[str, Entry] = {}
    decided: dict[str, Entry] = {}
    problems = []
    for entry in entries:
        if entry.what == RECEIVED:
            received.setdefault(entry.id, entry)
        elif entry.what not in DECISIONS:
            problems.append(f"{entry.id}: {entry.what!r} is no decision")
        elif entry.id in decided:
            problems.append(f"{entry.id}: {decided[entry.id].what}, then {entry.what}")
        else:
            decided[entry.id] = entry
            totals[entry.what] += 1
            if entry.id not in received:
                problems.append(f"{entry.id}: {entry.what}, but never received")
    waiting = tuple(entry for id, entry in received.items() if id not in decided)
    saved, refused, held = (totals[decision] for decision in DECISIONS)
    return Account(count + len(received), saved, refused, held, waiting, tuple(problems))


def capture_pause_seconds(failures: int) -> int:
    return PAUSE_SECONDS[min(max(failures, 1), len(PAUSE_SECONDS)) - 1]


def is_capture_due(after: float, now: float) -> bool:
    """A time too far ahead counts as due: it was set by a wrong clock."""
    return not now < after <= now + MAX_PAUSE_SECONDS


class Journal:
    """Only the holder of the capture lock appends.

    When the file grows too long, old decisions become totals in its first line; waiting things
    always keep their lines.
    """

    def __init__(self, folder: str) -> None:
        self.folder, self.path = folder, os.path.join(folder, "journal")

    def read(self) -> tuple[Counter[str], list[Entry], list[int]]:
        """Totals of old decisions, entries, and the numbers of damaged lines."""
        with state.state_errors(self.path, "the journal cannot be read"):
            lines, _ = state.read_state_lines(self.folder, "journal")
        values, damaged = state.parse_state_lines(lines, _parse_line)
        totals = [value for value in values if isinstance(value, Counter)]
        entries = [value for value in values if isinstance(value, Entry)]
        return totals[-1] if totals else Counter(), entries, damaged

    def account(self) -> Account:
        totals, entries, _ = self.read()
        return balance_capture_journal(entries, totals)

    def add(self, entries: Sequence[Entry]) -> None:
        """Durable on return, all lines or none."""
        if not entries:
            return
        with state.state_errors(self.path, "the journal cannot be written"):
            size = state.append_state_json(self.folder, "journal", map(asdict, entries))
            if size > MAX_JOURNAL_BYTES:
                self._shorten()

    def _shorten(self) -> None:
        totals, entries, _ = self.read()
        decided = [entry for entry in entries if entry.what in DECISIONS]
        gone = decided[: max(0, len(decided) - KEPT_DECISIONS)]
        totals.update(entry.what for entry in gone)
        ids = {entry.id for entry in gone}
        counts = {decision: totals[decision] for decision in DECISIONS}
        kept = [asdict(entry) for entry in entries if entry.id not in ids]
        data = "".join(json.dumps(value) + "\n" for value in (counts, *kept))
        state.replace_state(self.folder, "journal", data.encode("ascii"))


def _parse_line(value: Any) -> Counter[str] | Entry:
    if "id" in value:
        return cast(Entry, restore_value(Entry, value))
    totals = Counter({decision: restore_value(int, count) for decision, count in value.items()})
    if set(totals) != set(DECISIONS) or min(totals.values()) < 0:
        raise ValueError("not what was written")
    return totals


class Captures:
    """Only the holder of `lock` writes here."""

    def __init__(self, state_folder: str) -> None:
        self.folder = os.path.join(state_folder, FOLDER)
        self.journal = Journal(self.folder)
        self.lock = Lock(os.path.join(self.folder, "lock"), NOTICE_SECONDS, LOCK_SECONDS)

    def load(self, session: str) -> Progress:
        known = cast(Progress | None, self._read(_session_file(session), Progress))
        return known if known and known.session == session else Progress(session)

    def keep(self, progress: Progress) -> None:
        """Durable on return."""
        self._put(_session_file(progress.session), _as_json(progress))

    def sessions(self) -> Iterator[Progress]:
        """The newest first."""
        for entry in self._session_files():
            with suppress(MemdirError):  # a folder or pipe in its place hides no other session
                if known := self._read(f"{SESSIONS}/{entry.name}", Progress):
                    yield known

    def plan(self) -> Plan | None:
        return cast(Plan | None, self._read(PLAN, Plan))

    def announce(self, plan: Plan) -> None:
        """Durable on return, before any of it is done."""
        self._put(PLAN, asdict(plan) | {"progress": _as_json(plan.progress)})

    def finish(self) -> None:
        with state.state_errors(os.path.join(self.folder, PLAN), "cannot be removed"):
            state.remove_state(self.folder, PLAN)

    def prune(self, now: float) -> None:
        disk.Disk(self.folder).sweep(lambda path: True)  # temporary files of a killed capture
        for entry in self._session_files():
            if entry.stat().st_mtime < now - KEPT_DAYS * safe.DAY:
                disk.remove_file(entry.path)

    def _session_files(self) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(os.path.join(self.folder, SESSIONS)) as entries:
                return sorted(entries, key=lambda entry: entry.stat().st_mtime, reverse=True)
        except OSError:
            return []  # there are none yet

    def _put(self, path: str, value: dict[str, Any]) -> None:
        whole = os.path.join(self.folder, path)
        with state.state_errors(whole, "what was captured cannot be kept"):
            state.replace_state_json(self.folder, path, value)

    def _read(self, path: str, kind: Any) -> Any:
        whole = os.path.join(self.folder, path)
        try:
            with state.state_errors(whole, "cannot be read"):
                return state.read_state_json(
                    self.folder, path, functools.partial(restore_value, kind)
                )
        except state.DAMAGE:
            if path == PLAN:  # kept for inspection, out of the way of the next run
                disk.move(whole, os.path.join(self.folder, DAMAGED))
            return None


def _session_file(session: str) -> str:
    plain = session.encode("utf-8", "backslashreplace").decode()  # an id comes from outside
    return f"{SESSIONS}/{store_key(plain)}"


def _as_json(progress: Progress) -> dict[str, Any]:
    return asdict(progress) | {"cursor": progress.cursor._asdict()}
