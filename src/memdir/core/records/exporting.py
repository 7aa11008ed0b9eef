"""Records as Markdown memories and back, without loss, also where a person edited the Markdown.

What the readable form cannot carry (the log of changes, blanks at the end of a text) stands in
one comment at the end. On the way back a part that still reads as it was written takes its exact
value from there; a part that somebody edited is read as it stands.
"""

from __future__ import annotations

import json

from memdir.core import frontmatter
from memdir.core.records import fields, rendering
from memdir.core.records.checking import demand, is_newer
from memdir.core.records.errors import RecordError
from memdir.core.records.fields import Record
from memdir.core.records.record import read_json
from memdir.core.records.repairing import repair

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
    text = rendering.view(record)
    exact, shown = _flat(record), _flat(_IMPLIED | rendering.read_view(text))
    left = {key: value for key, value in exact.items() if key not in shown or shown[key] != value}
    # What the view shows although the record has it not: an empty list for none at all.
    left |= {key: None for key in shown if key not in exact}
    if not left:
        return text
    packed = json.dumps(left, ensure_ascii=False, sort_keys=True)
    for sign in "<>&":  # so that nothing in it ends the comment or opens a tag
        packed = packed.replace(sign, f"\\u{ord(sign):04x}")
    return f"{text}\n{rendering.LEFTOVERS}{packed}{_END}\n"


def read_export(text: str, now: float | None = None) -> tuple[Record, list[str]]:
    """The record that a Markdown memory stands for, and what had to be put right."""
    if text.partition("\n")[0].endswith("\r"):
        text = text.replace("\r\n", "\n")  # an editor's doing: we never end the first line so
    seen = _flat(_IMPLIED | rendering.read_view(text))
    left, remarks = _leftovers(text)
    if left:
        whole = {key: value for key, value in (seen | left).items() if value is not None}
        as_written = _raw(rendering.view(_nested(whole)))
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
        if bare.startswith(rendering.LEFTOVERS) and bare.endswith(_END):
            packed = bare[len(rendering.LEFTOVERS) : -len(_END)]
            try:
                return read_json(packed.encode("utf-8", "replace"), "the comment at the end"), []
            except RecordError as error:
                return {}, [f"{error.message}; read without it"]
        if bare.startswith(rendering.SECTION):
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
    document = frontmatter.read(text)
    return document.values | rendering.sections(document.body)


def _shown_at(raw: dict[str, str], key: str) -> list[str | None]:
    """What stands where a key of the record is shown; nothing for one that is not shown."""
    if key in rendering.HEADER:
        return [raw.get(rendering.HEADER[key])]
    if key in ("tags", "related_files"):
        return [raw.get(rendering.TAGS if key == "tags" else rendering.FILES)]
    name = key.removeprefix(_CONTENT)
    known = {field.name: field for type in fields.CONTENT.values() for field in type}
    if name == key or name not in known:
        return []
    return [raw.get(label) for label in rendering.labels(known[name])]
