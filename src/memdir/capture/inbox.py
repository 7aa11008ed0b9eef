"""Drafts that wait."""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass, replace
from typing import Protocol

from memdir.capture.progress import is_moment
from memdir.capture.signals import Catch, Origin
from memdir.clients.conversation import PERSON, TOOL
from memdir.errors import BadInput, Finding, MemdirError, Missing
from memdir.format.draft import Draft, hash_of
from memdir.hot import safe
from memdir.hot.disk import Disk, failure
from memdir.store.lock import Lock
from memdir.store.writer import App, state_folder

# A draft that waits for a person's yes.

ID_CHARACTERS = 12
NAMED = 5  # ids that a message names one by one
APPROVED, REJECTED = "approved", "rejected"  # how it was settled
REVIEWED_KEY = "metadata.review"  # in the header of what was approved: the id it had here
_REASON = "review "  # what the history says of an approval, before the id


@dataclass(frozen=True)
class Held:
    """What capture came to, why it waits, and since when."""

    id: str
    catch: Catch
    reason: str
    time: float


def id_of(catch: Catch) -> str:
    """The same draft from the same message has the same id, however often it is caught.

    Not the session: a fork of one has the messages of the other.
    """
    origin = catch.origin
    draft = () if catch.draft is None else astuple(replace(catch.draft, extra=()))
    told = repr((draft, catch.forget, origin.client, origin.message))
    return hash_of(told.encode("utf-8", "surrogatepass"))[:ID_CHARACTERS]


def find_id(text: str, ids: Sequence[str]) -> str:
    """The id that begins so, else the empty string; refuses the start of several."""
    wanted = text.strip().lower()
    found = [id for id in ids if wanted and id.startswith(wanted)]
    if len(found) < 2 or wanted in found:
        return wanted if wanted in found else "".join(found)
    few = ", ".join(found[:NAMED]) + (", …" if len(found) > NAMED else "")
    raise Missing(f"{text[:40]!r} is the start of several ids: {few}", next="give more of it")


def reason_of(id: str) -> str:
    """Why a change was made that approves a draft, for the history."""
    return _REASON + id


def approved_by(reason: str) -> str:
    """The inverse of `reason_of`: the draft that a change approved; empty for other reasons."""
    id = reason.removeprefix(_REASON)
    return id if id != reason and len(id) == ID_CHARACTERS and id.isalnum() else ""


# The inbox: drafts that wait for a person's yes, one file each, outside the tree a client scans.
#
# `<id>.json` is a draft that waits; `settled.jsonl` says what became of those that do not any
# more, one line each, so that nothing is asked twice; for `KEPT_DAYS` they lie there as
# `<id>.settled`, and can be put back. What cannot be read is reported and stays.

MOST = 500  # drafts that wait at once
MOST_OF_TOOLS = 250  # so many may wait before one of a tool: a page cannot take a person's place
LARGEST_BYTES = 256 * 1024  # of one of them
SETTLED, LOCK = "settled.jsonl", "lock"
SETTLED_KEPT = 2_000  # lines
SETTLED_BYTES = 4 * 1024 * 1024
ENDING, SETTLED_ENDING = ".json", ".settled"
KEPT_DAYS = 30  # that a settled draft can be put back
LOCK_SECONDS, NOTICE_SECONDS = 10.0, 2.0  # it is held for the time of a few writes


class Inbox:
    """What waits for a review of one store."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._disk = Disk(folder)
        self._lock = Lock(os.path.join(folder, LOCK), NOTICE_SECONDS, LOCK_SECONDS)

    def hold(self, catch: Catch, reason: str, now: float) -> Held:
        """Keep it, durably, unless it waits already or was settled before; refuse when full."""
        held = Held(id_of(catch), replace(catch, hold=reason), reason, now)
        data = write(held)
        if len(data) > LARGEST_BYTES:
            what = f"the draft has more than {LARGEST_BYTES:,} bytes: too long to be held"
            raise BadInput(what, next="save a shorter one by hand: memdir remember TEXT")
        with self._lock.held("memdir review", _unheard):
            waiting = self._ids()
            if held.id in waiting:
                return self.read(held.id)
            if held.id in self._settled():
                return held
            self._check_room(catch.origin.who)
            self._put(held.id + ENDING, data)
        return held

    def broken(self) -> list[Finding]:
        """The files that are no drafts any more: damaged, or not ours."""
        return self.look()[1]

    def count(self) -> int:
        """How many wait, whether or not they can be read."""
        return len(self._ids())

    def read(self, id: str) -> Held:
        """The draft of that id; the start of an id will do."""
        return self._read(self._find(id))

    def change(self, held: Held) -> None:
        """Put another version in its place; it keeps its id, so the first one is not held anew."""
        with self._lock.held("memdir review", _unheard):
            self._find(held.id)
            self._put(held.id + ENDING, write(held))

    def settle(self, id: str, how: str = "", what: str = "", now: float = 0.0) -> None:
        """Let go of it, and write down what became of it before that."""
        with self._lock.held("memdir review", _unheard):
            name = self._find(id)
            told = {"id": name, "time": safe.iso_time(now), "how": how, "what": what}
            settled = self._settled()
            settled.pop(name, "")  # it was put back since: now it is the newest
            settled[name] = json.dumps(told)
            self._tell(settled)
            try:
                data, _ = self._disk.read(name + ENDING, LARGEST_BYTES + 1)
                self._put(name + SETTLED_ENDING, data)
            except OSError as error:
                raise failure(error, self._path(name), "cannot be read") from None
            self._drop(name + ENDING)
            self._clear(settled, now)

    def settled(self) -> list[dict[str, str]]:
        """What became of the others, the newest first."""
        return [json.loads(line) for line in reversed(self._settled().values())]

    def rejected(self, now: float) -> list[Held]:
        """What was rejected and can still be put back, the newest first; damaged ones are none."""
        told = [one for one in self.settled() if one.get("how") == REJECTED]
        return [held for one in told if _is_kept(one, now) and (held := self._kept(one["id"]))]

    def was_settled(self, id: str) -> bool:
        """True for a draft that was decided on before, and does not wait again."""
        return id in self._settled() and id not in self._ids()

    def reopen(self, id: str) -> Held:
        """Let a settled draft wait again, as it did."""
        with self._lock.held("memdir review", _unheard):
            held = self._read(id, SETTLED_ENDING)
            self._check_room(PERSON)  # who lets it wait again
            self._put(id + ENDING, write(held))
            self._tell({other: line for other, line in self._settled().items() if other != id})
            self._drop(id + SETTLED_ENDING)
        return held

    def look(self) -> tuple[list[Held], list[Finding]]:
        """What waits, the oldest first, and what cannot be read."""
        held, findings = [], []
        for id in self._ids():
            try:
                held.append(self._read(id))
            except MemdirError as error:
                findings.append(Finding("unreadable", self._path(id), error.message, error.next))
        return sorted(held, key=lambda one: (one.time, one.id)), findings

    def _ids(self, ending: str = ENDING) -> list[str]:
        try:
            names = os.listdir(self.folder)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise failure(error, self.folder, "the inbox cannot be read") from None
        ours = [name for name in names if name.endswith(ending) and name[:1] != "."]
        return sorted(name[: -len(ending)] for name in ours)

    def _check_room(self, who: str) -> None:
        most = min(MOST, MOST_OF_TOOLS) if who == TOOL else MOST
        if (waiting := len(self._ids())) >= most:
            which = "" if most == MOST else " for what a tool said"
            what = f"{waiting} drafts wait for a review already, which is the limit{which}"
            raise BadInput(what, path=self.folder, next="memdir review shows them")

    def _find(self, id: str) -> str:
        found = find_id(id, self._ids())
        if not found:
            raise Missing(f"no draft {id[:40]!r} waits", next="memdir review lists them")
        return found

    def _read(self, id: str, ending: str = ENDING) -> Held:
        path = os.path.join(self.folder, id + ending)
        hint = f"look at it, then move it away: mv {path} {path}.old"
        try:
            data, facts = self._disk.read(id + ending, LARGEST_BYTES + 1)
        except OSError as error:
            raise failure(error, path, "the draft cannot be read") from None
        try:
            if facts.st_size > LARGEST_BYTES:
                raise ValueError("too long")
            return read(data, id)
        except (ValueError, TypeError, KeyError, RecursionError, OverflowError):
            raise BadInput(f"{path}: this draft is damaged", path=path, next=hint) from None

    def _kept(self, id: str) -> Held | None:
        try:
            return self._read(id, SETTLED_ENDING)
        except MemdirError:
            return None

    def _clear(self, settled: dict[str, str], now: float) -> None:
        """What was settled long ago is let go of for good."""
        for id in self._ids(SETTLED_ENDING):
            if id not in settled or not _is_kept(json.loads(settled[id]), now):
                self._drop(id + SETTLED_ENDING)

    def _tell(self, settled: dict[str, str]) -> None:
        lines = list(settled.values())[-SETTLED_KEPT:]
        self._put(SETTLED, "".join(f"{line}\n" for line in lines).encode())

    def _drop(self, name: str) -> None:
        try:
            self._disk.drop(name)
        except OSError as error:
            path = os.path.join(self.folder, name)
            raise failure(error, path, "cannot be removed") from None

    def _settled(self) -> dict[str, str]:
        """The lines of what was settled, by id; a damaged one is nobody's."""
        try:
            data, _ = self._disk.read(SETTLED, SETTLED_BYTES)
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise failure(error, os.path.join(self.folder, SETTLED), "cannot be read") from None
        found = {}
        for line in data.decode("utf-8", "replace").split("\n"):
            try:
                id = json.loads(line)["id"]
            except (ValueError, TypeError, KeyError, RecursionError):
                continue
            if isinstance(id, str):
                found[id] = line
        return found

    def _put(self, name: str, data: bytes) -> None:
        try:
            self._disk.make_root()
            self._disk.put(name, data)
        except OSError as error:
            path = os.path.join(self.folder, name)
            raise failure(error, path, "the inbox cannot be written") from None

    def _path(self, id: str) -> str:
        return os.path.join(self.folder, id + ENDING)

    def list(self) -> list[Held]:
        """What waits, the oldest first; see `broken` for what cannot be read."""
        return self.look()[0]


def write(held: Held) -> bytes:
    """A draft that waits as JSON: ASCII, so that no character of it can do harm."""
    draft = held.catch.draft
    told = {
        "id": held.id,
        "time": held.time,
        "reason": held.reason,
        "origin": asdict(held.catch.origin),
        "forget": held.catch.forget,
        "draft": None if draft is None else {**asdict(draft), "day": _day(draft)},
    }
    return (json.dumps(told, indent=2) + "\n").encode("ascii")


def read(data: bytes, id: str) -> Held:
    """The inverse of `write`; raises ValueError, TypeError or KeyError for anything else."""
    told = json.loads(data)
    origin, draft = Origin(**told["origin"]), None
    if told["draft"] is not None:
        day = told["draft"]["day"]
        extra = tuple((key, value) for key, value in told["draft"]["extra"])
        given = {
            **told["draft"],
            "day": datetime.date.fromisoformat(day) if day else None,
            "extra": extra,
        }
        draft = Draft(**given)
        if type(draft.pinned) is not bool:
            raise ValueError("not what was written")
        texts = (draft.body, draft.type, draft.name, draft.description, draft.why, draft.how)
        _check(
            (*texts, draft.source, draft.expected or "", *(text for pair in extra for text in pair))
        )
    _check((told["id"], told["reason"], told["forget"], *asdict(origin).values()))
    if told["id"] != id or not is_moment(told["time"]):
        raise ValueError("not the draft of that name")
    held = Catch(origin, draft, told["forget"], told["reason"])
    return Held(id, held, told["reason"], float(told["time"]))


def _check(texts: tuple[object, ...]) -> None:
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("not a text")


def _day(draft: Draft) -> str:
    return draft.day.isoformat() if draft.day else ""


def _is_kept(told: dict[str, str], now: float) -> bool:
    """True where it was settled not so long ago; where nobody knows when, it was."""
    time = safe.parse_time(str(told.get("time", "")))
    return time is None or now - time <= KEPT_DAYS * safe.DAY


def _unheard(text: str) -> None:
    """Nobody waits long enough for this lock to be told of it."""


INBOX = "held"  # in the state folder of a store


def open_inbox(app: App) -> Inbox:
    """What waits for a person's yes before it may enter this store."""
    return Inbox(os.path.join(state_folder(app.config), INBOX))


# What the steps need from the world. Adapters fit these shapes; nobody inherits from them.


class InboxPort(Protocol):
    """Drafts that wait for a person's yes, outside every tree that a client scans."""

    def hold(self, catch: Catch, reason: str, now: float) -> Held: ...
    def look(self) -> tuple[list[Held], list[Finding]]: ...
    def broken(self) -> list[Finding]: ...
    def count(self) -> int: ...
    def read(self, id: str) -> Held: ...
    def change(self, held: Held) -> None: ...
    def settle(self, id: str, how: str = "", what: str = "", now: float = 0.0) -> None: ...
    def was_settled(self, id: str) -> bool: ...
    def rejected(self, now: float) -> list[Held]: ...
    def reopen(self, id: str) -> Held: ...
    def list(self) -> list[Held]: ...
