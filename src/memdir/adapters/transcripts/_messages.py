"""What is new in a conversation that is not a file of lines: a document, a folder, a table."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from memdir.adapters.transcripts._jsonl import LONGEST_ID, parsed, with_last
from memdir.adapters.transcripts._opening import opened
from memdir.adapters.transcripts._text import Kept
from memdir.core.errors import MemdirError
from memdir.core.transcript import AGENT, Cursor, Said, Stretch

DOCUMENT = 32 << 20  # bytes; a larger one is not read


class Message(NamedTuple):
    """What was said in one message."""

    id: str
    said: tuple[Said, ...]


class Where(NamedTuple):
    """Whose conversation it is, and what could not be read of it."""

    session: str
    cwd: str = ""
    broken: int = 0
    cut: bool = False


def stretch(messages: Sequence[Message], since: Cursor, last: str, where: Where) -> Stretch:
    """What was said after the message that the cursor names."""
    ids = [message.id for message in messages]
    lost = bool(since.id) and since.id not in ids
    start = 0
    if since.id and not lost:
        start = len(ids) - ids[::-1].index(since.id)
    kept = Kept()
    for message in messages[start:]:
        kept.add(message.said)
    earlier = [said.text for one in messages[:start] for said in one.said if said.who == AGENT]
    written = next(filter(None, reversed(earlier)), "")
    marks = [id for id in ids[start:] if is_mark(id)]
    cursor = Cursor(marks[-1]) if marks else Cursor() if lost else since
    return Stretch(
        said=with_last(tuple(kept.said), last, written),
        cursor=cursor,
        session=where.session,
        cwd=where.cwd,
        broken=where.broken,
        lines=max(len(messages) - start, where.broken),
        lost=lost,
        cut=where.cut or kept.cut,
    )


def is_mark(id: str) -> bool:
    """True for an id that a cursor can name."""
    return 0 < len(id) <= LONGEST_ID and id.isascii() and id.isprintable()


def document(path: str, root: str) -> dict[str, object] | None:
    """A whole file as one JSON object; None where it is none, or too large."""
    with opened(path, root) as handle:
        size = os.fstat(handle).st_size
        parts, at = [], 0
        while size <= DOCUMENT and at < size and (part := os.pread(handle, size - at, at)):
            parts.append(part)
            at += len(part)
    return parsed(b"".join(parts))


def document_or_none(path: str, root: str) -> dict[str, object] | None:
    """The same where it may also be missing or something else."""
    try:
        return document(path, root)
    except MemdirError:
        return None
