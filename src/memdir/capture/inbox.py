"""The inbox: drafts that wait for a person's approval, one file each, outside every store.

`<id>.json` is a waiting draft. `settled.jsonl` has one line per decision, so that nothing is asked
twice; for `KEPT_DAYS` a settled draft stays as `<id>.settled` and can be restored. Unreadable files
are reported and left alone.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, astuple, dataclass, replace
from functools import partial
from typing import cast

from memdir.capture.progress import restore_value
from memdir.capture.signals import MAX_QUOTE_BYTES, SOURCE, Catch, Origin
from memdir.clients.conversation import PERSON, TOOL
from memdir.errors import BadInput, Finding, MemdirError, Missing
from memdir.format.draft import Draft, content_hash, describe_body, place_of_secret
from memdir.hot import safe
from memdir.hot.disk import Disk
from memdir.hot.safe import inert_line
from memdir.store import state
from memdir.store.state import Lock
from memdir.store.writer import App, store_state_folder
from memdir.text.secrets import find_secrets

ID_CHARACTERS = 12
MAX_NAME_BYTES = 80  # of a session, message or tool, named by a client
MAX_WAITING = 500
MAX_WAITING_FOR_TOOLS = 250  # lower for drafts from tools, so that a web page cannot fill the inbox
MAX_FILE_BYTES = 256 * 1024
MAX_SETTLED_LINES = 2_000
WAITING_DAYS = 30  # then a draft expires
KEPT_DAYS = 30  # a settled draft can be restored
LOCK_SECONDS, NOTICE_SECONDS = 10.0, 2.0  # held for a few writes only
SETTLED = "settled.jsonl"
WAITING_ENDING, SETTLED_ENDING = ".json", ".settled"
APPROVED, REJECTED, EXPIRED = "approved", "rejected", "expired"
FORGET = "forget: "
REVIEWED_KEY = "metadata.review"  # header key of an approved memory: its draft id
HELD_LINE = "memdir: held for your review (memdir review): "  # start of the line for the user
APPROVAL = "review "  # before the draft id, as the reason of a change


@dataclass(frozen=True)
class Held:
    id: str
    catch: Catch
    reason: str
    time: float


def held_draft_id(catch: Catch) -> str:
    """The same draft from the same message always has the same id.

    The session does not count: a fork of it has the same messages.
    """
    origin = catch.origin
    draft = () if catch.draft is None else astuple(replace(catch.draft, extra=()))
    content = repr((draft, catch.forget, origin.client, origin.message))
    return content_hash(content.encode("utf-8", "surrogatepass"))[:ID_CHARACTERS]


def held_title(catch: Catch) -> str:
    """One line, cut before the first secret."""
    if catch.draft is None:
        return describe_body(FORGET + catch.forget)
    return describe_body(catch.draft.description or catch.draft.body)


def complete_held_id(text: str, ids: Sequence[str]) -> str:
    """Expands the start of an id; empty if unknown, refused if ambiguous."""
    wanted = text.strip().lower()
    matches = [id for id in ids if wanted and id.startswith(wanted)]
    if len(matches) < 2 or wanted in matches:
        return wanted if wanted in matches else "".join(matches)
    raise Missing(f"{text[:40]!r} is the start of several ids", next="give more of it")


def held_id_in_reason(reason: str) -> str:
    """The draft whose approval a change of the history is; empty for any other change."""
    id = reason.removeprefix(APPROVAL)
    return id if id != reason and len(id) == ID_CHARACTERS and id.isalnum() else ""


def _refuse_secret(catch: Catch) -> None:
    """A draft waits on the disk, too."""
    said = Draft(catch.forget + catch.origin.quote)
    if place := place_of_secret(catch.draft or said) or place_of_secret(said):
        message = f"it holds what looks like a secret ({place})"
        raise BadInput(message, next="say where it is kept, not the secret")


class Inbox:
    def __init__(self, folder: str) -> None:
        self.folder = folder
        lock = Lock(os.path.join(folder, "lock"), NOTICE_SECONDS, LOCK_SECONDS)
        # Held for a few writes only, so nobody needs a notice.
        self._locked = partial(lock.held, "memdir review", lambda _: None)

    def hold(self, catch: Catch, reason: str, now: float) -> Held:
        """Durable on return; ignores a draft that waits or was settled, refuses when full."""
        held = Held(held_draft_id(catch), replace(catch, hold=reason), reason, now)
        _refuse_secret(catch)
        with self._locked():
            if held.id in self._ids():
                return self._read(held.id)
            if held.id not in self._settled():
                self._check_room(catch.origin.who)
                self._put_held(held)
        return held

    def look(self) -> tuple[list[Held], list[Finding]]:
        held, findings = [], []
        for id in self._ids():
            try:
                held.append(self._read(id))
            except MemdirError as error:
                path = os.path.join(self.folder, id + WAITING_ENDING)
                findings.append(Finding("unreadable", path, error.message, error.next))
        return sorted(held, key=lambda item: (item.time, item.id)), findings

    def expire(self, now: float) -> None:
        """What nobody decided on is put away; it can be restored like a rejected one."""
        for held in self.list():
            path = os.path.join(self.folder, held.id + WAITING_ENDING)
            with suppress(FileNotFoundError):  # settled meanwhile
                # The file's own time: a restored draft waits anew.
                if now - os.stat(path).st_mtime > WAITING_DAYS * safe.DAY:
                    self.settle(held.id, EXPIRED, held_title(held.catch), now)

    def count(self) -> int:
        return len(self._ids())

    def read(self, id: str) -> Held:
        return self._read(self._find(id))

    def change(self, held: Held) -> None:
        """The id stays, so the first version is not held again."""
        _refuse_secret(held.catch)
        with self._locked():
            self._find(held.id)
            self._put_held(held)

    def settle(self, id: str, how: str = "", what: str = "", now: float = 0.0) -> None:
        """Records the decision before the draft leaves the list."""
        with self._locked():
            name = self._find(id)
            settled = self._settled()
            settled.pop(name, None)  # if it was restored since, it is the newest now
            settled[name] = {"id": name, "time": safe.iso_time(now), "how": how, "what": what}
            self._put_settled(settled)
            with state.state_errors(self.folder, "the draft cannot be read"):
                data = state.read_state_bytes(self.folder, name + WAITING_ENDING)
            self._put(name + SETTLED_ENDING, data or b"")
            self._remove(name + WAITING_ENDING)
            for old in self._ids(SETTLED_ENDING):
                if old not in settled or not _is_kept(settled[old], now):
                    self._remove(old + SETTLED_ENDING)

    def settled(self) -> list[dict[str, str]]:
        return [*reversed(self._settled().values())]

    def rejected(self, now: float) -> list[Held]:
        rejected = []
        for line in self.settled():
            if line.get("how") in (REJECTED, EXPIRED) and _is_kept(line, now):
                with suppress(MemdirError):
                    rejected.append(self._read(line["id"], SETTLED_ENDING))
        return rejected

    def was_settled(self, id: str) -> bool:
        return id in self._settled() and id not in self._ids()

    def reopen(self, id: str) -> Held:
        with self._locked():
            held = self._read(id, SETTLED_ENDING)
            self._check_room(PERSON)  # a person restores it
            self._put_held(held)
            settled = self._settled()
            settled.pop(id, None)
            self._put_settled(settled)
            self._remove(id + SETTLED_ENDING)
        return held

    def _ids(self, ending: str = WAITING_ENDING) -> list[str]:
        try:
            with state.state_errors(self.folder, "the inbox cannot be read"):
                names = os.listdir(self.folder)
        except Missing:
            return []
        return sorted(name[: -len(ending)] for name in names if name.endswith(ending))

    def _check_room(self, who: str) -> None:
        limit = MAX_WAITING_FOR_TOOLS if who == TOOL else MAX_WAITING
        if (waiting := len(self._ids())) >= limit:
            which = " for what a tool said" if who == TOOL else ""
            message = f"{waiting} drafts wait for a review already, which is the limit{which}"
            raise BadInput(message, path=self.folder, next="memdir review shows them")

    def _find(self, id: str) -> str:
        name = complete_held_id(id, self._ids())
        if not name:
            raise Missing(f"no draft {id[:40]!r} waits", next="memdir review lists them")
        return name

    def _read(self, id: str, ending: str = WAITING_ENDING) -> Held:
        path = os.path.join(self.folder, id + ending)
        with state.state_errors(path, "the draft cannot be read"):
            data = Disk(self.folder).read(id + ending, MAX_FILE_BYTES + 1)[0]
        try:
            if len(data) > MAX_FILE_BYTES:
                raise ValueError("too long")
            return read_held_draft(data, id)
        except state.DAMAGE:
            hint = f"look at it, then move it away: mv {path} {path}.old"
            raise BadInput(f"{path}: this draft is damaged", path=path, next=hint) from None

    def _settled(self) -> dict[str, dict[str, str]]:
        with state.state_errors(os.path.join(self.folder, SETTLED), "cannot be read"):
            lines, _ = state.read_state_lines(self.folder, SETTLED)
        settled, _ = state.parse_state_lines(lines, lambda it: (restore_value(str, it["id"]), it))
        return dict(settled)

    def _put_settled(self, settled: dict[str, dict[str, str]]) -> None:
        lines = [json.dumps(line) + "\n" for line in settled.values()][-MAX_SETTLED_LINES:]
        self._put(SETTLED, "".join(lines).encode())

    def _put_held(self, held: Held) -> None:
        data = write_held_draft(held)
        if len(data) > MAX_FILE_BYTES:
            message = f"the draft has more than {MAX_FILE_BYTES:,} bytes: too long to be held"
            raise BadInput(message, next="save a shorter one by hand: memdir remember TEXT")
        self._put(held.id + WAITING_ENDING, data)

    def _put(self, name: str, data: bytes) -> None:
        with state.state_errors(os.path.join(self.folder, name), "the inbox cannot be written"):
            state.replace_state(self.folder, name, data)

    def _remove(self, name: str) -> None:
        with state.state_errors(os.path.join(self.folder, name), "cannot be removed"):
            Disk(self.folder).drop(name)

    def list(self) -> list[Held]:
        return self.look()[0]  # last in the class, because it hides the type `list`


def write_held_draft(held: Held) -> bytes:
    """ASCII only, so that no character can do harm."""
    parts = asdict(held.catch)
    value = {"id": held.id, "time": held.time, "reason": held.reason}
    value |= {key: parts[key] for key in ("origin", "forget", "draft")}
    return (json.dumps(value, indent=2, default=str) + "\n").encode("ascii")


def read_held_draft(data: bytes, id: str) -> Held:
    """Inverse of `write_held_draft`; raises one of `state.DAMAGE` for anything else."""
    value = json.loads(data)
    parts = {key: value[key] for key in ("origin", "forget", "draft")}
    catch = cast(Catch, restore_value(Catch, {**parts, "hold": value["reason"]}))
    if value["id"] != id:
        raise ValueError("not the draft of that name")
    return Held(id, catch, catch.hold, float(restore_value(float, value["time"])))


def _is_kept(line: dict[str, str], now: float) -> bool:
    time = safe.parse_time(str(line.get("time", "")))
    return time is None or now - time <= KEPT_DAYS * safe.DAY


def open_inbox(app: App) -> Inbox:
    return Inbox(os.path.join(store_state_folder(app.config), "held"))


# Where a draft comes from, in the header of its memory


def sign_captured_draft(draft: Draft, origin: Origin) -> Draft:
    said_by = " ".join(filter(None, (origin.who, origin.tool))) or "unknown"
    metadata = {
        "metadata.client": origin.client,
        "metadata.session": origin.session,
        "metadata.message": origin.message,
        "metadata.said_by": said_by,
    }
    lines = {key: inert_line(value, MAX_NAME_BYTES) for key, value in metadata.items() if value}
    kept = [(key, value) for key, value in draft.extra if key not in metadata]
    # An id that looks like a secret would get the whole draft refused.
    safe = [(key, value) for key, value in lines.items() if not find_secrets(value)]
    return replace(draft, source=SOURCE, extra=(*kept, *safe))


def describe_draft_origin(values: Mapping[str, str]) -> str:
    labels = {key: values.get(f"metadata.{key}", "") for key in ("said_by", "client", "session")}
    if not labels["said_by"]:
        elsewhere = inert_line(values.get("metadata.imported_from", ""), MAX_QUOTE_BYTES)
        return f"imported from {elsewhere}" if elsewhere else ""
    place = ", session ".join(filter(None, (labels["client"], labels["session"])))
    return f"captured: said by {labels['said_by']}" + (f" ({place})" if place else "")
