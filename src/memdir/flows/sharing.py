"""What is shared with others: memories are put where they get them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from memdir.app import App, Desk, Done
from memdir.core import sharing
from memdir.core.draft import SKIPPED, Change
from memdir.core.errors import BadInput, Conflict, MemdirError, Missing, Unwritable
from memdir.core.matching import spread
from memdir.core.memory import TEAM, Memory, stem
from memdir.core.outline import Lookup
from memdir.flows.ignoring import ignored
from memdir.flows.reading import find_all
from memdir.steps.adopt import adopt
from memdir.steps.index import index
from memdir.steps.retire import retire

SHARE = "share"
Diff = tuple[tuple[str, bytes | None, bytes | None], ...]
File = tuple[Memory, bytes]


@dataclass(frozen=True)
class Shared:
    """What came of it: `done` in the store that others get, `moved` out of the private one."""

    done: Done
    diff: Diff = ()  # of both stores; each path starts with its scope
    moved: tuple[str, ...] = ()


Told = Callable[[Shared], None]


def _untold(shared: Shared) -> None:
    """For callers that only want the answer."""


def share(
    source: App, target: App, names: Sequence[str], *, move: bool = False, told: Told = _untold
) -> Shared:
    """find → adopt, each → index; to move them, retire → index where they came from"""
    _check_places(source, target)
    wanted = spread(names, source.store.files())
    found = {memory.path: memory for memory in find_all(source.store, wanted)}
    files = [(memory, source.store.read(path)) for path, memory in found.items()]
    came: list[tuple[str, bytes | None, bytes | None]] = []

    def act(desk: Desk) -> list[Change]:
        reasons = [_refusal(file, desk, target) for file in files]
        allowed = [file for file, reason in zip(files, reasons, strict=True) if not reason]
        _check_conflicts(desk, target, allowed)
        desk.cause = replace(desk.cause, reason=f"from {source.config.scope}")
        desk.plan = [memory.path for memory, _ in allowed]
        before = desk.store.index()
        changes = [_take_in(*one, desk, target) for one in zip(files, reasons, strict=True)]
        made = [change.path for change in changes if change.changed]
        came.extend((path, None, desk.store.read(path)) for path in made)
        _in_step(target, desk, changes, before, came)
        desk.remarks += _concerns(source, desk, [file for file in allowed if file[0].path in made])
        desk.remarks += ignored(target, [change.path for change in changes if change.hash])
        return changes

    def answer(done: Done) -> Shared:
        return Shared(done, _scoped(target, came))

    if not move:
        return answer(target.change(SHARE, act, lambda done: told(answer(done))))
    done = target.change(SHARE, act, lambda done: None)
    there = {change.path for change in done.changes if change.hash}
    files = [(memory, data) for memory, data in files if memory.path in there]
    return _take_out(source, target, files, answer(done), told)


def _check_places(source: App, target: App) -> None:
    """Two different stores, and the team's a directory of its own: a link leads anywhere."""
    if os.path.realpath(source.store.root) == os.path.realpath(target.store.root):
        scope = target.config.scope
        raise BadInput(
            f"it is in the scope {scope} already", next="share from another one: --scope"
        )
    project = target.config.scopes.get("project", "")
    for path in (target.store.root, os.path.join(project, TEAM)):
        if target.config.scope.kind == TEAM and os.path.islink(path):
            raise BadInput(
                f"{path} is a symbolic link; it is not followed",
                path=path,
                next="put the directory itself there, for example as a git clone",
            )


def _concerns(source: App, desk: Desk, files: Sequence[File]) -> list[str]:
    """What is worth a look in what others get now."""
    behind = set(source.store.files()).difference(desk.store.files())
    names = {one.name: one.path for one in source.store.scan().memories if one.path in behind}
    private = Lookup(behind, names)
    return [text for file in files for text in sharing.concerns(*file, private)]


def _check_conflicts(desk: Desk, target: App, files: Sequence[File]) -> None:
    """Nothing is written where one of these would take the place of another memory."""
    scope = target.config.scope
    for memory, data in files:
        try:
            standing = desk.store.read(memory.path)
        except Missing:
            continue
        if standing != data:
            name = stem(memory.path)
            raise Conflict(
                f"the scope {scope} has another {memory.path}; nothing was shared",
                path=memory.path,
                next=f"change that one (memdir edit {name}), or put it away "
                f"(memdir retire {name}) and share again",
                ours=data,
                theirs=standing,
            )


def _refusal(file: File, desk: Desk, target: App) -> str:
    memory, data = file
    reason = sharing.refusal(memory, data, target.rules().max_body_bytes)
    other = "" if reason else sharing.clash(memory.path, desk.store.files())
    return f"{other} has nearly the same name there, on some disks the same" if other else reason


def _take_in(file: File, reason: str, desk: Desk, target: App) -> Change:
    memory, data = file
    if reason:
        return Change(SKIPPED, stem(memory.path), memory.path, reason=reason)
    return adopt(memory.path, data, desk.store, target.rules())


def _take_out(source: App, target: App, files: list[File], shared: Shared, told: Told) -> Shared:
    """The private ones go to the trash, now that others have them."""
    scope = target.config.scope
    if not files:
        told(shared)
        return shared
    went: list[tuple[str, bytes | None, bytes | None]] = []

    def act(desk: Desk) -> list[Change]:
        desk.cause = replace(desk.cause, reason=f"moved to {scope}")
        desk.plan = [memory.path for memory, _ in files]
        before, changes = desk.store.index(), list[Change]()
        for memory, data in files:
            if desk.store.read(memory.path) != data:
                desk.remarks.append(f"{memory.path} was changed meanwhile: it stays here, too")
                continue
            changes.append(retire(memory.path, desk.store, desk.shelf, source.now()))
            went.append((memory.path, data, None))
        _in_step(source, desk, changes, before, went)
        return changes

    def both(done: Done) -> Shared:
        remarks = (*shared.done.remarks, *done.remarks)
        moved = tuple(change.path for change in done.changes)
        diff = (*shared.diff, *_scoped(source, went))
        return Shared(replace(shared.done, remarks=remarks), diff, moved)

    try:
        return both(source.change(SHARE, act, lambda done: told(both(done))))
    except MemdirError as error:
        error.message = f"the scope {scope} has it now, but it is still here: {error.message}"
        error.args = (error.message,)
        raise


def _in_step(
    app: App,
    desk: Desk,
    changes: list[Change],
    before: bytes | None,
    diff: list[tuple[str, bytes | None, bytes | None]],
) -> None:
    """The index after these changes; when it cannot be written, say what stands."""
    names = [change.name for change in changes if change.changed]
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    desk.cause = replace(desk.cause, name=names[0] + more if names else "")
    if not names:
        return
    try:
        indexed = index(desk.store, app.rules())
    except MemdirError as error:
        done = ", ".join(f"{one.path} is {one.kind}" for one in changes if one.changed)
        raise Unwritable(
            f"{done}, but the index is not in step: {error.message}",
            path=error.path,
            next=f"{error.next}; the next change, or memdir index --rebuild, brings it in step",
        ) from None
    desk.remarks += indexed.remarks([change.path for change in changes])
    after = desk.store.index()
    if after != before:
        diff.append((desk.store.index_path, before, after))


def _scoped(app: App, diff: Sequence[tuple[str, bytes | None, bytes | None]]) -> Diff:
    return tuple((f"{app.config.scope}/{path}", old, new) for path, old, new in diff)
