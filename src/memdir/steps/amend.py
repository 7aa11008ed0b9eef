"""Amend a record that stands, for whoever has read that very version of it."""

from __future__ import annotations

from collections.abc import Callable

from memdir.core.draft import UPDATED, Change
from memdir.core.errors import MemdirError, Unwritable
from memdir.core.memory import stem
from memdir.core.ports import Store
from memdir.core.records import fields
from memdir.core.records.expecting import expect
from memdir.core.records.fields import Record
from memdir.core.records.merging import merge, must_rename
from memdir.core.records.record import read_record, write_record
from memdir.core.records.slug import slug_for
from memdir.core.revision import hash_of


def amend(
    path: str,
    draft: Record,
    store: Store,
    now: float,
    expected: str,
    exists: Callable[[str], bool],
) -> Change:
    """The update, and where its title is another one now, its file under a new name.

    `expected` is the hash of the version that was read, `exists` knows the project's files.
    """
    data = store.read(path)
    expect(data, expected, path, write_record(draft))
    old, _ = read_record(data, path)
    merged, remarks = merge(old, draft, now, exists)
    place = _place(path, str(old.get("title")), merged, store, remarks)
    merged["id"] = stem(path)
    data = write_record(merged)
    store.put(path, data)
    if place != path:
        data = _rename(path, place, merged, store)
    return Change(UPDATED, stem(place), place, hash_of(data), remarks=tuple(remarks))


def _rename(path: str, place: str, merged: Record, store: Store) -> bytes:
    """Cut off on the way, the same version stands under both names: healing takes one away."""
    data = write_record(merged | {"id": stem(place)})
    try:
        store.put(place, data)
        store.drop(path)
    except MemdirError as error:
        raise Unwritable(
            f"{path} is updated, but not yet renamed to {place}: {error.message}",
            path=error.path,
            next=f"{error.next}; the next change, or memdir records index --rebuild, mends it",
        ) from None
    return data


def _place(path: str, title: str, merged: Record, store: Store, remarks: list[str]) -> str:
    """Where it lies from now on: a name that says something else misleads."""
    new = str(merged["title"])
    if not must_rename(title, new):
        return path
    type = str(merged["category"])
    place = fields.path_of(type, slug_for(new, type))
    if place == path:
        return path
    if store.exists(place):
        remarks.append(f"it keeps its name: {place} is taken")
        return path
    remarks.append(f"renamed from {path}: most words of the title changed")
    return place
