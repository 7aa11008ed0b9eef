"""Save a record as a person or an agent says it: created, or changed where it stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memdir.app import App, Desk, Done, Told
from memdir.core import dates
from memdir.core.draft import SKIPPED, Change
from memdir.core.errors import Missing
from memdir.core.memory import stem
from memdir.core.records import cud, errors, fields
from memdir.core.records.errors import RecordError
from memdir.core.records.fields import Field, Record
from memdir.core.records.record import read_record
from memdir.core.records.repairing import repair
from memdir.core.records.status import status_of
from memdir.core.revision import hash_of
from memdir.flows.records.indexing import healed, indexed
from memdir.flows.records.writing import CREATE, UPDATE, Wanted, carry_out, place_of
from memdir.steps.collect import collect
from memdir.steps.put_down import SAME

SAID = "saved again"
YES, NO = ("true", "yes", "1"), ("false", "no", "0")
_GROWING = ("tags", "related_files")


def _untold(done: Done) -> None:
    """For callers that only want the answer."""


def save_record(app: App, type: str, draft: Record, reason: str, told: Told = _untold) -> Done:
    """look → create or update → enlist; what lies close is a remark"""

    def act(desk: Desk) -> list[Change]:
        desk.cause = replace(desk.cause, reason=reason)
        wanted = Wanted(CREATE, type, draft=draft, reason=reason)
        path = place_of(wanted, desk.store.root)
        old = _active(desk, path)
        if old is None:
            desk.remarks += _close(desk, path, draft)
        elif not _news(old, draft, app.now()):
            data = desk.store.read(path)
            return indexed(desk, [Change(SKIPPED, stem(path), path, hash_of(data), SAME)])
        else:
            whole = completed(old, draft, reason or SAID, app.now())
            wanted = Wanted(UPDATE, type, path, whole, reason=reason)
        return indexed(desk, carry_out(app, desk, wanted))

    return app.change("save", healed(act), told)


def read_fields(given: Record, type: str, values: Sequence[str]) -> Record:
    """A draft with `FIELD=TEXT` pairs in its content, each as its field wants it."""
    of = type or fields.type_named(given.get("category"))
    known = {field.name: field for field in fields.CONTENT.get(of, ())}
    content = given.get("content")
    content = dict(content) if isinstance(content, dict) else {}
    for value in values:
        name, mark, text = value.partition("=")
        name = name.strip().removeprefix("content.")
        top = name.partition(".")[0]
        if not mark or top not in known:
            names = ", ".join(known) or "give --category first"
            message = f"{value[:60]!r} is no FIELD=TEXT of a {of or 'record'}"
            raise RecordError(errors.INPUT, message, fix=f"fields: {names}")
        _put(content, known[top], name.partition(".")[2], text)
    return given | {"content": content} if content or "content" in given else given


def _put(content: Record, field: Field, part: str, text: str) -> None:
    if field.kind == fields.TEXTS:
        content[field.name] = [*content.get(field.name, []), text]
    elif field.kind == fields.FLAG:
        plain = text.strip().lower()
        content[field.name] = True if plain in YES else False if plain in NO else text
    elif field.kind == fields.EXAMPLES:
        held = dict(content.get(field.name, {}))
        held[part or "prefer"] = [*held.get(part or "prefer", []), text]
        content[field.name] = held
    elif field.kind == fields.ALTERNATIVES:
        option, _, why = text.partition(" -- ")
        one = {"option": option.strip(), "rejected_reason": why.strip()}
        content[field.name] = [*content.get(field.name, []), one]
    else:
        content[field.name] = text


def _active(desk: Desk, path: str) -> Record | None:
    try:
        record, _ = read_record(desk.store.read(path), path)
    except Missing:
        return None
    return record if status_of(record) == fields.ACTIVE else None


def completed(old: Record, draft: Record, summary: str, now: float) -> Record:
    """A draft of an update with what must not be lost: earlier changes, tags and files."""
    logged = list(_listed(old.get("changes", [])))
    said = [one for one in _listed(draft.get("changes", [])) if one not in logged]
    stamp = dates.iso_time(now)
    entry = {"date": stamp, "summary": summary[: fields.MAX_SUMMARY]}
    more: Record = {"changes": [*logged, *(said or [entry])]}
    for key in _GROWING:
        if key in draft:
            both = [*_listed(old.get(key, [])), *_listed(draft[key])]
            more[key] = [one for at, one in enumerate(both) if one not in both[:at]]
    return draft | more


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _news(old: Record, draft: Record, now: float) -> bool:
    """Does the draft say anything that the record does not?"""
    said = repair({**old, **draft}, now)[0]
    if any(said.get(key) != old.get(key) for key in ("title", "confidence")):
        return True
    if any(one not in old[key] for key in _GROWING for one in _listed(said.get(key))):
        return True
    content, standing = draft.get("content"), old.get("content")
    if not isinstance(content, dict) or not isinstance(standing, dict):
        return content is not None
    return any(standing.get(key) != value for key, value in content.items())


def _close(desk: Desk, path: str, draft: Record) -> list[str]:
    """The record that may say the same under another title."""
    tags = draft.get("tags")
    words = [str(draft.get("title", "")), *(map(str, tags) if isinstance(tags, list) else ())]
    records, _ = collect(desk.store, desk.store.files())
    answer = cud.candidate(records.items(), fields.type_at(path), " ".join(words))
    near = answer["candidate"]
    if not isinstance(near, dict):
        return []
    return [f"{near['path']} is close to it: memdir show {stem(str(near['path']))}"]
