"""What capture keeps of one store: how far it came, what it is about to do, and one at a time.

`captures/sessions/<name>`: one small file per conversation. `captures/plan`: what a run is to do,
there from before the first memory is saved until the last one is. All of it durable.
"""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, astuple
from typing import Any, TypeVar

from memdir.adapters.disk import Disk, failure
from memdir.adapters.journal import Journal, is_moment
from memdir.adapters.lock import Lock
from memdir.core.capturing import Catch, Origin
from memdir.core.draft import Draft
from memdir.core.errors import MemdirError
from memdir.core.progress import Done, Item, Plan, Progress
from memdir.core.store_key import store_key
from memdir.core.transcript import Cursor

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
