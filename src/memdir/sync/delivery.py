"""What leaves: the store as others get it, sent in one push, to an outbox, or as proposals."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from memdir.errors import MemdirError
from memdir.format.draft import CREATED, UPDATED
from memdir.hot.disk import digest_of
from memdir.hot.memory import INDEX, stem
from memdir.store.ports import read_if_stored
from memdir.store.writer import App
from memdir.sync.base import MAX_SENT, Base, Known, sync_hash
from memdir.sync.border import RULES, make_index_to_sync, why_not_synced
from memdir.sync.transport import AGAIN, MAX_PUSH_BYTES, REFUSED, TAKEN, Push, Transport

# A file that changes twice within one tick of the clock has the same facts.
TICK_NS = 20_000_000
IN_STEP, OUTBOX, WAITS, PROPOSED = "in step", "outbox", "waits", "proposed"
REMOVED = "removed"


@dataclass(frozen=True)
class Item:
    path: str
    change: str
    author: str = ""
    reason: str = ""


@dataclass
class Report:
    """What one store got and gave; `waiting` is not taken or not sent, `stays` is private."""

    pulled: list[Item] = field(default_factory=list)
    pushed: list[Item] = field(default_factory=list)
    conflicts: list[Item] = field(default_factory=list)
    waiting: list[Item] = field(default_factory=list)
    stays: list[Item] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    result: str = IN_STEP


@dataclass(frozen=True)
class Snapshot:
    """`raw` is the hash of each file here, `sent` of what others get of it; the index differs."""

    raw: dict[str, str]
    sent: dict[str, str]
    held: dict[str, str]  # why it stays


def syncs_index(app: App) -> bool:
    return app.rules().index and app.store.index_path == INDEX


def take_sync_snapshot(app: App, base: Base, team: bool, report: Report) -> Snapshot:
    """Reads only what is not known by its facts; `base.seen` keeps those."""
    store, rules = app.store, f"{RULES} {team}"
    known = base.seen if base.rules == rules else {}
    moment = time.time_ns() - TICK_NS
    seen, raw, held = {}, {}, {}
    for path, facts in store.tree().items():
        if not store.is_memory(path):
            continue
        if path in known and known[path][0] == tuple(facts):
            _, hash, why = known[path]
        else:
            try:
                data = store.read(path)
            except MemdirError as error:
                held[path] = error.message
                continue
            hash, why = digest_of(data), why_not_synced(path, data, team)
        if facts[0] < moment and facts[1] < moment:
            seen[path] = (tuple(facts), hash, why)
        raw[path] = hash
        if why:
            held[path] = why
    base.seen, base.rules = seen, rules
    sent = {path: hash for path, hash in raw.items() if path not in held}
    # What is known but not listed may only be out of sight: a link, too large, a folder shut.
    gone = [path for path in base.files if path not in raw and path != INDEX]
    unread = [path for path in gone if path not in held and store.exists(path)]
    held |= dict.fromkeys(unread, "it cannot be read: a link, or too large")
    if syncs_index(app) and (here := store.facts(INDEX)) is not None:
        private = digest_of("\0".join(sorted(held)).encode("utf-8", "surrogateescape"))
        row = known.get(INDEX)
        if row is None or row[0] != here or row[2][64:] != private:
            data = read_if_stored(store, INDEX) or b""
            row = here, digest_of(make_index_to_sync(data, held)), digest_of(data) + private
        if here and here[0] < moment and here[1] < moment:
            seen[INDEX] = row
        raw[INDEX], sent[INDEX] = row[2][:64], row[1]
    report.stays = [Item(path, "stays", "", why) for path, why in held.items()]
    return Snapshot(raw, sent, held)


def send_changes(
    app: App,
    transport: Transport,
    base: Base,
    report: Report,
    *,
    team: bool,
    review: bool,
    last: bool,
) -> str:
    """TAKEN when nothing is left to send; AGAIN when others were faster."""
    while True:
        snapshot = take_sync_snapshot(app, base, team, report)
        changes = _list_changes(base, snapshot)
        if app.dry_run:
            coming = (INDEX, *(item.path for item in report.pulled))
            for path in changes:
                if path not in coming:
                    kind = _kind_of_change(base, path, snapshot.sent.get(path, ""))
                    report.pushed.append(Item(path, kind))
            return TAKEN
        if not changes:
            return TAKEN
        batch = _read_batch(app, snapshot, changes)
        if batch is None:
            return AGAIN
        if review:
            return _propose(transport, base, batch, report)
        push = _make_push(base, batch)
        id = transport.prepare(push)
        hashes = {path: sync_hash(data) for path, data in batch.items()}
        base.keep({hashes[path]: data for path, data in batch.items() if data is not None})
        base.sent[id] = hashes
        while len(base.sent) > MAX_SENT:
            del base.sent[next(iter(base.sent))]
        base.save()
        pushed = transport.push(id, push)
        if pushed.result == REFUSED or (pushed.result == AGAIN and last):
            left = transport.leave(id, push).result == TAKEN
            report.result = OUTBOX if left else WAITS
            where = "in an outbox that the others merge" if left else "here"
            paths = [path for path in batch if path != INDEX]
            report.waiting += [Item(path, "not sent", "", pushed.reason) for path in paths]
            step = f". Next: {pushed.next}" if pushed.next else ""
            report.remarks.append(
                f"the remote refused it ({pushed.reason}); it waits {where}{step}"
            )
            return TAKEN
        if pushed.result == AGAIN:
            return AGAIN
        for path, hash in hashes.items():
            report.pushed.append(Item(path, _kind_of_change(base, path, hash)))
            base.know(path, Known(hash, pushed.versions.get(path, "")))
        base.cursor, base.sent = pushed.cursor, {}
        base.save()


def _list_changes(base: Base, snapshot: Snapshot) -> list[str]:
    here = snapshot.sent
    # What the remote has and is not taken here is not overwritten there.
    known = {**base.files, **{path: Known(here.get(path, "")) for path in base.parked}}
    paths = [path for path, hash in here.items() if known.get(path, Known()).hash != hash]
    gone = [path for path in base.files if path not in here and path not in snapshot.held]
    # The index last: it lists what was sent before it.
    return sorted([*paths, *gone], key=lambda path: (path == INDEX, path))


def _kind_of_change(base: Base, path: str, hash: str) -> str:
    return REMOVED if not hash else UPDATED if path in base.files else CREATED


def _read_batch(app: App, snapshot: Snapshot, changes: list[str]) -> dict[str, bytes | None] | None:
    """As much as fits into one push, as others get it; None if a file is no longer that of the
    snapshot.
    """
    batch: dict[str, bytes | None] = {}
    size = 0
    for path in changes:
        data = read_if_stored(app.store, path)
        if data is not None and path == INDEX:
            data = make_index_to_sync(data, snapshot.held)
        if sync_hash(data) != snapshot.sent.get(path, ""):
            return None
        size += len(data or b"")
        if batch and size > MAX_PUSH_BYTES:
            break
        batch[path] = data
    return batch


def _make_push(base: Base, batch: Mapping[str, bytes | None]) -> Push:
    first, *others = batch
    message = f"{first} and {len(others)} more" if others else first
    versions = {path: base.files.get(path, Known()).version for path in batch}
    return Push(base.cursor, batch, versions, message)


def _propose(
    transport: Transport, base: Base, batch: Mapping[str, bytes | None], report: Report
) -> str:
    """Each memory as a branch of its own; what was offered once is offered again if it changes."""
    for path, data in batch.items():
        hash = sync_hash(data)
        if path == INDEX or base.proposed.get(path) == hash:
            continue
        done = transport.propose(stem(path), _make_push(base, {path: data}))
        if done.result != TAKEN:
            report.remarks.append(f"{path} could not be proposed ({done.reason}). {done.next}")
            report.waiting.append(Item(path, "not sent", "", done.reason))
            continue
        base.proposed[path] = hash
        report.pushed.append(Item(path, PROPOSED))
    return TAKEN
