"""Turn a record to another status: retired, archived, or active again. Its file stays."""

from __future__ import annotations

from memdir.core import draft
from memdir.core.draft import SKIPPED, Change
from memdir.core.memory import stem
from memdir.core.ports import Store
from memdir.core.records.expecting import expect
from memdir.core.records.record import read_record, write_record
from memdir.core.records.status import turn as turned
from memdir.core.revision import hash_of

KINDS = {
    "delete": draft.RETIRED,
    "archive": draft.ARCHIVED,
    "restore": draft.RESTORED,
    "unarchive": draft.RESTORED,
}


def turn(path: str, action: str, reason: str, store: Store, now: float, expected: str) -> Change:
    """Carry an action of the seed out; a record that is there already stays as it is."""
    data = store.read(path)
    expect(data, expected, path)
    record, _ = read_record(data, path)
    new, remarks = turned(record, action, reason, now)
    if new is record:
        return Change(SKIPPED, stem(path), path, hash_of(data), "; ".join(remarks))
    data = write_record(new)
    store.put(path, data)
    return Change(KINDS[action], stem(path), path, hash_of(data), remarks=tuple(remarks))
