"""Copies memories into a shared store; never overwrites."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Sequence
from dataclasses import replace

from memdir.audit.inspect import Page, audit_safety
from memdir.errors import BadInput, Conflict, Missing
from memdir.format.draft import why_not_shared
from memdir.format.names import expand_names, fold_paths
from memdir.format.outline import Lookup
from memdir.format.pointer import parse_pointers
from memdir.hot import types
from memdir.hot.memory import TEAM, UNKNOWN, Memory, decode, stem
from memdir.store.changes import finish_change, remark_git_ignored
from memdir.store.ports import name_few_paths
from memdir.store.save import adopt_memory, find_memories, refused_file
from memdir.store.writer import App, Desk, Done
from memdir.text import secrets

INSTEAD = "Others would read it: write where the secret is kept, not the secret."
File = tuple[Memory, bytes]


def share_memories(source: App, target: App, names: Sequence[str]) -> Done:
    """Each path of the diff starts with the scope."""
    _check_places(source, target)
    wanted = expand_names(names, source.store.files())
    memories = {memory.path: memory for memory in find_memories(source.store, wanted)}
    files = [(memory, source.store.read(path)) for path, memory in memories.items()]
    private, scan = source.store.files(), source.store.scan().memories
    with target.changing("share") as desk:
        reasons = [_refuse(memory, data, desk, target) for memory, data in files]
        allowed = [file for file, reason in zip(files, reasons, strict=True) if not reason]
        _check_conflicts(desk, target, allowed)
        desk.cause = replace(desk.cause, reason=f"from {source.config.scope}")
        desk.plan = [memory.path for memory, _ in allowed]
        standing, index = fold_paths(desk.store.tree()), desk.store.index()
        changes = [
            refused_file(memory.path, reason)
            if reason
            else adopt_memory(memory.path, data, desk.store, target.rules(), standing)
            for (memory, data), reason in zip(files, reasons, strict=True)
        ]
        made = [change.path for change in changes if change.changed]
        finish_change(target, desk, changes)  # a share that was killed may have left out the index
        behind = set(private).difference(desk.store.files())
        titles = {memory.name: memory.path for memory in scan if memory.path in behind}
        for memory, data in allowed:
            if memory.path in made:
                desk.remarks += _concerns(memory, data, Lookup(behind, titles))
        there = [change.path for change in desk.changes if change.hash]
        desk.remarks += remark_git_ignored(target, there)
        versions = [(path, None, desk.store.read(path)) for path in made]
        diff = [*versions, (desk.store.index_path, index, desk.store.index())]
    scope = target.config.scope
    scoped = [(f"{scope}/{path}", old, new) for path, old, new in diff if old != new]
    return replace(desk.done, diff=tuple(scoped))


def _refuse(memory: Memory, data: bytes, desk: Desk, target: App) -> str:
    type, limit = types.get(memory.type), target.rules().max_body_bytes
    if reason := why_not_shared(type):
        other = f" (memdir edit {stem(memory.path)} --type TYPE)" if type.name == UNKNOWN else ""
        return reason + other
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
    if names := [name for name in targets if name]:
        concerns.append(f"{page.path} links to private memories: {name_few_paths(names)}")
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
