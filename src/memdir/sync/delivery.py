"""What changed here goes to the remote: in one push, in its outbox, or as proposals."""

from __future__ import annotations

from collections.abc import Mapping

from memdir.format.draft import CREATED, UPDATED
from memdir.hot.disk import digest_of
from memdir.hot.memory import INDEX, stem
from memdir.store.writer import App
from memdir.sync.base import MAX_SENT, Base, Known
from memdir.sync.outcome import OUTBOX, PROPOSED, REMOVED, WAITS, Item, Report, Rules
from memdir.sync.snapshot import Snapshot, read_to_send, syncs_index, take_snapshot
from memdir.sync.transport import AGAIN, MAX_PUSH_BYTES, REFUSED, TAKEN, Push, Transport


def send_changes(
    app: App, transport: Transport, base: Base, rules: Rules, report: Report, *, last: bool
) -> str:
    """TAKEN when nothing is left to send; AGAIN when others were faster."""
    while True:
        snapshot = take_snapshot(app.store, base, rules.team, syncs_index(app))
        report.stays = [Item(path, "stays", "", why) for path, why in snapshot.held.items()]
        changes = list_changes(base, snapshot)
        if not changes:
            return TAKEN
        batch = _read_batch(app, snapshot, changes)
        if batch is None:
            return AGAIN
        if rules.review:
            return _propose(transport, base, batch, report)
        versions = {path: base.files.get(path, Known()).version for path in batch}
        push = Push(base.cursor, batch, versions, _message(batch))
        id = transport.prepare(push)
        hashes = {path: "" if data is None else digest_of(data) for path, data in batch.items()}
        base.keep({hashes[path]: data for path, data in batch.items() if data is not None})
        base.sent[id] = hashes
        while len(base.sent) > MAX_SENT:
            del base.sent[next(iter(base.sent))]
        base.save()
        pushed = transport.push(id, push)
        if pushed.result == REFUSED or (pushed.result == AGAIN and last):
            _leave(transport, id, push, report, pushed.reason, pushed.next)
            return TAKEN
        if pushed.result == AGAIN:
            return AGAIN
        for path, hash in hashes.items():
            report.pushed.append(Item(path, kind_of_change(base, path, hash)))
            base.files[path] = Known(hash, pushed.versions.get(path, ""))
            if not hash:
                del base.files[path]
        base.cursor, base.sent = pushed.cursor, {}
        base.save()


def list_changes(base: Base, snapshot: Snapshot) -> list[str]:
    here = snapshot.sent
    # What the remote has and is not taken here is not overwritten there.
    known = {**base.files, **{path: Known(here.get(path, "")) for path in base.parked}}
    paths = [path for path, hash in here.items() if known.get(path, Known()).hash != hash]
    gone = [path for path in base.files if path not in here and path not in snapshot.held]
    # The index last: it lists what was sent before it.
    return sorted([*paths, *gone], key=lambda path: (path == INDEX, path))


def _read_batch(app: App, snapshot: Snapshot, changes: list[str]) -> dict[str, bytes | None] | None:
    """As much as fits into one push; None if a file is no longer that of the snapshot."""
    batch: dict[str, bytes | None] = {}
    size = 0
    for path in changes:
        data = read_to_send(app.store, path, snapshot) if path in snapshot.sent else None
        if data is None and (path in snapshot.sent or app.store.exists(path)):
            return None
        size += len(data or b"")
        if batch and size > MAX_PUSH_BYTES:
            break
        batch[path] = data
    return batch


def _message(batch: Mapping[str, bytes | None]) -> str:
    first = next(iter(batch))
    return first if len(batch) == 1 else f"{first} and {len(batch) - 1} more"


def kind_of_change(base: Base, path: str, hash: str) -> str:
    return REMOVED if not hash else UPDATED if path in base.files else CREATED


def _leave(
    transport: Transport, id: str, push: Push, report: Report, reason: str, next: str
) -> None:
    left = transport.leave(id, push)
    report.result = OUTBOX if left.result == TAKEN else WAITS
    where = "in an outbox that the others merge" if left.result == TAKEN else "here"
    paths = [path for path in push.changes if path != INDEX]
    report.waiting += [Item(path, "not sent", "", reason) for path in paths]
    step = f". Next: {next}" if next else ""
    report.remarks.append(f"the remote refused it ({reason}); it waits {where}{step}")


def _propose(
    transport: Transport, base: Base, batch: Mapping[str, bytes | None], report: Report
) -> str:
    """Each memory as a branch of its own; what was offered once is offered again if it changes."""
    for path, data in batch.items():
        hash = "" if data is None else digest_of(data)
        if path == INDEX or base.proposed.get(path) == hash:
            continue
        push = Push(base.cursor, {path: data}, {}, _message({path: data}))
        done = transport.propose(stem(path), push)
        if done.result != TAKEN:
            report.remarks.append(f"{path} could not be proposed ({done.reason}). {done.next}")
            report.waiting.append(Item(path, "not sent", "", done.reason))
            continue
        base.proposed[path] = hash
        report.pushed.append(Item(path, PROPOSED))
    return TAKEN
