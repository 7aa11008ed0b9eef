"""The rolling window of session summaries: the newest few stay, the oldest are retired.

Before one goes, its open ends are looked for elsewhere. What nobody else holds is named in a
warning; it goes all the same, and can be restored until the grace period ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from memdir.core.dates import parse_time
from memdir.core.inert import inert_line
from memdir.core.records.fields import ACTIVE, Record
from memdir.core.records.settings import SESSION_SUMMARY, RecordSettings
from memdir.core.words import Words, split

GUARDED = ("completed", "blockers", "next_actions")  # what must not be lost with a summary
SHARED = 0.6  # of an item's words that another text must hold to say the same
LEAST = 2  # words of a title that stands whole in an item
SHOWN, LONGEST = 5, 80  # items in a warning; bytes of each


class Retiring(NamedTuple):
    """A record that is to be retired; the warning is empty where nothing is lost."""

    path: str
    reason: str
    warning: str = ""


class _Entry(NamedTuple):
    """The words of one text."""

    words: frozenset[str]
    title: bool  # of a record: it says the same where it stands whole in an item


def plan(
    records: Mapping[str, Record], settings: RecordSettings, newest: str = ""
) -> list[Retiring]:
    """Which summaries go, oldest first; `newest` was just saved and stays, whatever its date.

    `records` are those of the whole store by path: the others show what is captured elsewhere.
    """
    most = settings.types[SESSION_SUMMARY].max_retained
    dated = sorted(
        (path == newest, time, path)
        for path, record in records.items()
        if is_active(record)
        and record.get("category") == SESSION_SUMMARY
        and (time := created(record)) is not None
    )
    going = [path for _, _, path in dated[: max(len(dated) - most, 0)]]
    return list(_retiring(records, going, most))


def is_active(record: Record) -> bool:
    """Older versions wrote no status at all."""
    return record.get("record_status") in (None, ACTIVE)


def created(record: Record) -> float | None:
    """When it was made; None where no date of it can be read."""
    for key in ("created_at", "updated_at"):
        value = record.get(key)
        time = parse_time(value) if isinstance(value, str) else None
        if time is not None:
            return time
    return None


def _retiring(records: Mapping[str, Record], going: list[str], most: int) -> Iterator[Retiring]:
    if not going:
        return
    words = Words()
    gone = set(going)
    entries = [
        entry
        for path, record in records.items()
        if path not in gone and is_active(record)
        for entry in _entries(words, record)
    ]
    # By word: a store of thousands is looked through once, not once an item.
    holding: dict[str, list[_Entry]] = {}
    for entry in entries:
        for word in entry.words:
            holding.setdefault(word, []).append(entry)
    reason = f"session window: more than max_retained ({most}) summaries"
    for path in going:
        record = records[path]
        alone = [item for item in _items(record) if not _is_held(_of(words, item), holding)]
        yield Retiring(path, reason, _warning(record, path, alone))


def _entries(words: Words, record: Record) -> Iterator[_Entry]:
    """What it says: its line of the index; of a summary also each item."""
    tags = record.get("tags")
    title = [record.get("title"), *(tags if isinstance(tags, list) else ())]
    yield _Entry(_of(words, _joined(title[:1])), True)
    yield _Entry(_of(words, _joined(title)), False)
    if record.get("category") == SESSION_SUMMARY:
        for item in _items(record):
            yield _Entry(_of(words, item), False)


def _items(record: Record) -> list[str]:
    content = record.get("content")
    lists = [content.get(key) for key in GUARDED] if isinstance(content, dict) else []
    texts = [one for some in lists if isinstance(some, list) for one in some]
    return list(dict.fromkeys(text for text in texts if isinstance(text, str) and text.strip()))


def _joined(values: Iterable[object]) -> str:
    return " ".join(value for value in values if isinstance(value, str))


def _of(words: Words, text: str) -> frozenset[str]:
    """Whole words, and pairs of characters where none are written; not the pieces of names."""
    given = split(text)
    terms = {words[word] for word in given} - {""}
    return frozenset(terms.union(*(words.pairs.get(word, ()) for word in given)))


def _is_held(item: frozenset[str], holding: Mapping[str, list[_Entry]]) -> bool:
    """Does any other text say it? An item without a word says nothing that could be lost."""
    shared: dict[int, int] = {}
    entries: dict[int, _Entry] = {}
    for word in item:
        for entry in holding.get(word, ()):
            shared[id(entry)] = shared.get(id(entry), 0) + 1
            entries[id(entry)] = entry
    for key, count in shared.items():
        entry = entries[key]
        if count >= SHARED * len(item):
            return True
        if entry.title and count == len(entry.words) >= LEAST:
            return True
    return not item


def _warning(record: Record, path: str, alone: list[str]) -> str:
    if not alone:
        return ""
    shown = "; ".join(f'"{inert_line(item, LONGEST)}"' for item in alone[:SHOWN])
    more = f" and {len(alone) - SHOWN} more" if len(alone) > SHOWN else ""
    name = inert_line(str(record.get("id") or path), LONGEST)
    return (
        f"session {name} is retired, and nothing else holds: {shown}{more}. "
        "Save what is still needed; the session itself can be restored."
    )
