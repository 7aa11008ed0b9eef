"""Import of records of any version; export of records as Markdown memories, and back."""

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
from memdir.records.fields import Field, Record, is_active, is_newer
from memdir.records.index_md import change_records
from memdir.records.record import paths_of, read_all_records, read_json, write_record
from memdir.records.refusal import RecordError
from memdir.records.validate import repair_record, require_valid
from memdir.records.write import refuse_secrets
from memdir.store.ports import Store
from memdir.store.writer import App, Done

# Export and import lose nothing, even if a person edited the Markdown.
#
# A comment at the end holds everything Markdown cannot show (the log of changes, trailing spaces).
# On import an unedited part takes its exact value from there; an edited part is read as written.

_END = " -->"
_CONTENT = "content."
_IMPLIED: Record = {
    "schema_version": fields.SCHEMA_VERSION,
    "record_status": fields.ACTIVE,
    "changes": [],
    "times_updated": 0,
}


def export_record(record: Record) -> str:
    text = render.render_record(record)
    exact, shown = _flat(record), _flat(_IMPLIED | render.read_rendered(text))
    left = {key: value for key, value in exact.items() if key not in shown or shown[key] != value}
    # Shown although missing in the record: an empty list for a missing one.
    left |= {key: None for key in shown if key not in exact}
    if not left:
        return text
    packed = json.dumps(left, ensure_ascii=False, sort_keys=True)
    for sign in "<>&":  # so that no text ends the comment or opens a tag
        packed = packed.replace(sign, f"\\u{ord(sign):04x}")
    return f"{text}\n{render.LEFTOVERS}{packed}{_END}\n"


def read_export(text: str, now: float | None = None) -> tuple[Record, list[str]]:
    if text.partition("\n")[0].endswith("\r"):
        text = text.replace("\r\n", "\n")  # by an editor: our first line never ends in CRLF
    seen = _flat(_IMPLIED | render.read_rendered(text))
    left, remarks = _leftovers(text)
    if left:
        whole = {key: value for key, value in (seen | left).items() if value is not None}
        as_written = _raw(render.render_record(_nested(whole)))
        actual = _raw(text)
        edited = [key for key in left if _shown_at(as_written, key) != _shown_at(actual, key)]
        for key, value in left.items():
            if key not in edited:
                seen[key] = value
    record = _nested({key: value for key, value in seen.items() if value is not None})
    if is_newer(record):
        return record, remarks
    repaired, repairs = repair_record(record, now)
    return require_valid(repaired), remarks + repairs


def _leftovers(text: str) -> tuple[Record, list[str]]:
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
    document = memory.read(text)
    return document.values | render.sections(document.body)


def _shown_at(raw: dict[str, str], key: str) -> list[str | None]:
    if key in render.HEADER:
        return [raw.get(render.HEADER[key])]
    if key in ("tags", "related_files"):
        return [raw.get(render.TAGS if key == "tags" else render.FILES)]
    name = key.removeprefix(_CONTENT)
    known = {it.name: it for type in fields.CONTENT.values() for it in type}
    if name == key or name not in known:
        return []
    return [raw.get(label) for label in render.labels(known[name])]


# Conversions that only an import needs; `repair_record` does the everyday ones.


def import_record(data: bytes, path: str, now: float) -> tuple[Record, list[str]]:
    record = read_json(data, path)
    if is_newer(record):
        return require_valid(record, path=path), []
    done: list[str] = []
    type = fields.type_named(record.get("category")) or fields.type_at(path)
    if type and record.get("category") != type:
        record["category"] = type
        done.append(f"category set: {type}")
    name = path.replace("\\", "/").rpartition("/")[2].removesuffix(".json")
    if not isinstance(record.get("title"), str) or not record["title"].strip():
        record["title"] = name.replace("-", " ").replace("_", " ").capitalize()
        done.append("title was missing: made from the file's name")
    id = slug_for(name, type or "record")
    if record.get("id") != id:
        record["id"] = id
        done.append(f"id set to the file's name: {id}")
    if "record_status" not in record and record.get("status") in ("retired", "archived"):
        record["record_status"] = record.pop("status")
        done.append(f"status on top became record_status: {record['record_status']}")
    known, content = fields.fields_of(record), record.get("content")
    if isinstance(content, dict):
        content = {key: value for key, value in content.items() if value is not None}
        for field in known:
            value = content.get(field.name)
            new = _convert(value, field) if field.name in content else value
            if new != value or isinstance(new, bool) != isinstance(value, bool):
                content[field.name] = new
                done.append(f"content.{field.name}: brought into today's form")
        record["content"] = content
    record, repairs = repair_record(record, now, cap=False)
    _log_unknown_keys(record, [field.name for field in known], now, done)
    record, capped = repair_record(record, now)
    return require_valid(record, str(record.get("category")), path), done + repairs + capped


def _convert(value: object, field: Field) -> object:
    plain = value.strip().lower() if isinstance(value, str) else ""
    if field.kind == fields.CHOICE:
        choice = plain.replace("-", "_").replace(" ", "_")
        return choice if choice in field.choices else value
    if field.kind == fields.FLAG and plain:
        return {"true": True, "yes": True, "false": False, "no": False}.get(plain, value)
    if field.kind == fields.TEXT and isinstance(value, list) and fields.texts_of(value) == value:
        return "\n".join(value)
    if field.kind == fields.TEXTS and isinstance(value, str):
        return [value] if plain else []
    if field.kind == fields.ALTERNATIVES and isinstance(value, list):
        options = [{"option": it} if isinstance(it, str) else it for it in value]
        return [{"rejected_reason": ""} | it if isinstance(it, dict) else it for it in options]
    return value


def _log_unknown_keys(record: Record, known: list[str], now: float, done: list[str]) -> None:
    """Each unknown key becomes an entry of the log, so that nothing is lost."""
    content, changes = record.get("content"), record.get("changes")
    if not known or not isinstance(content, dict) or not isinstance(changes, list):
        return  # invalid; the check says why
    extra = {key: record.pop(key) for key in [key for key in record if key not in fields.KEYS]}
    record["content"] = {key: value for key, value in content.items() if key in known}
    extra |= {f"content.{key}": content[key] for key in content if key not in known}
    for key, value in extra.items():
        summary = f"Imported: {key[:200]} is no field of a {record['category']}"
        entry = {"date": safe.iso_time(now), "summary": summary, "field": key, "old_value": value}
        changes = [*changes, entry]
        done.append(f"{key[:40]} moved into the log of changes")
    record["changes"] = changes


@dataclass
class Source:
    records: dict[str, Record] = field(default_factory=dict)
    repairs: dict[str, list[str]] = field(default_factory=dict)
    refused: list[Finding] = field(default_factory=list)
    earlier_paths: dict[str, str] = field(default_factory=dict)  # of records that move
    settings: bytes | None = None


def read_records(store: Store, now: float) -> Source:
    source = Source()
    for path in paths_of(store):
        try:
            place = _take(source, path, *import_record(store.read(path), path, now))
            if place != path:
                source.earlier_paths[place] = path
        except MemdirError as error:
            source.refused.append(Finding("refused", path, error.message, error.next))
    try:
        source.settings = store.read(RECORD_SETTINGS)
    except MemdirError:
        source.settings = None  # missing or unreadable: use the defaults
    return source


def read_memories(files: Sequence[tuple[str, bytes]], now: float) -> Source:
    source = Source()
    for path, data in files:
        try:
            text = decode(data)
            if read_memory("x.md", encode(text), 0).type in fields.TYPES:
                _take(source, path, *read_export(text, now))
        except MemdirError as error:
            source.refused.append(Finding("refused", path, error.message, error.next))
    return source


def _take(source: Source, path: str, record: Record, repairs: list[str]) -> str:
    place = fields.path_of(str(record["category"]), str(record["id"]))
    if place in source.records:
        raise RecordError(refusal.OVERWRITE, f"{place} is there twice", fix="rename one", path=path)
    source.records[place] = record
    source.repairs[place] = repairs
    return place


def import_records(app: App, source: Source) -> Done:
    """Nothing is overwritten; one undo reverts all."""
    with change_records(app, "import") as desk:
        desk.cause = replace(desk.cause, batch=f"import-{int(app.now())}")
        desk.plan = list(source.records)
        desk.changes += [_adopt(path, it, desk.store) for path, it in source.records.items()]
        if source.settings is not None and not desk.store.exists(RECORD_SETTINGS):
            desk.store.put(RECORD_SETTINGS, source.settings)
    return desk.done


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
        return Change(SKIPPED, stem(path), path, hash_of(data), "it is there already, the same")
    return Change(SKIPPED, stem(path), path, reason="another record of that name stands there")


def upgrade_records(app: App) -> tuple[Source, Done]:
    with change_records(app, "import") as desk:
        source = read_records(desk.store, app.now())
        for place, record in source.records.items():
            old = source.earlier_paths.get(place, place)
            data = write_record(record)
            if old == place and desk.store.read(old) == data:
                continue
            desk.store.put(place, data)
            if old != place:
                desk.store.drop(old)
            desk.changes.append(Change(UPDATED, stem(place), place, hash_of(data)))
    return source, desk.done


def export_memories(app: App, every: bool = False) -> list[tuple[str, bytes]]:
    """Active records (with `every`, all); each name starts with the type."""
    return [
        (f"{fields.type_at(path)}_{stem(path).replace('-', '_')}.md", encode(export_record(record)))
        for path, record in read_all_records(app.store)[0].items()
        if every or is_active(record)
    ]
