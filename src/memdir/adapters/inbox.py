"""The inbox: drafts that wait for a person's yes, one file each, outside the tree a client scans.

`<id>.json` is a draft that waits; `settled.jsonl` says what became of those that do not any more,
one line each, so that nothing is asked twice. What cannot be read is reported and stays.
"""

from __future__ import annotations

import datetime
import json
import os
from dataclasses import asdict, replace

from memdir.adapters.disk import Disk, failure
from memdir.adapters.lock import Lock
from memdir.core import dates
from memdir.core.capturing import Catch, Origin
from memdir.core.draft import Draft
from memdir.core.errors import BadInput, MemdirError, Missing
from memdir.core.finding import Finding
from memdir.core.held import Held, id_of

MOST = 500  # drafts that wait at once
LARGEST_BYTES = 256 * 1024  # of one of them
SETTLED, LOCK = "settled.jsonl", "lock"
SETTLED_KEPT = 2_000  # lines
SETTLED_BYTES = 4 * 1024 * 1024
ENDING = ".json"
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
            if len(waiting) >= MOST:
                what = f"{len(waiting)} drafts wait for a review already, which is the limit"
                raise BadInput(what, path=self.folder, next="memdir review shows them")
            self._put(held.id + ENDING, data)
        return held

    def broken(self) -> list[Finding]:
        """The files that are no drafts any more: damaged, or not ours."""
        return self._look()[1]

    def read(self, id: str) -> Held:
        """The draft of that id; the start of an id will do."""
        return self._read(self._find(id))

    def change(self, held: Held) -> None:
        """Put another version in its place; it keeps its id, so the first one is not held anew."""
        with self._lock.held("memdir review", _unheard):
            self._find(held.id)
            self._put(held.id + ENDING, write(held))

    def settle(self, id: str, how: str = "", what: str = "", now: float = 0.0) -> None:
        """Let go of it for good, and write down what became of it before that."""
        with self._lock.held("memdir review", _unheard):
            name = self._find(id)
            told = {"id": name, "time": dates.iso_time(now), "how": how, "what": what}
            lines = [*self._settled().values(), json.dumps(told)][-SETTLED_KEPT:]
            self._put(SETTLED, ("\n".join(lines) + "\n").encode())
            try:
                self._disk.drop(name + ENDING)
            except OSError as error:
                raise failure(error, self._path(name), "cannot be removed") from None

    def settled(self) -> list[dict[str, str]]:
        """What became of the others, the newest first."""
        return [json.loads(line) for line in reversed(self._settled().values())]

    def _look(self) -> tuple[list[Held], list[Finding]]:
        held, findings = [], []
        for id in self._ids():
            try:
                held.append(self._read(id))
            except MemdirError as error:
                findings.append(Finding("unreadable", self._path(id), error.message, error.next))
        return sorted(held, key=lambda one: (one.time, one.id)), findings

    def _ids(self) -> list[str]:
        try:
            names = os.listdir(self.folder)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise failure(error, self.folder, "the inbox cannot be read") from None
        return sorted(name[: -len(ENDING)] for name in names if _is_ours(name))

    def _find(self, id: str) -> str:
        wanted = id.strip().lower()
        found = [one for one in self._ids() if wanted and one.startswith(wanted)]
        if len(found) == 1 or wanted in found:
            return wanted if wanted in found else found[0]
        several = bool(found)
        what = f"{id[:40]!r} is the start of several ids" if several else f"no draft {id[:40]!r}"
        raise Missing(what if several else f"{what} waits", next="memdir review lists them")

    def _read(self, id: str) -> Held:
        path = self._path(id)
        hint = f"look at it, then move it away: mv {path} {path}.old"
        try:
            data, facts = self._disk.read(id + ENDING, LARGEST_BYTES + 1)
        except OSError as error:
            raise failure(error, path, "the draft cannot be read") from None
        try:
            if facts.st_size > LARGEST_BYTES:
                raise ValueError("too long")
            return read(data, id)
        except (ValueError, TypeError, KeyError, RecursionError, OverflowError):
            raise BadInput(f"{path}: this draft is damaged", path=path, next=hint) from None

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
                found[str(json.loads(line)["id"])] = line
            except (ValueError, TypeError, KeyError, RecursionError):
                continue
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
        return self._look()[0]


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
        texts = (draft.body, draft.type, draft.name, draft.description, draft.why, draft.how)
        _check(
            (*texts, draft.source, draft.expected or "", *(text for pair in extra for text in pair))
        )
    _check((told["id"], told["reason"], told["forget"], *asdict(origin).values()))
    if told["id"] != id or not isinstance(told["time"], (int, float)):
        raise ValueError("not the draft of that name")
    held = Catch(origin, draft, told["forget"], told["reason"])
    return Held(id, held, told["reason"], float(told["time"]))


def _check(texts: tuple[object, ...]) -> None:
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("not a text")


def _day(draft: Draft) -> str:
    return draft.day.isoformat() if draft.day else ""


def _is_ours(name: str) -> bool:
    return name.endswith(ENDING) and name[:1] != "."


def _unheard(text: str) -> None:
    """Nobody waits long enough for this lock to be told of it."""
