"""Match new information with the records of its type: which one it belongs to, what may be done.

It runs inside hooks and agents, so it reads as little as it needs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from memdir.core.records import cud, fields
from memdir.core.records.fields import Record

_PLAIN = (b"{\n", b'{"', b"{ ")  # starts of UTF-8; for others, json finds out what they are
_READ = ("category", "title", "tags", "updated_at", "record_status", "schema_version")


def match(
    files: Iterable[tuple[str, bytes]], type: str, new_info: str, lifecycle_event: str
) -> dict[str, object]:
    """The fields of the seed's answer; what cannot be read is no candidate."""
    return cud.candidate(_records(files), type, new_info, lifecycle_event)


def _records(files: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, Record]]:
    for path, data in files:
        try:
            found = json.loads(
                data.decode("utf-8", "surrogatepass") if data[:2] in _PLAIN else data
            )
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            found.setdefault("category", fields.type_at(path))
            yield path, {key: found[key] for key in _READ if key in found}
