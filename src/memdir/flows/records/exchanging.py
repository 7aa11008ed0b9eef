"""Records from elsewhere, whatever version wrote them; records as Markdown memories, and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from memdir.app import App, Desk, Done, Told
from memdir.core.draft import CREATED, SKIPPED, UPDATED, Change
from memdir.core.errors import MemdirError, Missing
from memdir.core.finding import Finding
from memdir.core.frontmatter import decode, encode
from memdir.core.memory import RECORD_SETTINGS, read_memory, stem
from memdir.core.ports import Store
from memdir.core.records import errors, fields
from memdir.core.records.errors import RecordError
from memdir.core.records.exporting import export, read_export
from memdir.core.records.fields import Record
from memdir.core.records.importing import import_record
from memdir.core.records.record import write_record
from memdir.core.records.status import status_of
from memdir.core.revision import hash_of
from memdir.flows.records.guarding import refuse_secrets
from memdir.flows.records.indexing import healed, indexed
from memdir.flows.records.placing import everything, paths_of
from memdir.steps.collect import collect

SAME, OTHER = "it is there already, the same", "another record of that name stands there"


@dataclass
class Brought:
    """What a source holds: records by the path they get, what was repaired, what was refused."""

    records: dict[str, Record] = field(default_factory=dict)
    repairs: dict[str, list[str]] = field(default_factory=dict)
    refused: list[Finding] = field(default_factory=list)
    moved: dict[str, str] = field(default_factory=dict)  # from the old path to the new one
    settings: bytes | None = None


def _untold(done: Done) -> None:
    """For callers that only want the answer."""


def read_records(source: Store, now: float) -> Brought:
    """Every record below a directory, in today's form; what is none is refused, by its file."""
    brought = Brought()
    for path in paths_of(source):
        try:
            record, repairs = import_record(source.read(path), path, now)
            _take(brought, path, record, repairs)
        except MemdirError as error:
            brought.refused.append(Finding("refused", path, error.message, error.next))
    try:
        brought.settings = source.read(RECORD_SETTINGS)
    except MemdirError:
        brought.settings = None  # none, or none that can be read: the defaults hold
    return brought


def read_memories(files: Sequence[tuple[str, bytes]], now: float) -> Brought:
    """The same from Markdown memories; one of another type is passed over."""
    brought = Brought()
    for path, data in files:
        try:
            text = decode(data)
            if _type_in(text) in fields.TYPES:
                record, repairs = read_export(text, now)
                _take(brought, "", record, repairs)
        except MemdirError as error:
            brought.refused.append(Finding("refused", path, error.message, error.next))
    return brought


def _type_in(text: str) -> str:
    return read_memory("x.md", encode(text), 0).type


def _take(brought: Brought, path: str, record: Record, repairs: list[str]) -> None:
    place = fields.path_of(str(record["category"]), str(record["id"]))
    if place in brought.records:
        raise RecordError(errors.OVERWRITE, f"{place} is there twice", fix="rename one", path=path)
    brought.records[place] = record
    brought.repairs[place] = repairs
    if path and path != place:
        brought.moved[path] = place


def bring_in(app: App, brought: Brought, told: Told = _untold) -> Done:
    """put each → enlist; nothing is overwritten, one undo takes all of it back"""

    def act(desk: Desk) -> list[Change]:
        desk.cause = replace(desk.cause, batch=f"import-{int(app.now())}")
        desk.plan = list(brought.records)
        changes = [_adopt(path, one, desk.store) for path, one in brought.records.items()]
        if brought.settings is not None and not desk.store.exists(RECORD_SETTINGS):
            desk.store.put(RECORD_SETTINGS, brought.settings)
        return indexed(desk, changes)

    return app.change("import", healed(act), told)


def _adopt(path: str, record: Record, store: Store) -> Change:
    try:
        refuse_secrets(record, {})
    except RecordError as error:
        return Change(SKIPPED, stem(path), path, reason=error.message)
    data = write_record(record)
    try:
        standing = store.read(path)
    except Missing:
        store.put(path, data)
        return Change(CREATED, stem(path), path, hash_of(data))
    if standing == data:
        return Change(SKIPPED, stem(path), path, hash_of(data), SAME)
    return Change(SKIPPED, stem(path), path, reason=OTHER)


def mend(app: App, told: Told = _untold) -> tuple[Brought, Done]:
    """The records of this very store in today's form, where they lie → enlist"""
    held: list[Brought] = []

    def act(desk: Desk) -> list[Change]:
        brought = read_records(desk.store, app.now())
        held.append(brought)
        came_from = {place: path for path, place in brought.moved.items()}
        changes = []
        for place, record in brought.records.items():
            old = came_from.get(place, place)
            data = write_record(record)
            if desk.store.read(old) == data and old == place:
                continue
            desk.store.put(place, data)
            if old != place:
                desk.store.drop(old)
            changes.append(Change(UPDATED, stem(place), place, hash_of(data)))
        return indexed(desk, changes)

    done = app.change("import", healed(act), told)
    return held[0], done


def as_memories(
    app: App, names: Sequence[str] = (), every: bool = False
) -> list[tuple[str, bytes]]:
    """Active records (with `every`, all) as Markdown memories under names of their own."""
    records, _ = everything(app.store)
    if names:
        records = collect(app.store, names)[0]
    active = records if every else {p: r for p, r in records.items() if _is_active(r)}
    return [(_name(path), encode(export(record))) for path, record in active.items()]


def _is_active(record: Record) -> bool:
    return status_of(record) == fields.ACTIVE


def _name(path: str) -> str:
    """A name that no other record gets: the type in front, as stores of Markdown often have it."""
    return f"{fields.type_at(path)}_{stem(path).replace('-', '_')}.md"
