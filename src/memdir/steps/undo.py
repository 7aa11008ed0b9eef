"""Take changes back, newest first, where nothing newer stands in the way."""

from __future__ import annotations

from collections.abc import Sequence

from memdir.core.draft import UNDONE, Change
from memdir.core.errors import Conflict, Missing
from memdir.core.history import Logged
from memdir.core.memory import stem
from memdir.core.ports import History, Store


def undo(changes: Sequence[Logged], store: Store, history: History) -> list[Change]:
    """Put back what stood before these changes; all of it, or nothing on a conflict."""
    index_path = store.index_path
    wanted: dict[str, bytes | None] = {}
    found: dict[str, bytes | None] = {}
    for logged in changes:
        for _, path in logged.paths:
            if path not in found:
                found[path] = wanted[path] = _standing(store, path)
            after, before = (history.content(oid, path) for oid in (logged.id, logged.parent))
            if wanted[path] == after:
                wanted[path] = before
            elif wanted[path] != before and (path != index_path or len(logged.paths) == 1):
                raise _conflict(logged, path, before, found[path])
    # The index comes last: until then it is only behind, and it is healed when it must be.
    order = sorted(wanted, key=lambda path: (path == index_path, wanted[path] is None, path))
    done = []
    for path in order:
        data = wanted[path]
        if data == found[path]:
            continue
        if data is None:
            store.drop(path)
        else:
            store.put(path, data)
        done.append(Change(UNDONE, stem(path), path, reason="gone again" if data is None else ""))
    if not done:
        what = f"{changes[0].id[:8]} is taken back already; nothing was written"
        raise Missing(what, next="memdir undo ID takes back an older change: memdir log lists them")
    return done


def _standing(store: Store, path: str) -> bytes | None:
    try:
        return store.read(path)
    except Missing:
        return None


def _conflict(logged: Logged, path: str, ours: bytes | None, theirs: bytes | None) -> Conflict:
    return Conflict(
        f"{path} was changed again after {logged.id[:8]}; nothing was undone",
        path=path,
        next=f"undo the newer change first (memdir log {stem(path)}), or edit it by hand",
        ours=ours or b"",
        theirs=theirs or b"",
    )
