"""Put a new record down; what stands there and lives is never overwritten."""

from __future__ import annotations

from memdir.core import dates
from memdir.core.draft import CREATED, SKIPPED, Change
from memdir.core.errors import Missing
from memdir.core.memory import stem
from memdir.core.ports import Store
from memdir.core.records import errors, fields
from memdir.core.records.checking import demand, is_newer
from memdir.core.records.errors import RecordError
from memdir.core.records.fields import Record
from memdir.core.records.record import read_record, write_record
from memdir.core.records.repairing import repair
from memdir.core.records.status import may_create
from memdir.core.revision import hash_of

SAME = "the same record is there already"


def put_down(draft: Record, path: str, store: Store, now: float) -> Change:
    """Create the record at its path; the same one again is no change."""
    record, remarks = _begun(draft, path, now)
    demand(record, fields.type_at(path), path)
    try:
        data = store.read(path)
    except Missing:
        pass
    else:
        standing = read_record(data, path)[0]
        if is_newer(standing):
            message = "a newer version has written what stands there; it is only read"
            raise RecordError(errors.OVERWRITE, message, fix="choose another title", path=path)
        if not may_create(standing, record, now, path):
            return Change(SKIPPED, stem(path), path, hash_of(data), SAME)
    data = write_record(record)
    store.put(path, data)
    return Change(CREATED, stem(path), path, hash_of(data), remarks=tuple(remarks))


def _begun(draft: Record, path: str, now: float) -> tuple[Record, list[str]]:
    """A draft at the beginning of its life; what the store decides it cannot claim."""
    stamp = dates.iso_time(now)
    ours = {"id": stem(path), "created_at": stamp, "updated_at": stamp}
    ours |= {"record_status": fields.ACTIVE, "schema_version": fields.SCHEMA_VERSION}
    lived = fields.OPTIONAL_KEYS
    said = {key: value for key, value in draft.items() if key not in lived}
    said.setdefault("category", fields.type_at(path))
    said.setdefault("changes", [])
    quiet = {"related_files": [], "confidence": fields.DEFAULT_CONFIDENCE}
    return repair({**quiet, **said, **ours, "times_updated": 0}, now)
