"""Cursor, account, one run at a time."""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, astuple, dataclass, field
from typing import Any, TypeVar, cast

from memdir.capture.signals import Catch, Origin
from memdir.clients.conversation import Cursor
from memdir.errors import MemdirError
from memdir.format.draft import Draft
from memdir.hot.disk import Disk, failure
from memdir.hot.place import store_key
from memdir.store.lock import Lock

# What became of everything that capture came to: received = saved + refused + held + waiting.

RECEIVED, SAVED, REFUSED, HELD = "received", "saved", "refused", "held"
DECISIONS = (SAVED, REFUSED, HELD)


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
class Totals:
    """Counts of things whose lines were let go of: all of them are decided."""

    saved: int = 0
    refused: int = 0
    held: int = 0

    @property
    def received(self) -> int:
        return self.saved + self.refused + self.held


NONE = Totals()


@dataclass(frozen=True)
class Account:
    """The counts, and the things that still wait; `problems` are lines that contradict others."""

    received: int
    saved: int
    refused: int
    held: int
    waiting: tuple[Entry, ...]
    problems: tuple[str, ...] = ()

    @property
    def balances(self) -> bool:
        """True where nothing was lost and nothing counted twice."""
        decided = self.saved + self.refused + self.held
        return self.received == decided + len(self.waiting) and not self.problems


def balance(entries: Iterable[Entry], before: Totals = NONE) -> Account:
    """Count the lines, each thing once; what waits is counted, never computed as the rest."""
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
            if entry.id not in received:
                problems.append(f"{entry.id}: {entry.what}, but never received")
    counts = {what: sum(one.what == what for one in decided.values()) for what in DECISIONS}
    waiting = tuple(entry for id, entry in received.items() if id not in decided)
    return Account(
        received=before.received + len(received),
        saved=before.saved + counts[SAVED],
        refused=before.refused + counts[REFUSED],
        held=before.held + counts[HELD],
        waiting=waiting,
        problems=tuple(problems),
    )


def let_go(entries: Iterable[Entry], before: Totals, keep: int) -> tuple[Totals, tuple[Entry, ...]]:
    """Count all decided things but the last `keep` into the totals; what waits stays a line."""
    lines = list(entries)
    decided = [one.id for one in lines if one.what in DECISIONS]
    gone = set(decided[: max(0, len(decided) - keep)])
    counted = [one.what for one in lines if one.what in DECISIONS and one.id in gone]
    totals = Totals(
        before.saved + counted.count(SAVED),
        before.refused + counted.count(REFUSED),
        before.held + counted.count(HELD),
    )
    return totals, tuple(one for one in lines if one.id not in gone)


# The journal of capture: one JSON line per thing received and per decision, appended, forced.
#
# When it has grown too long, things that are decided become totals in its first line; what waits
# always keeps its line.

MOST_BYTES = 512 * 1024
MOST_THINGS = 10**12  # more is no count
LATEST = 1e12  # seconds; more, or no number at all, is no time
KEPT = 500  # decided things that keep their lines: what was done lately can be looked up
FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Journal:
    """One file; who appends holds the lock of captures."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.disk = Disk(os.path.dirname(path))
        self.name = os.path.basename(path)

    def read(self) -> tuple[Totals, list[Entry]]:
        """Everything that was written whole; a line that was cut off says nothing."""
        return self._read()[:2]

    def damaged(self) -> list[int]:
        """The numbers of the lines that nobody can read, or that hold no such thing."""
        return self._read()[2]

    def _read(self) -> tuple[Totals, list[Entry], list[int]]:
        totals, entries, damaged = Totals(), list[Entry](), list[int]()
        try:
            data = self.disk.read(self.name)[0]
        except (FileNotFoundError, NotADirectoryError):
            return totals, entries, damaged
        except OSError as error:
            raise failure(error, self.path, "the journal cannot be read") from None
        for number, line in enumerate(data.split(b"\n")[:-1], 1):
            try:
                said = json.loads(line)
                if "id" in said:
                    entries.append(_entry(said))
                else:
                    totals = _totals(said)
            except DAMAGE:
                damaged.append(number)  # one broken line hides no other
        return totals, entries, damaged

    def account(self) -> Account:
        """What became of everything."""
        totals, entries = self.read()
        return balance(entries, totals)

    def add(self, entries: Sequence[Entry]) -> None:
        """Append, durably; a line that a killed writer left unfinished is cut off first."""
        if not entries:
            return
        data = b"".join(json.dumps(asdict(one)).encode("ascii") + b"\n" for one in entries)
        try:
            self.disk.make_root()
            new = not os.path.lexists(self.path)
            handle = os.open(self.path, FLAGS, 0o600)
            try:
                size = _cut_torn_line(handle)
                written = os.write(handle, data)
                if written != len(data):
                    os.ftruncate(handle, size)  # all lines of one decision or none
                    raise OSError(28, os.strerror(28))
                os.fsync(handle)
            finally:
                os.close(handle)
            if new:
                _sync_folder(self.disk)
        except OSError as error:
            raise failure(error, self.path, "the journal cannot be written") from None
        if size + len(data) > MOST_BYTES:
            self._shorten()

    def _shorten(self) -> None:
        totals, entries = self.read()
        totals, kept = let_go(entries, totals, KEPT)
        lines = [json.dumps(asdict(totals)), *(json.dumps(asdict(one)) for one in kept)]
        try:
            self.disk.put(self.name, "".join(f"{line}\n" for line in lines).encode("ascii"))
        except OSError as error:
            raise failure(error, self.path, "the journal cannot be written") from None


def _entry(said: dict[str, Any]) -> Entry:
    entry = Entry(**said)
    texts = (entry.id, entry.what, entry.session, entry.name, entry.reason)
    if not all(type(one) is str for one in texts) or not is_moment(entry.time):
        raise ValueError("not what was written")
    return entry


def _totals(said: dict[str, Any]) -> Totals:
    totals = Totals(**said)
    counts = (totals.saved, totals.refused, totals.held)
    if not all(type(one) is int and 0 <= one <= MOST_THINGS for one in counts):
        raise ValueError("not what was written")
    return totals


def is_moment(value: object) -> bool:
    """A number that can be a time: JSON also has ones that are none."""
    return type(value) in (int, float) and abs(cast(float, value)) <= LATEST


def last_decision(entries: Sequence[Entry], what: str) -> Entry | None:
    """The newest line of that kind."""
    return next((one for one in reversed(entries) if one.what == what), None)


def decided(entries: Sequence[Entry]) -> dict[str, Entry]:
    """The decision on each thing that has one."""
    return {one.id: one for one in entries if one.what in DECISIONS}


def _cut_torn_line(handle: int) -> int:
    """The size of the file without an unfinished line at its end."""
    size = os.fstat(handle).st_size
    if not size or os.pread(handle, 1, size - 1) == b"\n":
        return size
    end = os.pread(handle, size, 0).rfind(b"\n") + 1
    os.ftruncate(handle, end)
    return end


def _sync_folder(disk: Disk) -> None:
    handle = disk.open_root()
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


# How far capture came in a conversation, and what it is about to do.

# Seconds until a model that failed is asked again; the last one holds from then on.
PAUSES = (60, 300, 900, 3600, 6 * 3600, 24 * 3600)
LONGEST_PAUSE = 2 * 24 * 3600  # seconds; more is the mark of a clock that was ahead
PATIENCE = 7  # failures after which a conversation is captured without the model


@dataclass(frozen=True)
class Done:
    """What was asked for and done at once, while the rest waits for a model."""

    message: str
    quote: str
    name: str = ""


@dataclass(frozen=True)
class Progress:
    """One conversation of one store.

    `size` is that of the transcript when it was read last, -1 before; `turns` ended since; after
    `failures` of a model nothing is tried before `after`, for the reason `why`, as long as model
    and limits are those of `asked`.
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
    done: tuple[Done, ...] = ()
    asked: str = ""
    why: str = ""


@dataclass(frozen=True)
class Item:
    """One thing to be decided; `target` is the path of what a person wants gone.

    `refuse` is why it must not be saved at all: then its text is not written down either.
    """

    id: str
    catch: Catch
    target: str = ""
    refuse: str = ""


@dataclass(frozen=True)
class Plan:
    """What one run is to do, written down before it does anything of it.

    `dropped` are things that waited and came to nothing. `progress` holds when all is done.
    """

    batch: str
    progress: Progress
    items: tuple[Item, ...] = ()
    waits: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    reason: str = ""


def pause(failures: int) -> int:
    """Seconds to wait after so many failures in a row."""
    return PAUSES[min(max(failures, 1), len(PAUSES)) - 1]


def is_due(after: float, now: float) -> bool:
    """False while something has to wait; a moment too far away was set by a clock gone wrong."""
    return not now < after <= now + LONGEST_PAUSE


# What capture keeps of one store: how far it came, what it is about to do, and one at a time.
#
# `captures/sessions/<name>`: one small file per conversation. `captures/plan`: what a run is to do,
# there from before the first memory is saved until the last one is. All of it durable.

FOLDER = "captures"
SESSIONS, PLAN, DAMAGED = "sessions", "plan", "plan.damaged"
KEPT_DAYS = 60  # that a conversation is kept which nobody goes on with
DAY = 86_400  # seconds
LARGEST_BYTES = 4 * 1024 * 1024
NOTICE_SECONDS, LOCK_SECONDS = 5.0, 30.0
T = TypeVar("T")
DAMAGE = (ValueError, TypeError, KeyError, RecursionError)


class Captures:
    """The folder of one store; only the holder of `lock` writes there."""

    def __init__(self, state_folder: str) -> None:
        self.folder = os.path.join(state_folder, FOLDER)
        self.disk = Disk(self.folder)
        self.journal = Journal(os.path.join(self.folder, "journal"))
        self.lock = Lock(os.path.join(self.folder, "lock"), NOTICE_SECONDS, LOCK_SECONDS)

    def load(self, session: str) -> Progress:
        """How far a conversation was processed; nothing of it where nobody can tell."""
        found = self._read(_place(session), read_progress)
        return found if found and found.session == session else Progress(session)

    def keep(self, progress: Progress) -> None:
        """Durable when it returns."""
        self._put(_place(progress.session), _told(progress))

    def sessions(self) -> Iterator[Progress]:
        """Every conversation that is known, the newest first."""
        try:
            with os.scandir(os.path.join(self.folder, SESSIONS)) as entries:
                names = sorted(entries, key=lambda one: one.stat().st_mtime, reverse=True)
        except OSError:
            return
        for entry in names:
            with suppress(MemdirError):  # a folder or a pipe in its place hides no other
                found = self._read(f"{SESSIONS}/{entry.name}", read_progress)
                if found:
                    yield found

    def plan(self) -> Plan | None:
        """What an earlier run was about to do when it was cut off."""
        return self._read(PLAN, read_plan)

    def announce(self, plan: Plan) -> None:
        """Durable before anything of it is done."""
        self._put(PLAN, asdict(plan) | {"progress": _told(plan.progress)})

    def finish(self) -> None:
        """The plan was carried out."""
        try:
            self.disk.drop(PLAN)
        except FileNotFoundError:
            return
        except OSError as error:
            raise failure(error, os.path.join(self.folder, PLAN), "cannot be removed") from None

    def prune(self, now: float) -> None:
        """Let go of conversations that nobody has gone on with in a long time."""
        try:
            with os.scandir(os.path.join(self.folder, SESSIONS)) as entries:
                for entry in entries:
                    if entry.stat(follow_symlinks=False).st_mtime < now - KEPT_DAYS * DAY:
                        os.unlink(entry.path)
        except OSError:
            return  # there are none, or somebody else was faster

    def _put(self, path: str, said: dict[str, Any]) -> None:
        try:
            self.disk.make_root()
            self.disk.put(path, json.dumps(said, default=str).encode("ascii"))
        except OSError as error:
            where = os.path.join(self.folder, path)
            raise failure(error, where, "what was captured cannot be kept") from None

    def _read(self, path: str, read: Callable[[Any], T]) -> T | None:
        where = os.path.join(self.folder, path)
        try:
            data = self.disk.read(path, LARGEST_BYTES)[0]
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise failure(error, where, "cannot be read") from None
        try:
            return read(json.loads(data))
        except DAMAGE:
            if path == PLAN:  # somebody else wrote there: kept for a person, in nobody's way
                os.replace(where, os.path.join(self.folder, DAMAGED))
            return None


def _place(session: str) -> str:
    plain = session.encode("utf-8", "backslashreplace").decode()  # an id comes from outside
    return f"{SESSIONS}/{store_key(plain)}"


def _told(progress: Progress) -> dict[str, Any]:
    """All of it by name."""
    cursor = progress.cursor
    return asdict(progress) | {"cursor": {"id": cursor.id, "offset": cursor.offset}}


def read_progress(said: Any) -> Progress:
    """The inverse of `_told`."""
    done = tuple(Done(**one) for one in said["done"])
    found = Progress(**{**said, "cursor": Cursor(**said["cursor"]), "done": done})
    counts = (found.cursor.offset, found.size, found.turns, found.failures)
    times = (found.after, found.time)
    texts = [found.session, found.client, found.path, found.cursor.id, found.asked, found.why]
    texts += [text for one in done for text in (one.message, one.quote, one.name)]
    if not (all(type(one) is int for one in counts) and all(map(is_moment, times))):
        raise ValueError("not what was written")
    if not _are_texts(texts):
        raise ValueError("not what was written")
    return found


def _are_texts(values: Iterable[object]) -> bool:
    return all(type(one) is str for one in values)


def read_plan(said: Any) -> Plan:
    """The inverse of `asdict`."""
    items = [Item(**{**one, "catch": read_catch(one["catch"])}) for one in said["items"]]
    told = {**said, "progress": read_progress(said["progress"]), "items": tuple(items)}
    found = Plan(**{**told, "waits": tuple(said["waits"]), "dropped": tuple(said["dropped"])})
    texts = [text for one in items for text in (one.id, one.target, one.refuse)]
    if not _are_texts((*texts, *found.waits, *found.dropped, found.batch, found.reason)):
        raise ValueError("not what was written")
    return found


def read_catch(said: Any) -> Catch:
    """The inverse of `asdict`; a draft's day is text."""
    draft = said["draft"]
    if draft is not None:
        day = datetime.date.fromisoformat(draft["day"]) if draft["day"] else None
        extra = tuple((key, value) for key, value in draft["extra"])
        draft = Draft(**{**draft, "day": day, "extra": extra})
        texts = (draft.body, draft.type, draft.name, draft.description, draft.why, draft.how)
        if not _are_texts((*texts, draft.source, *(part for pair in extra for part in pair))):
            raise ValueError("not what was written")
    origin = Origin(**said["origin"])
    if not _are_texts((said["forget"], said["hold"], *astuple(origin))):
        raise ValueError("not what was written")
    return Catch(**{**said, "origin": origin, "draft": draft})
