"""A store as a folder of files, for agents that write their memories as files themselves.

Every change goes through `App.change` and one of the steps: it is in the history, one undo takes
it back, and the index is in step afterwards.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from memdir.adapters.wrappers.dry_run import DryRun
from memdir.app import App, Desk, Done
from memdir.core.draft import Change, Wishes
from memdir.core.errors import BadInput, MemdirError, Missing, Unwritable
from memdir.core.memory import Memory, read_memory
from memdir.core.ports import Store
from memdir.core.scope import RECORDS
from memdir.steps.index import index
from memdir.steps.move import move
from memdir.steps.retire import retire
from memdir.steps.write import write

SAVE, EDIT, RETIRE, RENAME = "save", "edit", "retire", "rename"  # what the history calls them
Make = Callable[[bytes | None], bytes]  # the new bytes from those that stand there, if any


@dataclass(frozen=True)
class File:
    """A file below a store, and its size."""

    path: str
    size: int


def list_files(app: App, folder: str = "") -> list[File]:
    """Every file below a folder of the store that the history keeps, by its path."""
    return [*_below(app.store, folder)]


def read_file(app: App, path: str) -> bytes:
    """The bytes of one file; nothing is followed out of the store."""
    facts = app.store.facts(path)
    most = app.config.options.max_file_bytes
    if facts and facts[2] > most:
        raise BadInput(
            f"it has {facts[2]:,} bytes (limit: {most:,})", path=path, next="split the file"
        )
    try:
        return app.store.read(path)
    except Unwritable as error:
        if not _is_folder(error):
            raise
        raise Missing(f"{path} is a folder", path=path, next="name a file in it") from None


def write_file(app: App, path: str, make: Make, wishes: Wishes, verb: str = EDIT) -> Done:
    """write → index; `make` sees what stands there while nobody else can change it"""
    _check_layout(app)

    def act(desk: Desk) -> list[Change]:
        old = _standing(desk.store, path)
        change = write(path, make(old), desk.store, app.rules(), wishes)
        before = read_memory(path, old, 0) if old and desk.store.is_memory(path) else None
        return _in_step(app, desk, [change], before)

    return app.change(verb, act, _untold)


def retire_files(app: App, path: str) -> Done:
    """retire, each → index: one file, or every file of a folder; one undo"""
    _check_layout(app)

    def act(desk: Desk) -> list[Change]:
        paths = _files_at(desk.store, path)
        if desk.store.index_path in paths and desk.store.files():
            raise BadInput(
                f"{desk.store.index_path} is the index of this store",
                path=desk.store.index_path,
                next="edit it, or delete the memories that it lists",
            )
        desk.plan, now = paths, app.now()
        done = [retire(one, desk.store, desk.shelf, now) for one in paths]
        return _in_step(app, desk, done)

    return app.change(RETIRE, act, _untold)


def move_files(app: App, path: str, to: str) -> Done:
    """move, each → index: one file, or a folder with all its files; one undo"""
    _check_layout(app)

    def act(desk: Desk) -> list[Change]:
        paths = _files_at(desk.store, path)
        if to.startswith(f"{path}/"):
            raise BadInput(f"{to} lies inside {path}", path=to, next="choose another place")
        if _is_taken(desk.store, to):
            raise Taken(f"something stands at {to}", path=to, next="choose another name")
        if desk.store.index_path in paths or desk.store.index_path == to:
            where = desk.store.index_path
            raise BadInput(f"{where} is the index of this store", path=where, next="edit it")
        pairs = [(one, to + one[len(path) :]) for one in paths]
        _check_moves(app, desk, pairs)
        desk.plan = [new for _, new in pairs]
        return _in_step(app, desk, [move(one, new, desk.store) for one, new in pairs])

    return app.change(RENAME, act, _untold)


class Taken(BadInput):
    """Something stands where a file should go to; nothing was moved."""

    code = "taken"


def _check_moves(app: App, desk: Desk, pairs: Iterable[tuple[str, str]]) -> None:
    """Every file may lie where it goes to, or none is moved."""
    for old, new in pairs:
        data, dry = desk.store.read(old), DryRun(desk.store)
        tried = write(new, data, dry, app.rules(), Wishes(secret=True))
        if not tried.changed:
            raise BadInput(tried.reason, path=new, next="choose another name")


def _untold(done: Done) -> None:
    """The answer says it."""


def _check_layout(app: App) -> None:
    if app.config.layout == RECORDS:
        what = "a store of structured records is not written as files"
        raise BadInput(what, next="use memdir records, or another scope")


def _below(store: Store, folder: str) -> Iterable[File]:
    prefix = f"{folder}/" if folder else ""
    for path, facts in sorted(store.tree().items()):
        if path.startswith(prefix):
            yield File(path, facts[2])


def _files_at(store: Store, path: str) -> list[str]:
    """The file itself, or the files of the folder of that name."""
    if store.facts(path) is not None:
        return [path]
    found = [file.path for file in _below(store, path)]
    if not found:
        raise Missing(f"there is no {path}", path=path, next="list the files to see their names")
    return found


def _is_taken(store: Store, path: str) -> bool:
    """Asked of the handle alone: a link is neither followed nor replaced."""
    if any(_below(store, path)):
        return True
    try:
        return _standing(store, path) is not None
    except Unwritable as error:
        return not _is_folder(error)  # one without any file was left behind, nobody sees it


def _is_folder(error: Unwritable) -> bool:
    return os.strerror(errno.EISDIR) in error.message


def _standing(store: Store, path: str) -> bytes | None:
    try:
        return store.read(path)
    except Missing:
        return None


def _in_step(
    app: App, desk: Desk, changes: Sequence[Change], before: Memory | None = None
) -> list[Change]:
    """The index after these changes; when it cannot be written, say what stands."""
    names = [change.name for change in changes if change.changed]
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    desk.cause = replace(desk.cause, name=names[0] + more if names else "")
    if names:
        try:
            desk.remarks += index(desk.store, app.rules(), before).remarks(
                [change.path for change in changes]
            )
        except MemdirError as error:
            raise Unwritable(
                f"it is done, but the index is not in step: {error.message}",
                path=error.path,
                next=f"{error.next}; the next change brings it in step",
            ) from None
    return [*changes]
