"""What only looks: the record that new information belongs to, search, how a store stands."""

from __future__ import annotations

from typing import NamedTuple

from memdir.errors import Finding
from memdir.records import index_md, lifecycle, match
from memdir.records.fields import Record, is_active
from memdir.records.memory_config import RecordSettings
from memdir.records.record import everything, index_of, paths_of, settings_of
from memdir.store.writer import App

SWITCHED_OFF: dict[str, object] = {
    "candidate": None,
    "delete_allowed": False,
    "hints": ["The category is switched off in memory-config.json: nothing is to be done."],
    "pre_action": match.NOOP,
    "structural_cud": match.NOOP,
}


class Overview(NamedTuple):
    """How a store of records stands; `due` is what gc and window would do."""

    health: dict[str, object]
    settings: RecordSettings
    findings: tuple[Finding, ...]
    due: dict[str, int]


def candidate(app: App, type: str, new_info: str, lifecycle_event: str = "") -> dict[str, object]:
    """The record of a type that new information belongs to; none where the type is switched off."""
    settings, _ = settings_of(app.store)
    records = match.read_files(app.store, paths_of(app.store, type))
    answer = match.candidate(records, type, new_info, lifecycle_event)
    return answer if settings.types[type].enabled else answer | SWITCHED_OFF


def search(
    app: App, query: str, limit: int, type: str = "", put_away: bool = False
) -> list[tuple[str, Record]]:
    """The records that the search finds, best first; with `put_away`, also those by their words."""
    records, _ = everything(app.store)
    paths = [it.memory.path for it in app.search.find(query, len(records)).hits if it.words]
    if put_away:
        words = query.casefold().split()
        for path, record in records.items():
            text = str(record).casefold()
            if path not in paths and all(word in text for word in words):
                paths.append(path)
    known = [(path, records[path]) for path in paths if path in records]
    return [
        (path, record)
        for path, record in known
        if type in ("", record.get("category")) and (put_away or is_active(record))
    ][:limit]


def overview(app: App) -> Overview:
    """Counts, and what gc and window would do now."""
    settings, warnings = settings_of(app.store)
    records, broken = everything(app.store)
    now = app.now()
    past_grace = lifecycle.find_past_grace(records, settings, now)
    due = {
        "window": len(lifecycle.find_surplus(records, settings)),
        "retention": len(lifecycle.find_expired(records, settings, now)),
        "gc": sum(it.action != lifecycle.KEEP for it in past_grace),
    }
    health = index_md.health(index_of(app.store), records.items(), now)
    return Overview(health, settings, (*warnings, *broken), due)
