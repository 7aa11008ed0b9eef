"""A rename that was cut off left one record under two names: the next change takes one away."""

from __future__ import annotations

from memdir.app import Desk
from memdir.core.memory import stem
from memdir.core.records import fields, index_text
from memdir.core.records.fields import Record
from memdir.core.records.slug import slug_for
from memdir.core.records.status import status_of
from memdir.flows.records.placing import everything, index_of, paths_of
from memdir.steps.collect import Collected, collect


def heal(desk: Desk, whole: bool = False) -> bool:
    """Take away what a rename left; True where there was something.

    The index is written last, so a new name that it does not list may be such a one; `whole`
    looks at every record, whatever the index says.
    """
    known = len(desk.remarks)
    if whole or _strangers(desk):
        _take_away(desk, everything(desk.store)[0])
    return len(desk.remarks) > known


def _strangers(desk: Desk) -> bool:
    """Is any record active that the index does not know?"""
    store = desk.store
    listed = {one.path for one in index_text.parse(index_of(store))[0]}
    unknown = [path for path in paths_of(store) if path not in listed]
    return any(_is_active(one) for one in collect(store, unknown)[0].values())


def _take_away(desk: Desk, records: Collected) -> None:
    same: dict[str, list[str]] = {}
    for path, record in records.items():
        if _is_active(record) and _is_retitled(record) and record.get("id") == stem(path):
            rest = {key: value for key, value in record.items() if key != "id"}
            same.setdefault(repr(sorted(rest.items())), []).append(path)
    for paths in same.values():
        named = [path for path in paths if _says_its_title(path, records[path])]
        for path in paths if len(named) == 1 else ():
            if path not in named:
                desk.store.drop(path)
                desk.remarks.append(f"{path} is called {named[0]} now: its rename was cut off")


def _is_active(record: Record) -> bool:
    return status_of(record) == fields.ACTIVE


def _is_retitled(record: Record) -> bool:
    changes = record.get("changes")
    entries = changes if isinstance(changes, list) else []
    return any(isinstance(one, dict) and one.get("field") == "title" for one in entries)


def _says_its_title(path: str, record: Record) -> bool:
    return stem(path) == slug_for(str(record["title"]), str(record["category"]))
