"""Known-bad stores of records; registered beside the others when this module is loaded."""

from __future__ import annotations

from typing import Any

from memdir.hot.memory import stem
from memdir.records import index_md, lifecycle, write
from memdir.records.record import write_record
from tests.faults import defects
from tests.faults.defects import _replace


def _no_hash_check() -> None:
    """The last one wins: what stands there now counts as read."""
    for module in (write, lifecycle):
        _replace(module, "check_version", lambda *given: None)
    real = lifecycle.merge_update

    def merge(old: Any, new: Any, *more: Any) -> Any:
        return real(old, new | {"changes": [*old["changes"], new["changes"][-1]]}, *more)

    _replace(write, "merge_update", merge)


def _old_name_first() -> None:
    """A rename that takes the old name away before the new one is there."""

    def rename(path: str, place: str, merged: Any, store: Any) -> bytes:
        data = write_record(merged | {"id": stem(place)})
        store.drop(path)
        store.put(place, data)
        return data

    _replace(write, "_rename", rename)


def _both_names() -> None:
    """A rename as it was once: the old version stays active beside the new one."""
    real = write.amend

    def amended(path: str, draft: Any, store: Any, *more: Any) -> Any:
        return real(path, draft, _Late(store, path), *more)

    _replace(write, "amend", amended)


class _Late:
    """A store that takes no update under the name that is about to go."""

    def __init__(self, inside: Any, path: str) -> None:
        self.inside, self.path = inside, path

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inside, name)

    def put(self, path: str, data: bytes) -> None:
        if path != self.path:
            self.inside.put(path, data)


def _index_left() -> None:
    """The index is brought in step by nobody."""
    _replace(index_md, "update_index", lambda store: False)


DEFECTS = {
    "no hash check": _no_hash_check,
    "old name first": _old_name_first,
    "both versions active": _both_names,
    "index left behind": _index_left,
}
defects.DEFECTS.update(DEFECTS)
