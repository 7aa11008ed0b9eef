"""Whether a record is still the version that somebody has read: by the hash of its file."""

from __future__ import annotations

import hashlib

from memdir.core.records.errors import OCC_CONFLICT, RecordError
from memdir.core.revision import hash_of


def md5_of(data: bytes) -> str:
    """The hash by which the seed names a version; no secret depends on it."""
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


def expect(data: bytes, expected: str, path: str, ours: bytes = b"") -> None:
    """Refuse where another version stands than was read: MD5 or SHA-256; none expects nothing."""
    given = expected.strip().lower()
    if not given or given in (md5_of(data), hash_of(data)):
        return
    raise RecordError(
        OCC_CONFLICT,
        "the record was changed since it was read; nothing was written",
        facts=(("expected", expected[:64]), ("current", md5_of(data))),
        fix="read the record again, make the change on what it says now, and use its hash",
        path=path,
        ours=ours,
        theirs=data,
    )
