"""Import, export."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from memdir.errors import Finding, MemdirError, Missing
from memdir.format.draft import CREATED, SKIPPED, UPDATED, Change, hash_of
from memdir.format.names import slug_for
from memdir.hot import memory, safe
from memdir.hot.memory import RECORD_SETTINGS, decode, encode, read_memory, stem
from memdir.records import fields, refusal, render
from memdir.records.fields import Field, Record, is_newer
from memdir.records.index_md import healed, indexed
from memdir.records.lookup import collect, everything, paths_of
from memdir.records.record import read_json, write_record
from memdir.records.refusal import RecordError
from memdir.records.update import status_of
from memdir.records.validate import demand, repair
from memdir.records.write import refuse_secrets
from memdir.store.ports import Store
from memdir.store.writer import App, Desk, Done, Told

# Records as Markdown memories and back, without loss, also where a person edited the Markdown.
#
# What the readable form cannot carry (the log of changes, blanks at the end of a text) stands in
# one comment at the end. On the way back a part that still reads as it was written takes its exact
# value from there; a part that somebody edited is read as it stands.

_END = " -->"
_CONTENT = "content."
_IMPLIED: Record = {
    "schema_version": fields.SCHEMA_VERSION,
    "record_status": fields.ACTIVE,
    "changes": [],
    "times_updated": 0,
}


def export(record: Record) -> str:
    """A Markdown memory that holds all of the record."""
    text = render.view(record)
    exact, shown = _flat(record), _flat(_IMPLIED | render.read_view(text))
    left = {key: value for key, value in exact.items() if key not in shown or shown[key] != value}
    # What the view shows although the record has it not: an empty list for none at all.
    left |= {key: None for key in shown if key not in exact}
    if not left:
        return text
    packed = json.dumps(left, ensure_ascii=False, sort_keys=True)
    for sign in "<>&":  # so that nothing in it ends the comment or opens a tag
        packed = packed.replace(sign, f"\\u{ord(sign):04x}")
    return f"{text}\n{render.LEFTOVERS}{packed}{_END}\n"


def read_export(text: str, now: float | None = None) -> tuple[Record, list[str]]:
    """The record that a Markdown memory stands for, and what had to be put right."""
    if text.partition("\n")[0].endswith("\r"):
        text = text.replace("\r\n", "\n")  # an editor's doing: we never end the first line so
    seen = _flat(_IMPLIED | render.read_view(text))
    left, remarks = _leftovers(text)
    if left:
        whole = {key: value for key, value in (seen | left).items() if value is not None}
        as_written = _raw(render.view(_nested(whole)))
        actual = _raw(text)
        edited = [key for key in left if _shown_at(as_written, key) != _shown_at(actual, key)]
        for key, value in left.items():
            if key not in edited:
                seen[key] = value
    record = _nested({key: value for key, value in seen.items() if value is not None})
    if is_newer(record):
        return record, remarks
    repaired, repairs = repair(record, now)
    return demand(repaired), remarks + repairs


def _leftovers(text: str) -> tuple[Record, list[str]]:
    """The last line of the form that `export` writes."""
    for line in reversed(text.split("\n")):
        bare = line.rstrip("\r")
        if bare.startswith(render.LEFTOVERS) and bare.endswith(_END):
            packed = bare[len(render.LEFTOVERS) : -len(_END)]
            try:
                return read_json(packed.encode("utf-8", "replace"), "the comment at the end"), []
            except RecordError as error:
                return {}, [f"{error.message}; read without it"]
        if bare.startswith(render.SECTION):
            break
    return {}, []


def _flat(record: Record) -> Record:
    """The fields of the content beside the others, so that each can be compared on its own."""
    content = record.get("content")
    flat = {key: value for key, value in record.items() if key != "content"}
    if isinstance(content, dict):
        return flat | {_CONTENT + key: value for key, value in content.items()}
    return flat | ({"content": content} if "content" in record else {})


def _nested(flat: Record) -> Record:
    record: Record = {"content": {}}
    for key, value in flat.items():
        if key.startswith(_CONTENT):
            record["content"][key.removeprefix(_CONTENT)] = value
        else:
            record[key] = value
    return record


def _raw(text: str) -> dict[str, str]:
    """Every part of a Markdown memory as it is written, by the place where it stands."""
    document = memory.read(text)
    return document.values | render.sections(document.body)


def _shown_at(raw: dict[str, str], key: str) -> list[str | None]:
    """What stands where a key of the record is shown; nothing for one that is not shown."""
    if key in render.HEADER:
        return [raw.get(render.HEADER[key])]
    if key in ("tags", "related_files"):
        return [raw.get(render.TAGS if key == "tags" else render.FILES)]
    name = key.removeprefix(_CONTENT)
    known = {field.name: field for type in fields.CONTENT.values() for field in type}
    if name == key or name not in known:
        return []
    return [raw.get(label) for label in render.labels(known[name])]


# Records of the plugin's earlier versions, brought into today's form without losing anything.
#
# `repairing` covers what a reader forgives every day; here is what only a move from elsewhere
# needs. A key that no field takes goes into the log of changes, where a person finds it again.

_TRUE, _FALSE = ("true", "yes"), ("false", "no")
_OLD_STATUS = ("retired", "archived")  # once written as `status` on top


def import_record(data: bytes, path: str, now: float) -> tuple[Record, list[str]]:
    """A valid record from a file of any version, and what was done to it; else a refusal."""
    found = read_json(data, path)
    if is_newer(found):
        return demand(found, path=path), []
    done: list[str] = []
    _name(found, path, done)
    _status(found, done)
    type = str(found.get("category"))
    known = fields.CONTENT.get(type, ())
    content = found.get("content")
    if isinstance(content, dict):
        found["content"] = {key: value for key, value in content.items() if value is not None}
        for field in known:
            _convert(found["content"], field, done)
    found, repairs = repair(found, now, cap=False)
    _shelve(found, tuple(field.name for field in known), now, done)
    found, capped = repair(found, now)
    return demand(found, type, path), done + repairs + capped


def _name(found: Record, path: str, done: list[str]) -> None:
    """Type by folder, id by file, title by id: what an old file may leave to its place."""
    type = fields.type_named(found.get("category")) or fields.type_at(path)
    if type and found.get("category") != type:
        found["category"] = type
        done.append(f"category set: {type}")
    stem = path.replace("\\", "/").rpartition("/")[2].removesuffix(".json")
    if not isinstance(found.get("title"), str) or not found["title"].strip():
        found["title"] = stem.replace("-", " ").replace("_", " ").capitalize()
        done.append("title was missing: made from the file's name")
    given = found.get("id")
    id = slug_for(stem, type or "record")
    if given != id:
        found["id"] = id
        done.append(f"id set to the file's name: {id}")


def _status(found: Record, done: list[str]) -> None:
    if "record_status" not in found and found.get("status") in _OLD_STATUS:
        found["record_status"] = found.pop("status")
        done.append(f"status on top became record_status: {found['record_status']}")


def _convert(content: Record, field: Field, done: list[str]) -> None:
    """A text where a list belongs and the other way round; choices whatever their case."""
    if field.name not in content:
        return
    value = content[field.name]
    new = value
    if field.kind == fields.CHOICE and isinstance(value, str):
        plain = value.strip().lower().replace("-", "_").replace(" ", "_")
        new = plain if plain in field.choices else value
    elif field.kind == fields.FLAG and isinstance(value, str):
        word = value.strip().lower()
        new = True if word in _TRUE else False if word in _FALSE else value
    elif field.kind == fields.TEXT and _is_texts(value):
        new = "\n".join(value)
    elif field.kind == fields.TEXTS and isinstance(value, str):
        new = [value] if value.strip() else []
    elif field.kind == fields.ALTERNATIVES and isinstance(value, list):
        new = [_alternative(one) for one in value]
    if new != value or isinstance(new, bool) != isinstance(value, bool):
        content[field.name] = new
        done.append(f"content.{field.name}: brought into today's form")


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _alternative(one: object) -> object:
    if isinstance(one, str):
        return {"option": one, "rejected_reason": ""}
    if isinstance(one, dict) and set(one) == {"option"}:
        return one | {"rejected_reason": ""}
    return one


def _shelve(found: Record, known: tuple[str, ...], now: float, done: list[str]) -> None:
    """Keys that no field takes become an entry of the log each; its values may be anything."""
    content, changes = found.get("content"), found.get("changes")
    if not known or not isinstance(content, dict) or not isinstance(changes, list):
        return  # nothing can be valid here, and the check says what is wrong
    extra = {key: found.pop(key) for key in [key for key in found if key not in fields.KEYS]}
    found["content"] = {key: value for key, value in content.items() if key in known}
    extra |= {f"content.{key}": content[key] for key in content if key not in known}
    stamp = safe.iso_time(now)
    for key, value in extra.items():
        summary = f"Imported: {key[:200]} is no field of a {found['category']}"
        changes = [*changes, {"date": stamp, "summary": summary, "field": key, "old_value": value}]
        done.append(f"{key[:40]} moved into the log of changes")
    found["changes"] = changes


# Records from elsewhere, whatever version wrote them; records as Markdown memories, and back.

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
        raise RecordError(refusal.OVERWRITE, f"{place} is there twice", fix="rename one", path=path)
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
    return [(_exchanging_name(path), encode(export(record))) for path, record in active.items()]


def _is_active(record: Record) -> bool:
    return status_of(record) == fields.ACTIVE


def _exchanging_name(path: str) -> str:
    """A name that no other record gets: the type in front, as stores of Markdown often have it."""
    return f"{fields.type_at(path)}_{stem(path).replace('-', '_')}.md"
