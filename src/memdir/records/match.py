"""Match new information to a record, and the allowed actions: create, update or retire.

The actions have the seed's names: CREATE, UPDATE, DELETE (which retires) and NOOP.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any

from memdir.hot.words import STOP, is_unspaced, split_words
from memdir.records.fields import Record, is_active_record, is_record_newer, record_texts
from memdir.records.record import (
    INPUT,
    RecordError,
    collect_records,
    read_all_records,
    record_paths,
    record_settings,
)
from memdir.store.writer import App

MIN_WORD_CHARACTERS = 3
MAX_TEXT_CHARACTERS = 20_000  # compared, of each text
TITLE_POINTS, TAG_POINTS, PREFIX_POINTS = 2, 3, 1
MIN_PREFIX_CHARACTERS = 4
MIN_POINTS = 3  # of a candidate
MAX_OTHERS = 3  # named in a hint
CREATE, UPDATE, RETIRE, NOOP, VETO = "CREATE", "UPDATE", "DELETE", "NOOP", "VETO"
UPDATE_OR_RETIRE = "UPDATE_OR_DELETE"
ACTIONS = (CREATE, UPDATE, RETIRE)
ANY = "*"
# (mechanical action, model's action): result
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
UNMAPPED = UPDATE  # neither loses nor duplicates anything
KEPT = ("decision", "preference", "session_summary")  # never retired by a triage
EVENTS = {
    "resolved": "The matter is settled: update its status, or retire it where nothing is left.",
    "removed": "What it speaks of is gone: retire it, or say in it what took its place.",
    "reversed": "It was taken back: update it with the reason; write down what holds now.",
    "superseded": "Something newer holds: update its status and name what took its place.",
    "deprecated": "It fades out: update its status and say until when it holds.",
}


def find_candidate_record(
    app: App, type: str, new_info: str, lifecycle_event: str = ""
) -> dict[str, Any]:
    records, _ = collect_records(app.store, record_paths(app.store, type))
    answer = pick_candidate_record(records.items(), type, new_info, lifecycle_event)
    if record_settings(app.store)[0].types[type].enabled:
        return answer
    hint = "The category is switched off in memory-config.json: nothing is to be done."
    off = {"candidate": None, "delete_allowed": False, "hints": [hint]}
    return answer | off | {"pre_action": NOOP, "structural_cud": NOOP}


def search_records(app: App, query: str, limit: int, type: str = "") -> list[tuple[str, Record]]:
    """The active ones, best first."""
    records, _ = read_all_records(app.store)
    hits = app.search.find(query, len(records)).hits
    found = [(it.memory.path, records.get(it.memory.path, {})) for it in hits if it.words]
    return [it for it in found if it[1] and type in ("", it[1].get("category"))][:limit]


def pick_candidate_record(
    records: Iterable[tuple[str, Record]], type: str, new_info: str, lifecycle_event: str = ""
) -> dict[str, Any]:
    if lifecycle_event and lifecycle_event not in EVENTS:
        message = f"there is no lifecycle event {lifecycle_event[:40]!r}"
        raise RecordError(INPUT, message, fix=f"use {', '.join(EVENTS)}")
    answer: dict[str, Any] = {
        "candidate": None,
        "vetoes": [],
        "pre_action": NOOP if lifecycle_event else CREATE,
        "structural_cud": NOOP if lifecycle_event else CREATE,
        "delete_allowed": False,
        "hints": [],
        "lifecycle_event": lifecycle_event or None,
    }
    ranked = _rank(records, type, new_info)
    if not ranked:
        hint = f"No {type} matches: there is nothing that could be {lifecycle_event}."
        return answer | ({"hints": [hint]} if lifecycle_event else {})
    points, path, record = ranked[0]
    allowed = type not in KEPT
    vetoes = []
    if is_record_newer(record):
        why = "the record was written by a newer version and is only read"
        vetoes = [f"{UPDATE}: {why}", f"{RETIRE}: {why}"]
    elif lifecycle_event and not allowed:
        vetoes = [f"{RETIRE}: a {type} is not retired by triage; update it instead"]
    others = [path for _, path, _ in ranked[1 : MAX_OTHERS + 1]]
    return answer | {
        "candidate": {
            "path": path,
            "title": record.get("title", ""),
            "tags": record.get("tags", []),
            "updated_at": record.get("updated_at"),
            "score": points,
        },
        "pre_action": None,
        "structural_cud": UPDATE_OR_RETIRE if allowed else UPDATE,
        "delete_allowed": allowed,
        "vetoes": vetoes,
        "hints": [
            *([EVENTS[lifecycle_event]] if lifecycle_event else ()),
            *([f"Close as well: {', '.join(others)}"] if others else ()),
        ],
    }


def resolve_record_action(mechanics: str, model: str, vetoes: Iterable[str] = ()) -> str:
    """Combines the mechanical action with the model's; a veto stops the action it names.

    A veto that names no action forbids all. A model that says NOOP has no draft to resolve.
    """
    action = TABLE.get((mechanics, ANY)) or TABLE.get((mechanics, model), UNMAPPED)
    for veto in vetoes:
        named = veto.partition(":")[0].strip()
        if named == action or named not in ACTIONS:
            return NOOP
    return action


def _rank(
    records: Iterable[tuple[str, Record]], type: str, new_info: str
) -> list[tuple[int, str, Record]]:
    words, ranked = words_of_record(new_info), []
    for path, record in sorted(records, key=lambda it: it[0]):
        if record.get("category") == type and is_active_record(record):
            tags = record_texts(record.get("tags"))
            points = count_record_points(words, str(record.get("title") or ""), tags)
            if points >= MIN_POINTS:
                ranked.append((points, path, record))
    return sorted(ranked, key=lambda it: (it[0], str(it[2].get("updated_at"))), reverse=True)


def count_record_points(words: set[str], title: str, tags: list[str]) -> int:
    """2 points per title word, 3 per tag, 1 per word with the same start."""
    others = words_of_record(title)
    points = TITLE_POINTS * len(words & others)
    for tag in tags:
        parts = words_of_record(tag)
        points += TAG_POINTS if parts and parts <= words else 0
        others |= parts
    ours = [word for word in words - others if len(word) >= MIN_PREFIX_CHARACTERS]
    starts = [word for word in others - words if len(word) >= MIN_PREFIX_CHARACTERS]
    alike = [it for it in ours if any(it.startswith(o) or o.startswith(it) for o in starts)]
    return points + PREFIX_POINTS * len(alike)


def words_of_record(text: str) -> set[str]:
    """Words of three letters and more without stop words; Latin accents do not count.

    Scripts without spaces become pairs of characters.
    """
    plain = text[:MAX_TEXT_CHARACTERS].replace("_", " ")
    if plain.isascii():
        words = split_words(plain.lower())
        return {it for it in words if len(it) >= MIN_WORD_CHARACTERS and it not in STOP}
    import unicodedata

    result: set[str] = set()
    for word in split_words(plain):
        for unspaced, letters in groupby(word, is_unspaced):  # `使用Redis` is two
            run = "".join(letters)
            if unspaced:
                result.update(run[index : index + 2] for index in range(len(run) - 1))
                continue
            parts = unicodedata.normalize("NFKD", run.casefold())
            bare = "".join([it for it in parts if not unicodedata.combining(it)])
            run = bare if bare.isascii() else run.casefold()
            if len(run) >= MIN_WORD_CHARACTERS and run not in STOP:
                result.add(run)
    return result
