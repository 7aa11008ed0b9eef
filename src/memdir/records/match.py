"""Which record, which action (CUD)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from memdir.hot.words import STOP, is_unspaced, split
from memdir.records import fields, refusal
from memdir.records.fields import Record, is_newer
from memdir.records.refusal import RecordError

# The words by which two records are compared.

SHORTEST = 3  # characters; shorter words say little
LONGEST_TEXT = 20_000  # characters of a text that are looked at


def tokens(text: str) -> set[str]:
    """Words of three letters and more without stop words; accents do not part Latin words.

    Scripts that write without spaces become pairs of characters.
    """
    plain = text[:LONGEST_TEXT].replace("_", " ")
    if plain.isascii():
        words = [plain.lower()] if plain.isalnum() else split(plain.lower())
        return {word for word in words if len(word) >= SHORTEST and word not in STOP}
    found: set[str] = set()
    for word in split(plain):
        for run in _runs(word):
            if is_unspaced(run[0]):
                found.update(run[at : at + 2] for at in range(len(run) - 1))
            elif len(run) >= SHORTEST and run not in STOP:
                found.add(run)
    return found


def _runs(word: str) -> list[str]:
    """A word in its parts of one kind, folded: `使用Redis` is two."""
    if word.isascii():
        return [word.lower()]
    parts = [word[0]]
    for letter in word[1:]:
        if is_unspaced(letter) == is_unspaced(parts[-1][-1]):
            parts[-1] += letter
        else:
            parts.append(letter)
    return [folded for part in parts if (folded := _fold(part))]


def _fold(word: str) -> str:
    """In small letters; a Latin word without its accents."""
    if is_unspaced(word[0]):
        return word
    import unicodedata

    letters = [
        letter
        for letter in unicodedata.normalize("NFKD", word.casefold())
        if not unicodedata.combining(letter)
    ]
    bare = "".join(letters)
    return bare if bare.isascii() else word.casefold()


# Create, update or retire? Which record new information belongs to, and what may be done.
#
# The words of the answer are the seed's: CREATE, UPDATE, DELETE (which retires) and NOOP.

TITLE_POINTS, TAG_POINTS, PREFIX_POINTS = 2, 3, 1
SHORTEST_PREFIX = 4  # characters
ENOUGH = 3  # points that make a candidate
OTHERS = 3  # further candidates that a hint names
CREATE, UPDATE, RETIRE, NOOP, VETO = "CREATE", "UPDATE", "DELETE", "NOOP", "VETO"
UPDATE_OR_RETIRE = "UPDATE_OR_DELETE"
ACTIONS = (CREATE, UPDATE, RETIRE)
ANY = "*"
# What the mechanics say, what the model says: what is done.
TABLE: dict[tuple[str, str], str] = {
    (CREATE, CREATE): CREATE,
    (UPDATE_OR_RETIRE, UPDATE): UPDATE,
    (UPDATE_OR_RETIRE, RETIRE): RETIRE,
    (CREATE, UPDATE): CREATE,
    (CREATE, RETIRE): NOOP,
    (UPDATE_OR_RETIRE, CREATE): CREATE,
    (UPDATE, CREATE): CREATE,
    (UPDATE, UPDATE): UPDATE,
    (UPDATE, RETIRE): UPDATE,
    (VETO, ANY): NOOP,
    (NOOP, ANY): NOOP,
}
UNMAPPED = UPDATE  # loses nothing and doubles nothing
KEPT = ("decision", "preference", "session_summary")  # a triage never retires these
EVENTS = {
    "resolved": "The matter is settled: update its status, or retire it where nothing is left.",
    "removed": "What it speaks of is gone: retire it, or say in it what took its place.",
    "reversed": "It was taken back: update it with the reason; write down what holds now.",
    "superseded": "Something newer holds: update its status and name what took its place.",
    "deprecated": "It fades out: update its status and say until when it holds.",
}


def candidate(
    records: Iterable[tuple[str, Record]], type: str, new_info: str, lifecycle_event: str = ""
) -> dict[str, object]:
    """The record that new information most likely belongs to, and what may be done with it.

    `records` are pairs of a path and a record; of the record only title, tags, category and
    status are looked at, so a line of the index will do.
    """
    _may_ask(type, lifecycle_event)
    ranked = _ranked(records, type, new_info)
    allowed = type not in KEPT
    answer: dict[str, object] = {
        "candidate": None,
        "vetoes": [],
        "pre_action": NOOP if lifecycle_event else CREATE,
        "structural_cud": NOOP if lifecycle_event else CREATE,
        "delete_allowed": False,
        "hints": [],
        "lifecycle_event": lifecycle_event or None,
    }
    if not ranked:
        if lifecycle_event:
            answer["hints"] = [
                f"No {type} matches: there is nothing that could be {lifecycle_event}."
            ]
        return answer
    points, path, record = ranked[0]
    answer["candidate"] = {
        "path": path,
        "title": record.get("title", ""),
        "tags": record.get("tags", []),
        "updated_at": record.get("updated_at"),
        "score": points,
    }
    answer["pre_action"] = None
    answer["structural_cud"] = UPDATE_OR_RETIRE if allowed else UPDATE
    answer["delete_allowed"] = allowed
    answer["vetoes"] = _vetoes(record, type, lifecycle_event)
    answer["hints"] = _hints(ranked, lifecycle_event)
    return answer


def resolve(l1: str, l2: str, vetoes: Iterable[str] = ()) -> str:
    """What is done when the mechanics say `l1` and a model says `l2`; a veto stops what it names.

    Who has nothing to write stops before: a model that says NOOP gives no draft to resolve.
    """
    action = TABLE.get((l1, ANY)) or TABLE.get((l1, l2), UNMAPPED)
    return NOOP if action in forbidden(vetoes) else action


def forbidden(vetoes: Iterable[str]) -> set[str]:
    """The actions that vetoes name; one that names none forbids all."""
    found: set[str] = set()
    for veto in vetoes:
        action = veto.partition(":")[0].strip()
        found.update((action,) if action in ACTIONS else ACTIONS)
    return found


class Asked:
    """The words of new information, and those that may be a start, by their first letters."""

    __slots__ = ("starts", "words")

    def __init__(self, info: str) -> None:
        self.words = tokens(info)
        self.starts: dict[str, list[str]] = {}
        for word in self.words:
            if len(word) >= SHORTEST_PREFIX:
                self.starts.setdefault(word[:SHORTEST_PREFIX], []).append(word)

    def score(self, title: str, tags: list[str]) -> int:
        """Points of a record: 2 per title word, 3 per tag, 1 per word that starts alike."""
        if self._has_nothing(" ".join([title, *tags])):
            return 0
        others = tokens(title)
        points = TITLE_POINTS * len(self.words & others)
        for tag in tags:
            parts = tokens(tag)
            if parts and parts <= self.words:
                points += TAG_POINTS
            others |= parts
        return points + PREFIX_POINTS * self._alike(others)

    def _has_nothing(self, text: str) -> bool:
        """True of most records, told with one look; False where it takes more than that."""
        if not text.isascii():
            return False
        words = split(text.replace("_", " ").lower())
        starts = [word[:SHORTEST_PREFIX] for word in words]
        return self.words.isdisjoint(words) and self.starts.keys().isdisjoint(starts)

    def _alike(self, others: set[str]) -> int:
        """How many words share a start of four letters and more with one that is not the same."""
        found = set()
        for other in others - self.words:
            for word in self.starts.get(other[:SHORTEST_PREFIX], ()):
                if word not in others and (word.startswith(other) or other.startswith(word)):
                    found.add(word)
        return len(found)


def _ranked(
    records: Iterable[tuple[str, Record]], type: str, new_info: str
) -> list[tuple[int, str, Record]]:
    """Active records of the type with enough points, best first; of equals the newest."""
    asked = Asked(new_info)
    found = []
    for path, record in records:
        status = record.get("record_status") or fields.ACTIVE
        if record.get("category") != type or status != fields.ACTIVE:
            continue
        title, tags = record.get("title"), record.get("tags")
        named = [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []
        points = asked.score(title if isinstance(title, str) else "", named)
        if points >= ENOUGH:
            found.append((points, path, record))
    found.sort(key=lambda one: one[1])
    found.sort(key=lambda one: (one[0], str(one[2].get("updated_at") or "")), reverse=True)
    return found


def _may_ask(type: str, lifecycle_event: str) -> None:
    if type not in fields.TYPES:
        raise RecordError(
            refusal.INPUT,
            f"there is no category {type[:40]!r}",
            fix=f"use {', '.join(fields.TYPES)}",
        )
    if lifecycle_event and lifecycle_event not in EVENTS:
        raise RecordError(
            refusal.INPUT,
            f"there is no lifecycle event {lifecycle_event[:40]!r}",
            fix=f"use {', '.join(EVENTS)}",
        )


def _vetoes(record: Record, type: str, lifecycle_event: str) -> list[str]:
    found = []
    if is_newer(record):
        why = "the record was written by a newer version and is only read"
        found += [f"{UPDATE}: {why}", f"{RETIRE}: {why}"]
    elif lifecycle_event and type in KEPT:
        found.append(f"{RETIRE}: a {type} is not retired by triage; update it instead")
    return found


def _hints(ranked: list[tuple[int, str, Record]], lifecycle_event: str) -> list[str]:
    found = [EVENTS[lifecycle_event]] if lifecycle_event else []
    others = [path for _, path, _ in ranked[1 : OTHERS + 1]]
    if others:
        found.append(f"Close as well: {', '.join(others)}")
    return found


# Match new information with the records of its type: which one it belongs to, what may be done.
#
# It runs inside hooks and agents, so it reads as little as it needs.

_PLAIN = (b"{\n", b'{"', b"{ ")  # starts of UTF-8; for others, json finds out what they are
_READ = ("category", "title", "tags", "updated_at", "record_status", "schema_version")


def match(
    files: Iterable[tuple[str, bytes]], type: str, new_info: str, lifecycle_event: str
) -> dict[str, object]:
    """The fields of the seed's answer; what cannot be read is no candidate."""
    return candidate(_records(files), type, new_info, lifecycle_event)


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
