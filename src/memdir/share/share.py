"""Copies or moves memories into a shared store; never overwrites."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

from memdir.audit.inspect import Page, audit_safety
from memdir.errors import BadInput, Conflict, MemdirError, Missing
from memdir.format.draft import SKIPPED, Change
from memdir.format.names import expand_names
from memdir.format.outline import Lookup
from memdir.format.pointer import parse_pointers
from memdir.hot import types
from memdir.hot.memory import TEAM, UNKNOWN, Memory, decode, stem
from memdir.store.changes import finish_change, remark_git_ignored, retire_memory
from memdir.store.look import find_memories
from memdir.store.save import adopt_memory
from memdir.store.writer import App, Desk, Done
from memdir.text import secrets

SHARE, PRIVATE = "share", "private"
NAMED = 3  # memories named in a message
INSTEAD = "Others would read it: write where the secret is kept, not the secret."
Diff = list[tuple[str, bytes | None, bytes | None]]
File = tuple[Memory, bytes]


@dataclass(frozen=True)
class Shared:
    done: Done
    diff: tuple[tuple[str, bytes | None, bytes | None], ...]  # each path starts with its scope
    moved: tuple[str, ...] = ()


def share_memories(source: App, target: App, names: Sequence[str], *, move: bool = False) -> Shared:
    _check_places(source, target)
    wanted = expand_names(names, source.store.files())
    memories = {memory.path: memory for memory in find_memories(source.store, wanted)}
    files = [(memory, source.store.read(path)) for path, memory in memories.items()]
    diff: Diff = []
    with target.changing(SHARE) as desk:
        reasons = [_refuse(memory, data, desk, target) for memory, data in files]
        allowed = [file for file, reason in zip(files, reasons, strict=True) if not reason]
        _check_conflicts(desk, target, allowed)
        desk.cause = replace(desk.cause, reason=f"from {source.config.scope}")
        desk.plan = [memory.path for memory, _ in allowed]
        changes = [
            Change(SKIPPED, stem(memory.path), memory.path, reason=reason)
            if reason
            else adopt_memory(memory.path, data, desk.store, target.rules())
            for (memory, data), reason in zip(files, reasons, strict=True)
        ]
        made = [change.path for change in changes if change.changed]
        diff += [(path, None, desk.store.read(path)) for path in made]
        _finish(target, desk, changes, diff)
        behind = set(source.store.files()).difference(desk.store.files())
        titles = {
            memory.name: memory.path
            for memory in source.store.scan().memories
            if memory.path in behind
        }
        for memory, data in allowed:
            if memory.path in made:
                desk.remarks += _concerns(memory, data, Lookup(behind, titles))
        desk.remarks += remark_git_ignored(
            target, [change.path for change in desk.changes if change.hash]
        )
    shared = Shared(desk.done, tuple(_scoped(target, diff)))
    there = {change.path for change in desk.changes if change.hash}
    files = [(memory, data) for memory, data in files if memory.path in there]
    return _take_out(source, target, files, shared) if move and files else shared


def _refuse(memory: Memory, data: bytes, desk: Desk, target: App) -> str:
    type, limit = types.get(memory.type), target.rules().max_body_bytes
    if type.scope == PRIVATE:
        other = f" (memdir edit {stem(memory.path)} --type TYPE)" if type.name == UNKNOWN else ""
        return f"memories of type {type.name} are not shared. {type.scope_lean}{other}"
    if len(data) > limit:
        return f"it has {len(data):,} bytes (limit: {limit:,}); share the part that others need"
    if b"\0" in data:
        return "it holds a NUL byte: it is not text"
    if tokens := secrets.find_secrets(memory.path):
        return f"its name looks like a secret ({tokens[0].rule}). {INSTEAD}"
    if tokens := secrets.find_secrets(decode(data)):
        places = ", ".join(dict.fromkeys(f"{token.rule}, line {token.line}" for token in tokens))
        return f"it holds what looks like a secret ({places}). {INSTEAD}"
    for path in desk.store.files():
        if path != memory.path and _folded(path) == _folded(memory.path):
            return f"{path} has nearly the same name there, on some disks the same"
    return ""


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold().replace("-", "_")


def _concerns(memory: Memory, data: bytes, private: Lookup) -> list[str]:
    """Remarks for the user before others read it; `private` are the memories that stay behind."""
    page = Page(memory, decode(data))
    concerns = [f"{page.path}:{finding.line}: {finding.message}" for finding in audit_safety(page)]
    pointers = [pointer for line in page.lines for pointer in parse_pointers(line, 1)]
    targets = dict.fromkeys(private.find(pointer.target, pointer.form) for pointer in pointers)
    names = [name for name in targets if name]
    if names:
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        shown = ", ".join(names[:NAMED])
        concerns.append(f"{page.path} links to private memories: {shown}{more}")
    return concerns


def _check_places(source: App, target: App) -> None:
    """The stores must differ, and the team's must not be a link, which could lead anywhere."""
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


def _check_conflicts(desk: Desk, target: App, files: Sequence[File]) -> None:
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


def _take_out(source: App, target: App, files: list[File], shared: Shared) -> Shared:
    scope, changes, diff = target.config.scope, list[Change](), Diff()
    try:
        with source.changing(SHARE) as desk:
            desk.cause = replace(desk.cause, reason=f"moved to {scope}")
            desk.plan = [memory.path for memory, _ in files]
            for memory, data in files:
                if desk.store.read(memory.path) != data:
                    desk.remarks.append(f"{memory.path} was changed meanwhile: it stays here, too")
                    continue
                changes.append(retire_memory(memory.path, desk.store, desk.shelf, source.now()))
                diff.append((memory.path, data, None))
            _finish(source, desk, changes, diff)
    except MemdirError as error:
        error.message = f"the scope {scope} has it now, but it is still here: {error.message}"
        error.args = (error.message,)
        raise
    remarks = (*shared.done.remarks, *desk.done.remarks)
    moved = tuple(change.path for change in desk.changes)
    done = replace(shared.done, remarks=remarks)
    return Shared(done, (*shared.diff, *_scoped(source, diff)), moved)


def _finish(app: App, desk: Desk, changes: list[Change], diff: Diff) -> None:
    """Makes the index match, and adds its change to the diff."""
    before = desk.store.index()
    if any(change.changed for change in changes):
        finish_change(app, desk, changes)
    else:
        desk.changes += changes
    if (after := desk.store.index()) != before:
        diff.append((desk.store.index_path, before, after))


def _scoped(app: App, diff: Diff) -> Diff:
    return [(f"{app.config.scope}/{path}", old, new) for path, old, new in diff]
