"""What only looks: the record that new information belongs to, search, how the store stands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from memdir.app import App
from memdir.core.errors import MemdirError
from memdir.core.finding import Finding
from memdir.core.hit import Hit
from memdir.core.ports import Store
from memdir.core.records import cud, fields, index_text, retention, windowing
from memdir.core.records.fields import Record
from memdir.core.records.settings import RecordSettings
from memdir.core.records.status import status_of
from memdir.flows.records.placing import everything, index_of, paths_of, settings_of
from memdir.steps.match import match

OFF = "The category is switched off in memory-config.json: nothing is to be done."


@dataclass(frozen=True)
class Standing:
    """How a store of records stands."""

    health: dict[str, object]
    settings: RecordSettings
    findings: tuple[Finding, ...]
    due: dict[str, int] = field(default_factory=dict)  # what gc and window would do


def candidate(app: App, type: str, new_info: str, lifecycle_event: str = "") -> dict[str, object]:
    """match, with the records of one type; nothing to do for one that is switched off"""
    settings, _ = settings_of(app.store)
    answer = match(_files(app.store, type), type, new_info, lifecycle_event)
    return answer if settings.types[type].enabled else answer | switched_off()


def switched_off() -> dict[str, object]:
    """What the mechanics say of a type that nobody wants."""
    nothing = {"candidate": None, "delete_allowed": False, "hints": [OFF]}
    return nothing | {"pre_action": cud.NOOP, "structural_cud": cud.NOOP}


def _files(store: Store, type: str) -> Iterator[tuple[str, bytes]]:
    for path in paths_of(store, type):
        try:
            yield path, store.read(path)
        except MemdirError:
            continue  # gone, or nobody can read it: no candidate either way


def search(
    app: App, query: str, limit: int, type: str = "", put_away: bool = False
) -> list[tuple[str, Record]]:
    """search → the records it found, best first; with `put_away`, also those by their words"""
    records, _ = everything(app.store)
    hits: list[Hit] = list(app.search.find(query, len(records)).hits)
    found = [hit.memory.path for hit in hits if hit.words]
    if put_away:
        words = query.casefold().split()
        found += [
            path
            for path, record in records.items()
            if path not in found and all(word in str(record).casefold() for word in words)
        ]
    wanted = (
        (path, records[path])
        for path in found
        if path in records
        and type in ("", records[path].get("category"))
        and (put_away or status_of(records[path]) == fields.ACTIVE)
    )
    return [one for one, _ in zip(wanted, range(limit), strict=False)]


def standing(app: App) -> Standing:
    """count, and what gc and window would do now"""
    settings, warnings = settings_of(app.store)
    records, broken = everything(app.store)
    now = app.now()
    found = index_text.health(index_of(app.store), records.items(), now)
    leaving = retention.leaving(records, settings, now)
    due = {
        "window": len(windowing.plan(records, settings)),
        "retention": len(retention.expiring(records, settings, now)),
        "gc": sum(one.action != retention.KEEP for one in leaving),
    }
    return Standing(found, settings, (*warnings, *broken), due)
