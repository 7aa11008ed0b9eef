"""Copy to where the team gets it."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from memdir.audit.inspect import Page, inspect_safety
from memdir.errors import BadInput, Conflict, MemdirError, Missing, Unwritable
from memdir.format.draft import SKIPPED, Change
from memdir.format.names import spread
from memdir.format.outline import Lookup
from memdir.format.pointer import read_pointers
from memdir.hot import memory as memory_module
from memdir.hot import types
from memdir.hot.memory import TEAM, UNKNOWN, Memory, stem
from memdir.store.changes import ignored, retire_memory
from memdir.store.keep_index import index
from memdir.store.look import find_all
from memdir.store.save import adopt
from memdir.store.writer import App, Desk, Done
from memdir.text import secrets

# What may leave a private store: its type allows it, it holds no secret, others can take it.

FEW = 3  # memories that a message names one by one
PRIVATE = "private"
INSTEAD = "Others would read it: say where the secret is kept, not what it is."


def refusal(memory: Memory, data: bytes, limit: int) -> str:
    """Why a memory stays private, as a sentence; empty when it may be shared."""
    type = types.get(memory.type)
    if type.scope == PRIVATE:
        other = f" (memdir edit {stem(memory.path)} --type TYPE)" if type.name == UNKNOWN else ""
        return f"memories of type {type.name} are not shared. {type.scope_lean}{other}"
    if len(data) > limit:
        return f"it has {len(data):,} bytes (limit: {limit:,}); share the part that others need"
    if b"\0" in data:
        return "it holds a NUL byte: it is not text"
    if found := secrets.find_secrets(memory.path):
        return f"its name looks like a secret ({found[0].rule}). {INSTEAD}"
    if found := secrets.find_secrets(memory_module.decode(data)):
        places = ", ".join(dict.fromkeys(f"{one.rule}, line {one.line}" for one in found))
        return f"it holds what looks like a secret ({places}). {INSTEAD}"
    return ""


def concerns(memory: Memory, data: bytes, private: Lookup) -> list[str]:
    """What a person should look at before others find it there.

    `private` knows the memories that stay behind: a link to one of them leads others nowhere.
    """
    page = Page(memory, memory_module.decode(data))
    found = [f"{page.path}:{one.line}: {one.message}" for one in inspect_safety(page)]
    pointers = [one for line in page.lines for one in read_pointers(line, 1)]
    left = dict.fromkeys(private.find(one.target, one.form) for one in pointers)
    names = [name for name in left if name]
    if names:
        more = f" and {len(names) - FEW} more" if len(names) > FEW else ""
        found.append(f"{page.path} leads to what stays private: {', '.join(names[:FEW])}{more}")
    return found


def clash(path: str, files: Iterable[str]) -> str:
    """The other file that some disks, or a person, would take for this one; empty without one."""
    return next((file for file in files if file != path and _folded(file) == _folded(path)), "")


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold().replace("-", "_")


# What is shared with others: memories are put where they get them.

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
    return [text for file in files for text in concerns(*file, private)]


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
    reason = refusal(memory, data, target.rules().max_body_bytes)
    other = "" if reason else clash(memory.path, desk.store.files())
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
            changes.append(retire_memory(memory.path, desk.store, desk.shelf, source.now()))
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
